"""Track the leftovers of runs: data in the stores, Secrets in the cluster, datasets in S3."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from storebench.errors import StoreUnreachable
from storebench.results.database.connection import Row, patient
from storebench.results.leftovers.servers import ServerUses
from storebench.study.cell import Cell

REMOVAL_S = 120.0  # the longest time to remove a run's Secrets
WAIT_S = 0.2


@dataclass(frozen=True)
class Undropped:
    """A turn whose data may be in its store: an operation has begun, and the data was neither dropped nor kept on purpose."""

    run_id: str
    dag_id: str
    airflow_run_id: str
    cell: Cell
    repeat: int
    node_pool: str
    airflow_id: str | None = None  # the Airflow that started the run
    size_bytes: int | None = None  # None if the operations failed, or the store does not report the size

    @property
    def target(self) -> str:
        """Return the name of the data in the store."""
        return self.cell.target(self.run_id, self.repeat)

    def __str__(self) -> str:
        return f"{self.cell.store}: {self.target}, of the run {self.airflow_run_id}"


# The datasets that no recorded or planned run uses.
_DATASETS = (
    "SELECT id, bytes FROM storebench.dataset AS d"
    " WHERE NOT EXISTS (SELECT FROM storebench.run AS r WHERE d.id = ANY (r.datasets))"
)


class Left(ServerUses):
    """The record of the data, Secrets and datasets that runs leave."""

    @patient
    def leaves(self, run_id: str, cell: Cell, repeat: int, *, anew: bool = True) -> None:
        """Record that a turn's data may be in its store. `anew`: the data is new, so that its size is unknown."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.undropped AS u (run_id, cell_key, repeat) VALUES (%(run)s, %(cell)s, %(repeat)s)"
                " ON CONFLICT (run_id, cell_key, repeat) DO UPDATE SET bytes = CASE WHEN %(anew)s THEN NULL ELSE u.bytes END",
                {"run": run_id, "cell": cell.key, "repeat": repeat, "anew": anew},
            )

    @patient
    def has_left(self, run_id: str, cell: Cell, repeat: int, size_bytes: int | None) -> None:
        """Record the size of a turn's complete data in its store."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.undropped SET bytes = %s WHERE (run_id, cell_key, repeat) = (%s, %s, %s)",
                (size_bytes, run_id, cell.key, repeat),
            )

    @patient
    def dropped(self, run_id: str, cell: Cell, repeat: int) -> None:
        """Record that a turn's data is removed, or kept on purpose."""
        with self._cursor() as cursor:
            cursor.execute(
                "DELETE FROM storebench.undropped WHERE (run_id, cell_key, repeat) = (%s, %s, %s)",
                (run_id, cell.key, repeat),
            )

    @patient
    def holds(self, run_id: str, cell: Cell, repeat: int) -> bool:
        """Return whether a turn's data may be in its store; False for data that is kept on purpose."""
        with self._cursor() as cursor:
            row = cursor.execute(
                "SELECT FROM storebench.undropped WHERE (run_id, cell_key, repeat) = (%s, %s, %s)",
                (run_id, cell.key, repeat),
            ).fetchone()
        return row is not None

    @patient
    def undropped(self) -> list[Undropped]:
        """Return the undropped data of all runs, the oldest first, including running runs."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT u.run_id, r.dag_id, r.airflow_run_id, r.airflow_id, u.cell_key, u.repeat, u.bytes AS size_bytes, p.node_pool"
                " FROM storebench.undropped AS u JOIN storebench.run AS r ON r.id = u.run_id"
                " JOIN storebench.run_cell AS p USING (run_id, cell_key, repeat)"
                " ORDER BY u.written_at, u.run_id, u.cell_key, u.repeat"
            ).fetchall()
        return [Undropped(cell=Cell.from_key(row.pop("cell_key")), **row) for row in rows]

    def use_secrets(self, run_id: str, node_pool: str, names: Sequence[str]) -> None:
        """Record that a run needs the Secrets of these connections. After the return, the end of another run does not remove them.

        Wait up to REMOVAL_S seconds while the end of a run removes some of these Secrets.
        """
        while not self._record_use(run_id, node_pool, names):
            time.sleep(WAIT_S)

    @patient
    def _record_use(self, run_id: str, node_pool: str, names: Sequence[str]) -> bool:
        """Record the use of Secrets. Return whether no run removes these Secrets now. A run that died during the removal is ignored."""
        values = {
            "run": run_id,
            "pool": node_pool,
            "since": timedelta(seconds=REMOVAL_S),
            "names": list(names),
        }
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.secret_use AS u (run_id, node_pool, connection) SELECT %(run)s, %(pool)s, unnest(%(names)s::text[])"
                " ON CONFLICT (run_id, node_pool, connection) DO UPDATE SET removing_at = NULL WHERE u.removing_at < now() - %(since)s",
                values,
            )
        with (
            self._cursor() as cursor
        ):  # a new transaction also sees removals that were marked before the use was committed
            removal = cursor.execute(
                "SELECT FROM storebench.secret_use WHERE connection = ANY (%(names)s) AND removing_at >= now() - %(since)s LIMIT 1",
                values,
            ).fetchone()
        return removal is None

    def release_secrets(
        self, run_id: str, remove: Callable[[str, str], None], place: Callable[[str], object]
    ) -> None:
        """Call remove(node_pool, connection) for each Secret that only this run needs, then delete the records.

        `place`: returns the namespace of a node pool; a Secret stays if another run needs the connection in the same namespace. An error of
        `remove` does not keep the other Secrets: only the record of the remaining Secret stays, and the first error is raised at the end.
        The database is not locked while `remove` works: the rows are marked, and a run that needs the same Secrets waits up to REMOVAL_S
        seconds. Raises StoreUnreachable if the removal takes longer.
        """
        began_s = time.monotonic()
        unneeded = self._mark_unneeded(run_id, place)
        errors: dict[tuple[str, str], Exception] = {}
        try:
            for node_pool, name in unneeded:
                if time.monotonic() - began_s > REMOVAL_S / 2:  # the last call may take the other half
                    raise StoreUnreachable(
                        f"The Secrets of the run {run_id} were not removed within {REMOVAL_S / 2:.0f} s"
                    )
                try:
                    remove(node_pool, name)
                except Exception as error:  # noqa: BLE001 - raised at the end
                    errors[node_pool, name] = error
        except BaseException:
            self._unmark(run_id)
            raise
        self._unmark(run_id, list(errors))
        self._forget_secrets(run_id)
        for first in errors.values():
            raise first

    @patient
    def _mark_unneeded(self, run_id: str, place: Callable[[str], object]) -> list[tuple[str, str]]:
        """Mark the Secrets of a run as being removed. Return the node pool and connection of each Secret that no other run needs."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.secret_use SET removing_at = now() WHERE run_id = %s", (run_id,)
            )
        with self._cursor() as cursor:
            uses = cursor.execute(
                "SELECT run_id, node_pool, connection FROM storebench.secret_use WHERE connection IN ("
                " SELECT connection FROM storebench.secret_use WHERE run_id = %(run)s)"
                " AND (run_id = %(run)s OR removing_at IS NULL) ORDER BY node_pool, connection",
                {"run": run_id},
            ).fetchall()
        needed = {(place(row["node_pool"]), row["connection"]) for row in uses if row["run_id"] != run_id}
        return [
            (row["node_pool"], row["connection"])
            for row in uses
            if row["run_id"] == run_id and (place(row["node_pool"]), row["connection"]) not in needed
        ]

    @patient
    def _unmark(self, run_id: str, secrets: Sequence[tuple[str, str]] | None = None) -> None:
        """Mark these Secrets, pairs of node pool and connection, as not being removed; None: all Secrets of the run."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.secret_use SET removing_at = NULL WHERE run_id = %s"
                " AND (%s OR (node_pool, connection) IN (SELECT * FROM unnest(%s::text[], %s::text[])))",
                (
                    run_id,
                    secrets is None,
                    [pool for pool, _ in secrets or ()],
                    [name for _, name in secrets or ()],
                ),
            )

    @patient
    def _forget_secrets(self, run_id: str) -> None:
        with self._cursor() as cursor:
            cursor.execute(
                "DELETE FROM storebench.secret_use WHERE run_id = %s AND removing_at IS NOT NULL", (run_id,)
            )

    def runs_with_secrets(self) -> list[Row]:
        """Return the recorded runs that need Secrets: run_id, `secrets` (pairs of node pool and connection), and airflow_id (None if the
        run itself is not recorded).
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT u.run_id, r.airflow_id, array_agg(ARRAY[u.node_pool, u.connection] ORDER BY u.node_pool, u.connection) AS secrets"
                " FROM storebench.secret_use AS u LEFT JOIN storebench.run AS r ON r.id = u.run_id"
                " GROUP BY u.run_id, r.airflow_id ORDER BY u.run_id"
            ).fetchall()

    @patient
    def datasets(self) -> list[Row]:
        """Return the id and the bytes of each dataset that no recorded run uses. The dataset may be in S3."""
        with self._cursor() as cursor:
            return cursor.execute(f"{_DATASETS} ORDER BY id").fetchall()

    def remove_dataset(self, dataset: str, remove: Callable[[], None]) -> None:
        """Call `remove`, then delete the dataset's record. Do nothing if a run uses the dataset by now.

        After an error of `remove` the record stays. The database is not locked while `remove` works.
        """
        if any(record["id"] == dataset for record in self.datasets()):
            remove()
            self._forget_dataset(dataset)

    @patient
    def _forget_dataset(self, dataset: str) -> None:
        with self._cursor() as cursor:
            cursor.execute(
                f"DELETE FROM storebench.dataset WHERE id = %(id)s AND id IN (SELECT id FROM ({_DATASETS}) AS d)",
                {"id": dataset},
            )

    @patient
    def runs(self) -> list[Row]:
        """Return dag_id, airflow_run_id and airflow_id of all recorded runs."""
        with self._cursor() as cursor:
            return cursor.execute("SELECT dag_id, airflow_run_id, airflow_id FROM storebench.run").fetchall()
