"""Start the process that verifies rows (check.py)."""

from __future__ import annotations

import subprocess
import sys

from storebench.stores.map_formats.runner import PACKAGE, failure
from storebench.stores.map_formats.tables import Benchmark

TIMEOUT_S = 900  # the slowest decoder takes seconds


def verify(
    name: str,
    client: str,
    bench: Benchmark,
    side: str,
    rows: int,
    seed: int,
    part: int,
    wanted: str,
    data: bytes,
) -> str:
    """Return what is wrong with `data`, the input or output of a job of this client; empty if all rows are right."""
    benchmark = [bench.name, bench.values, bench.position]
    arguments = [name, client, *benchmark, side, str(rows), str(seed), str(part), wanted]
    try:
        process = subprocess.run(
            [sys.executable, "-m", f"{PACKAGE}.check", *arguments],
            input=data,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it could not be decoded within {TIMEOUT_S} s"
    return failure(process.returncode, process.stderr) if process.returncode else ""
