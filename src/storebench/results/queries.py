"""Reads the results: rows of the views, runs by their names, and the attempts that a comparison or a plan is about."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import sql

from storebench.errors import SpecError
from storebench.results.database import Database, Row, patient

LATEST = "latest"
BASELINE = "baseline:"
# Of the newest try of each operation of each turn.
NEWEST_TRIES = """
SELECT DISTINCT ON (run_id, cell_key, repeat, operation) *
FROM storebench.results WHERE {condition}
ORDER BY run_id, cell_key, repeat, operation, try_number DESC
"""


def counts(row: Mapping[str, Any]) -> bool:
    """Whether an attempt's figures count, in whatever is made of several: its data is verified, and nothing disturbed it."""
    return row["status"] == "verified" and not row["disturbed"]


def verified_s(rows: Iterable[Row]) -> list[float]:
    """The seconds that those of these attempts that count took in the store's client."""
    return [row[f"{row['operation']}_only_s"] for row in rows if counts(row)]


class Queries(Database):
    """All that is read."""

    def run_named(self, name: str) -> Row:
        """The row of a run: 'latest', 'baseline:NAME', its id in Airflow, or its id. Raises SpecError where there is none."""
        condition: sql.Composable
        if name == LATEST:
            condition = sql.SQL("true ORDER BY started_at DESC LIMIT 1")
        elif name.startswith(BASELINE):
            condition = sql.SQL("id = (SELECT run_id FROM storebench.baseline WHERE name = {})").format(
                sql.Literal(name.removeprefix(BASELINE))
            )
        else:
            condition = sql.SQL(
                "id = {name} OR airflow_run_id = {name} ORDER BY started_at DESC LIMIT 1"
            ).format(name=sql.Literal(name))
        with self._cursor() as cursor:
            found = cursor.execute(sql.SQL("SELECT * FROM storebench.run WHERE ") + condition).fetchone()
        if not found:
            raise SpecError(f"There is no run {name!r}: `storebench runs` lists them")
        return found

    def has_run(self, run_id: str) -> bool:
        """Whether a run of that id was recorded."""
        with self._cursor() as cursor:
            found = cursor.execute("SELECT FROM storebench.run WHERE id = %s", (run_id,)).fetchone()
        return found is not None

    def runs(self, limit: int) -> list[Row]:
        """The newest runs first: their rows, and how many of their operations are verified, and are not."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT r.*, n.verified, n.others FROM (SELECT * FROM storebench.run ORDER BY started_at DESC LIMIT %s) AS r"
                " CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE status = 'verified') AS verified,"
                "  count(*) FILTER (WHERE status <> 'verified') AS others"
                "  FROM storebench.attempt WHERE run_id = r.id) AS n ORDER BY r.started_at DESC",
                (limit,),
            ).fetchall()

    def open_runs(self) -> list[Row]:
        """The runs that go on, as far as was recorded; the oldest first."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.run WHERE state = 'running' ORDER BY started_at"
            ).fetchall()

    @patient
    def gaps(self, run_id: str) -> list[Row]:
        """The planned operations of a run that have no attempt, in the order of their cells: cell_key, repeat, operation; of the one
        before it in its cell operation_before and, if it was tried, status_before, error_kind_before and error_before; and `stopped`,
        the run's.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT p.cell_key, p.repeat, o.operation, r.stopped, p.operations[(o.position - 1)::integer] AS operation_before,"
                " b.status AS status_before, b.error_kind AS error_kind_before, b.error AS error_before"
                " FROM storebench.run_cell AS p JOIN storebench.run AS r ON r.id = p.run_id"
                " CROSS JOIN unnest(p.operations) WITH ORDINALITY AS o (operation, position)"
                " LEFT JOIN LATERAL (SELECT status, error_kind, error FROM storebench.attempt AS a"
                "  WHERE (a.run_id, a.cell_key, a.repeat, a.operation)"
                "   = (p.run_id, p.cell_key, p.repeat, p.operations[(o.position - 1)::integer])"
                "  ORDER BY a.try_number DESC LIMIT 1) AS b ON true"
                " WHERE p.run_id = %s AND p.skipped IS NULL AND NOT EXISTS (SELECT FROM storebench.attempt AS a"
                "  WHERE (a.run_id, a.cell_key, a.repeat, a.operation)"
                "   = (p.run_id, p.cell_key, p.repeat, o.operation))"
                " ORDER BY p.cell_key, p.repeat, o.position",
                (run_id,),
            ).fetchall()

    def attempts_of_run(self, run_id: str) -> list[Row]:
        """The newest tries of a run's operations, warm-ups left out."""
        return self._newest_tries(sql.SQL("run_id = {} AND NOT warm_up").format(sql.Literal(run_id)))

    def attempts_of_cells(self, keys: Sequence[str]) -> list[Row]:
        """The newest tries of these cells' operations in all runs, warm-ups left out."""
        return self._newest_tries(
            sql.SQL("cell_key = ANY({}) AND NOT warm_up").format(sql.Literal(list(keys)))
        )

    def _newest_tries(self, condition: sql.Composable) -> list[Row]:
        with self._cursor() as cursor:
            return cursor.execute(sql.SQL(NEWEST_TRIES).format(condition=condition)).fetchall()

    def cells_of_run(self, run_id: str) -> list[str]:
        """The keys of the cells that a run set out to measure."""
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT DISTINCT cell_key FROM storebench.run_cell WHERE run_id = %s ORDER BY cell_key",
                (run_id,),
            )
            return [row["cell_key"] for row in found]

    def environments(self, hashes: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The details of environments, by their hashes."""
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT hash, details FROM storebench.environment WHERE hash = ANY(%s)", (list(hashes),)
            )
            return {row["hash"]: row["details"] for row in found}

    def newest_measured(self, store: str, client: str, operation: str, parameters_hash: str) -> Row | None:
        """In which environment, with which image and by which code a store's client was measured last with these parameters.

        An attempt that did not reach the server does not know its environment.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT a.environment_hash, a.code_version, e.details ->> 'image' AS image"
                " FROM storebench.cell AS c CROSS JOIN LATERAL ("
                "  SELECT environment_hash, code_version, recorded_at FROM storebench.attempt WHERE cell_key = c.key AND operation = %s"
                "  AND parameters_hash = %s AND server_name IS NOT NULL ORDER BY recorded_at DESC LIMIT 1) AS a"
                " JOIN storebench.environment AS e ON e.hash = a.environment_hash"
                " WHERE c.store = %s AND c.client = %s ORDER BY a.recorded_at DESC LIMIT 1",
                (operation, parameters_hash, store, client),
            ).fetchone()

    def results(
        self,
        *,
        run: str | None = None,
        store: str | None = None,
        cell: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Rows of the view `results`, oldest first; `cell` matches a part of the cell's key, `run` as in `run_named`.

        Raises SpecError for a run that is not there.
        """
        conditions: list[sql.Composable] = [sql.SQL("true")]
        if run:
            conditions.append(sql.SQL("run_id = {}").format(sql.Literal(self.run_named(run)["id"])))
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

    def phases(self, attempt_ids: Sequence[uuid.UUID]) -> list[dict[str, Any]]:
        """The phases of these attempts: attempt_id, name, seconds."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT attempt_id, name, seconds FROM storebench.phase WHERE attempt_id = ANY(%s)"
                " ORDER BY attempt_id, position",
                (list(attempt_ids),),
            ).fetchall()
