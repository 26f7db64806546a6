"""Reads the results: rows of the views, runs by their names, and the attempts that a comparison or a plan is about."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from psycopg import sql

from storebench.errors import SpecError
from storebench.results.database import Database, Row, patient

LATEST = "latest"
BASELINE = "baseline:"
# The newest try of each operation of each turn.
NEWEST_TRIES = """
SELECT DISTINCT ON (run_id, cell_key, repeat, operation) *
FROM storebench.results WHERE {condition}
ORDER BY run_id, cell_key, repeat, operation, try_number DESC
"""


# Of runs, how many of their operations are in which state: the newest try of each counts. And what they are runs of.
RUN_COUNTS = """
SELECT r.*, n.verified, n.disturbed, n.failed, n.not_run, p.planned, p.cells, p.stores, p.rows, p.seed,
    CASE WHEN p.cells = 1 THEN p.first_key END AS cell_key
FROM {runs} AS r
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'verified') AS verified,
        count(*) FILTER (WHERE status = 'verified' AND disturbed IS NOT NULL) AS disturbed,
        count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'not_run') AS not_run
    FROM (
        SELECT DISTINCT ON (cell_key, repeat, operation) status, disturbed FROM storebench.attempt WHERE run_id = r.id
        ORDER BY cell_key, repeat, operation, try_number DESC
    ) AS newest
) AS n
CROSS JOIN LATERAL (
    SELECT coalesce(sum(cardinality(t.operations)) FILTER (WHERE t.skipped IS NULL), 0) AS planned,
        count(*) FILTER (WHERE t.repeat = 1) AS cells, min(t.cell_key) AS first_key,
        coalesce(array_agg(DISTINCT c.store), '{{}}') AS stores, min(c.rows) AS rows, min(c.seed) AS seed
    FROM storebench.run_cell AS t JOIN storebench.cell AS c ON c.key = t.cell_key WHERE t.run_id = r.id
) AS p
ORDER BY r.started_at DESC
"""
NAMED = "SELECT * FROM storebench.run WHERE %(dag_ids)s::text[] IS NULL OR dag_id = ANY(%(dag_ids)s)"
# What the runs of a single cell of the grid are called: those of a backfill by Airflow, others by the page.
OF_A_CELL = ["backfill__%", "cell__%"]
LATEST_WITHIN = "24 hours"
LATEST_RUN = """id = (
    SELECT id FROM named WHERE state <> 'refused'
        AND started_at >= (SELECT max(started_at) FROM named WHERE state <> 'refused') - %(within)s::interval
    ORDER BY airflow_run_id LIKE ANY(%(of_a_cell)s), started_at DESC LIMIT 1
)"""
NEAR, MOST_NEAR = 50, 4  # the newest runs among which a name is looked for, and how many are told


def counts(row: Mapping[str, Any]) -> bool:
    """Whether an attempt's figures count, in whatever is made of several: its data is verified, and nothing disturbed it."""
    return row["status"] == "verified" and not row["disturbed"]


def superseded(rows: Iterable[Row]) -> set[uuid.UUID]:
    """The ids of those of these attempts that count no more: a later try of the same operation is among them."""
    newest: dict[tuple[Any, ...], Row] = {}
    found = set()
    for row in sorted(rows, key=lambda row: row["try_number"]):
        turn = tuple(row[name] for name in ("run_id", "cell_key", "repeat", "operation"))
        if turn in newest:
            found.add(newest[turn]["attempt_id"])
        newest[turn] = row
    return found


def verified_s(rows: Iterable[Row]) -> list[float]:
    """The seconds that those of these attempts that count took in the store's client."""
    return [row[f"{row['operation']}_only_s"] for row in rows if counts(row)]


class Queries(Database):
    """All that is read. `dag_ids` are the DAGs whose runs can be named; None: of all."""

    def __init__(self, dsn: str, patience_s: float = 0, dag_ids: Sequence[str] | None = None) -> None:
        super().__init__(dsn, patience_s)
        self.dag_ids = dag_ids

    def run_named(self, name: str) -> Row:
        """The row of a run: 'latest', 'baseline:NAME', its id in Airflow, or its id.

        'latest' is the newest run that was not refused. A run of a single cell of the grid, such as a backfill's, gives way to the newest
        other run of the LATEST_WITHIN before it. Raises SpecError where there is no such run, and where there are several.
        """
        if name == LATEST:
            found = self._runs_where(LATEST_RUN, of_a_cell=OF_A_CELL, within=LATEST_WITHIN)
            if not found:
                raise SpecError("There are no results yet")
        elif name.startswith(BASELINE):
            condition = "id = (SELECT run_id FROM storebench.baseline WHERE name = %(name)s)"
            found = self._runs_where(condition, name=name.removeprefix(BASELINE))
        else:
            found = self._runs_where("id = %(name)s OR airflow_run_id = %(name)s", name=name)
        if len(found) > 1:
            several = self._runs_where("airflow_run_id = %(name)s", RUN_COUNTS, name=name)
            raise SpecError(
                f"Several runs are named {name!r}. Give the whole id of one:{_told(several, 'id')}"
            )
        if not found:
            raise SpecError(f"There is no run {name!r}.{self._near(name)}")
        return found[0]

    def _runs_where(
        self, condition: str, query: str = "SELECT * FROM {runs} AS r", **values: Any
    ) -> list[Row]:
        """What `query` says of those of the runs that can be named."""
        runs = f"(WITH named AS ({NAMED}) SELECT * FROM named WHERE {condition})"
        with self._cursor() as cursor:
            return cursor.execute(query.format(runs=runs), {"dag_ids": self.dag_ids, **values}).fetchall()

    def _near(self, name: str) -> str:
        newest = self.runs(NEAR)
        ids = get_close_matches(name, [row["airflow_run_id"] for row in newest], MOST_NEAR)
        near = [row for row in newest if row["airflow_run_id"] in ids]
        if not newest:
            return " There are no results yet"
        return f" {'Near it are' if near else 'The newest are'}:{_told(near or newest[:MOST_NEAR])}"

    @patient
    def run_counted(self, run_id: str) -> Row:
        """One run by its id, with the numbers of its operations as in `runs`."""
        return self._runs_where("id = %(run_id)s", RUN_COUNTS, run_id=run_id)[0]

    @patient
    def has_run(self, run_id: str) -> bool:
        """Whether a run of that id was recorded."""
        with self._cursor() as cursor:
            found = cursor.execute("SELECT FROM storebench.run WHERE id = %s", (run_id,)).fetchone()
        return found is not None

    def runs(self, limit: int) -> list[Row]:
        """The newest runs first, with their stores, rows and seed, and their numbers of operations: planned, verified, of these
        disturbed, failed, not run."""
        return self._runs_where("true ORDER BY started_at DESC LIMIT %(limit)s", RUN_COUNTS, limit=limit)

    @patient
    def skipped(self, run_id: str) -> list[str]:
        """Why turns of a run were left out, one reason for each."""
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT skipped FROM storebench.run_cell WHERE run_id = %s AND skipped IS NOT NULL"
                " ORDER BY position NULLS LAST, cell_key",
                (run_id,),
            ).fetchall()
        return [row["skipped"] for row in found]

    def stores(self) -> list[str]:
        """The stores that have been in a run."""
        with self._cursor() as cursor:
            found = cursor.execute("SELECT DISTINCT store FROM storebench.cell ORDER BY store").fetchall()
        return [row["store"] for row in found]

    def durations(self, study: str, stores: Sequence[str], operations: Sequence[str]) -> list[Row]:
        """How long the pods of a study's verified operations took at these stores: cell_key, store, client, rows, operation and seconds,
        the median of the newest five of each cell.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT c.key AS cell_key, c.store, c.client, c.rows, o.operation, n.seconds FROM storebench.cell AS c"
                " CROSS JOIN unnest(%s::text[]) AS o (operation)"
                " CROSS JOIN LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY newest.seconds) AS seconds FROM ("
                "  SELECT coalesce(pod_total_s, total_s) AS seconds FROM storebench.attempt"
                "  WHERE cell_key = c.key AND operation = o.operation AND status = 'verified'"
                "  ORDER BY recorded_at DESC LIMIT 5) AS newest) AS n"
                " WHERE c.study = %s AND c.store = ANY(%s) AND n.seconds IS NOT NULL",
                (list(operations), study, list(stores)),
            ).fetchall()

    def seconds_between(self, study: str) -> float | None:
        """How long it took from one operation's pod to the next one's, on average over each of the study's newest ten successful runs, of
        which this is the median; None where there was no run.
        """
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (r.took_s - n.pods_s) / n.attempts) AS seconds FROM ("
                "  SELECT id, extract(epoch FROM finished_at - started_at)::double precision AS took_s FROM storebench.run"
                "  WHERE study = %s AND state = 'success' ORDER BY started_at DESC LIMIT 10) AS r"
                " CROSS JOIN LATERAL (SELECT count(*) AS attempts, sum(coalesce(pod_total_s, total_s)) AS pods_s"
                "  FROM storebench.attempt WHERE run_id = r.id AND status <> 'not_run') AS n"
                " WHERE n.attempts > 0",
                (study,),
            ).fetchone()
        return found["seconds"] if found else None

    def open_runs(self) -> list[Row]:
        """The runs that go on, as far as was recorded; the oldest first."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.run WHERE state = 'running' ORDER BY started_at"
            ).fetchall()

    @patient
    def gaps(self, run_id: str) -> list[Row]:
        """The planned operations of a run that have no attempt, in the order of their cells: cell_key, repeat, operation; of the one
        before it in its cell operation_before and, if it was tried, status_before, error_kind_before and error_before; and `reason`,
        the run's.
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT p.cell_key, p.repeat, o.operation, r.reason, p.operations[(o.position - 1)::integer] AS operation_before,"
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

    @patient
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

    @patient
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


def _told(runs: Iterable[Row], name: str = "airflow_run_id") -> str:
    """A line for each run, to choose one: its name, its stores and rows."""
    return "".join(
        f"\n  {row[name]} ({', '.join(row['stores']) or 'no stores'}; {row['rows'] or 0:,} rows)"
        for row in runs
    )
