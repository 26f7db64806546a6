"""Remove old runs, with all rows that belong only to them."""

from __future__ import annotations

from datetime import datetime

from storebench.results.database.connection import Database

_OLD = (
    "SELECT id FROM storebench.run WHERE started_at < %(before)s AND state <> 'running'"
    " AND id NOT IN (SELECT run_id FROM storebench.baseline UNION SELECT run_id FROM storebench.undropped"
    " UNION SELECT run_id FROM storebench.server_use)"
)
_ATTEMPTS = f"SELECT id FROM storebench.attempt WHERE run_id IN ({_OLD})"
_ORPHANS = {
    "cell": "NOT EXISTS (SELECT FROM storebench.run_cell AS p WHERE p.cell_key = t.key)",
    "environment": "NOT EXISTS (SELECT FROM storebench.attempt AS a WHERE a.environment_hash = t.hash)",
    "parameters": "NOT EXISTS (SELECT FROM storebench.attempt AS a WHERE a.parameters_hash = t.hash)",
}


class Pruning(Database):
    """The removal of runs that started before a given time. Running runs, runs with leftover data in a store, and baselines stay."""

    def old(self, before: datetime) -> tuple[int, int]:
        """Return the numbers of runs and attempts to remove."""
        with self._cursor() as cursor:
            counts = cursor.execute(
                f"SELECT (SELECT count(*) FROM ({_OLD}) AS r) AS runs,"
                f" (SELECT count(*) FROM ({_ATTEMPTS}) AS a) AS attempts",
                {"before": before},
            ).fetchone()
        assert counts is not None
        return counts["runs"], counts["attempts"]

    def remove(self, before: datetime) -> list[str]:
        """Remove the runs. Return the keys of their cells that other runs still have."""
        parameters = {"before": before}
        with self._cursor() as cursor:
            cells = cursor.execute(
                f"SELECT DISTINCT cell_key FROM storebench.run_cell WHERE run_id IN ({_OLD})", parameters
            ).fetchall()
            keys = [row["cell_key"] for row in cells]
            for table in ("phase", "usage", "artifact", "counter", "profile"):
                cursor.execute(
                    f"DELETE FROM storebench.{table} WHERE attempt_id IN ({_ATTEMPTS})", parameters
                )
            for table in ("attempt", "run_cell"):
                cursor.execute(f"DELETE FROM storebench.{table} WHERE run_id IN ({_OLD})", parameters)
            cursor.execute(f"DELETE FROM storebench.run WHERE id IN ({_OLD})", parameters)
            cursor.execute("DELETE FROM storebench.statistic WHERE cell_key = ANY(%s)", (keys,))
            for table, condition in _ORPHANS.items():
                cursor.execute(f"DELETE FROM storebench.{table} AS t WHERE {condition}")
            remaining = cursor.execute(
                "SELECT key FROM storebench.cell WHERE key = ANY(%s)", (keys,)
            ).fetchall()
        return [row["key"] for row in remaining]
