"""Writes runs and attempts to Postgres. Every write can be repeated without harm."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from storebench import METHOD_VERSION, stores
from storebench.attempt.node import NodeFigures
from storebench.attempt.result import AttemptResult
from storebench.dataset.manifest import Manifest
from storebench.errors import SpecError
from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.database import Row, patient
from storebench.results.queries import NEWEST_TRIES, Queries
from storebench.version import code_version

NAMESPACE = uuid.UUID("6f1f7f2e-6b8a-4c52-9d0b-6f7d3a1c2b5e")

# The figures that the pod reports under the same names as the columns of `attempt`.
FIGURES = (
    "operation_s",
    "source_s",
    "barrier_s",
    "total_s",
    "memory_peak_bytes",
    "memory_working_set_peak_bytes",
    "memory_limit_bytes",
    "cpu_s",
    "throttled_s",
    "throttled_periods",
    "oom_kills",
    "client_cpu_share",
    "delivers",
    "client_cores_usable",
    "figures_cover",
    "durability",
    "durability_stated",
    "disturbed",
    *NodeFigures.__dataclass_fields__,
    "method_version",
    "code_version",
    "status",
    "error_kind",
    "error",
    "verification",
)


@dataclass(frozen=True)
class AttemptKey:
    """Which attempt a row is of. The same key always makes the same id, so that a row is never doubled."""

    run_id: str
    cell_key: str
    repeat: int
    operation: str
    try_number: int

    @property
    def id(self) -> uuid.UUID:
        parts = (self.run_id, self.cell_key, str(self.repeat), self.operation, str(self.try_number))
        return uuid.uuid5(NAMESPACE, "\n".join(parts))


@dataclass(frozen=True)
class PodRecord:
    """What Kubernetes says of an attempt's pod."""

    pod: str | None = None
    node: str | None = None
    exit_code: int | None = None
    pod_total_s: float | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None


def run_id_of(dag_id: str, airflow_run_id: str) -> str:
    """The id of a run in the results."""
    return f"{dag_id}/{airflow_run_id}"


def short_hash(details: Mapping[str, Any]) -> str:
    """The key of an environment, or of parameters: the same details, in any order, give the same hash."""
    text = json.dumps(details, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Repository(Queries):
    """All that is written; what is written can be read, too."""

    def start_run(
        self,
        *,
        study: str,
        dag_id: str,
        airflow_run_id: str,
        params: Mapping[str, Any],
        turns: Sequence[Turn],
        order_seed: int,
        skipped: Mapping[Cell, str],
        airflow_id: str | None = None,
        expected_s: float | None = None,
    ) -> None:
        """Record a run, the turns that it sets out to do, in order, and the cells that it leaves out, with the reasons.

        `airflow_id` tells the runs of one Airflow from those of others that share the database; `expected_s` is how long the run
        will take, about.
        """
        run_id = run_id_of(dag_id, airflow_run_id)
        planned: list[tuple[Cell, int, str | None, str, int | None, str | None]] = [
            (turn.cell, turn.repeat, turn.arm, turn.node_pool, n, None) for n, turn in enumerate(turns, 1)
        ]
        planned += [(cell, 1, None, "", None, reason) for cell, reason in skipped.items()]
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.run"
                " (id, study, dag_id, airflow_run_id, params, order_seed, method_version, code_version, airflow_id, expected_s)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
                # The run is there already if it was refused, or had nothing to do: it has no turns yet
                " ON CONFLICT (id) DO UPDATE SET state = 'running', finished_at = NULL, reason = NULL, params = excluded.params,"
                " order_seed = excluded.order_seed, method_version = excluded.method_version,"
                " code_version = excluded.code_version, expected_s = excluded.expected_s",
                (
                    run_id,
                    study,
                    dag_id,
                    airflow_run_id,
                    Jsonb(dict(params)),
                    order_seed,
                    METHOD_VERSION,
                    code_version(),
                    airflow_id,
                    expected_s,
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
                    (run_id, cell.key, *rest, list(stores.load(cell.store).operations))
                    for cell, *rest in planned
                ],
            )

    def refuse_run(
        self,
        *,
        study: str,
        dag_id: str,
        airflow_run_id: str,
        params: Mapping[str, Any],
        reason: str,
        airflow_id: str | None = None,
    ) -> None:
        """Record a run that was refused before any work, and why. One that has begun before keeps its state, and gets the reason."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, method_version, code_version, airflow_id,"
                " state, reason, finished_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, 'refused', %s, now())"
                " ON CONFLICT (id) DO UPDATE SET reason = excluded.reason",
                (
                    run_id_of(dag_id, airflow_run_id),
                    study,
                    dag_id,
                    airflow_run_id,
                    Jsonb(dict(params)),
                    METHOD_VERSION,
                    code_version(),
                    airflow_id,
                    reason,
                ),
            )

    def reopen_run(self, run_id: str) -> None:
        """A run that is started again goes on."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.run SET state = 'running', finished_at = NULL, reason = NULL WHERE id = %s",
                (run_id,),
            )

    @patient
    def stop_run(self, run_id: str, reason: str | None) -> None:
        """Record why what the run has not done yet will not be run; None where nothing keeps it from going on."""
        with self._cursor() as cursor:
            cursor.execute("UPDATE storebench.run SET reason = %s WHERE id = %s", (reason, run_id))

    @patient
    def recorded_turns(self, run_id: str) -> list[Turn]:
        """What a run set out to do when it was started first: the tasks of each node pool are numbered by that for ever."""
        with self._cursor() as cursor:
            found = cursor.execute(
                "SELECT cell_key, repeat, arm, node_pool FROM storebench.run_cell"
                " WHERE run_id = %s AND position IS NOT NULL ORDER BY position",
                (run_id,),
            )
            return [_turn(row) for row in found]

    @patient
    def recorded_turn(self, run_id: str, node_pool: str, number: int) -> Turn:
        """One of them: the one with this number among those of its node pool, from 0."""
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
        """Put these rows of `statistic` in the place of all that the cells had."""
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
        """Let `name` mean this run from now on."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.baseline (name, run_id) VALUES (%s, %s)"
                " ON CONFLICT (name) DO UPDATE SET run_id = excluded.run_id, set_at = now()",
                (name, run_id),
            )

    @patient
    def skip(self, run_id: str, cell: Cell, repeat: int, reason: str) -> None:
        """A turn that its run decided not to do is no gap."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.run_cell SET skipped = %s WHERE (run_id, cell_key, repeat) = (%s, %s, %s)",
                (reason, run_id, cell.key, repeat),
            )

    @patient
    def add_dataset(self, manifest: Manifest) -> None:
        """Record the dataset that a run uses."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (id) DO NOTHING",
                (
                    dataset_id(manifest.schema_version, manifest.rows, manifest.seed),
                    manifest.schema_version,
                    manifest.rows,
                    manifest.seed,
                    manifest.bytes,
                    manifest.sha256,
                    manifest.to_json(),
                ),
            )

    @patient
    def add_attempt(
        self,
        key: AttemptKey,
        result: AttemptResult,
        pod: PodRecord,
        *,
        phases: Mapping[str, float],
        target: str | None,
        dataset: str | None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        """Record one attempt with its phases, environment and parameters (None where nothing ran). Recording it again changes nothing."""
        details = result.environment
        row: dict[str, Any] = {
            **{name: getattr(result, name) for name in FIGURES},
            **vars(pod),
            "id": key.id,
            **vars(key),
            "target": target,
            "server_name": details.get("server_name"),
            "server_version": details.get("server_version"),
            "environment_hash": short_hash(details) if details else None,
            "parameters_hash": short_hash(parameters) if parameters else None,
        }
        with self._cursor() as cursor:
            if details:
                cursor.execute(
                    "INSERT INTO storebench.environment (hash, details) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (row["environment_hash"], Jsonb(details)),
                )
            if parameters:
                cursor.execute(
                    "INSERT INTO storebench.parameters (hash, details) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (row["parameters_hash"], Jsonb(dict(parameters))),
                )
            columns = sql.SQL(", ").join(map(sql.Identifier, row))
            values = sql.SQL(", ").join(map(sql.Placeholder, row))
            cursor.execute(
                sql.SQL(
                    "INSERT INTO storebench.attempt ({columns}, dataset_id)"
                    " VALUES ({values}, (SELECT id FROM storebench.dataset WHERE id = %(dataset)s))"
                    " ON CONFLICT (id) DO NOTHING"
                ).format(columns=columns, values=values),
                {**row, "dataset": dataset},
            )
            if cursor.rowcount:
                cursor.executemany(
                    "INSERT INTO storebench.phase (attempt_id, position, name, seconds) VALUES (%s, %s, %s, %s)",
                    [(key.id, n, name, seconds) for n, (name, seconds) in enumerate(phases.items(), 1)],
                )
                cursor.executemany(
                    "INSERT INTO storebench.executor (attempt_id, executor, memory_peak_bytes,"
                    " memory_working_set_peak_bytes, cpu_s, oom_kills) VALUES (%(attempt_id)s, %(executor)s,"
                    " %(memory_peak_bytes)s, %(memory_working_set_peak_bytes)s, %(cpu_s)s, %(oom_kills)s)",
                    [{"attempt_id": key.id, **executor} for executor in result.executors],
                )

    @patient
    def finish_run(
        self, run_id: str, *, stopped: bool = False, reason: str | None = None
    ) -> list[dict[str, Any]]:
        """Close a run; returns its operations whose newest attempt is not verified. It has failed if there are any, or if `stopped`.

        `reason`: why it ended early, where that is not recorded yet. A run that was refused stays so.
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
                "UPDATE storebench.run SET state = %(state)s, finished_at = now(),"
                " reason = CASE WHEN %(state)s::text = 'failed' THEN coalesce(reason, %(reason)s) END"
                " WHERE id = %(run)s AND state <> 'refused'",
                {"state": "failed" if failed or stopped else "success", "reason": reason, "run": run_id},
            )
        return failed


def _turn(row: Row) -> Turn:
    return Turn(Cell.from_key(row["cell_key"]), row["repeat"], row["arm"], row["node_pool"])


def dataset_id(schema_version: int, rows: int, seed: int) -> str:
    """The id of a dataset in the results."""
    return f"v{schema_version}/rows={rows}/seed={seed}"
