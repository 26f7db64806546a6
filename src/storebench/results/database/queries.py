"""Read the results: rows of the views, and the attempts for comparisons and plans."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from psycopg import sql

from storebench.errors import BrokenPromise
from storebench.results.database.connection import Row, patient
from storebench.results.database.measurements import Measurements
from storebench.results.database.rows import AttemptRow
from storebench.results.database.runs import Runs
from storebench.study.model import COMMON

# The newest try of each operation of each turn. The condition applies to the table `attempt`; only chosen tries get the view's wide rows.
NEWEST_TRIES = """
SELECT r.*
FROM (
    SELECT DISTINCT ON (run_id, cell_key, repeat, operation) id FROM storebench.attempt WHERE {condition}
    ORDER BY run_id, cell_key, repeat, operation, try_number DESC
) AS newest
JOIN storebench.results AS r ON r.attempt_id = newest.id
ORDER BY r.run_id, r.cell_key, r.repeat, r.operation
"""
# The same tries with the columns for comparisons and rankings. These columns need few joins of the view. JSON columns are excluded: reading
# a JSON column takes as long as all other columns.
COMPARED = """
SELECT DISTINCT ON (run_id, cell_key, repeat, operation) attempt_id, run_id, cell_key, repeat, operation, status, error_kind, disturbed, not_judged,
    {metric} AS metric, {value} AS value, client_bound, service_bound, figures_cover, delivers, durability, durability_stated, server_name, server_version,
    environment_hash, parameters_hash, method_version, code_version, recorded_at{more}
FROM storebench.results WHERE {condition}
ORDER BY run_id, cell_key, repeat, operation, try_number DESC
"""
MACHINES = """
SELECT hash, jsonb_build_object('cpus', details -> 'cpus', 'cpu_model', details -> 'cpu_model', 'memory_gib', details -> 'memory_gib') AS machine
FROM storebench.environment WHERE hash = ANY(%s) AND details ?| '{cpus,cpu_model,memory_gib}'
"""
OF_SIDES = ("study", "store", "arm")  # further columns for comparisons

# The phases of an attempt that may grow with the dataset.
OPERATION, BARRIER, VERIFY = "operation", "barrier", "verify"
GROWING = ("source", OPERATION, BARRIER, VERIFY)

Attempt = TypeVar("Attempt", bound=Mapping[str, Any])


def counts(row: Mapping[str, Any]) -> bool:
    """Return whether an attempt's figures count: the data is verified, and the attempt is undisturbed."""
    return row["status"] == "verified" and not row["disturbed"]


def superseded(rows: Iterable[Row]) -> set[uuid.UUID]:
    """Return the ids of superseded attempts: `rows` has a later try of the same operation."""
    newest: dict[tuple[Any, ...], Row] = {}
    ids = set()
    for row in sorted(rows, key=lambda row: row["try_number"]):
        turn = tuple(row[name] for name in ("run_id", "cell_key", "repeat", "operation"))
        if turn in newest:
            ids.add(newest[turn]["attempt_id"])
        newest[turn] = row
    return ids


def verified_rows(rows: Iterable[Attempt]) -> list[Attempt]:
    """Return the attempts that count and have a figure."""
    return [row for row in rows if counts(row) and row["value"] is not None]


def broken_first(rows: Iterable[Attempt]) -> list[Attempt]:
    """Return attempts whose store broke its guarantee first: no failure is graver. The order is otherwise the same."""
    return sorted(rows, key=lambda row: row["error_kind"] != BrokenPromise.kind)


def verified_values(rows: Iterable[Mapping[str, Any]]) -> list[float]:
    """Return the figures of the attempts that count and have a figure."""
    return [row["value"] for row in verified_rows(rows)]


class Queries(Runs, Measurements):
    """All queries of the results."""

    def stores(self) -> list[str]:
        """Return the names of all stores in recorded runs."""
        with self._cursor() as cursor:
            rows = cursor.execute("SELECT DISTINCT store FROM storebench.cell ORDER BY store").fetchall()
        return [row["store"] for row in rows]

    def durations(self, study: str, stores: Sequence[str], operations: Sequence[str]) -> list[Row]:
        """Return the durations of a study's verified operations: cell_key, store, operation, seconds of the pod, and growing_s, the
        seconds of phases that may grow with the rows (None without phases). The figures are medians of the newest five attempts of each
        cell.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT c.key AS cell_key, c.store, o.operation, n.seconds, n.growing_s FROM storebench.cell AS c"
                " CROSS JOIN unnest(%s::text[]) AS o (operation)"
                " CROSS JOIN LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY newest.seconds) AS seconds,"
                "   percentile_cont(0.5) WITHIN GROUP (ORDER BY newest.growing_s) AS growing_s FROM ("
                "  SELECT coalesce(pod_total_s, total_s) AS seconds, (SELECT sum(p.seconds)"
                # a second pass verifies an operation that delivers the dataset: the first pass's excess over it is fixed
                "    - CASE WHEN a.delivers IS NOT NULL THEN greatest(0, sum(p.seconds) FILTER (WHERE p.name = 'operation')"
                "      - sum(p.seconds) FILTER (WHERE p.name = 'verify')) ELSE 0 END"
                "    FROM storebench.phase AS p WHERE p.attempt_id = a.id AND p.name = ANY(%s)) AS growing_s FROM storebench.attempt AS a"
                "  WHERE cell_key = c.key AND operation = o.operation AND status = 'verified'"
                "  ORDER BY recorded_at DESC LIMIT 5) AS newest) AS n"
                " WHERE c.study = %s AND c.store = ANY(%s) AND n.seconds IS NOT NULL",
                (list(operations), list(GROWING), study, list(stores)),
            ).fetchall()

    @patient
    def seconds_by_rows(self, keys: Sequence[str]) -> list[Row]:
        """Return the durations of these cells' operations with any number of rows, in all runs: cell_key, operation, metric, rows, and
        seconds, the median of the attempts that count. Only operations that are ranked by a time are included.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT asked.key AS cell_key, a.operation, a.metric, c.rows,"
                "  percentile_cont(0.5) WITHIN GROUP (ORDER BY a.value) AS seconds"
                " FROM storebench.cell AS asked JOIN storebench.cell AS c USING (study, store, client, axes)"
                " JOIN storebench.attempt AS a ON a.cell_key = c.key AND a.repeat > 0"
                " WHERE asked.key = ANY(%s) AND a.status = 'verified' AND a.disturbed IS NULL AND a.value IS NOT NULL"
                "  AND storebench.unit(a.metric) = 's'"
                " GROUP BY asked.key, a.operation, a.metric, c.rows",
                (list(keys),),
            ).fetchall()

    def seconds_between(self, study: str) -> float | None:
        """Return the seconds between the end of an operation's pod and the start of the next pod; None without runs.

        The figure is the median over the study's newest ten successful runs of each run's average.
        """
        with self._cursor() as cursor:
            row = cursor.execute(
                "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (r.took_s - n.pods_s) / n.attempts) AS seconds FROM ("
                "  SELECT id, extract(epoch FROM finished_at - started_at)::double precision - rested_s AS took_s FROM storebench.run"
                "  WHERE study = %s AND state = 'success' ORDER BY started_at DESC LIMIT 10) AS r"
                " CROSS JOIN LATERAL (SELECT count(*) AS attempts, sum(coalesce(pod_total_s, total_s)) AS pods_s"
                "  FROM storebench.attempt WHERE run_id = r.id AND status <> 'not_run') AS n"
                " WHERE n.attempts > 0",
                (study,),
            ).fetchone()
        return row["seconds"] if row else None

    def last_seen_at(self, run_id: str) -> datetime:
        """Return the time of the last recorded attempt of a run, or else the run's start."""
        with self._cursor() as cursor:
            row: Row = cursor.execute(  # type: ignore[assignment] # the run exists
                "SELECT coalesce(max(a.recorded_at), r.started_at) AS seen_at FROM storebench.run AS r"
                " LEFT JOIN storebench.attempt AS a ON a.run_id = r.id AND a.status <> 'not_run' WHERE r.id = %s GROUP BY r.id",
                (run_id,),
            ).fetchone()
        seen_at: datetime = row["seen_at"]
        return seen_at

    @patient
    def gaps(self, run_id: str) -> list[Row]:
        """Return the planned operations of a run without an attempt, in the order of their cells.

        Columns: cell_key, repeat, arm, operation, the ranking `metric`, the run's method_version and `reason`, and `needs`, the operations
        that it depends on. operation_before, status_before, error_kind_before and error_before describe the first of these operations that
        was tried and is not verified.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT p.cell_key, p.repeat, p.arm, o.operation, r.reason, r.method_version, d.metric, coalesce(d.needs, '{}') AS needs,"
                " b.operation AS operation_before, b.status AS status_before, b.error_kind AS error_kind_before, b.error AS error_before"
                " FROM storebench.run_cell AS p JOIN storebench.run AS r ON r.id = p.run_id"
                " CROSS JOIN unnest(p.operations) WITH ORDINALITY AS o (operation, position)"
                " LEFT JOIN LATERAL (SELECT e -> 'metrics' ->> 0 AS metric,"
                "  ARRAY(SELECT jsonb_array_elements_text(e -> 'needs')) AS needs"
                "  FROM storebench.study AS s, jsonb_array_elements(s.details -> 'operations') AS e"
                "  WHERE s.name = r.study AND e ->> 'name' = o.operation) AS d ON true"
                " LEFT JOIN LATERAL (SELECT n.* FROM unnest(d.needs) AS needed CROSS JOIN LATERAL ("
                "   SELECT operation, status, error_kind, error FROM storebench.attempt AS a"
                "   WHERE (a.run_id, a.cell_key, a.repeat, a.operation) = (p.run_id, p.cell_key, p.repeat, needed)"
                "   ORDER BY a.try_number DESC LIMIT 1) AS n"
                "  WHERE n.status <> 'verified' LIMIT 1) AS b ON true"
                " WHERE p.run_id = %s AND p.skipped IS NULL AND NOT EXISTS (SELECT FROM storebench.attempt AS a"
                "  WHERE (a.run_id, a.cell_key, a.repeat, a.operation)"
                "   = (p.run_id, p.cell_key, p.repeat, o.operation))"
                " ORDER BY p.cell_key, p.repeat, o.position",
                (run_id,),
            ).fetchall()

    @patient
    def attempts_of_run(self, run_id: str) -> list[AttemptRow]:
        """Return the newest tries of a run's operations, without warm-ups."""
        return self._newest_tries(sql.SQL("run_id = {} AND repeat > 0").format(sql.Literal(run_id)))

    def attempts_of_cells(self, keys: Sequence[str]) -> list[AttemptRow]:
        """Return the newest tries of these cells' operations in all runs, without warm-ups."""
        return self._newest_tries(
            sql.SQL("cell_key = ANY({}) AND repeat > 0").format(sql.Literal(list(keys)))
        )

    @patient
    def compared_of_run(self, run_id: str, metric: str | None) -> list[Row]:
        """Return the newest tries of a run's operations, without warm-ups, with the columns for comparisons.

        `value` is the value of `metric`, or else of the metric that ranks the operation; None if not measured.
        """
        return self._compared(
            sql.SQL("run_id = {} AND repeat > 0").format(sql.Literal(run_id)), metric, OF_SIDES
        )

    def compared_of_cell(self, key: str, metric: str | None) -> list[Row]:
        """Return the attempts of a cell's operations in all runs, with the columns for comparisons."""
        return self._compared(
            sql.SQL("cell_key = {} AND repeat > 0").format(sql.Literal(key)), metric, OF_SIDES
        )

    def compared_at(
        self, keys: Sequence[str], operation: str, metric: str, more: Sequence[str] = ()
    ) -> list[Row]:
        """Return the attempts at an operation of cells in all visible runs, with the columns `more` instead of `study`, `store` and `arm`."""
        named = (
            sql.SQL("")
            if self.dag_ids is None
            else sql.SQL(" AND run_id IN (SELECT id FROM storebench.run WHERE dag_id = ANY({}))").format(
                sql.Literal(list(self.dag_ids))
            )
        )
        condition = sql.SQL("cell_key = ANY({}) AND operation = {} AND repeat > 0{}").format(
            sql.Literal(list(keys)), sql.Literal(operation), named
        )
        return self._compared(condition, metric, more)

    def profiled(self, keys: Sequence[str]) -> list[Row]:
        """Return the verified attempts of these cells with stacks, in all visible runs and without warm-ups: a row for each profile.

        Columns: attempt_id, run_id, cell_key, operation, repeat, environment_hash, parameters_hash, code_version, recorded_at, and the
        profile's name.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT a.id AS attempt_id, a.run_id, a.cell_key, a.operation, a.repeat, a.environment_hash, a.parameters_hash,"
                " a.code_version, a.recorded_at, p.name"
                " FROM storebench.attempt AS a JOIN storebench.profile AS p ON p.attempt_id = a.id"
                " JOIN storebench.run AS r ON r.id = a.run_id"
                " WHERE a.cell_key = ANY(%(keys)s) AND a.status = 'verified' AND a.repeat > 0 AND p.stacks IS NOT NULL"
                "  AND (%(dag_ids)s::text[] IS NULL OR r.dag_id = ANY(%(dag_ids)s)) ORDER BY a.recorded_at, a.id, p.name",
                {"keys": list(keys), "dag_ids": self.dag_ids},
            ).fetchall()

    def _compared(self, condition: sql.Composable, metric: str | None, more: Sequence[str] = ()) -> list[Row]:
        name = sql.Identifier("metric") if metric is None else sql.Literal(metric)
        query = sql.SQL(COMPARED).format(
            metric=name,
            value=sql.Identifier(metric)
            if metric in {common.name for common in COMMON}
            else sql.SQL("(metrics ->> {})::double precision").format(name),
            condition=condition,
            more=sql.SQL("").join(sql.SQL(", {}").format(sql.Identifier(column)) for column in more),
        )
        with self._cursor() as cursor:
            rows = cursor.execute(query).fetchall()
            cursor.execute(
                "SELECT hash, details FROM storebench.parameters WHERE hash = ANY(%s)",
                (list({row["parameters_hash"] for row in rows} - {None}),),
            )
            known = {row["hash"]: row["details"] for row in cursor}
        for row in rows:
            row["parameters"] = known.get(row["parameters_hash"])
        return rows

    def cells_of_study(self, study: str, operation: str, metric: str | None = None) -> list[Row]:
        """Return the cells with this operation in a visible run: key, and `measured`, whether any attempt was measured.

        With `metric`, also `reported`: whether any attempt reported the metric. Only metrics in the view `summary` are known.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT c.key, EXISTS (SELECT FROM storebench.statistic AS s"
                "  WHERE s.cell_key = c.key AND s.operation = %(operation)s) AS measured,"
                " EXISTS (SELECT FROM storebench.statistic AS s"
                "  WHERE s.cell_key = c.key AND s.operation = %(operation)s AND s.metric = %(metric)s) AS reported"
                # LIMIT 1 stops at the first run of a cell; EXISTS would plan a full join
                " FROM storebench.cell AS c CROSS JOIN LATERAL ("
                "  SELECT true FROM storebench.run_cell AS p JOIN storebench.run AS r ON r.id = p.run_id"
                "  WHERE p.cell_key = c.key AND %(operation)s = ANY(p.operations) AND p.skipped IS NULL"
                "   AND (%(dag_ids)s::text[] IS NULL OR r.dag_id = ANY(%(dag_ids)s)) LIMIT 1) AS seen"
                " WHERE c.study = %(study)s ORDER BY c.key",
                {"study": study, "operation": operation, "metric": metric, "dag_ids": self.dag_ids},
            ).fetchall()

    def _newest_tries(self, condition: sql.Composable) -> list[AttemptRow]:
        with self._cursor() as cursor:
            rows = cursor.execute(sql.SQL(NEWEST_TRIES).format(condition=condition)).fetchall()
        return cast("list[AttemptRow]", rows)

    def environments(self, hashes: Iterable[str]) -> dict[str, dict[str, Any]]:
        """Return the details of environments by hash."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT hash, details FROM storebench.environment WHERE hash = ANY(%s)", (list(hashes),)
            )
            return {row["hash"]: row["details"] for row in rows}

    def machines(self, attempts: Iterable[Mapping[str, Any]]) -> dict[str, Row]:
        """Return the machines of attempts, by environment hash."""
        hashes = list({row["environment_hash"] for row in attempts} - {None})
        if not hashes:
            return {}
        with self._cursor() as cursor:
            return {row["hash"]: row["machine"] for row in cursor.execute(MACHINES, (hashes,))}

    def newest_measured(
        self, study: str, store: str, client: str, operation: str, parameters_hash: str
    ) -> Row | None:
        """Return the environment, image and code of a store client's newest measurement with the same parameters.

        An attempt that failed before it reached the server has no environment. A verified attempt may have no server.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT a.environment_hash, a.code_version, e.details ->> 'image' AS image"
                " FROM storebench.cell AS c CROSS JOIN LATERAL ("
                "  SELECT environment_hash, code_version, recorded_at FROM storebench.attempt WHERE cell_key = c.key AND operation = %s"
                "  AND parameters_hash = %s AND (server_name IS NOT NULL OR status = 'verified') ORDER BY recorded_at DESC LIMIT 1) AS a"
                " JOIN storebench.environment AS e ON e.hash = a.environment_hash"
                " WHERE c.study = %s AND c.store = %s AND c.client = %s ORDER BY a.recorded_at DESC LIMIT 1",
                (operation, parameters_hash, study, store, client),
            ).fetchone()

    @patient
    def results(
        self,
        *,
        run: str | None = None,
        study: str | None = None,
        store: str | None = None,
        cell: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Return rows of the view `results`, oldest first. `cell`: a part of the cell's key. `run`: a name as in `run_named`.

        Raises SpecError for an unknown run.
        """
        conditions: list[sql.Composable] = [sql.SQL("true")]
        if run:
            conditions.append(sql.SQL("run_id = {}").format(sql.Literal(self.run_named(run, study)["id"])))
        if study:
            conditions.append(sql.SQL("study = {}").format(sql.Literal(study)))
        if store:
            conditions.append(sql.SQL("store = {}").format(sql.Literal(store)))
        if cell:
            conditions.append(sql.SQL("position({} IN cell_key) > 0").format(sql.Literal(cell)))
        query = sql.SQL(
            "SELECT * FROM (SELECT * FROM storebench.results WHERE {conditions}"
            " ORDER BY recorded_at DESC LIMIT {limit}) AS newest ORDER BY recorded_at"
        ).format(conditions=sql.SQL(" AND ").join(conditions), limit=sql.Literal(limit))
        with self._cursor() as cursor:
            return cursor.execute(query).fetchall()

    @patient
    def phases(self, attempt_ids: Sequence[uuid.UUID]) -> list[dict[str, Any]]:
        """Return the phases of attempts: attempt_id, name, seconds."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT attempt_id, name, seconds FROM storebench.phase WHERE attempt_id = ANY(%s)"
                " ORDER BY attempt_id, position",
                (list(attempt_ids),),
            ).fetchall()
