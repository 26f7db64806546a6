"""Write runs to Postgres. Every write is idempotent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg import Cursor, sql
from psycopg.types.json import Jsonb

from storebench.errors import SpecError
from storebench.fields import storable
from storebench.results.database import study_views
from storebench.results.database.attempts import Attempts
from storebench.results.database.connection import Row, patient
from storebench.results.database.queries import NEWEST_TRIES, Queries
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.order import Turn
from storebench.study.record import StudyRecord
from storebench.study.run_params import RunParams, study_values
from storebench.study.tags import TAGS, check_tags, requested_tags, without_tags
from storebench.version import code_version


def run_id_of(dag_id: str, airflow_run_id: str) -> str:
    """Return the id of a run in the results."""
    return f"{dag_id}/{airflow_run_id}"


class Repository(Queries, Attempts):
    """All writes and queries of the results."""

    def start_run(
        self,
        *,
        study: Study,
        dag_id: str,
        airflow_run_id: str,
        params: RunParams,
        turns: Sequence[Turn],
        order_seed: int,
        skipped: Mapping[Cell, str],
        airflow_id: str | None = None,
        expected_s: float | None = None,
        expected_most_s: float | None = None,
    ) -> None:
        """Record a run with its study, its planned turns in order, and the excluded cells with the reasons.

        `airflow_id`: identifies the Airflow among several that share the database. `expected_s`, `expected_most_s`: lower and upper
        estimate of the run's seconds.
        """
        run_id, values = run_id_of(dag_id, airflow_run_id), study_values(params)
        planned: list[tuple[Cell, int, str | None, str, int | None, str | None]] = [
            (turn.cell, turn.repeat, turn.arm, turn.node_pool, n, None) for n, turn in enumerate(turns, 1)
        ]
        planned += [(cell, 1, None, "", None, reason) for cell, reason in skipped.items()]
        datasets = sorted(
            {dataset_id for cell, *_ in planned if (dataset_id := study.dataset_of(cell, values))}
        )
        with self._cursor() as cursor:
            put_study(cursor, study)
            cursor.execute(
                "INSERT INTO storebench.run"
                " (id, study, dag_id, airflow_run_id, params, datasets, order_seed, method_version, code_version, airflow_id, expected_s,"
                " expected_most_s, tags) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                # A run that was refused, or had no work, is already recorded without turns: its work begins now
                " ON CONFLICT (id) DO UPDATE SET state = 'running', started_at = now(), finished_at = NULL, reason = NULL,"
                " params = excluded.params,"
                " datasets = excluded.datasets, order_seed = excluded.order_seed, method_version = excluded.method_version,"
                " code_version = excluded.code_version, expected_s = excluded.expected_s,"
                " expected_most_s = excluded.expected_most_s, tags = excluded.tags",
                (
                    run_id,
                    study.name,
                    dag_id,
                    airflow_run_id,
                    Jsonb(without_tags(values)),
                    datasets,
                    order_seed,
                    study.method_version,
                    code_version(),
                    airflow_id,
                    expected_s,
                    expected_most_s,
                    requested_tags(values.get(TAGS)),
                ),
            )
            cells = {cell.key: cell for cell, *_ in planned}
            cursor.executemany(
                "INSERT INTO storebench.cell (key, study, store, client, axes, rows, seed)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING",
                [
                    (key, c.study, c.store, c.client, Jsonb(dict(c.axes)), c.rows, c.seed)
                    for key, c in cells.items()
                ],
            )
            cursor.executemany(
                "INSERT INTO storebench.run_cell"
                " (run_id, cell_key, repeat, arm, node_pool, position, skipped, operations)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [
                    (
                        run_id,
                        cell.key,
                        *rest,
                        [operation.name for operation in study.operations_in(cell)],
                    )
                    for cell, *rest in planned
                ],
            )

    def refuse_run(
        self,
        *,
        study: Study,
        dag_id: str,
        airflow_run_id: str,
        requested: Mapping[str, Any],
        reason: str,
        airflow_id: str | None = None,
    ) -> None:
        """Record a run that was refused before any work, with the reason. A run that had begun keeps its state and gets the reason.

        `requested`: the unchecked parameters of the request.
        """
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, method_version, code_version, airflow_id,"
                " state, reason, finished_at, tags) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'refused', %s, now(), %s)"
                " ON CONFLICT (id) DO UPDATE SET reason = excluded.reason",
                (
                    run_id_of(dag_id, airflow_run_id),
                    study.name,
                    dag_id,
                    airflow_run_id,
                    Jsonb(storable(without_tags(requested))),
                    study.method_version,
                    code_version(),
                    airflow_id,
                    storable(reason),
                    requested_tags(requested.get(TAGS)),
                ),
            )

    def reopen_run(self, run_id: str) -> None:
        """Mark a run as running again. The time since its end counts as rest."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.run SET state = 'running', finished_at = NULL, reason = NULL,"
                " rested_s = rested_s + coalesce(extract(epoch FROM now() - finished_at), 0) WHERE id = %s",
                (run_id,),
            )

    @patient
    def stop_run(self, run_id: str, reason: str | None) -> None:
        """Record why the remaining work of a run will not be done; None if it will be done."""
        with self._cursor() as cursor:
            cursor.execute("UPDATE storebench.run SET reason = %s WHERE id = %s", (reason, run_id))

    @patient
    def recorded_turns(self, run_id: str) -> list[Turn]:
        """Return the turns planned at the first start of a run. They number the tasks of each node pool."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT cell_key, repeat, arm, node_pool FROM storebench.run_cell"
                " WHERE run_id = %s AND position IS NOT NULL ORDER BY position",
                (run_id,),
            )
            return [_turn(row) for row in rows]

    @patient
    def recorded_turn(self, run_id: str, node_pool: str, number: int) -> Turn:
        """Return a recorded turn by its number among the turns of its node pool, from 0."""
        with self._cursor() as cursor:
            row = cursor.execute(
                "SELECT cell_key, repeat, arm, node_pool FROM storebench.run_cell"
                " WHERE run_id = %s AND node_pool = %s AND position IS NOT NULL ORDER BY position LIMIT 1 OFFSET %s",
                (run_id, node_pool, number),
            ).fetchone()
        if not row:
            raise SpecError(
                f"The run {run_id} has no turn {number} in the node pool {node_pool or 'default'!r}"
            )
        return _turn(row)

    @patient
    def replace_statistics(self, keys: Sequence[str], statistics: Sequence[Mapping[str, Any]]) -> None:
        """Replace all rows of `statistic` of these cells."""
        with self._cursor() as cursor:
            cursor.execute("DELETE FROM storebench.statistic WHERE cell_key = ANY(%s)", (list(keys),))
            if statistics:
                columns = list(statistics[0])
                cursor.executemany(
                    sql.SQL("INSERT INTO storebench.statistic ({}) VALUES ({})").format(
                        sql.SQL(", ").join(map(sql.Identifier, columns)),
                        sql.SQL(", ").join(map(sql.Placeholder, columns)),
                    ),
                    list(statistics),
                )

    def set_baseline(self, name: str, run_id: str) -> None:
        """Make `name` the name of a baseline: this run."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.baseline (name, run_id) VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, set_at = now()",
                (name, run_id),
            )

    def change_tags(self, run_id: str, added: Sequence[str], removed: Sequence[str]) -> list[str]:
        """Add tags to a run, and remove others. Return the run's tags. Raises SpecError if the run would have too many tags."""
        with self._cursor() as cursor:
            row = cursor.execute(
                "SELECT tags FROM storebench.run WHERE id = %s FOR UPDATE", (run_id,)
            ).fetchone()
            tags = check_tags({*(row["tags"] if row else ()), *added} - set(removed))
            cursor.execute("UPDATE storebench.run SET tags = %s WHERE id = %s", (tags, run_id))
        return tags

    @patient
    def skip(self, run_id: str, cell: Cell, repeat: int, reason: str) -> None:
        """Record the reason why a run skips a turn. A skipped turn is no gap."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.run_cell SET skipped = %s WHERE (run_id, cell_key, repeat) = (%s, %s, %s)",
                (reason, run_id, cell.key, repeat),
            )

    @patient
    def finish_run(
        self,
        run_id: str,
        *,
        stopped: bool = False,
        reason: str | None = None,
        ended_at: datetime | None = None,
    ) -> list[dict[str, Any]]:
        """Close a run. Return its operations whose newest attempt is not verified. The run has failed if there are any, or if `stopped`.

        `reason`: why the run ended early, if no reason is recorded. `ended_at`: the end, if not now. A refused run stays refused. If some
        tasks of an ended run were repeated, the run rested from its end to the start of the first repeated task. An attempt that began before
        the end was stopped, not repeated. Without repeated tasks, the run keeps its end.
        """
        with self._cursor() as cursor:
            newest = sql.SQL(NEWEST_TRIES).format(
                condition=sql.SQL("run_id = {}").format(sql.Literal(run_id))
            )
            failed = cursor.execute(
                sql.SQL(
                    "SELECT * FROM ({}) AS newest WHERE status <> 'verified' ORDER BY recorded_at"
                ).format(newest)
            ).fetchall()
            cursor.execute(
                "UPDATE storebench.run AS r SET state = %(state)s,"
                " finished_at = CASE WHEN r.finished_at IS NULL OR again.began_at IS NOT NULL THEN coalesce(%(ended_at)s, now())"
                "  ELSE r.finished_at END,"
                " rested_s = rested_s + greatest(0, coalesce(extract(epoch FROM again.began_at - r.finished_at), 0)),"
                " reason = CASE WHEN %(state)s::text = 'failed' THEN coalesce(reason, %(reason)s) END"
                " FROM (SELECT min(coalesce(a.started_at, a.recorded_at)) AS began_at FROM storebench.run AS before"
                "  JOIN storebench.attempt AS a ON a.run_id = before.id AND coalesce(a.started_at, a.recorded_at) > before.finished_at"
                "   AND a.status <> 'not_run' WHERE before.id = %(run)s) AS again"
                " WHERE r.id = %(run)s AND r.state <> 'refused'",
                {
                    "state": "failed" if failed or stopped else "success",
                    "reason": reason,
                    "ended_at": ended_at,
                    "run": run_id,
                },
            )
        return failed


def _turn(row: Row) -> Turn:
    return Turn(Cell.from_key(row["cell_key"]), row["repeat"], row["arm"], row["node_pool"])


def put_study(cursor: Cursor[Row], study: Study) -> None:
    """Record a study, and recreate its views if its record has changed."""
    record = StudyRecord.of(study)
    cursor.execute(
        "INSERT INTO storebench.study (name, operations, details) VALUES (%s, %s, %s)"
        " ON CONFLICT (name) DO UPDATE SET operations = excluded.operations, details = excluded.details, recorded_at = now()"
        " WHERE (study.operations, study.details) IS DISTINCT FROM (excluded.operations, excluded.details)",
        (study.name, [operation.name for operation in study.operations], Jsonb(record.as_json())),
    )
    if cursor.rowcount:
        study_views.make(cursor, record)
