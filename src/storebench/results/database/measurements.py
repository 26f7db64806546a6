"""Read the metrics, histograms and series of attempts, and the recorded studies."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.results.database.connection import Database, Row
from storebench.study.cell import Cell
from storebench.study.model import COMMON, Better, Metric, unit_of
from storebench.study.record import SCALAR, StudyRecord

UNKNOWN = "unknown"  # an unstated delivery or durability, if similar operations state it

# The figures of attempts that may go along with a difference of their metric. A figure of several pods is their sum, and unknown if it is
# unknown of one pod. The pods that do the operation have no role in the names. A counter of a server that restarted has no difference.
ACCOMPANYING = """
WITH pods AS (
    SELECT id AS attempt_id, '' AS role, cpu_s, throttled_s, NULL::bigint AS read_bytes, NULL::bigint AS written_bytes
    FROM storebench.attempt WHERE id = ANY(%(ids)s)
    UNION ALL
    SELECT attempt_id, CASE role WHEN 'client' THEN '' ELSE role || 's_' END, cpu_s, throttled_s, read_bytes, written_bytes
    FROM storebench.usage WHERE attempt_id = ANY(%(ids)s)
), figures AS (
    SELECT attempt_id, 'phase' AS kind, name, 's' AS unit, sum(seconds) AS value
    FROM storebench.phase WHERE attempt_id = ANY(%(ids)s) GROUP BY attempt_id, name
    UNION ALL
    SELECT attempt_id, 'pods', role || f.name, f.unit, CASE WHEN bool_and(f.value IS NOT NULL) THEN sum(f.value) END
    FROM pods CROSS JOIN LATERAL (VALUES
        ('cpu_s', 's', cpu_s), ('throttled_s', 's', throttled_s),
        ('read_bytes', 'bytes', read_bytes::double precision), ('written_bytes', 'bytes', written_bytes::double precision)
    ) AS f (name, unit, value) GROUP BY attempt_id, role, f.name, f.unit
    UNION ALL
    SELECT attempt_id, 'counter', name, unit, CASE WHEN kind = 'gauge' THEN after WHEN after >= before THEN after - before END
    FROM storebench.counter WHERE attempt_id = ANY(%(ids)s)
)
SELECT * FROM figures WHERE value IS NOT NULL ORDER BY attempt_id, kind, name
"""

_COMMON = {metric.name: metric for metric in COMMON}


def metrics_of(study: StudyRecord) -> dict[str, Metric]:
    """Return the study's metrics by name, including the common metrics of all studies."""
    return {**{metric.name: metric for metric in study.metrics}, **_COMMON}


def scalars_of(study: StudyRecord, operation: str) -> list[str]:
    """Return the names of an operation's scalar metrics: the ranking metric first, the common metrics of all studies last.

    A metric that no operation lists is reported by some attempts only. The operations of its charts and tables have it.
    """
    metrics = metrics_of(study)
    names = next((record.metrics for record in study.operations if record.name == operation), ())
    listed = {name for record in study.operations for name in record.metrics}
    some = [name for name in shown_of(study, operation) if name not in listed and name not in _COMMON]
    return [name for name in dict.fromkeys((*names, *some, *_COMMON)) if metrics[name].kind == SCALAR]


def shown_of(study: StudyRecord, operation: str) -> list[str]:
    """Return the names of the metrics that the study's charts and tables show of an operation."""
    shown = [(chart.metric, chart.operations) for chart in study.charts]
    shown += [(name, table.operations) for table in study.tables for name in table.metrics]
    return [name for name, operations in shown if not operations or operation in operations]


def better_of(study: StudyRecord, metric: str) -> Better:
    """Return the preferred direction of a metric; "neither" for a metric that the study has no longer."""
    known = metrics_of(study).get(metric)
    return known.better if known else "neither"


def value_of(row: Mapping[str, Any], metric: str) -> float | None:
    """Return the value of a metric of an attempt, a row of `results`; None if not measured."""
    value: float | None = row[metric] if metric in _COMMON else row["metrics"].get(metric)
    return value


def guarantee_of(rows: Iterable[Row]) -> str | None:
    """Return the delivery of attempts at one operation, or else the durability: UNKNOWN if attempts differ, None if they state neither."""
    guarantees = {row["delivers"] or row["durability"] for row in rows}
    return guarantees.pop() if len(guarantees) == 1 else UNKNOWN


class Measurements(Database):
    """Read attempts, metrics and recorded studies."""

    def ranked(self, rows: Sequence[Row], metric: str | None = None) -> list[Row]:
        """Return attempts, rows of `results`, with value, unit and preferred direction of the metric that ranks their operation, or of
        `metric`. Excludes attempts at operations that do not report the metric. Raises SpecError if none reports it.
        """
        values = [value_of(row, name) if (name := metric or row["metric"]) else None for row in rows]
        return self.reported(
            [{**row, "value": value} for row, value in zip(rows, values, strict=True)], metric
        )

    def reported(self, rows: Sequence[Row], metric: str | None = None) -> list[Row]:
        """Return attempts whose value is already the metric's, and add unit and preferred direction to the rows in place."""
        studies = {name: self.study(name) for name in {row["study"] for row in rows}}
        kinds = dict.fromkeys((row["study"], row["operation"]) for row in rows)
        scalars = {(study, operation): scalars_of(studies[study], operation) for study, operation in kinds}
        known = list(dict.fromkeys(name for names in scalars.values() for name in names))
        if metric and rows and metric not in known:
            raise unknown("metric", metric, known)
        reported = []
        for row in rows:
            names = scalars[row["study"], row["operation"]]
            if metric is None or metric in names:
                name = metric or row["metric"] or names[0]
                better = better_of(studies[row["study"]], name)
                row.update(metric=name, unit=unit_of(name), better=better)
                reported.append(row)
        return reported

    def artifacts(self, attempt_ids: Sequence[uuid.UUID]) -> list[Row]:
        """Return the histograms and series of attempts: attempt_id, name, content."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.artifact WHERE attempt_id = ANY(%s) ORDER BY attempt_id, name",
                (list(attempt_ids),),
            ).fetchall()

    def counters(self, attempt_ids: Sequence[uuid.UUID]) -> list[Row]:
        """Return the counters of attempts in their order: attempt_id, name, unit, kind, before, after, unknown."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.counter WHERE attempt_id = ANY(%s) ORDER BY attempt_id, position",
                (list(attempt_ids),),
            ).fetchall()

    def profiles(self, attempt_ids: Sequence[uuid.UUID]) -> list[Row]:
        """Return the profiles of attempts: attempt_id, name, sampler, hz, samples, dropped_samples, stacks (compressed), unknown."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.profile WHERE attempt_id = ANY(%s) ORDER BY attempt_id, name",
                (list(attempt_ids),),
            ).fetchall()

    def accompanying(self, attempt_ids: Sequence[uuid.UUID]) -> list[Row]:
        """Return the figures that may go along with a difference: attempt_id, kind (phase, pods or counter), name, unit, value.

        The value of a counter is its difference, and the value of a gauge is its value after the operation.
        """
        with self._cursor() as cursor:
            return cursor.execute(ACCOMPANYING, {"ids": list(attempt_ids)}).fetchall()

    def study(self, name: str) -> StudyRecord:
        """Return a study as recorded at the start of its last run. Raises SpecError for a study without a record, and for a record that
        this version cannot read."""
        recorded = self._recorded(name)
        if name not in recorded:
            raise unknown("study", name, self.study_names())
        return StudyRecord.read(recorded[name], name)

    def axes_of(self, keys: Iterable[str], *, everywhere: bool = False) -> dict[str, dict[str, str]]:
        """Return the values of cells on the axes that apply to them, by the cell's key (`Planning.values_of`).

        `everywhere`: also the implied values of axes that do not apply (`Planning.values_everywhere`). A study without a readable record has the values that the keys name.
        """
        studies: dict[str, StudyRecord | None] = {}
        axes = {}
        for key in dict.fromkeys(keys):
            cell = Cell.from_key(key)
            if cell.study not in studies:
                studies[cell.study] = None
                with suppress(SpecError):
                    studies[cell.study] = self.study(cell.study)
            study = studies[cell.study]
            if study is None:
                axes[key] = dict(cell.axes)
            else:
                axes[key] = study.values_everywhere(cell) if everywhere else study.values_of(cell)
        return axes

    def study_names(self) -> list[str]:
        """Return the names of all recorded studies, without their long details."""
        with self._cursor() as cursor:
            rows = cursor.execute("SELECT name FROM storebench.study ORDER BY name").fetchall()
        return [row["name"] for row in rows]

    def studies(self) -> dict[str, StudyRecord]:
        """Return the records of all studies by name, without the records that this version cannot read."""
        studies = {}
        for name, recorded in self._recorded(None).items():
            with suppress(SpecError):
                studies[name] = StudyRecord.read(recorded, name)
        return studies

    def _recorded(self, name: str | None) -> dict[str, Any]:
        """Return the JSON of all studies' records by name, or of one study's record."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT name, details FROM storebench.study WHERE name = coalesce(%s, name) ORDER BY name",
                (name,),
            ).fetchall()
        return {row["name"]: row["details"] for row in rows}
