"""A job, as a process: its tenth of the table on standard input, its rows on standard output.

Usage: python -m storebench.stores.map_formats.job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE, where FORMAT may be `null`, FIRST
and STOP are the numbers of the rows that are written, and REPORT is a file descriptor. POSITION is where `extend` adds its column, `end`
or `middle`, and INTERFACE is `direct` or `common`. A line of JSON at REPORT says that the job is ready: nothing of the input is read
before it. Another one says that it has ended, when its output is closed. Programs in other languages take the same arguments.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from storebench.errors import SpecError, StorebenchError
from storebench.stores.map_formats import common
from storebench.stores.map_formats.formats import format_of
from storebench.stores.map_formats.tables import benchmark_of

PIECE_BYTES = 64 << 10  # of what passes untouched: a pipe holds so much


def work_of(
    name: str, benchmark: str, numbers: range, position: str, interface: str
) -> Callable[[IO[bytes], IO[bytes]], None]:
    """What the job does with its input and output; raises SpecError for what is not there, or means nothing."""
    bench = benchmark_of(benchmark, position=position)
    common.check_interface(interface)
    if name == "null":
        if (position, interface) != ("end", "direct"):
            raise SpecError("null passes bytes: it has no columns and no interface")
        return _pass
    format_ = format_of(name, bench)
    format_.ready()
    if interface == "common":
        format_.records()  # imports, and makes, what it needs
        if benchmark == "write":
            return lambda source, sink: common.write(format_, numbers, sink)
        return partial(common.MAPS[benchmark], format_)
    if benchmark == "write":
        return lambda source, sink: format_.write(numbers, sink)
    work: Callable[[IO[bytes], IO[bytes]], None] = getattr(format_, benchmark)
    return work


def _pass(source: IO[bytes], sink: IO[bytes]) -> None:
    while piece := source.read(PIECE_BYTES):
        sink.write(piece)


def memory_peak_bytes() -> int:
    """Of this process: what the kernel tells its parent is not less than the parent's own."""
    (found,) = re.findall(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return int(found) << 10


def main() -> None:
    if len(sys.argv) != 8:
        sys.exit("Usage: job FORMAT BENCHMARK FIRST STOP REPORT POSITION INTERFACE")
    name, benchmark, first, stop, report, position, interface = sys.argv[1:]
    with os.fdopen(int(report), "w") as told:
        try:
            work = work_of(name, benchmark, range(int(first), int(stop)), position, interface)
            print(json.dumps({"cpu_s": time.process_time()}), file=told, flush=True)
            work(sys.stdin.buffer, sys.stdout.buffer)
            sys.stdout.flush()
            os.close(sys.stdout.fileno())
        except Exception as error:  # noqa: BLE001 - of whichever library; the attempt's row has it
            kind = "" if isinstance(error, StorebenchError) else f"{type(error).__name__}: "
            print(f"{kind}{error}", file=sys.stderr, flush=True)
            os._exit(1)  # what is left in buffers is no output
        ended = {"cpu_s": time.process_time(), "memory_peak_bytes": memory_peak_bytes()}
        print(json.dumps(ended), file=told, flush=True)
    os._exit(0)  # the output is closed: nothing is left to flush


if __name__ == "__main__":
    main()
