"""What the results page reads, of the DAGs that its user may see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from psycopg import sql

from storebench.airflow.node_pools import NodePool
from storebench.results.database import Row
from storebench.results.queries import RUN_COUNTS, Queries

TURNS = """
SELECT CASE WHEN p.position IS NOT NULL
        THEN row_number() OVER (PARTITION BY p.node_pool ORDER BY p.position NULLS LAST) - 1 END AS map_index,
    p.node_pool, p.cell_key, c.store, c.client, c.axes ->> 'batch' AS batch_size,
    (c.axes ->> 'executors')::integer AS executors, c.rows, c.seed, p.repeat, p.repeat = 0 AS warm_up, p.arm, p.skipped, p.operations
FROM storebench.run_cell AS p JOIN storebench.cell AS c ON c.key = p.cell_key
WHERE p.run_id = %s ORDER BY p.position NULLS LAST, p.cell_key LIMIT %s OFFSET %s
"""
# An attempt is superseded by a later try of the same operation: the newest alone counts.
ATTEMPTS = """
SELECT v.*, coalesce(v.write_only_s, v.read_only_s) AS only_s, EXISTS (
    SELECT FROM storebench.attempt AS later
    WHERE (later.run_id, later.cell_key, later.repeat, later.operation) = (v.run_id, v.cell_key, v.repeat, v.operation)
        AND later.try_number > v.try_number
) AS superseded
FROM storebench.results AS v JOIN storebench.run AS r ON r.id = v.run_id
WHERE {conditions} ORDER BY {group}{by} {order} NULLS LAST, v.attempt_id LIMIT {limit} OFFSET {offset}
"""


class Sort(StrEnum):
    """The columns by which attempts may be sorted: what a user names never becomes SQL by itself."""

    RECORDED_AT = "recorded_at"
    STORE = "store"
    CLIENT = "client"
    BATCH_SIZE = "batch_size"
    EXECUTORS = "executors"
    ROWS = "rows"
    SEED = "seed"
    OPERATION = "operation"
    STATUS = "status"
    REPEAT = "repeat"
    ONLY_S = "only_s"
    ROWS_PER_S = "rows_per_s"
    TOTAL_S = "total_s"
    MEMORY = "all_memory_working_set_peak_bytes"
    CLIENT_CPU_SHARE = "client_cpu_share"


# What is no column of the view.
SORTED_BY = {
    Sort.ONLY_S: "coalesce(v.write_only_s, v.read_only_s)",
    Sort.ROWS_PER_S: "CASE WHEN v.status = 'verified' THEN v.rows / nullif(coalesce(v.write_only_s, v.read_only_s), 0) END",
}


def rows_per_s(row: Row) -> float | None:
    """Rows of the dataset for each second in the store's client; None of an attempt that may not have moved all of them."""
    return row["rows"] / row["only_s"] if row["status"] == "verified" and row["only_s"] else None


class Reading(Queries):
    """Reads for one user: `dag_ids` are the DAGs whose runs may be seen."""

    dag_ids: list[str]

    def __init__(self, dsn: str, dag_ids: Sequence[str]) -> None:
        super().__init__(dsn, dag_ids=list(dag_ids))

    def runs_page(self, limit: int, offset: int, dag_id: str | None = None) -> list[Row]:
        """The newest runs first, of one DAG where it is given, with their numbers of operations: planned, verified, of these
        disturbed, failed, not run."""
        dag_ids = [one for one in self.dag_ids if dag_id in (None, one)]
        runs = sql.SQL(
            "(SELECT * FROM storebench.run WHERE dag_id = ANY({}) ORDER BY started_at DESC LIMIT {} OFFSET {})"
        ).format(*map(sql.Literal, (dag_ids, limit, offset)))
        return self._all(sql.SQL(RUN_COUNTS).format(runs=runs))

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
        """The newest tries of these cells' operations in a run, warm-ups left out, with `only_s` and `rows_per_s`."""
        condition = sql.SQL("run_id = {} AND cell_key = ANY({}) AND NOT warm_up").format(
            sql.Literal(run_id), sql.Literal(list(keys))
        )
        rows = self._newest_tries(condition)
        order = {key: n for n, key in enumerate(keys)}
        for row in rows:
            row["only_s"] = row[f"{row['operation']}_only_s"]
            row["rows_per_s"] = rows_per_s(row)
        return sorted(
            rows, key=lambda row: (order[row["cell_key"]], row["operation"] == "read", row["repeat"])
        )

    def attempts_page(
        self,
        filters: Mapping[str, str],
        parts: Mapping[str, str],
        sort: Sort,
        descending: bool,
        limit: int,
        offset: int,
    ) -> list[Row]:
        """Rows of the view `results`, with `only_s` and `rows_per_s` for either operation, and whether a later try has superseded each.

        `filters` are columns and their values, `parts` columns and what their values contain, in capital letters or not.
        By memory or CPU only what is alike is ranked: the clients of servers, then the engines.
        """
        conditions = [sql.SQL("r.dag_id = ANY({})").format(sql.Literal(self.dag_ids))]
        conditions += [
            sql.SQL("v.{} = {}").format(sql.Identifier(name), sql.Literal(value))
            for name, value in filters.items()
        ]
        conditions += [
            sql.SQL("position(lower({}) IN lower(v.{})) > 0").format(sql.Literal(value), sql.Identifier(name))
            for name, value in parts.items()
        ]
        query = sql.SQL(ATTEMPTS).format(
            conditions=sql.SQL(" AND ").join(conditions),
            group=sql.SQL("v.figures_cover, " if sort in (Sort.MEMORY, Sort.CLIENT_CPU_SHARE) else ""),
            by=sql.SQL(SORTED_BY.get(sort, f"v.{sort.value}")),
            order=sql.SQL("DESC" if descending else "ASC"),
            limit=sql.Literal(limit),
            offset=sql.Literal(offset),
        )
        return [{**row, "rows_per_s": rows_per_s(row)} for row in self._all(query)]

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
