"""Return runs with their current states in Airflow, which the next run or task will record."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from storebench.answers.runs import Run
from storebench.errors import SpecError
from storebench.results.database.connection import Row
from storebench.results.database.repository import run_id_of
from storebench.results.leftovers.stopped import Going, RunStates, as_closed, as_reopened, stopped_runs
from storebench.study.tags import TAGS, requested_tags, without_tags
from storebench.version import code_version
from storebench.web.reading import Reading


def run_of(read: Reading, states: RunStates, name: str) -> Run:
    """Return the run of this name. A run that Airflow has, and that is not recorded before its plan, is queued. Raises SpecError for an
    unknown run.
    """
    try:
        run_id = read.run_named(name)["id"]
    except SpecError:
        if going := states.going_named(name):
            return _unplanned(going)
        raise
    return runs_by_id(read, states, [run_id])[run_id]


def runs_by_id(read: Reading, states: RunStates, run_ids: Sequence[str]) -> dict[str, Run]:
    """Return the runs with these IDs, by ID."""
    rows = current(read, states, read.runs_counted(run_ids))
    return {row["id"]: Run.model_validate(row) for row in rows}


def current(read: Reading, states: RunStates, rows: list[Row]) -> list[Row]:
    """Return runs as Airflow has them: stopped runs as the next run will record them, and cleared runs as queued or running again."""
    if any(row["state"] == "running" for row in rows):
        rows = as_closed(rows, stopped_runs(read, states))
    if over := [row["airflow_run_id"] for row in rows if row["state"] != "running"]:
        rows = as_reopened(rows, states.going(over))
    return rows


def _unplanned(going: Going) -> Run:
    """Return a run that Airflow has and whose plan is not recorded, with the requested stores and rows."""
    stores, rows = going.conf.get("stores"), going.conf.get("rows")
    return Run(
        id=run_id_of(going.dag_id, going.airflow_run_id),
        study=going.dag_id,
        dag_id=going.dag_id,
        airflow_run_id=going.airflow_run_id,
        state="queued",
        started_at=going.queued_at or going.started_at or datetime.now(UTC),
        finished_at=None,
        rested_s=0,
        method_version=0,
        code_version=code_version(),
        order_seed=None,
        params=without_tags(going.conf),
        tags=requested_tags(going.conf.get(TAGS)),
        stores=[str(store) for store in stores] if isinstance(stores, list) else [],
        rows=rows if isinstance(rows, int) else None,
        cells=0,
        cell_key=None,
        expected_most_s=None,
        planned=0,
        verified=0,
        disturbed=0,
        failed=0,
        not_run=0,
    )
