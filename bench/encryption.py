"""What it costs that Spark's driver and executors prove who they are, and encrypt what they send (`executor_encryption`).

A turn is four runs through Airflow and Kubernetes that differ in nothing else: on, off, off, on. A steady drift of the machine
falls on both alike.

Needs the embedded stack: `make bench-encryption`.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.overhead import Bench
from storebench.spark.session import ENCRYPTION

STORE = "delta-spark"
TURN = (True, False, False, True)
Key = tuple[str, str]  # batch size, operation
Rows = Mapping[tuple[Key, bool], Sequence[Mapping[str, Any]]]  # with encryption, or without


def seconds(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """In the store's client, of attempts at one operation."""
    return [float(row[f"{row['operation']}_only_s"]) for row in rows]


def cpu_s(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """CPU seconds of driver and executors together."""
    return [float(row["all_cpu_s"]) for row in rows]


def ratios(found: Rows) -> dict[Key, float]:
    """The median with encryption over the median without, of each batch size and operation."""
    return {
        key: statistics.median(seconds(rows)) / statistics.median(seconds(found[key, False]))
        for (key, on), rows in found.items()
        if on
    }


def table(title: str, key: Key, found: Rows) -> Table:
    """One batch size's operation: a line with encryption, and one without."""
    made = Table(title=title)
    for heading in ("encryption", "n", "median, s", "min, s", "max, s", "CPU median, s"):
        made.add_column(heading, justify="left" if heading == "encryption" else "right")
    for on in (True, False):
        values = seconds(found[key, on])
        made.add_row(
            "on" if on else "off",
            str(len(values)),
            *(f"{of(values):.3f}" for of in (statistics.median, min, max)),
            f"{statistics.median(cpu_s(found[key, on])):.2f}",
        )
    return made


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Of the dataset.")
@click.option("--batches", default="10000,all", show_default=True, help="Comma-separated batch sizes.")
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Turns of four runs.")
@click.option("--executors", default="2", show_default=True, help="Spark executors.")
@click.option("--client", default="reference", show_default=True, help="Of the store.")
def main(rows: int, batches: str, repeats: int, executors: str, client: str) -> None:
    """The seconds of Delta on Spark with encrypted executors, over those without."""
    console, bench = Console(width=100), Bench()
    found: dict[tuple[Key, bool], list[dict[str, Any]]] = defaultdict(list)
    for turn in range(1, repeats + 1):
        for on in TURN:
            results, _ = bench.run(
                stores=[STORE],
                clients=[client],
                batch_sizes=batches.split(","),
                executors=[executors],
                rows=rows,
                **{ENCRYPTION: on},
            )
            for row in results:
                found[(row["batch_size"], row["operation"]), on].append(row)
        console.print(f"turn {turn} of {repeats}: " + _line(ratios(found)))
    for key in ratios(found):
        batch, operation = key
        title = f"{STORE} {client} {operation}, {rows:,} rows, batch {batch}, {executors} executors"
        console.print(table(title, key, found))
    (batch, operation), most = max(ratios(found).items(), key=lambda item: item[1])
    print(
        f"{_line(ratios(found))} max_ratio={most:.3f} batch={batch} operation={operation}"
        f" rows={rows} executors={executors} repeats={2 * repeats}"
    )


def _line(found: Mapping[Key, float]) -> str:
    return " ".join(f"ratio_{operation}_{batch}={value:.3f}" for (batch, operation), value in found.items())


if __name__ == "__main__":
    main()
