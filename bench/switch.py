"""Measure the cost of a parameter of a run that is on or off, such as `counters` or `executor_encryption`.

A turn is four runs through Airflow and Kubernetes that only differ in the parameter: on, off, off, on. A steady drift of the machine affects
both alike. Figures exclude disturbed attempts, whose number is printed.

Needs the embedded stack: `make bench-counters`, `make bench-encryption`.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from bench.overhead import Bench, axes_of, study
from storebench.planning.conf import names_in
from storebench.planning.params import fields_of
from storebench.results.database.queries import counts

TURN = (True, False, False, True)
VALUES = ({True: True, False: False}, {True: "on", False: "off"})  # of a switch, when it is on or off


class Key(NamedTuple):
    """Name an operation of a store at a batch, which runs measure with the switch on and off."""

    store: str
    batch: str
    operation: str


Rows = Mapping[tuple[Key, bool], Sequence[Mapping[str, Any]]]  # with the switch on, or off


def values_of(parameter: str) -> Mapping[bool, Any]:
    """Return the values of a switch when it is on and off. Raises UsageError for any other parameter."""
    field = fields_of(study()).get(parameter)
    for values in VALUES:
        if field and set(field.examples) == set(values.values()):
            return values
    raise click.UsageError(f"{parameter} is no parameter that is on or off")


def seconds(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the seconds in the store's client of each attempt."""
    return [float(row["value"]) for row in rows]


def cpu_s(rows: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the CPU seconds of all pods of each attempt."""
    return [float(row["all_cpu_s"]) for row in rows]


def ratios(rows_by_key: Rows) -> dict[Key, float]:
    """Return the ratio of the medians with the switch on and off, for each key with both."""
    return {
        key: statistics.median(seconds(rows)) / statistics.median(seconds(rows_by_key[key, False]))
        for (key, on), rows in rows_by_key.items()
        if on and (key, False) in rows_by_key
    }


def table(parameter: str, title: str, key: Key, rows_by_key: Rows) -> Table:
    """Return the table of a key, with a line for the switch on and a line for the switch off."""
    made = Table(title=title)
    for heading in (parameter, "n", "median, s", "min, s", "max, s", "CPU median, s"):
        made.add_column(heading, justify="left" if heading == parameter else "right")
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
@click.argument("parameter")
@click.option("--stores", required=True, metavar="NAME,...", help="Stores to measure.")
@click.option("--rows", type=click.IntRange(1), default=100_000, show_default=True, help="Of the dataset.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    required=True,
    metavar="NAME=VALUE,...",
    help="Values of an axis, of axes other than batch one. The last option of an axis counts.",
)
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Turns of four runs.")
@click.option("--client", default="reference", show_default=True, help="Of the stores.")
def main(parameter: str, stores: str, rows: int, axes: tuple[str, ...], repeats: int, client: str) -> None:
    """Measure the seconds in the stores' clients with PARAMETER on relative to the seconds with PARAMETER off."""
    values, place, names = values_of(parameter), axes_of(axes), names_in(stores)
    others = {name: of_axis for name, of_axis in place.items() if name != "batch"}
    if several := [name for name, of_axis in others.items() if len(of_axis) > 1]:
        raise click.UsageError(f"one value of {several[0]}, not several")
    console, bench = Console(width=100), Bench()
    rows_by_key: dict[tuple[Key, bool], list[dict[str, Any]]] = defaultdict(list)
    disturbed: Counter[tuple[Key, bool]] = Counter()
    for turn in range(1, repeats + 1):
        for on in TURN:
            results, _ = bench.run(
                stores=names, clients=[client], rows=rows, **place, **{parameter: values[on]}
            )
            for row in results:
                kind = Key(row["store"], row["axes"]["batch"], row["operation"]), on
                if counts(row):
                    rows_by_key[kind].append(row)
                else:
                    disturbed[kind] += 1
        excluded = f" ({disturbed.total()} disturbed, excluded)" if disturbed else ""
        console.print(f"turn {turn} of {repeats}: {_line(ratios(rows_by_key))}{excluded}")
    if lost := disturbed.keys() - rows_by_key.keys():
        raise click.ClickException(
            f"each attempt of these was disturbed: {sorted((*key, parameter, on) for key, on in lost)}"
        )
    fixed = {name: value for name, (value,) in others.items()}
    for key in ratios(rows_by_key):
        at = "".join(f", {name} {value}" for name, value in fixed.items())
        title = f"{key.store} {client} {key.operation}, {rows:,} rows, batch {key.batch}{at}"
        console.print(table(parameter, title, key, rows_by_key))
    key, most = max(ratios(rows_by_key).items(), key=lambda item: item[1])
    at = "".join(f" {name}={value}" for name, value in fixed.items())
    print(
        f"{_line(ratios(rows_by_key))} max_ratio={most:.3f} store={key.store} batch={key.batch} operation={key.operation}"
        f" rows={rows}{at} repeats={2 * repeats} disturbed={disturbed.total()}"
    )


def _line(ratio_by_key: Mapping[Key, float]) -> str:
    """Return the ratios as `key=value` pairs, which name the store if there are several stores."""
    several = len({key.store for key in ratio_by_key}) > 1
    return " ".join(
        f"ratio_{key.operation}_{f'{key.store}_' if several else ''}{key.batch}={ratio:.3f}"
        for key, ratio in ratio_by_key.items()
    )


if __name__ == "__main__":
    main()
