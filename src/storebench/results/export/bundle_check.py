"""Check the rows of a bundle: all rows belong to the bundle's run, and all names follow this project's patterns.

A bundle may come from a stranger. Its rows must not change another run, and no name may escape a folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any
from uuid import UUID

from storebench.errors import SpecError
from storebench.results.database.attempts import short_hash
from storebench.results.export.bundle_file import Row
from storebench.stores.base import CLIENT, split
from storebench.study.cell import Cell
from storebench.study.check import NAME
from storebench.study.dataset import is_id
from storebench.study.record import StudyRecord
from storebench.study.tags import check_tags

RUN_NAME = re.compile(
    r"[^\x00-\x1f\x7f]{1,250}"
)  # at most Airflow's limit for a run's id, without control characters
HASH = re.compile("[0-9a-f]{16}")  # a hash, which may equal a hash in other rows of this database
SHOWN = 5  # the number of problems to show in an error
# For each table that refers to another table: the column, and the table and column that it refers to.
REFERENCES = {
    "study": ("name", "run", "study"),
    "run_cell": ("cell_key", "cell", "key"),
    "phase": ("attempt_id", "attempt", "id"),
    "artifact": ("attempt_id", "attempt", "id"),
    "usage": ("attempt_id", "attempt", "id"),
    "counter": ("attempt_id", "attempt", "id"),
    "profile": ("attempt_id", "attempt", "id"),
}


def check(tables: Mapping[str, list[Row]]) -> Row:
    """Check all rows, and return the row of the bundle's run. Raises SpecError for a row of another run or an impossible name."""
    runs = tables.get("run", [])
    if len(runs) != 1:
        raise SpecError(f"A bundle has one run; this one has {len(runs)}")
    (run,) = runs
    try:
        problems = [*_of_run(run), *_of_study(run, tables), *_of_ids(tables)]
        problems += [*_of_cells(run, tables), *_of_attempts(run, tables)]
        problems += [problem for table in REFERENCES for problem in _unreferenced(table, tables)]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SpecError(f"The bundle's rows lack what each bundle has: {error!r:.200}") from error
    if problems:
        more = f"; and {len(problems) - SHOWN:,} more" if len(problems) > SHOWN else ""
        raise SpecError(f"The bundle is not of one run of this project: {'; '.join(problems[:SHOWN])}{more}")
    return run


def _of_run(run: Row) -> Iterator[str]:
    if not (isinstance(run["study"], str) and NAME.fullmatch(run["study"])):
        yield f"{_short(run['study'])} is no name of a study"
    names = run["dag_id"], run["airflow_run_id"]
    if not all(isinstance(name, str) and RUN_NAME.fullmatch(name) for name in names):
        yield f"{_short(names)} are no names of a DAG and its run"
    if run["id"] != "/".join(map(str, names)):
        yield f"the run's id {_short(run['id'])} is not that of its DAG and its run"
    try:
        check_tags(run.get("tags", ()))
    except (SpecError, TypeError):
        yield f"{_short(run['tags'])} are no tags"
    yield from (
        f"{_short(dataset)} is no id of a dataset"
        for dataset in run.get("datasets") or []
        if not is_id(dataset)
    )


def _of_study(run: Row, tables: Mapping[str, list[Row]]) -> Iterator[str]:
    """Yield problems of the study: a missing study, or a record that cannot be read."""
    if tables.get("attempt") and not tables.get("study"):
        yield f"the bundle lacks the study {_short(run['study'])}"
    for row in tables.get("study", []):
        try:
            StudyRecord.read(row.get("details") or {}, str(row["name"]))
        except SpecError as error:
            yield str(error)


def _of_cells(run: Row, tables: Mapping[str, list[Row]]) -> Iterator[str]:
    for row in tables.get("cell", []):
        cell = Cell.from_key(row["key"])
        columns = (row["study"], row["store"], row["client"], row["axes"], row["rows"], row["seed"])
        if columns != (cell.study, cell.store, cell.client, dict(cell.axes), cell.rows, cell.seed):
            yield f"the columns of the cell {_short(cell.key)} are not those of its key"
        if cell.study != run["study"]:
            yield f"the cell {_short(cell.key)} is of another study"
        if not (CLIENT.fullmatch(split(cell.store)[0]) and CLIENT.fullmatch(cell.client)):
            yield f"the cell {_short(cell.key)} has no name of a store, or of a client"
    for row in tables.get("run_cell", []):
        if row["run_id"] != run["id"]:
            yield f"a turn is of the run {_short(row['run_id'])}"


def _of_attempts(run: Row, tables: Mapping[str, list[Row]]) -> Iterator[str]:
    turns = {(row["cell_key"], row["repeat"]) for row in tables.get("run_cell", [])}
    known = {
        "dataset_id": _values(tables, "dataset", "id"),
        "environment_hash": _values(tables, "environment", "hash"),
        "parameters_hash": _values(tables, "parameters", "hash"),
    }
    for row in tables.get("attempt", []):
        UUID(row["id"])
        if row["run_id"] != run["id"]:
            yield f"the attempt {row['id']} is of the run {_short(row['run_id'])}"
        if (row["cell_key"], row["repeat"]) not in turns:
            yield f"the attempt {row['id']} is of no turn of the run"
        for column, values in known.items():
            if row.get(column) is not None and row[column] not in values:
                yield f"the attempt {row['id']} has the {column} {_short(row[column])}, which the bundle lacks"


def _of_ids(tables: Mapping[str, list[Row]]) -> Iterator[str]:
    yield from (
        f"{_short(row['id'])} is no id of a dataset"
        for row in tables.get("dataset", [])
        if not is_id(row["id"])
    )
    for table in ("environment", "parameters"):
        for row in tables.get(table, []):
            if HASH.fullmatch(row["hash"]) and row["hash"] != short_hash(row["details"]):
                yield f"the {table} {_short(row['hash'])} has another hash"


def _unreferenced(table: str, tables: Mapping[str, list[Row]]) -> Iterator[str]:
    """Yield problems of a table's rows that refer to a row which the bundle lacks."""
    column, other, key = REFERENCES[table]
    known = _values(tables, other, key)
    for row in tables.get(table, []):
        if row[column] not in known:
            yield f"a row of {table} is of the {other} {_short(row[column])}, which the bundle lacks"


def _values(tables: Mapping[str, list[Row]], table: str, column: str) -> Collection[Any]:
    return {row[column] for row in tables.get(table, [])}


def _short(value: object) -> str:
    return f"{value!r:.100}"
