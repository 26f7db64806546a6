"""Verify a job's output in a separate process, which decodes standard input with an implementation that the job does not use.

Usage: python -m storebench.stores.map_formats.check FORMAT CLIENT BENCHMARK VALUES POSITION input|output ROWS SEED PART DIGEST. CLIENT is
the client that wrote the rows. The process fails and prints the first difference if the rows differ from the benchmark's plain definition.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from storebench.stores.map_formats.formats import format_of
from storebench.stores.map_formats.tables import Benchmark, Row, benchmark_of

DIGEST_BYTES = 16
# The environment variable that selects Protobuf's implementation when the package is loaded.
PROTOBUF = "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION"
# Protobuf's implementation for verification, by the client that wrote the rows: its jobs use another. Python's is about ten times slower.
DECODERS = {"python": "python", "compiled": "upb"}


def digest(rows: Iterable[Row]) -> str:
    """Return the checksum of plain rows in order. Each value counts with its type."""
    hashed = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for row in rows:
        hashed.update(repr(row).encode())
    return hashed.hexdigest()


def digest_of(data: bytes) -> str:
    """Return the checksum of bytes."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()


def digest_of_all(digests: Iterable[str]) -> str:
    """Return the checksum of the checksums of all jobs."""
    return digest_of("".join(digests).encode())


def check(
    name: str, bench: Benchmark, side: str, rows: int, seed: int, part: int, wanted: str, data: bytes
) -> str:
    """Return a sentence about the first wrong row in `data`; empty if all rows are as expected."""
    table = bench.table if side == "input" else bench.output
    decoder = format_of(name, bench)
    if digest(decoder.decode(table, io.BytesIO(data))) == wanted:
        return ""
    expected = bench.input(rows, seed, part) if side == "input" else bench.expected(rows, seed, part)
    return difference(table.names, expected, decoder.decode(table, io.BytesIO(data)))


def difference(names: Iterable[str], expected: Iterator[Row], actual: Iterator[Row]) -> str:
    """Describe the first difference; empty without one."""
    for number, (wanted, other) in enumerate(zip_longest(expected, actual), 1):
        if other is None:
            return f"only {number - 1:,} rows came out"
        if wanted is None:
            return f"more than {number - 1:,} rows came out"
        if repr(wanted) != repr(other):
            (name, *_), (value, *_), (instead, *_) = zip(
                *((n, a, b) for n, a, b in zip(names, wanted, other, strict=True) if repr(a) != repr(b)),
                strict=True,
            )
            return f"row {number:,}, column {name}: {instead!r}, and not {value!r}"
    return "the manifest has another checksum than the benchmark's plain definition: make the dataset anew"


def main() -> None:
    name, client, benchmark, values, position, side, rows, seed, part, wanted = sys.argv[1:]
    os.environ[PROTOBUF] = DECODERS[client]
    bench = benchmark_of(benchmark, values, position)
    try:
        data = sys.stdin.buffer.read()
        wrong = check(name, bench, side, int(rows), int(seed), int(part), wanted, data)
    except Exception as error:  # noqa: BLE001 - decoders may raise anything for invalid bytes
        wrong = f"cannot be decoded: {type(error).__name__}: {error}"
    if wrong:
        sys.exit(wrong)


if __name__ == "__main__":
    main()
