"""Return runs with their current states, including runs that were stopped in Airflow and are not recorded as ended yet; and the overview."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.answers.overviews import NEWEST, Overview, study_overview
from storebench.answers.runs import Run
from storebench.errors import unknown
from storebench.results.database.connection import Row
from storebench.results.leftovers.stopped import RunStates, as_closed, stopped_runs
from storebench.web.reading import Reading


def run_of(read: Reading, states: RunStates, name: str) -> Run:
    """Return the run of this name. Raises SpecError for an unknown run."""
    run_id = read.run_named(name)["id"]
    return runs_by_id(read, states, [run_id])[run_id]


def runs_by_id(read: Reading, states: RunStates, run_ids: Sequence[str]) -> dict[str, Run]:
    """Return the runs with these IDs, by ID."""
    rows = ended(read, states, read.runs_counted(run_ids))
    return {row["id"]: Run.model_validate(row) for row in rows}


def ended(read: Reading, states: RunStates, rows: list[Row]) -> list[Row]:
    """Return runs; runs that were stopped in Airflow as the next run will record them."""
    going = any(row["state"] == "running" for row in rows)
    return as_closed(rows, stopped_runs(read, states)) if going else rows


def overview_of(read: Reading, states: RunStates, study: str | None) -> Overview:
    """Build the overview of all studies, or of one study. Raises SpecError for an unknown study, and for one that the user may not see."""
    if study is not None and study not in read.dag_ids:
        raise unknown("study", study, read.dag_ids)
    pages = [read.runs_page(NEWEST, 0, dag_id) for dag_id in ([study] if study else read.dag_ids)]
    newest = sorted(filter(None, pages), key=lambda rows: rows[0]["started_at"], reverse=True)
    return Overview(
        studies=[
            study_overview(
                read,
                rows[0]["study"],
                [Run.model_validate(row) for row in ended(read, states, rows)],
            )
            for rows in newest
        ]
    )
