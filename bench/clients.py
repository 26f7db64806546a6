"""Compare each store's tuned client with its reference client, and both with the null store.

One run through Airflow and Kubernetes: each round of repeats visits the null store and each store's reference and tuned client once, in
random order, so that a slow drift of the machine favours neither client.

Needs the embedded stack: `make bench-clients`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from bench.overhead import Bench, axes_of, study
from storebench.results.database.queries import counts

CEILING = "null"
CLIENTS = ("reference", "tuned")


class Figures:
    """The medians over the repeats of an operation of a store's client."""

    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        operation = rows[0]["operation"]
        self.store, self.client, self.operation = rows[0]["store"], rows[0]["client"], operation
        self.seconds = [float(row["value"]) for row in rows]
        self.median_s = statistics.median(self.seconds)
        self.cpu_share = statistics.median(float(row["client_cpu_share"]) for row in rows)
        self.bound = (
            None
            if rows[0]["client_bound"] is None  # the engine is in the pod
            else sum(1 for row in rows if row["client_bound"])
        )


def figures(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str, str], Figures]:
    """Return the figures of each store, client and operation from the attempts that count."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for row in filter(counts, rows):
        groups.setdefault((row["store"], row["client"], row["operation"]), []).append(row)
    return {key: Figures(group) for key, group in groups.items()}


def table(title: str, reference: Figures, tuned: Figures, ceiling: Figures) -> Table:
    """Return the table of a store's operation with a line for each client."""
    table_of_clients = Table(title=title)
    for heading in (
        "client",
        "median, s",
        "min, s",
        "max, s",
        "speedup",
        "x null",
        "CPU share",
        "client-bound",
    ):
        table_of_clients.add_column(heading, justify="left" if heading == "client" else "right")
    for side in (reference, tuned, ceiling):
        measured = side is not ceiling
        table_of_clients.add_row(
            side.client if measured else CEILING,
            *(f"{value:.3f}" for value in (side.median_s, min(side.seconds), max(side.seconds))),
            f"{reference.median_s / side.median_s:.2f}" if measured else "",
            f"{side.median_s / ceiling.median_s:,.1f}" if measured else "1",
            f"{side.cpu_share:.2f}",
            "-" if side.bound is None else f"{side.bound} of {len(side.seconds)}",
        )
    return table_of_clients


def pairs(
    figures_by_client: dict[tuple[str, str, str], Figures], names: Sequence[str]
) -> list[tuple[Figures, Figures]]:
    """Return the figures of the reference and the tuned client for each operation of these stores."""
    return [
        (figures_by_client[name, "reference", operation], figures_by_client[name, "tuned", operation])
        for name in names
        for operation in (declared.name for declared in study().operations)
        if (name, "tuned", operation) in figures_by_client
    ]


def comparable() -> list[str]:
    """Return the stores with both clients."""
    return [name for name in study().stores if set(CLIENTS) <= set(study().store(name).clients)]


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Of the dataset.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="One value of an axis. Default: batch=10000, executors=1.",
)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Of each client.")
@click.option("--stores", "names", help="Comma-separated; default: all that have both clients.")
def main(rows: int, axes: tuple[str, ...], repeats: int, names: str | None) -> None:
    """Compare each store's reference and tuned client in turns, and the null store as the limit of both."""
    chosen = names.split(",") if names else comparable()
    if unfit := [name for name in chosen if name not in comparable()]:
        raise click.UsageError(f"no store with both clients: {', '.join(unfit)}")
    place = axes_of(axes, batch="10000", executors="1")
    if several := [name for name, values in place.items() if len(values) > 1]:
        raise click.UsageError(f"one value for each axis, not several for {', '.join(several)}")
    at = " ".join(f"{name}={value}" for name, (value,) in place.items())
    console = Console(width=110)
    results, _ = Bench().run(
        stores=[CEILING, *chosen],
        clients=list(CLIENTS),
        rows=rows,
        repeats=repeats,
        **place,
    )
    by_client = figures(results)
    disturbed = {(row["store"], row["client"], row["operation"]) for row in results} - by_client.keys()
    if disturbed:
        raise click.ClickException(f"each attempt of these was disturbed: {sorted(disturbed)}")
    measured = pairs(by_client, chosen)
    for reference, tuned in measured:
        title = f"{tuned.store} {tuned.operation}, {rows:,} rows, {at}, {repeats} repeats"
        console.print(table(title, reference, tuned, by_client[CEILING, "reference", tuned.operation]))
    reference, tuned = min(measured, key=lambda pair: pair[0].median_s / pair[1].median_s)
    print(
        f"min_speedup={reference.median_s / tuned.median_s:.2f} store={tuned.store}"
        f" operation={tuned.operation} rows={rows} {at} repeats={repeats}"
    )


if __name__ == "__main__":
    main()
