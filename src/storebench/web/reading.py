"""Read the results of the DAGs that a user may see."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from enum import StrEnum
from typing import Any, cast
from uuid import UUID

from psycopg import Connection, sql

from storebench.answers import figures
from storebench.errors import SpecError, quoted, unknown
from storebench.planning.node_pools import NodePool
from storebench.protocol.figures import FIGURES, USAGE
from storebench.results.database.connection import Row
from storebench.results.database.pool import lent
from storebench.results.database.queries import Queries
from storebench.results.database.rows import AttemptRow
from storebench.results.database.runs import LATEST, MOST_NEAR, OF_A_CELL, RUN_COUNTS
from storebench.results.database.study_views import values_of
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord

TURNS = """
SELECT CASE WHEN p.position IS NOT NULL
        THEN row_number() OVER (PARTITION BY p.node_pool ORDER BY p.position NULLS LAST) - 1 END AS map_index,
    p.node_pool, p.cell_key, c.study, c.store, c.client, p.repeat, p.repeat = 0 AS warm_up, p.arm, p.skipped, p.operations
FROM storebench.run_cell AS p JOIN storebench.cell AS c ON c.key = p.cell_key
WHERE p.run_id = %s ORDER BY p.position NULLS LAST, p.cell_key LIMIT %s OFFSET %s
"""
# A run's name ends with its start time.
REFUSED = r"""
SELECT airflow_run_id, params, reason FROM (
    SELECT DISTINCT ON (regexp_replace(airflow_run_id, '__[^_]*$', ''), params) airflow_run_id, params, reason, state
    FROM storebench.run WHERE dag_id = %s AND airflow_run_id LIKE ANY(%s)
    ORDER BY regexp_replace(airflow_run_id, '__[^_]*$', ''), params, started_at DESC
) AS newest WHERE state = 'refused'
"""
# A later try of the same operation supersedes an attempt: only the newest try counts. The query selects the IDs of a page first, and
# builds the view's wide rows only for these IDs.
ATTEMPTS = """
SELECT v.*, EXISTS (
    SELECT FROM storebench.attempt AS later
    WHERE (later.run_id, later.cell_key, later.repeat, later.operation) = (v.run_id, v.cell_key, v.repeat, v.operation)
        AND later.try_number > v.try_number
) AS superseded
FROM (
    SELECT attempt_id, row_number() OVER () AS place FROM (
        SELECT v.attempt_id FROM {source} AS v JOIN storebench.run AS r ON r.id = v.run_id
        WHERE {conditions} ORDER BY {group}{by} {order}, v.attempt_id LIMIT {limit} OFFSET {offset}
    ) AS sorted
) AS page
JOIN storebench.results AS v ON v.attempt_id = page.attempt_id
ORDER BY page.place
"""
# The first row is the attempt's own pod, as part 0. Roles are sorted by name: client, executor, server.
PODS = """
SELECT pod.*, pod.client_cpu_share >= 0.9 * pod.client_cores_usable AS client_bound FROM (
    SELECT 'client' AS role, coalesce(pod, '') AS name, 1 AS pods, 0 AS part, {of_attempt}
    FROM storebench.attempt WHERE run_id = {run} AND id = {attempt}
    UNION ALL
    SELECT u.role, u.name, u.pods, u.part, {of_usage}
    FROM storebench.usage AS u JOIN storebench.attempt AS a ON a.id = u.attempt_id WHERE a.run_id = {run} AND a.id = {attempt}
) AS pod ORDER BY role, part, name LIMIT {limit} OFFSET {offset}
"""
# The columns of the view `results` that need only an attempt and its cell.
NARROW = """(
    SELECT a.*, a.id AS attempt_id, c.study, c.store, c.client, c.axes, c.rows, c.seed
    FROM storebench.attempt AS a JOIN storebench.cell AS c ON c.key = a.cell_key
)"""


class Sort(StrEnum):
    """The columns that attempts may be sorted by: a user's text never becomes SQL."""

    RECORDED_AT = "recorded_at"
    STORE = "store"
    CLIENT = "client"
    ROWS = "rows"
    SEED = "seed"
    OPERATION = "operation"
    STATUS = "status"
    REPEAT = "repeat"
    VALUE = "value"
    TOTAL_S = "total_s"
    MEMORY = "all_memory_working_set_peak_bytes"
    CLIENT_CPU_SHARE = "client_cpu_share"


# Columns whose figures are sorted only within a group: clients apart from engines, and each metric apart.
ALIKE: Mapping[str, str] = {
    Sort.MEMORY: "v.figures_cover, ",
    Sort.CLIENT_CPU_SHARE: "v.figures_cover, ",
    Sort.VALUE: "v.metric, ",
}
AXIS, METRIC = "axis:", "metric:"  # prefixes of an axis or metric to sort by


class Reading(Queries):
    """Read results for one user: `dag_ids` are the DAGs whose runs the user may see."""

    dag_ids: list[str]

    def __init__(self, dsn: str, dag_ids: Sequence[str]) -> None:
        super().__init__(dsn, dag_ids=list(dag_ids))

    def runs_page(
        self, limit: int, offset: int, dag_id: str | None = None, tags: Sequence[str] = ()
    ) -> list[Row]:
        """Return runs, newest first, of all DAGs or of one DAG, with their numbers of planned, verified, disturbed, failed and not run
        operations. A disturbed operation is also verified. `tags`: only runs with all these tags."""
        dag_ids = [allowed for allowed in self.dag_ids if dag_id in (None, allowed)]
        runs = sql.SQL(
            "(SELECT * FROM storebench.run WHERE dag_id = ANY({}) AND tags @> {} ORDER BY started_at DESC LIMIT {} OFFSET {})"
        ).format(*map(sql.Literal, (dag_ids, list(tags), limit, offset)))
        return self._all(sql.SQL(RUN_COUNTS).format(runs=runs))

    def latest(self, dag_id: str | None = None) -> str | None:
        """Return the ID of the run that 'latest' names among the runs of all DAGs or of one DAG, or None without such a run."""
        dag_ids = [allowed for allowed in self.dag_ids if dag_id in (None, allowed)]
        try:
            return str(Reading(self._dsn, dag_ids).run_named(LATEST)["id"])
        except SpecError:
            return None

    def study(self, name: str) -> StudyRecord:
        """Return the record of a study. Raises SpecError for an unknown study, and likewise for a study whose DAG the user may not read."""
        if name not in self.dag_ids:
            raise unknown("study", name, self.study_names())
        return super().study(name)

    def study_names(self) -> list[str]:
        """Return the names of the recorded studies whose DAGs the user may read."""
        return [name for name in super().study_names() if name in self.dag_ids]

    def studies(self) -> dict[str, StudyRecord]:
        """Return the records of the studies whose DAGs the user may read, by name."""
        return {name: record for name, record in super().studies().items() if name in self.dag_ids}

    def refused_of_a_cell(self, dag_id: str) -> list[Row]:
        """Return refused runs of single cells of a DAG (airflow_run_id, params, reason): runs that are the newest of their cell and parameters."""
        return self._all(REFUSED, (dag_id, OF_A_CELL))

    def turns(self, run_id: str, limit: int, offset: int) -> list[Row]:
        """Return a run's turns in order, then the skipped cells."""
        rows = self._all(TURNS, (run_id, limit, offset))
        axes = self.axes_of(row["cell_key"] for row in rows)
        return [
            {
                **row,
                **figures.named(row["cell_key"], axes[row["cell_key"]]),
                "task_group": NodePool(row["node_pool"]).group,
            }
            for row in rows
        ]

    def cells_of_run_page(self, run_id: str, limit: int, offset: int) -> list[str]:
        """Return the keys of a run's cells, in the order of each cell's first turn."""
        rows = self._all(
            "SELECT cell_key FROM storebench.run_cell WHERE run_id = %s AND skipped IS NULL"
            " GROUP BY cell_key ORDER BY min(position), cell_key LIMIT %s OFFSET %s",
            (run_id, limit, offset),
        )
        return [row["cell_key"] for row in rows]

    def attempts_of(self, run_id: str, keys: Sequence[str], *, warm_ups: bool = False) -> list[AttemptRow]:
        """Return the newest tries of these cells' operations in a run: either without warm-ups, or only warm-ups."""
        condition = sql.SQL("run_id = {} AND cell_key = ANY({}) AND repeat {} 0").format(
            sql.Literal(run_id), sql.Literal(list(keys)), sql.SQL("=" if warm_ups else ">")
        )
        rows = self.on_machines(self._newest_tries(condition))
        order = {key: n for n, key in enumerate(keys)}
        place = self._places(rows)
        return sorted(
            rows,
            key=lambda row: (order[row["cell_key"]], place[row["study"], row["operation"]], row["repeat"]),
        )

    def _places(self, rows: Sequence[AttemptRow]) -> dict[tuple[str, str], int]:
        """Return the position of each operation in its study."""
        places = {
            (study, operation.name): place
            for study in {row["study"] for row in rows}
            for place, operation in enumerate(self.study(study).operations)
        }
        return {
            key: places.get(key, len(places)) for key in {(row["study"], row["operation"]) for row in rows}
        }

    def pods(self, run_id: str, attempt_id: UUID, limit: int, offset: int) -> list[Row]:
        """Return the pods of an attempt of a run: first its own pod as part 0, then the rows of the table `usage`: the other parts by their
        numbers, executors, and servers. Each has the figures of UsageFigures and `client_bound`.
        """
        names = [name for name in USAGE if name != "part"]
        query = sql.SQL(PODS).format(
            of_attempt=sql.SQL(", ").join(
                sql.Identifier(name)
                if name in FIGURES or name == "node"
                else sql.SQL("NULL AS {}").format(sql.Identifier(name))
                for name in names
            ),
            of_usage=sql.SQL(", ").join(sql.SQL("u.{}").format(sql.Identifier(name)) for name in names),
            **{
                name: sql.Literal(value)
                for name, value in (
                    ("run", run_id),
                    ("attempt", attempt_id),
                    ("limit", limit),
                    ("offset", offset),
                )
            },
        )
        return self._all(query)

    def attempts_page(
        self,
        filters: Mapping[str, str | int],
        parts: Mapping[str, str],
        axes: Sequence[tuple[str, str]],
        sort: str,
        descending: bool,
        limit: int,
        offset: int,
    ) -> list[AttemptRow]:
        """Return rows of the view `results`, each with `superseded`: whether a later try supersedes the attempt.

        `sort` is a value of Sort, or AXIS or METRIC followed by a name: an axis's numbers are sorted numerically, before its words. `filters`
        maps columns to values, `parts` maps columns to texts that values contain, ignoring case, and `axes` are pairs of an axis and a value.
        Sorting by memory or CPU lists clients of servers and engines separately; sorting by the ranking figure groups by metric.
        """
        conditions: list[sql.Composable] = [sql.SQL("r.dag_id = ANY({})").format(sql.Literal(self.dag_ids))]
        conditions += [
            sql.SQL("v.{} = {}").format(sql.Identifier(name), sql.Literal(value))
            for name, value in filters.items()
        ]
        conditions += [
            sql.SQL("position(lower({}) IN lower(v.{})) > 0").format(sql.Literal(value), sql.Identifier(name))
            for name, value in parts.items()
        ]
        studies = self.studies().values() if axes or sort.startswith(AXIS) else ()
        conditions += [self._at(studies, name, value) for name, value in axes]
        query = sql.SQL(ATTEMPTS).format(
            source=sql.SQL("storebench.results" if sort == Sort.MEMORY else NARROW),
            conditions=sql.SQL(" AND ").join(conditions),
            group=sql.SQL(ALIKE.get(sort, "")),
            by=_by(sort, studies),
            order=sql.SQL(_order(sort, descending)),
            limit=sql.Literal(limit),
            offset=sql.Literal(offset),
        )
        return self.on_machines(cast("list[AttemptRow]", self._all(query)))

    @staticmethod
    def _at(studies: Iterable[StudyRecord], name: str, value: str) -> sql.Composable:
        """Return the condition for attempts at cells with this value of an axis, also where the cells' keys do not name the value."""
        named = sql.SQL("v.axes @> {}::jsonb").format(sql.Literal(json.dumps({name: value})))
        implied: list[sql.Composable] = [
            sql.SQL("(v.study = {} AND {} = {})").format(
                sql.Literal(study.name), values_of(study.axes, "v")[name], sql.Literal(value)
            )
            for study in studies
            if any((axis.name, axis.implied) == (name, value) for axis in study.axes)
        ]
        return sql.SQL("({})").format(sql.SQL(" OR ").join([named, *implied]))

    def on_machines(self, attempts: Sequence[AttemptRow]) -> list[AttemptRow]:
        """Add to each attempt the parts of its cell's key, and the `machine` that it ran on: number of CPUs, CPU model, memory in GiB. None
        for an unknown machine.
        """
        known, axes = self.machines(attempts), self.axes_of(row["cell_key"] for row in attempts)
        rows = [
            {
                **row,
                **figures.named(row["cell_key"], axes[row["cell_key"]]),
                "machine": known.get(row["environment_hash"] or ""),
            }
            for row in attempts
        ]
        return cast("list[AttemptRow]", rows)

    def cells_like(self, text: str, limit: int) -> list[str]:
        """Return the keys of cells that have been in a run, if the key contains each word of the text, ignoring case."""
        rows = self._all(
            # LIMIT 1 stops at a cell's first run; EXISTS would plan a join with all runs
            "SELECT c.key FROM storebench.cell AS c CROSS JOIN LATERAL ("
            " SELECT true FROM storebench.run_cell AS p JOIN storebench.run AS r ON r.id = p.run_id"
            " WHERE p.cell_key = c.key AND r.dag_id = ANY(%s) LIMIT 1) AS seen"
            " WHERE NOT EXISTS (SELECT FROM unnest(%s::text[]) AS word WHERE position(lower(word) IN lower(c.key)) = 0)"
            " ORDER BY c.key LIMIT %s",
            (self.dag_ids, text.split(), limit),
        )
        return [row["key"] for row in rows]

    def cell_named(self, text: str) -> str:
        """Return a cell's key: the text itself, or the only key of a cell in a run with each word of the text. Raises SpecError if no key or
        several keys have the words.
        """
        with suppress(SpecError):
            return Cell.from_key(text).key
        keys = self.cells_like(text, MOST_NEAR + 1)
        if len(keys) == 1:
            return keys[0]
        if not keys:
            raise SpecError(f"No cell of a run has a key that contains {quoted(text)}")
        more = ", …" if len(keys) > MOST_NEAR else ""
        raise SpecError(
            f"Several cells have a key with {quoted(text)}. Choose one: {', '.join(keys[:MOST_NEAR])}{more}"
        )

    def dags(self) -> list[str]:
        """Return all DAGs with runs, whoever may see them."""
        return [
            row["dag_id"] for row in self._all("SELECT DISTINCT dag_id FROM storebench.run ORDER BY dag_id")
        ]

    def _connection(self) -> AbstractContextManager[Connection[Row]]:
        """Take a connection from the pool, since an answer runs several queries."""
        return lent(self._dsn)

    def _all(self, query: Any, values: Sequence[Any] | None = None) -> list[Row]:
        with self._cursor() as cursor:
            return cursor.execute(query, values).fetchall()


def _order(sort: str, descending: bool) -> str:
    """Return the SQL order. Null values come last, except for recorded_at, which is never null and whose index NULLS LAST would bypass."""
    return ("DESC" if descending else "ASC") + ("" if sort == Sort.RECORDED_AT else " NULLS LAST")


def _by(sort: str, studies: Iterable[StudyRecord] = ()) -> sql.Composable:
    """Return the SQL sort expression. A user's text never becomes SQL. `studies`: whose axes may have implied values."""
    if sort.startswith(METRIC):
        return sql.SQL("(v.metrics -> {})::double precision").format(sql.Literal(sort.removeprefix(METRIC)))
    if sort.startswith(AXIS):
        value = _value_on(sort.removeprefix(AXIS), studies)
        return sql.SQL("CASE WHEN {0} ~ '^[0-9]+$' THEN lpad({0}, 30, '0') ELSE {0} END").format(value)
    return sql.SQL("v.{}").format(sql.Identifier(Sort(sort).value))


def _value_on(name: str, studies: Iterable[StudyRecord]) -> sql.Composable:
    """Return the SQL for a row's value on an axis, also where the cell's key does not name the value."""
    named = sql.SQL("(v.axes ->> {})").format(sql.Literal(name))
    implied = [
        sql.SQL("WHEN {} THEN {}").format(sql.Literal(study.name), values_of(study.axes, "v")[name])
        for study in studies
        if any(axis.name == name and axis.implied for axis in study.axes)
    ]
    return (
        sql.SQL("(CASE v.study {} ELSE {} END)").format(sql.SQL(" ").join(implied), named)
        if implied
        else named
    )
