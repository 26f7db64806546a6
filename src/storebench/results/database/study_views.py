"""Create the views of each study, with its axes and metrics as columns: NAME, NAME_latest, NAME_newest and NAME_summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from psycopg import Cursor, errors, sql

from storebench.errors import SpecError
from storebench.results.database.connection import Row
from storebench.study.model import Axis, Metric
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, STORE, TABLES

# The suffix of each view of a study, and the common view that it reads.
VIEWS = {"": "results", "_latest": "latest", "_newest": "newest", "_summary": "summary"}
WHOLE_NUMBER = "^[0-9]{1,9}$"


def make(cursor: Cursor[Row], study: StudyRecord) -> None:
    """Replace the views of a study by views for its record. Raises SpecError for a name that a view cannot have."""
    if taken := TABLES & {study.name + suffix for suffix in VIEWS}:
        raise SpecError(f"The study {study.name!r}: {', '.join(taken)} is a table of the results")
    drop(cursor, study.name)
    axes = list(_axes(study.axes))
    metrics = list(_metrics(study.metrics))
    for suffix, common in VIEWS.items():
        columns = [sql.SQL("r.*"), *axes, *(metrics if common != "summary" else [])]
        cursor.execute(
            sql.SQL("CREATE VIEW {} AS SELECT {} FROM {} AS r WHERE r.study = {}").format(
                _view(study.name, suffix),
                sql.SQL(", ").join(columns),
                sql.Identifier("storebench", common),
                sql.Literal(study.name),
            )
        )


def drop(cursor: Cursor[Row], name: str) -> None:
    """Remove the existing views of a study. Raises SpecError if a user's own views read them."""
    for suffix in VIEWS:
        try:
            cursor.execute(sql.SQL("DROP VIEW IF EXISTS {}").format(_view(name, suffix)))
        except errors.DependentObjectsStillExist as error:
            raise SpecError(
                f"The view storebench.{name}{suffix} is to be made anew, and others read it. Drop these, and make them again afterwards:"
                f" {error.diag.message_detail}"
            ) from error


def _view(study: str, suffix: str) -> sql.Composable:
    return sql.Identifier("storebench", study + suffix)


def values_of(axes: Iterable[Axis], alias: str = "r") -> dict[str, sql.Composable]:
    """Return SQL for a row's value on each axis as a text, NULL where the axis does not apply. `alias`: of a view with `axes`, `store` and
    `client`.

    A cell whose key does not name an axis that applies has the axis's implied value.
    """
    texts: dict[str, sql.Composable] = {}
    for axis in axes:
        text: sql.Composable = sql.SQL("({}.axes ->> {})").format(sql.SQL(alias), sql.Literal(axis.name))
        if axis.implied:
            text = sql.SQL("coalesce({}, CASE WHEN {} THEN {} END)").format(
                text, _applies(axis, texts, alias), sql.Literal(axis.implied)
            )
        texts[axis.name] = text
    return texts


def _applies(axis: Axis, texts: Mapping[str, sql.Composable], alias: str) -> sql.Composable:
    """Return the condition for rows of cells to which the axis applies. `texts`: the values of the axes before this one."""
    base_name = sql.SQL("split_part({}.store, '@', 1)").format(sql.SQL(alias))
    places = {**texts, STORE: base_name, CLIENT: sql.SQL("{}.client").format(sql.SQL(alias))}
    conditions = [
        sql.SQL("{} IN ({})").format(places[name], sql.SQL(", ").join(map(sql.Literal, values)))
        for name, values in axis.where.items()
    ]
    return sql.SQL(" AND ").join(conditions) if conditions else sql.SQL("true")


def _axes(axes: Sequence[Axis]) -> Iterator[sql.Composable]:
    """Yield a column for each axis. If all offered values are numbers, the column is a number, and NULL for any other value."""
    texts = values_of(axes)
    for axis in axes:
        text = texts[axis.name]
        if axis.numeric:
            text = sql.SQL("CASE WHEN {0} ~ {1} THEN {0}::integer END").format(
                text, sql.Literal(WHOLE_NUMBER)
            )
        yield sql.SQL("{} AS {}").format(text, sql.Identifier(axis.name))


def _metrics(metrics: Iterable[Metric]) -> Iterator[sql.Composable]:
    for metric in metrics:
        if metric.kind == "scalar":
            yield sql.SQL("(r.metrics ->> {})::double precision AS {}").format(
                sql.Literal(metric.name), sql.Identifier(metric.name)
            )
