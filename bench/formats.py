"""Measure the compiled jobs of the study map_formats: `python -m bench.formats`, needs `map-job` and `map-codecs` on the PATH.

1. The job `wide` of each format relative to the floor, the job of `null`, which reads the smallest table and writes the least bytes.
2. The Go codecs of Skiff and YSON relative to the C++ codecs of ytsaurus-client, which make Python objects: they decode and encode whole
rows of the table of `modify` in memory.

All sides take turns, so that a drift of the machine affects them alike.
"""

from __future__ import annotations

import io
import statistics
import subprocess
import time
from collections.abc import Callable

import click
from rich.console import Console
from rich.table import Table

from storebench.stores.map_formats.formats import FORMATS, format_of
from storebench.stores.map_formats.runner import Jobs, program_of
from storebench.stores.map_formats.tables import Benchmark, benchmark_of

SEED, TURNS, TIMEOUT_S = 42, 9, 120
WIDE_ROWS = 1_000_000  # requested rows; a job has 1,000 rows of 1,000 columns
WIDE_OUTPUT_BYTES = 6  # a message with the count; no format writes less
CODEC_ROWS = 200_000  # requested rows; a tenth is decoded and encoded
CODEC_S = 0.5  # the least seconds of a turn of the Go codecs


def encoded(name: str, bench: Benchmark, rows: int) -> bytes:
    """Return the first tenth of a table."""
    sink = io.BytesIO()
    format_of(name, bench).encode(bench.table, bench.input(rows, SEED, 0), sink)
    return sink.getvalue()


def job(name: str, data: bytes, access: str = "row", written: int = 0) -> float:
    """Return the seconds of a job `wide`. `written`: number of bytes that `null` writes."""
    program = program_of("compiled")

    def command(part: int, report: int) -> tuple[str, ...]:
        return *program, name, "wide", "0", str(written), str(report), "end", "direct", access

    (ended,) = Jobs(1, TIMEOUT_S).run([data], command)
    return ended.seconds


def compiled(name: str, data: bytes) -> float:
    """Return the rows per second of the Go codec."""
    process = subprocess.run(
        ["map-codecs", "speed", name, "middle", str(CODEC_S)],
        input=data,
        capture_output=True,
        check=True,
        timeout=TIMEOUT_S,
    )
    rows, seconds = process.stdout.split()
    return int(rows) / float(seconds)


def skiff(data: bytes) -> float:
    """Return the rows per second of ytsaurus-client."""
    from storebench.stores.map_formats.skiff import SkiffFormat

    format_, sink = SkiffFormat(benchmark_of("modify")), io.BytesIO()
    format_.ready()
    began_s = time.perf_counter()
    rows = list(format_._reader.load_rows(io.BytesIO(data)))
    format_._writer.dump_rows(rows, sink)
    took_s = time.perf_counter() - began_s
    return _checked(len(rows), took_s, data, sink)


def yson(data: bytes) -> float:
    """Return the rows per second of ytsaurus-client."""
    from storebench.stores.map_formats.yson import YsonFormat

    format_, sink = YsonFormat(benchmark_of("modify")), io.BytesIO()
    format_.ready()
    began_s = time.perf_counter()
    rows = list(format_._rows(io.BytesIO(data)))
    format_._dump(rows, sink)
    took_s = time.perf_counter() - began_s
    return _checked(len(rows), took_s, data, sink)


def _checked(rows: int, took_s: float, data: bytes, sink: io.BytesIO) -> float:
    if sink.getvalue() != data:
        raise click.ClickException("the rows came out with other bytes than they had")
    return rows / took_s


def medians(sides: dict[str, Callable[[], float]]) -> dict[str, float]:
    """Return the median of each side. The sides take turns, and the first turn warms up."""
    values_by_side: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(TURNS + 1):
        for name, side in sides.items():
            value = side()
            if turn:
                values_by_side[name].append(value)
    return {name: statistics.median(values) for name, values in values_by_side.items()}


def table(title: str, unit: str, sides: dict[str, float]) -> Table:
    shown = Table(title=title)
    shown.add_column("")
    shown.add_column(unit, justify="right")
    for name, value in sides.items():
        shown.add_row(name, f"{value:,.4g}" if value < 1_000 else f"{value:,.0f}")
    return shown


@click.command()
def main() -> None:
    console, wide, middle = Console(), benchmark_of("wide"), benchmark_of("modify")
    console.print("making the tables")
    tables = {name: encoded(name, wide, WIDE_ROWS) for name in FORMATS}
    smallest = min(tables.values(), key=len)
    jobs: dict[str, Callable[[], float]] = {
        name: lambda name=name: job(name, tables[name])  # type: ignore[misc]
        for name in FORMATS
    }
    jobs["arrow, by columns"] = lambda: job("arrow", tables["arrow"], "column")
    jobs["null"] = lambda: job("null", smallest, written=WIDE_OUTPUT_BYTES)
    seconds = medians(jobs)
    console.print(table("wide: a job of 1,000 rows", "s", seconds))
    floor = seconds.pop("null")
    ratios = {"floor_ratio": min(seconds.values()) / floor}
    for name, client in (("skiff", skiff), ("yson", yson)):
        data = encoded(name, middle, CODEC_ROWS)
        speeds = medians(
            {"Go": lambda n=name, d=data: compiled(n, d), "ytsaurus-client": lambda c=client, d=data: c(d)}  # type: ignore[misc]
        )
        console.print(table(f"{name}: decoded and encoded", "rows/s", speeds))
        ratios[f"{name}_ratio"] = speeds["Go"] / speeds["ytsaurus-client"]
    print(*(f"{name}={value:.2f}" for name, value in ratios.items()))


if __name__ == "__main__":
    main()
