"""Measure the cost of authentication and encryption between Spark's driver and executors (`executor_encryption`).

A turn is four runs through Airflow and Kubernetes that only differ in encryption: on, off, off, on. A steady drift of the machine affects
both alike. Figures exclude disturbed attempts, whose number is printed.

Needs the embedded stack: `make bench-encryption`.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.overhead import Bench, axes_of
from storebench.results.database.queries import counts
from storebench.spark.options import ENCRYPTION

STORE = "delta-spark"
TURN = (True, False, False, True)
Key = tuple[str, str]  # batch, operation
Rows = Mapping[tuple[Key, bool], Sequence[Mapping[str, Any]]]  # with encryption, or without


def seconds(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the seconds in the store's client of each attempt."""
    return [float(row["value"]) for row in rows]


def cpu_s(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the CPU seconds of each attempt's driver and executors."""
    return [float(row["all_cpu_s"]) for row in rows]


def ratios(rows_by_key: Rows) -> dict[Key, float]:
    """Return the ratio of the medians with and without encryption, for each batch and operation with both."""
    return {
        key: statistics.median(seconds(rows)) / statistics.median(seconds(rows_by_key[key, False]))
        for (key, on), rows in rows_by_key.items()
        if on and (key, False) in rows_by_key
    }


def table(title: str, key: Key, rows_by_key: Rows) -> Table:
    """Return the table of a batch's operation, with a line with and a line without encryption."""
    made = Table(title=title)
    for heading in ("encryption", "n", "median, s", "min, s", "max, s", "CPU median, s"):
        made.add_column(heading, justify="left" if heading == "encryption" else "right")
    for on in (True, False):
        values = seconds(rows_by_key[key, on])
        made.add_row(
            "on" if on else "off",
            str(len(values)),
            *(f"{of(values):.3f}" for of in (statistics.median, min, max)),
            f"{statistics.median(cpu_s(rows_by_key[key, on])):.2f}",
        )
    return made


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Of the dataset.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values of an axis, of executors one. Default: batch=10000,all, executors=2.",
)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Turns of four runs.")
@click.option("--client", default="reference", show_default=True, help="Of the store.")
def main(rows: int, axes: tuple[str, ...], repeats: int, client: str) -> None:
    """Measure the seconds of Delta on Spark with encrypted executors relative to unencrypted executors."""
    place = axes_of(axes, batch="10000,all", executors="2")
    if len(place["executors"]) > 1:
        raise click.UsageError("one number of executors, not several")
    (executors,) = place["executors"]
    console, bench = Console(width=100), Bench()
    rows_by_key: dict[tuple[Key, bool], list[dict[str, Any]]] = defaultdict(list)
    disturbed: Counter[tuple[Key, bool]] = Counter()
    for turn in range(1, repeats + 1):
        for on in TURN:
            results, _ = bench.run(
                stores=[STORE],
                clients=[client],
                rows=rows,
                **place,
                **{ENCRYPTION: on},
            )
            for row in results:
                kind = (row["axes"]["batch"], row["operation"]), on
                if counts(row):
                    rows_by_key[kind].append(row)
                else:
                    disturbed[kind] += 1
        excluded = f" ({disturbed.total()} disturbed, excluded)" if disturbed else ""
        console.print(f"turn {turn} of {repeats}: {_line(ratios(rows_by_key))}{excluded}")
    if lost := disturbed.keys() - rows_by_key.keys():
        raise click.ClickException(
            f"each attempt of these was disturbed: {sorted((*key, ENCRYPTION, on) for key, on in lost)}"
        )
    for key in ratios(rows_by_key):
        batch, operation = key
        title = f"{STORE} {client} {operation}, {rows:,} rows, batch {batch}, {executors} executors"
        console.print(table(title, key, rows_by_key))
    (batch, operation), most = max(ratios(rows_by_key).items(), key=lambda item: item[1])
    print(
        f"{_line(ratios(rows_by_key))} max_ratio={most:.3f} batch={batch} operation={operation}"
        f" rows={rows} executors={executors} repeats={2 * repeats} disturbed={disturbed.total()}"
    )


def _line(ratio_by_key: Mapping[Key, float]) -> str:
    return " ".join(
        f"ratio_{operation}_{batch}={value:.3f}" for (batch, operation), value in ratio_by_key.items()
    )


if __name__ == "__main__":
    main()
