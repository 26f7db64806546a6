"""Make the tables in S3 for each format, with an object for each job."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from storebench import s3
from storebench.errors import VerificationFailed
from storebench.stores.map_formats.check import digest, digest_of, digest_of_all
from storebench.stores.map_formats.formats import ENCODINGS, format_of
from storebench.stores.map_formats.tables import (
    JOBS,
    POSITIONS,
    Benchmark,
    Row,
    Table,
    benchmark_of,
    key_of,
)
from storebench.stores.map_formats.verify import verify
from storebench.study.dataset import MANIFEST

AT_ONCE = 2  # number of parts to make concurrently: each has its plain rows in memory


@dataclass(frozen=True)
class Encoded:
    """Rows in each encoding, and the checksum of the plain rows."""

    digest: str
    data: Mapping[str, bytes]


@dataclass(frozen=True)
class Part:
    """A job's tenth of the tables. `outputs`: the expected output rows of the job, by position."""

    table: Encoded
    outputs: Mapping[str, Encoded]


def make(
    client: Any, bucket: str, prefix: str, rows: int, seed: int, benchmark: str, values: str = "random"
) -> Mapping[str, Any]:
    """Make the tables below `prefix` unless they exist. The manifest is written last and returned."""
    table_rows = benchmark_of(benchmark, values).rows(rows)
    with s3.errors(client, bucket, f"{prefix}{MANIFEST}"):
        text = s3.read(client, bucket, f"{prefix}{MANIFEST}")
    if text is not None:
        existing: dict[str, Any] = json.loads(text)
        return existing
    benches = _benches(benchmark, values)
    sizes = dict.fromkeys(ENCODINGS, 0)
    digests: dict[str, list[str]] = {encoding: [] for encoding in ENCODINGS}
    outputs: dict[str, list[str]] = {position: [] for position in benches}
    output_sizes = {position: dict.fromkeys(ENCODINGS, 0) for position in benches}
    of_outputs: dict[str, dict[str, list[str]]] = {
        position: {encoding: [] for encoding in ENCODINGS} for position in benches
    }
    for part, made in enumerate(_parts(benchmark, values, rows, seed)):
        if not part:  # all other parts are made in the same way
            _check(benches, rows, seed, made)
        for encoding, data in made.table.data.items():
            key = key_of(prefix, encoding, part)
            with s3.errors(client, bucket, key):
                client.put_object(Bucket=bucket, Key=key, Body=data)
            sizes[encoding] += len(data)
            digests[encoding].append(digest_of(data))
        for position, output in made.outputs.items():
            outputs[position].append(output.digest)
            for encoding, data in output.data.items():
                output_sizes[position][encoding] += len(data)
                of_outputs[position][encoding].append(digest_of(data))
    manifest = {
        "rows": rows,
        "bytes": sum(sizes.values()),
        "table_rows": table_rows,
        "format_bytes": sizes,
        "digests": digests,
        "output_digests": outputs,
        "output_bytes": output_sizes,
        "output_bytes_digests": {
            position: {encoding: digest_of_all(digests) for encoding, digests in of_one.items()}
            for position, of_one in of_outputs.items()
        },
    }
    with s3.errors(client, bucket, f"{prefix}{MANIFEST}"):
        body = json.dumps(manifest, separators=(",", ":")).encode()
        client.put_object(Bucket=bucket, Key=f"{prefix}{MANIFEST}", Body=body)
    return manifest


def _benches(benchmark: str, values: str) -> dict[str, Benchmark]:
    """Return the benchmark for each of its positions."""
    positions = POSITIONS if benchmark == "extend" else POSITIONS[:1]
    return {position: benchmark_of(benchmark, values, position) for position in positions}


def _parts(benchmark: str, values: str, rows: int, seed: int) -> Iterator[Part]:
    """Yield the parts in order. Several processes make them."""
    workers = min(AT_ONCE, len(os.sched_getaffinity(0)))
    # Fork: a spawned process would import and run the pod's main program.
    context = multiprocessing.get_context("fork")
    work = partial(_part, benchmark, values, rows, seed)
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        for first in range(0, JOBS, workers):  # limit concurrency, since finished parts wait in memory
            yield from pool.map(work, range(first, min(first + workers, JOBS)))


def _part(benchmark: str, values: str, rows: int, seed: int, part: int) -> Part:
    benches = _benches(benchmark, values)
    first = benches[POSITIONS[0]]
    plain = list(first.input(rows, seed, part))
    table = _encoded(first, first.table, plain)
    if benchmark == "write":  # the output is the table
        return Part(table, dict.fromkeys(benches, table))
    outputs = {
        position: _encoded(bench, bench.output, list(bench.map(iter(plain))))
        for position, bench in benches.items()
    }
    return Part(table, outputs)


def _encoded(bench: Benchmark, table: Table, rows: list[Row]) -> Encoded:
    data = {}
    for encoding, name in ENCODINGS.items():
        sink = io.BytesIO()
        format_of(name, bench).encode(table, rows, sink)
        data[encoding] = sink.getvalue()
    return Encoded(digest(rows), data)


def _check(benches: Mapping[str, Benchmark], rows: int, seed: int, made: Part) -> None:
    """Verify the first part with the second implementations of the formats. Raises VerificationFailed."""
    sides = [("output", benches[position], output) for position, output in made.outputs.items()]
    if made.table not in made.outputs.values():
        sides.append(("input", benches[POSITIONS[0]], made.table))
    for side, bench, encoded in sides:
        for encoding, name in ENCODINGS.items():
            wrong = verify(name, "python", bench, side, rows, seed, 0, encoded.digest, encoded.data[encoding])
            if wrong:
                raise VerificationFailed(f"The {side} in {encoding}: {wrong}")
