"""Record the servers that runs provision, and their state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from storebench.results.database.connection import Database, Row, patient


@dataclass(frozen=True)
class ServerUse:
    """Servers that a run provisioned or could not provision. `failed`: the reason of a failure. `pods`: empty until the servers are
    ready.
    """

    servers: str
    store: str
    pods: Mapping[str, list[Any]] | None = None
    failed: str | None = None

    @property
    def may_exist(self) -> bool:
        """Return whether there may be servers to remove."""
        return self.failed is None


class ServerUses(Database):
    """The record of servers."""

    @patient
    def provision_servers(self, run_id: str, servers: str, store: str) -> None:
        """Record that servers may exist, and are not ready."""
        with self._cursor() as cursor:
            cursor.execute(
                "INSERT INTO storebench.server_use (run_id, servers, store) VALUES (%s, %s, %s)"
                " ON CONFLICT (run_id, servers) DO UPDATE SET pods = NULL, failed = NULL, made_at = now()",
                (run_id, servers, store),
            )

    @patient
    def servers_ready(self, run_id: str, servers: str, pods: Mapping[str, list[Any]]) -> None:
        """Record that servers are ready, and their pods."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.server_use SET pods = %s WHERE (run_id, servers) = (%s, %s)",
                (Jsonb(dict(pods)), run_id, servers),
            )

    @patient
    def servers_failed(self, run_id: str, servers: str, reason: str) -> None:
        """Record that servers could not start, and that they are removed."""
        with self._cursor() as cursor:
            cursor.execute(
                "UPDATE storebench.server_use SET pods = NULL, failed = %s WHERE (run_id, servers) = (%s, %s)",
                (reason, run_id, servers),
            )

    @patient
    def servers_removed(self, run_id: str, servers: str) -> None:
        """Record that servers are removed, together with the data of the run's turns on them."""
        with self._cursor() as cursor:
            cursor.execute(
                "DELETE FROM storebench.undropped AS u USING storebench.server_use AS s, storebench.cell AS c"
                " WHERE (s.run_id, s.servers) = (%s, %s) AND u.run_id = s.run_id AND c.key = u.cell_key AND c.store = s.store",
                (run_id, servers),
            )
            cursor.execute(
                "DELETE FROM storebench.server_use WHERE (run_id, servers) = (%s, %s)", (run_id, servers)
            )

    @patient
    def servers_of(self, run_id: str) -> list[ServerUse]:
        """Return the servers that a run provisioned and has not removed, and the servers that could not start."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT servers, store, pods, failed FROM storebench.server_use WHERE run_id = %s ORDER BY made_at",
                (run_id,),
            ).fetchall()
        return [ServerUse(**row) for row in rows]

    def runs_with_servers(self) -> list[Row]:
        """Return the recorded runs with servers: run_id, the `servers` that may exist, and airflow_id (None if the run itself is not
        recorded).
        """
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT s.run_id, r.airflow_id,"
                " coalesce(array_agg(s.servers ORDER BY s.servers) FILTER (WHERE s.failed IS NULL), '{}') AS servers"
                " FROM storebench.server_use AS s LEFT JOIN storebench.run AS r ON r.id = s.run_id"
                " GROUP BY s.run_id, r.airflow_id ORDER BY s.run_id"
            ).fetchall()
