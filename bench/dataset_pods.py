"""Measure how fast several pods make a dataset together: each pod is a process of this machine with a share of a core."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from storebench.attempt import dataset
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.parts.environment import INDEX, KEY, LEADER, PARTS, PORT, WAIT_S
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.connection import Connection, variable
from storebench.dataset import upload
from storebench.dataset.csv50 import CSV50
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.together import read_back
from storebench.study.dataset import folder_of

TICK_S = 1 / os.sysconf("SC_CLK_TCK")
CHECK_S = 0.02  # between two looks at the CPU time of a limited process
FORKS = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Made:
    """A dataset that several pods have made: seconds until S3 had all parts, seconds of reading back, and CPU seconds of all pods."""

    sending_s: float
    reading_s: float
    cpu_s: float


def measure(
    connection: Connection,
    bucket: str,
    rows: int,
    seed: int,
    counts: Sequence[int],
    share: float,
    rounds: int,
    remove: Callable[[], object],
) -> None:
    """Make the dataset by each number of pods, `rounds` times in turns, and print the rates.

    `share`: the share of a core that each pod may use. `remove`: removes the dataset's objects.
    """
    size_mb = len(header()) / 1e6 + CSV50.row_bytes * rows / 1e6
    generate_chunk(seed, 0, 1)  # makes the tables of pieces before the processes are forked
    made: dict[int, list[Made]] = {count: [] for count in counts}
    for number in range(rounds):
        for count in list(counts)[:: -1 if number % 2 else 1]:
            print(f"round {number + 1} of {rounds}: {count} pods", file=sys.stderr, flush=True)
            remove()
            try:
                made[count].append(_make(connection, bucket, rows, seed, count, share))
            finally:
                remove()
    print(f"\n{rows:,} rows, {size_mb:,.1f} MB; {share:g} cores per pod; medians of {rounds} rounds\n")
    print(f"{'pods':>6}{'sent in s':>12}{'MB/s':>9}{'MB/s per pod':>14}{'read back in s':>16}{'CPU s':>9}")
    pairs = []
    for count in counts:
        sending_s, reading_s, cpu_s = (
            statistics.median(getattr(one, name) for one in made[count])
            for name in ("sending_s", "reading_s", "cpu_s")
        )
        rate = size_mb / sending_s
        print(f"{count:6}{sending_s:12.2f}{rate:9.1f}{rate / count:14.1f}{reading_s:16.2f}{cpu_s:9.2f}")
        pairs += [f"mb_per_s_{count}={rate:.1f}", f"read_back_s_{count}={reading_s:.2f}"]
    print(f"\n{' '.join(pairs)} share={share:g}")


def _make(connection: Connection, bucket: str, rows: int, seed: int, count: int, share: float) -> Made:
    spec = DatasetSpec(bucket, folder_of(CSV50.id(rows, seed)), rows, seed)
    common = {dataset.VARIABLE: spec.to_json(), variable("s3"): connection.to_json()}
    if count > 1:
        common |= {PARTS: str(count), KEY: "bench", WAIT_S: "60", PORT: str(_free_port())}
    with TemporaryDirectory() as folder:
        began_s = time.monotonic()
        pods = []
        for number in range(count):
            place = Path(folder, str(number))
            place.mkdir()
            follower = {LEADER: "127.0.0.1", INDEX: str(number - 1)} if number else {}
            pod = FORKS.Process(target=_pod, args=({**common, **follower}, place))
            pod.start()
            threading.Thread(target=_limit, args=(pod, share), daemon=True).start()
            pods.append(pod)
        for pod in pods:
            pod.join()
        if any(pod.exitcode for pod in pods):
            sys.exit("\n".join(Path(folder, str(n), "output").read_text() for n in range(count)))
        ended = [json.loads(Path(folder, str(n), "ended").read_text()) for n in range(count)]
    took_s = ended[0]["ended_s"] - began_s
    reading_s = ended[0]["reading_s"]
    return Made(took_s - reading_s, reading_s, sum(one["cpu_s"] for one in ended))


def _pod(environment: dict[str, str], folder: Path) -> None:
    """Run the main program of a dataset's pod in this process, and write its times into the folder."""
    os.environ.update(environment)
    os.environ[MESSAGE] = str(folder / "message")
    output = os.open(folder / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    reading_s = 0.0

    def timed(*arguments: Any) -> str:
        nonlocal reading_s
        began_s = time.monotonic()
        sha256 = read_back(*arguments)
        reading_s = time.monotonic() - began_s
        return sha256

    with patch.object(upload, "read_back", timed):
        dataset.main(CSV50.pod.arguments[1])
    times = {"ended_s": time.monotonic(), "reading_s": reading_s, "cpu_s": time.process_time()}
    (folder / "ended").write_text(json.dumps(times))


def _limit(pod: BaseProcess, share: float) -> None:
    """Stop and continue a process so that it uses at most this share of a core, averaged from its begin. Needs no rights."""
    began_s = time.monotonic()
    with suppress(ProcessLookupError, FileNotFoundError):
        while pod.exitcode is None and pod.pid:
            fields = Path(f"/proc/{pod.pid}/stat").read_text().rpartition(")")[2].split()
            too_much_s = (int(fields[11]) + int(fields[12])) * TICK_S / share - (time.monotonic() - began_s)
            if too_much_s > CHECK_S:
                os.kill(pod.pid, signal.SIGSTOP)
                time.sleep(too_much_s)
                os.kill(pod.pid, signal.SIGCONT)
            else:
                time.sleep(CHECK_S)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
