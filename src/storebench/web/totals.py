"""Count the runs and attempts of the results, for the metrics."""

from __future__ import annotations

from storebench.results.database.connection import Row
from storebench.web.reading import Reading

RUNS = """
SELECT study, state, count(*) AS runs FROM storebench.run WHERE dag_id = ANY(%s) GROUP BY study, state ORDER BY study, state
"""
LAST = """
SELECT DISTINCT ON (study) study, state, started_at, finished_at, rested_s FROM storebench.run
WHERE dag_id = ANY(%s) AND state IN ('success', 'failed') ORDER BY study, started_at DESC
"""
ATTEMPTS = """
SELECT c.study, c.store, a.operation, a.status, a.error_kind, count(*) AS attempts,
    extract(epoch FROM now() - max(a.recorded_at))::double precision AS age_s
FROM storebench.attempt AS a JOIN storebench.run AS r ON r.id = a.run_id JOIN storebench.cell AS c ON c.key = a.cell_key
WHERE r.dag_id = ANY(%s) GROUP BY c.study, c.store, a.operation, a.status, a.error_kind
ORDER BY c.study, c.store, a.operation, a.status, a.error_kind
"""


class Totals(Reading):
    """The totals of the DAGs that a user may see."""

    def runs_by_state(self) -> list[Row]:
        """Return the number of runs of each study in each recorded state: study, state, runs."""
        return self._all(RUNS, (self.dag_ids,))

    def last_runs(self) -> list[Row]:
        """Return the newest run of each study with a recorded end, without refused runs: study, state, started_at, finished_at, rested_s."""
        return self._all(LAST, (self.dag_ids,))

    def open_counted(self) -> list[Row]:
        """Return the runs without a recorded end, with the numbers of their operations."""
        return self.runs_counted([run["id"] for run in self.open_runs()])

    def attempts_by_outcome(self) -> list[Row]:
        """Return the number of attempts, with warm-ups and superseded tries: study, store, operation, status, error_kind, attempts, and
        `age_s`, the seconds since the newest of them was recorded.
        """
        return self._all(ATTEMPTS, (self.dag_ids,))
