"""Read runs by name, with their contents and progress.

The page names these runs like `turns__ID__003B`: the third run of side B. `turns:ID:A` and `turns:ID:B` name all runs of a side, in all
arguments that take names of runs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from storebench.errors import SpecError, quoted
from storebench.results.database.connection import Database, Row, patient

NAME = re.compile(r"turns:(?P<id>[0-9A-Za-z.-]{1,100}):(?P<side>[AB])")
RUN = re.compile(r"turns__(?P<id>[0-9A-Za-z.-]{1,100})__(?P<turn>[0-9]{1,4})(?P<side>[AB])")
PREFIX = "turns:"


@dataclass(frozen=True)
class Turns:
    """A side of runs in turns."""

    id: str
    side: str

    @classmethod
    def named(cls, name: str) -> Turns:
        """Parse a name `turns:ID:A` or `turns:ID:B`. Raises SpecError for any other text."""
        if not (parts := NAME.fullmatch(name)):
            raise SpecError(f"{quoted(name)} is no side of runs in turns: turns:ID:A or turns:ID:B")
        return cls(parts["id"], parts["side"])

    @property
    def run_prefix(self) -> str:
        """Return the common prefix of the names of both sides' runs."""
        return f"turns__{self.id}__"

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the names of this side's runs in order, limited to turns whose run of the other side is also in `names`."""
        turns: dict[int, dict[str, str]] = {}
        for name in names:
            if (run := RUN.fullmatch(name)) and run["id"] == self.id:
                turns.setdefault(int(run["turn"]), {})[run["side"]] = name
        return [sides[self.side] for _, sides in sorted(turns.items()) if len(sides) == 2]


def in_turns(name: str) -> bool:
    """Return whether a name is the name of runs in turns."""
    return name.startswith(PREFIX)


LATEST = "latest"
BASELINE = "baseline:"
# Runs with the number of their operations in each state (the newest tries count), and with their stores, rows and seed. A list counts all
# attempts of a hundred runs, so the counts only read indexes. No index has long texts such as reasons: these are counted separately.
RUN_COUNTS = """
SELECT r.*, n.verified, d.disturbed, n.failed, n.not_run, p.planned - s.skipped AS planned, p.cells, p.stores, p.rows, p.seed,
    CASE WHEN p.cells = 1 THEN p.first_key END AS cell_key
FROM {runs} AS r
CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE status = 'verified') AS verified,
        count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'not_run') AS not_run
    FROM (
        -- all of them descending, as the index is read backwards
        SELECT DISTINCT ON (cell_key, repeat, operation) status FROM storebench.attempt WHERE run_id = r.id
        ORDER BY cell_key DESC, repeat DESC, operation DESC, try_number DESC
    ) AS newest
) AS n
CROSS JOIN LATERAL (
    SELECT count(*) AS disturbed FROM storebench.attempt AS a
    WHERE a.run_id = r.id AND a.disturbed IS NOT NULL AND a.status = 'verified' AND NOT EXISTS (
        SELECT FROM storebench.attempt AS later
        WHERE (later.run_id, later.cell_key, later.repeat, later.operation) = (a.run_id, a.cell_key, a.repeat, a.operation)
            AND later.try_number > a.try_number
    )
) AS d
CROSS JOIN LATERAL (
    SELECT coalesce(sum(cardinality(t.operations)), 0) AS planned, count(*) FILTER (WHERE t.repeat = 1) AS cells,
        min(t.cell_key) AS first_key, coalesce(array_agg(DISTINCT c.store), '{{}}') AS stores, min(c.rows) AS rows, min(c.seed) AS seed
    FROM storebench.run_cell AS t JOIN storebench.cell AS c ON c.key = t.cell_key WHERE t.run_id = r.id
) AS p
CROSS JOIN LATERAL (
    SELECT coalesce(sum(cardinality(operations)), 0) AS skipped FROM storebench.run_cell
    WHERE run_id = r.id AND skipped IS NOT NULL
) AS s
ORDER BY r.started_at DESC
"""
NAMED = """
SELECT * FROM storebench.run
WHERE (%(dag_ids)s::text[] IS NULL OR dag_id = ANY(%(dag_ids)s)) AND (%(study)s::text IS NULL OR study = %(study)s)
    AND tags @> %(tags)s
"""
# Names of runs of a single cell of the grid: runs of a backfill are named by Airflow, other runs by the page.
OF_A_CELL = ["backfill__%", "cell__%"]
# Names of runs that belong to a group of runs: also the page's runs in turns.
OF_SEVERAL = [*OF_A_CELL, "turns__%"]
LATEST_WITHIN = "24 hours"
LATEST_RUN = """id = (
    SELECT id FROM named WHERE state <> 'refused'
        AND started_at >= (SELECT max(started_at) FROM named WHERE state <> 'refused') - %(within)s::interval
    ORDER BY airflow_run_id LIKE ANY(%(of_several)s), started_at DESC LIMIT 1
)"""
NEAR, MOST_NEAR = 50, 4  # number of newest runs to search for a similar name, and number of names to suggest


class Runs(Database):
    """The queries of runs. `dag_ids`: the DAGs whose runs are visible; None: all DAGs."""

    def __init__(self, dsn: str, patience_s: float = 0, dag_ids: Sequence[str] | None = None) -> None:
        super().__init__(dsn, patience_s)
        self.dag_ids = dag_ids

    def run_named(self, name: str, study: str | None = None) -> Row:
        """Return the row of a run. `name`: 'latest', 'baseline:NAME', its id in Airflow, or its id. `study`: the study that the run must
        have.

        'latest' is the newest run that was not refused. A run of a group of runs, such as a backfill, is only chosen if no other run began
        within LATEST_WITHIN before the newest run. Raises SpecError if no run has the name, or several runs have it.
        """
        if name == LATEST:
            runs = self._runs_where(LATEST_RUN, study=study, of_several=OF_SEVERAL, within=LATEST_WITHIN)
            if not runs:
                raise SpecError(f"There are no results{f' of the study {study}' if study else ''} yet")
        elif name.startswith(BASELINE):
            condition = "id = (SELECT run_id FROM storebench.baseline WHERE name = %(name)s)"
            runs = self._runs_where(condition, study=study, name=name.removeprefix(BASELINE))
        else:
            runs = self._runs_where("id = %(name)s OR airflow_run_id = %(name)s", study=study, name=name)
        if len(runs) > 1:
            several = self._runs_where("airflow_run_id = %(name)s", RUN_COUNTS, study=study, name=name)
            raise SpecError(
                f"Several runs are named {quoted(name)}. Give the whole id of one:{_listed(several, 'id')}"
            )
        if not runs:
            of_study = f" of the study {study}" if study else ""
            raise SpecError(f"There is no run {quoted(name)}{of_study}.{self._near(name, study)}")
        return runs[0]

    def runs_of_turns(self, name: str, study: str | None = None) -> list[Row]:
        """Return a side's runs in turns, in order. Only turns whose runs have begun on both sides and were not refused are included.

        Raises SpecError if there are none.
        """
        turns = Turns.named(name)
        condition = "starts_with(airflow_run_id, %(prefix)s) AND state <> 'refused'"
        rows = self._runs_where(condition, study=study, prefix=turns.run_prefix)
        runs = {row["airflow_run_id"]: row for row in rows}
        if not (names := turns.of(runs)):
            raise SpecError(f"No run of the turns {turns.id} has begun on both sides yet")
        return [runs[run_name] for run_name in names]

    def _runs_where(
        self, condition: str, query: str = "SELECT * FROM {runs} AS r", **values: Any
    ) -> list[Row]:
        """Run a query on the visible runs that meet a condition."""
        runs = f"(WITH named AS ({NAMED}) SELECT * FROM named WHERE {condition})"
        with self._cursor() as cursor:
            return cursor.execute(
                query.format(runs=runs), {"dag_ids": self.dag_ids, "study": None, "tags": [], **values}
            ).fetchall()

    def _near(self, name: str, study: str | None) -> str:
        newest = self.runs(NEAR, study)
        ids = get_close_matches(name, [row["airflow_run_id"] for row in newest], MOST_NEAR)
        near = [row for row in newest if row["airflow_run_id"] in ids]
        if not newest:
            return " There are no results yet"
        return f" {'Near it are' if near else 'The newest are'}:{_listed(near or newest[:MOST_NEAR])}"

    @patient
    def run_counted(self, run_id: str) -> Row:
        """Return a run by its id, with the numbers of its operations as in `runs`."""
        return self.runs_counted([run_id])[0]

    def runs_counted(self, run_ids: Sequence[str]) -> list[Row]:
        """Return runs with their numbers of operations, the newest first."""
        return self._runs_where("id = ANY(%(run_ids)s)", RUN_COUNTS, run_ids=list(run_ids))

    @patient
    def has_run(self, run_id: str) -> bool:
        """Return whether a run of that id is recorded."""
        with self._cursor() as cursor:
            row = cursor.execute("SELECT FROM storebench.run WHERE id = %s", (run_id,)).fetchone()
        return row is not None

    def runs(self, limit: int, study: str | None = None, tags: Sequence[str] = ()) -> list[Row]:
        """Return the newest runs with their stores, rows and seed, and the numbers of operations: planned, verified, disturbed among the
        verified, failed, not run. `tags`: only runs with all these tags."""
        condition = "true ORDER BY started_at DESC LIMIT %(limit)s"
        return self._runs_where(condition, RUN_COUNTS, study=study, limit=limit, tags=list(tags))

    @patient
    def skipped(self, run_id: str) -> list[str]:
        """Return the reasons why turns of a run were skipped, a reason for each turn."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT skipped FROM storebench.run_cell WHERE run_id = %s AND skipped IS NOT NULL"
                " ORDER BY position NULLS LAST, cell_key",
                (run_id,),
            ).fetchall()
        return [row["skipped"] for row in rows]

    def baselines(self) -> dict[str, str]:
        """Return the run ids of the baselines by name."""
        with self._cursor() as cursor:
            rows = cursor.execute("SELECT name, run_id FROM storebench.baseline ORDER BY name").fetchall()
        return {row["name"]: row["run_id"] for row in rows}

    def open_runs(self) -> list[Row]:
        """Return the runs without a recorded end, the oldest first."""
        with self._cursor() as cursor:
            return cursor.execute(
                "SELECT * FROM storebench.run WHERE state = 'running' ORDER BY started_at"
            ).fetchall()

    def operations_of_runs(self, run_ids: Sequence[str]) -> set[tuple[str, str]]:
        """Return the pairs of study and operation that runs planned to measure."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT DISTINCT r.study, o.operation FROM storebench.run AS r JOIN storebench.run_cell AS p ON p.run_id = r.id"
                " CROSS JOIN unnest(p.operations) AS o (operation) WHERE r.id = ANY(%s) AND p.skipped IS NULL",
                (list(run_ids),),
            )
            return {(row["study"], row["operation"]) for row in rows}

    def cells_of_run(self, run_id: str) -> list[str]:
        """Return the keys of the cells that a run planned to measure."""
        with self._cursor() as cursor:
            rows = cursor.execute(
                "SELECT DISTINCT cell_key FROM storebench.run_cell WHERE run_id = %s ORDER BY cell_key",
                (run_id,),
            )
            return [row["cell_key"] for row in rows]


def _listed(runs: Iterable[Row], name: str = "airflow_run_id") -> str:
    """Return a line for each run with its name, stores and rows."""
    return "".join(
        f"\n  {row[name]} ({', '.join(row['stores']) or 'no stores'}; {row['rows'] or 0:,} rows)"
        for row in runs
    )
