"""Upgrade the rows of older bundles, as sql/0019 to 0024, sql/0027 and sql/0032 upgraded those of a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.attempt.result import UNTOLD
from storebench.study.model import WORK_TOTAL_S

Row = dict[str, Any]

USAGE = "usage"
EARLIER = ("executor",)  # earlier names of tables: of `usage`
METRIC = "only_s"  # that ranked both operations
FIGURES = {METRIC: "operation_s", "source_s": "source_s", "barrier_s": "barrier_s"}  # and their columns
STUDY, WRITE, WRITE_S = "bulk_write_read", "write", "write_s"  # since 0027 its writes have this sum
PARTS = (METRIC, "barrier_s")  # of these
TOTAL_S = "total_s"  # of which charts were before 0027
PARAMETERS = {"batch_sizes": "batch"}  # the new names of a run's parameters
COLUMNS = {"stopped": "reason"}  # and of its columns
NOT_JUDGED, PRESSURE = "not_judged", "node_cpu_some_share"  # columns of an attempt


def upgraded(tables: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """The rows of each table, as today's tables have them."""
    found = _of_many_studies(tables)
    if "study" in found:
        found["study"] = [_with_its_charts(row) for row in found["study"]]
    if "attempt" in found:
        studies = {cell["key"]: cell["study"] for cell in found["cell"]}
        found["attempt"] = [_judged(_with_sum(row, studies[row["cell_key"]])) for row in found["attempt"]]
    return found


def _of_many_studies(tables: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
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


def _with_sum(row: Row, study: str) -> Row:
    """Add the metric that ranks a write since method 3 to a verified write of an earlier method, as the sum of its recorded parts."""
    metrics = row["metrics"]
    is_write = (study, row["operation"], row["status"]) == (STUDY, WRITE, "verified")
    if not is_write or WRITE_S in metrics or any(name not in metrics for name in PARTS):
        return row
    return {**row, "metrics": {**metrics, WRITE_S: sum(metrics[name] for name in PARTS)}}


def _judged(row: Row) -> Row:
    """Say that an attempt was not judged whose pod told nothing of its node, if that was recorded before rows said it."""
    if NOT_JUDGED in row:
        return row
    counts = row["status"] == "verified" and not row.get("disturbed")
    return {**row, NOT_JUDGED: UNTOLD if counts and row.get(PRESSURE) is None else None}


def _with_its_charts(row: Row) -> Row:
    """Let a study's charts show the total pod time without verification, where they showed the whole."""
    charts = row.get("details", {}).get("charts", [])
    shown = [
        {**chart, "metric": WORK_TOTAL_S.name} if chart["metric"] == TOTAL_S else chart for chart in charts
    ]
    return {**row, "details": {**row["details"], "charts": shown}} if charts else row


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
