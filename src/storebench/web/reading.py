"""What the results page reads, of the DAGs that its user may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from psycopg import sql

from storebench.airflow.node_pools import NodePool
from storebench.errors import SpecError
from storebench.results.database import Row
from storebench.results.queries import LATEST, Queries

RUN_COUNTS = """
SELECT r.*, n.verified, n.disturbed, n.failed, n.not_run, p.planned FROM {runs} AS r
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
    SELECT coalesce(sum(cardinality(operations)) FILTER (WHERE skipped IS NULL), 0) AS planned
    FROM storebench.run_cell WHERE run_id = r.id
) AS p
"""
TURNS = """
SELECT CASE WHEN p.position IS NOT NULL
        THEN row_number() OVER (PARTITION BY p.node_pool ORDER BY p.position NULLS LAST) - 1 END AS map_index,
    p.node_pool, p.cell_key, c.store, c.client, c.axes ->> 'batch' AS batch_size,
    (c.axes ->> 'executors')::integer AS executors, p.repeat, p.repeat = 0 AS warm_up, p.arm, p.skipped, p.operations
FROM storebench.run_cell AS p JOIN storebench.cell AS c ON c.key = p.cell_key
WHERE p.run_id = %s ORDER BY p.position NULLS LAST, p.cell_key LIMIT %s OFFSET %s
"""


class Sort(StrEnum):
    """The columns by which attempts may be sorted: what a user names never becomes SQL by itself."""

    RECORDED_AT = "recorded_at"
    STORE = "store"
    CLIENT = "client"
    BATCH_SIZE = "batch_size"
    EXECUTORS = "executors"
    OPERATION = "operation"
    STATUS = "status"
    REPEAT = "repeat"
    ONLY_S = "only_s"
    TOTAL_S = "total_s"
    MEMORY = "all_memory_working_set_peak_bytes"
    CLIENT_CPU_SHARE = "client_cpu_share"


class Reading(Queries):
    """Reads for one user: `dag_ids` are the DAGs whose runs may be seen."""

    def __init__(self, dsn: str, dag_ids: Sequence[str]) -> None:
        super().__init__(dsn)
        self.dag_ids = list(dag_ids)

    def run_named(self, name: str) -> Row:
        """As everywhere, among the runs that may be seen; raises SpecError for all others."""
        if name == LATEST:
            found = self.runs_page(1, 0)
            if not found:
                raise SpecError("There are no results yet")
            return found[0]
        row = super().run_named(name)
        if row["dag_id"] not in self.dag_ids:
            raise SpecError(f"There is no run {name!r}")
        return row

    def runs_page(self, limit: int, offset: int, dag_id: str | None = None) -> list[Row]:
        """The newest runs first, of one DAG where it is given, with their numbers of operations: planned, verified, of these
        disturbed, failed, not run."""
        dag_ids = [one for one in self.dag_ids if dag_id in (None, one)]
        runs = sql.SQL(
            "(SELECT * FROM storebench.run WHERE dag_id = ANY({}) ORDER BY started_at DESC LIMIT {} OFFSET {})"
        ).format(*map(sql.Literal, (dag_ids, limit, offset)))
        return self._all(sql.SQL(RUN_COUNTS).format(runs=runs) + sql.SQL("ORDER BY r.started_at DESC"))

    def run_counted(self, run_id: str) -> Row:
        """One run, likewise."""
        runs = sql.SQL("(SELECT * FROM storebench.run WHERE id = {})").format(sql.Literal(run_id))
        return self._all(sql.SQL(RUN_COUNTS).format(runs=runs))[0]

    def turns(self, run_id: str, limit: int, offset: int) -> list[Row]:
        """A run's turns in their order, then the cells that it left out."""
        rows = self._all(TURNS, (run_id, limit, offset))
        return [{**row, "task_group": NodePool(row["node_pool"]).group} for row in rows]

    def cells_of_run_page(self, run_id: str, limit: int, offset: int) -> list[str]:
        """The keys of a run's cells, in the order in which it first comes to them."""
        rows = self._all(
            "SELECT cell_key FROM storebench.run_cell WHERE run_id = %s AND skipped IS NULL"
            " GROUP BY cell_key ORDER BY min(position), cell_key LIMIT %s OFFSET %s",
            (run_id, limit, offset),
        )
        return [row["cell_key"] for row in rows]

    def attempts_of(self, run_id: str, keys: Sequence[str]) -> list[Row]:
        """The newest tries of these cells' operations in a run, warm-ups left out, with `only_s`."""
        condition = sql.SQL("run_id = {} AND cell_key = ANY({}) AND NOT warm_up").format(
            sql.Literal(run_id), sql.Literal(list(keys))
        )
        rows = self._newest_tries(condition)
        order = {key: n for n, key in enumerate(keys)}
        for row in rows:
            row["only_s"] = row[f"{row['operation']}_only_s"]
        return sorted(
            rows, key=lambda row: (order[row["cell_key"]], row["operation"] == "read", row["repeat"])
        )

    def attempts_page(
        self, filters: Mapping[str, str], sort: Sort, descending: bool, limit: int, offset: int
    ) -> list[Row]:
        """Rows of the view `results`, with `only_s` for either operation; `filters` are columns and their values.

        By memory or CPU only what is alike is ranked: the clients of servers, then the engines.
        """
        conditions = [sql.SQL("r.dag_id = ANY({})").format(sql.Literal(self.dag_ids))]
        conditions += [
            sql.SQL("v.{} = {}").format(sql.Identifier(name), sql.Literal(value))
            for name, value in filters.items()
        ]
        by = (
            sql.SQL("coalesce(v.write_only_s, v.read_only_s)")
            if sort is Sort.ONLY_S
            else sql.SQL("v.{}").format(sql.Identifier(sort.value))
        )
        query = sql.SQL(
            "SELECT v.*, r.dag_id, coalesce(v.write_only_s, v.read_only_s) AS only_s FROM storebench.results AS v"
            " JOIN storebench.run AS r ON r.id = v.run_id WHERE {conditions}"
            " ORDER BY {group}{by} {order} NULLS LAST, v.attempt_id LIMIT {limit} OFFSET {offset}"
        ).format(
            conditions=sql.SQL(" AND ").join(conditions),
            group=sql.SQL("v.figures_cover, " if sort in (Sort.MEMORY, Sort.CLIENT_CPU_SHARE) else ""),
            by=by,
            order=sql.SQL("DESC" if descending else "ASC"),
            limit=sql.Literal(limit),
            offset=sql.Literal(offset),
        )
        return self._all(query)

    def cells_like(self, text: str, limit: int) -> list[str]:
        """Keys of the cells that have been in a run, and whose key contains the text."""
        rows = self._all(
            "SELECT key FROM storebench.cell AS c WHERE position(%s IN key) > 0 AND EXISTS ("
            " SELECT FROM storebench.run_cell AS p JOIN storebench.run AS r ON r.id = p.run_id"
            " WHERE p.cell_key = c.key AND r.dag_id = ANY(%s)) ORDER BY key LIMIT %s",
            (text, self.dag_ids, limit),
        )
        return [row["key"] for row in rows]

    def dags(self) -> list[str]:
        """The DAGs that have runs, whoever may see them."""
        return [
            row["dag_id"] for row in self._all("SELECT DISTINCT dag_id FROM storebench.run ORDER BY dag_id")
        ]

    def _all(self, query: Any, values: Sequence[Any] | None = None) -> list[Row]:
        with self._cursor() as cursor:
            return cursor.execute(query, values).fetchall()
