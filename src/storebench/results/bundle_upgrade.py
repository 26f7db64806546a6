"""Bundles from before there was more than one kind of study, or servers: their rows as sql/0019 to 0024 turned those of a database into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Row = dict[str, Any]

USAGE = "usage"
EARLIER = ("executor",)  # earlier names of tables: of `usage`
METRIC = "only_s"  # that ranked both operations
FIGURES = {METRIC: "operation_s", "source_s": "source_s", "barrier_s": "barrier_s"}  # and their columns
PARAMETERS = {"batch_sizes": "batch"}  # the new names of a run's parameters
COLUMNS = {"stopped": "reason"}  # and of its columns


def upgraded(tables: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows of each table, as today's tables have them."""
    named = dict(tables)
    if "executor" in named:
        named[USAGE] = [_usage(row) for row in named.pop("executor")]
    if "study" in named:
        return named
    cells = {cell["key"]: cell for cell in tables["cell"]}
    return {
        **named,
        "attempt": [_attempt(row, cells[row["cell_key"]]["rows"]) for row in tables.get("attempt", [])],
        "run": [_run(row, list(cells.values())) for row in tables["run"]],
    }


def _usage(row: Row) -> Row:
    return {"role": "executor", **{"name" if name == "executor" else name: row[name] for name in row}}


def _attempt(row: Row, rows: int) -> Row:
    found = {metric: row[column] for metric, column in FIGURES.items() if row.get(column) is not None}
    if row["status"] == "verified" and found.get(METRIC):
        found["rows_per_s"] = rows / found[METRIC]
    kept = {name: value for name, value in row.items() if name not in FIGURES.values()}
    return {**kept, "metric": METRIC, "value": found.get(METRIC), "metrics": found}


def _run(row: Row, cells: list[Row]) -> Row:
    params = {PARAMETERS.get(name, name): value for name, value in row["params"].items()}
    datasets = sorted({f"v1/rows={cell['rows']}/seed={cell['seed']}" for cell in cells})
    kept = {COLUMNS.get(name, name): value for name, value in row.items()}
    return {**kept, "params": params, "datasets": datasets or None}
