"""Run a job as a process, with its tenth of the table on standard input and its output rows on standard output.

Usage: python -m storebench.stores.map_formats.job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE ACCESS. FORMAT may be `null`. FIRST
and STOP are the range of row numbers to write; `null` writes STOP - FIRST bytes. REPORT is a file descriptor. POSITION is the position of
the column that `extend` adds, `end` or `middle`. INTERFACE is `direct` or `common`. ACCESS is `row`, or `column` for arrow. The job writes
two lines of JSON to REPORT: one when it is ready, before it reads input, and one after it has closed its output. Programs in other
languages take the same arguments.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import IO

from storebench.errors import SpecError, StorebenchError
from storebench.stores.map_formats import common
from storebench.stores.map_formats.formats import Format, check_access, format_of
from storebench.stores.map_formats.tables import Benchmark, benchmark_of

PIECE_BYTES = 64 << 10  # size of the floor's reads and writes: the capacity of a pipe


Work = Callable[[IO[bytes], IO[bytes]], None]


def work_of(
    name: str, benchmark: str, numbers: range, position: str, interface: str, access: str = "row"
) -> Work:
    """Return the rehearsed job as a function of input and output. Raises SpecError for an unknown name or combination."""
    bench = benchmark_of(benchmark, position=position)
    common.check_interface(interface)
    check_access(access, name, interface)
    if name == "null":
        if (position, interface) != ("end", "direct"):
            raise SpecError("null decodes nothing: it has no columns and no interface")
        return partial(floor, len(numbers))
    format_ = format_of(name, bench, access)
    format_.ready()
    _rehearse(format_, bench, interface)
    return _work(format_, benchmark, numbers, interface)


def _work(format_: Format, benchmark: str, numbers: range, interface: str) -> Work:
    if interface == "common":
        if benchmark == "write":
            return lambda source, sink: common.write(format_, numbers, sink)
        return partial(common.MAPS[benchmark], format_)
    if benchmark == "write":
        return lambda source, sink: format_.write(numbers, sink)
    work: Work = getattr(format_, benchmark)
    return work


def _rehearse(format_: Format, bench: Benchmark, interface: str) -> None:
    """Run the job with a table of one row before the clock begins: packages import modules and create types at their first use."""
    row, table = bench.row(Random("rehearsal"), 0), io.BytesIO()
    if bench.name != "write":
        format_.encode(bench.table, [row], table)
    table.seek(0)
    _work(format_, bench.name, range(1), interface)(table, io.BytesIO())


def floor(size: int, source: IO[bytes], sink: IO[bytes]) -> None:
    """Read `source` to its end, and write `size` bytes to `sink`: in step with the input, as jobs on rows do, the rest at the end."""
    piece, remaining = bytearray(PIECE_BYTES), size
    view = memoryview(piece)
    while read := source.readinto(piece):  # type: ignore[attr-defined]  # buffered readers have it
        written = min(read, remaining)
        sink.write(view[:written])
        remaining -= written
    while remaining:
        written = min(PIECE_BYTES, remaining)
        sink.write(view[:written])
        remaining -= written


def memory_peak_bytes() -> int:
    """Return the peak memory of this process in bytes. The kernel's figure for a child is at least the parent's own peak."""
    (kib,) = re.findall(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(kib) << 10


def main() -> None:
    if len(sys.argv) != 9:
        sys.exit("Usage: job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE ACCESS")
    name, benchmark, first, stop, report, position, interface, access = sys.argv[1:]
    with os.fdopen(int(report), "w") as reports:
        try:
            work = work_of(name, benchmark, range(int(first), int(stop)), position, interface, access)
            print(json.dumps({"cpu_s": time.process_time()}), file=reports, flush=True)
            work(sys.stdin.buffer, sys.stdout.buffer)
            sys.stdout.flush()
            os.close(sys.stdout.fileno())
        except Exception as error:  # noqa: BLE001 - of any library; the attempt's row gets the error
            kind = "" if isinstance(error, StorebenchError) else f"{type(error).__name__}: "
            print(f"{kind}{error}", file=sys.stderr, flush=True)
            os._exit(1)  # discard buffered output
        ended = {"cpu_s": time.process_time(), "memory_peak_bytes": memory_peak_bytes()}
        print(json.dumps(ended), file=reports, flush=True)
    os._exit(0)  # the output is closed: no buffer needs a flush


if __name__ == "__main__":
    main()
