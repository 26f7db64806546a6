"""Measure the dataset's generator: `python -m bench.dataset`, needs S3 and pandas.

The rounds are interleaved, and every second round is in reverse order, so that other work of the machine affects all measurements alike:

- generate + upload: `ensure_dataset` as in the DAG's task, including checksums and SHA-256
- upload only: the same bytes from memory, by the same uploader
- generate only: like generate + upload, without writing the output
- pandas to_csv: the same rows without writing the output. The frame is made in advance. It has text, so that pandas writes exactly the same
  bytes (which is checked); formatting numbers and dates would take additional time

Peak memory is the kernel's VmHWM of a new process that generates and uploads. The objects are removed again.

With `--pods 1,2,4` it measures only how fast so many pods make the dataset together. Each pod is a process of this machine that may use
`--pod-cpu` of a core: several pods can only be faster while the machine has cores for them, and for S3.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.dataset_pods import measure
from storebench.connection import Connection
from storebench.dataset.generate import check, generate_chunk, header
from storebench.dataset.manifest import dataset_key, manifest_key
from storebench.dataset.multipart import upload
from storebench.dataset.upload import PART_ROWS, ensure_dataset, parts
from storebench.errors import StorebenchError
from storebench.s3 import check_bucket, client_for

VARIABLE = "AIRFLOW_CONN_STOREBENCH_S3"
SEED = 2**63 - 1  # a seed that no study uses: the objects are removed
LABELS = {
    "both": "generate + upload",
    "raw": "upload only",
    "generate": "generate only",
    "pandas": "pandas to_csv",
    "pandas_s3": "pandas to_csv + upload",
}


def main() -> None:
    """Parse the arguments, measure, print."""
    arguments = _arguments()
    text = os.environ.get(VARIABLE)
    if not text:
        sys.exit(f"{VARIABLE} is not set: run this with `make bench-dataset`")
    try:
        connection = Connection.from_json("s3", text)
        client, bucket = client_for(connection), connection.extra.get("bucket", "storebench")
        check_bucket(client, bucket)
        if arguments.peak_of:
            print(_peak_mb(client, bucket, arguments.peak_of))
            return
        check(arguments.rows, SEED)
        if arguments.pods:
            counts = [int(count) for count in arguments.pods.split(",")]
            rows, rounds = arguments.rows, arguments.rounds
            measure(
                connection,
                bucket,
                rows,
                SEED,
                counts,
                arguments.pod_cpu,
                rounds,
                lambda: _remove(client, bucket, rows),
            )
            return
        seconds, cpu_s = _rounds(
            client, bucket, arguments.rows, min(arguments.pandas_rows, arguments.rows), arguments.rounds
        )
        peaks = [_peak_in_new_process(rows) for rows in (arguments.rows, 4 * arguments.rows)]
    except StorebenchError as error:
        sys.exit(f"{error}")
    _report(arguments.rows, seconds, cpu_s, peaks)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the dataset (default 1,000,000)")
    parser.add_argument("--rounds", type=int, default=7, help="times that each is measured (default 7)")
    parser.add_argument(
        "--pandas-rows", type=int, default=100_000, help="rows for pandas, scaled up (default 100,000)"
    )
    parser.add_argument(
        "--peak-of", type=int, metavar="ROWS", help="only print the peak memory of a new process, MB"
    )
    parser.add_argument("--pods", metavar="N,…", help="only measure so many pods together, such as 1,2,4")
    parser.add_argument(
        "--pod-cpu", type=float, default=0.2, metavar="CORES", help="of each of these pods (default 0.2)"
    )
    return parser.parse_args()


Measured = dict[str, list[float]]  # seconds of each measurement in each round


def _rounds(client: Any, bucket: str, rows: int, pandas_rows: int, rounds: int) -> tuple[Measured, Measured]:
    """Measure the wall time and this process' CPU time for `rows` rows."""
    ready = list(parts(rows, SEED))
    frame = _frame(pandas_rows)
    scale = rows / pandas_rows
    key = f"bench/{uuid.uuid4().hex}.csv"
    steps: dict[str, Callable[[], object]] = {
        "both": lambda: ensure_dataset(client, bucket, rows, SEED),
        "raw": lambda: upload(client, bucket, key, iter(ready)),
        "generate": lambda: deque(parts(rows, SEED), maxlen=0),
        "pandas": lambda: frame.to_csv(os.devnull, index=False, lineterminator="\n"),
        "pandas_s3": lambda: upload(client, bucket, key, _pandas_parts(frame)),
    }
    seconds: Measured = {name: [] for name in steps}
    cpu_s: Measured = {name: [] for name in steps}
    for number in range(rounds):
        for name, step in list(steps.items())[:: -1 if number % 2 else 1]:
            _show(f"round {number + 1} of {rounds}: {LABELS[name]}")
            with ExitStack() as stack:
                stack.callback(_remove, client, bucket, rows, key)
                began_s, began_cpu_s = time.perf_counter(), time.process_time()
                step()
                took_s, took_cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
            factor = scale if name.startswith("pandas") else 1
            seconds[name].append(took_s * factor)
            cpu_s[name].append(took_cpu_s * factor)
    return seconds, cpu_s


def _frame(rows: int) -> Any:
    """Return the first rows of the dataset as a frame of pandas. Raises SystemExit if pandas would write other bytes."""
    import pandas

    data = header() + generate_chunk(SEED, 0, rows).csv
    frame = pandas.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    if frame.to_csv(index=False, lineterminator="\n").encode() != data:
        sys.exit("pandas does not write the same bytes: the comparison would mean nothing")
    return frame


def _pandas_parts(frame: Any) -> Iterator[bytes | bytearray]:
    for start in range(0, len(frame), PART_ROWS):
        part = frame.iloc[start : start + PART_ROWS]
        yield part.to_csv(index=False, header=start == 0, lineterminator="\n").encode()


def _peak_mb(client: Any, bucket: str, rows: int) -> float:
    try:
        ensure_dataset(client, bucket, rows, SEED)
    finally:
        _remove(client, bucket, rows)
    # not getrusage: its maximum survives exec, so a new process would report its parent's
    status = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1000


def _peak_in_new_process(rows: int) -> float:
    _show(f"peak memory of {rows:,} rows")
    command = [sys.executable, "-m", "bench.dataset", "--peak-of", str(rows)]
    completed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if completed.returncode:
        sys.exit(f"generating {rows:,} rows in a process of its own failed")
    return float(completed.stdout)


def _remove(client: Any, bucket: str, rows: int, *keys: str) -> None:
    for key in (manifest_key(rows, SEED), dataset_key(rows, SEED), *keys):
        client.delete_object(Bucket=bucket, Key=key)


def _show(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _report(rows: int, seconds: Measured, cpu_s: Measured, peaks: list[float]) -> None:
    megabytes = sum(map(len, parts(rows, SEED))) / 1e6
    print(f"\n{rows:,} rows, {megabytes:,.1f} MB; seconds of {len(seconds['both'])} rounds\n")
    print(f"{'':24}{'median':>9}{'fastest':>9}{'slowest':>9}{'MB/s':>9}{'own CPU s':>11}")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(
            f"{LABELS[name]:24}{median:9.2f}{min(values):9.2f}{max(values):9.2f}{megabytes / median:9.0f}"
            f"{statistics.median(cpu_s[name]):11.2f}"
        )
    print(f"\n{'peak memory':24}{peaks[0]:9.0f} MB with {rows:,} rows, {peaks[1]:.0f} MB with {4 * rows:,}")
    print(f"{'against pandas, to S3':24}{_ratio(seconds['pandas_s3'], seconds['both']):9.1f} times as fast\n")
    print(
        f"ratio_to_raw={_ratio(seconds['both'], seconds['raw']):.2f}"
        f" speedup_over_pandas={_ratio(seconds['pandas'], seconds['generate']):.1f}"
        f" peak_mb_1m={peaks[0]:.0f} peak_mb_4m={peaks[1]:.0f}"
    )


def _ratio(these: list[float], those: list[float]) -> float:
    """Return the median of the rounds' ratios. Each ratio compares consecutive measurements."""
    return statistics.median(this / that for this, that in zip(these, those, strict=True))


if __name__ == "__main__":
    main()
