"""Cassandra: the virtual tables of all nodes, and the tables of the store's keyspace.

Virtual tables show no read repairs and no garbage collections: only JMX has these metrics. ScyllaDB has no such tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from storebench.protocol.counters import Counter
from storebench.stores.counters.report import Places, taken

if TYPE_CHECKING:
    from cassandra.cluster import Session

TIMEOUT_S = 5.0
PLACES: Places = {
    Counter(
        "compaction_tasks", "", "counter", "tasks that the compaction threads have done"
    ): "CompactionExecutor.completed_tasks",
    Counter(
        "memtable_flushes", "", "counter", "flushes of memtables to disk"
    ): "MemtableFlushWriter.completed_tasks",
    Counter(
        "hint_dispatches", "", "counter", "dispatches of hints to nodes that were down"
    ): "HintsDispatcher.completed_tasks",
    Counter(
        "blocked_requests", "", "counter", "requests of clients that waited for a full queue"
    ): "Native-Transport-Requests.blocked_tasks_all_time",
    Counter(
        "local_writes", "", "counter", "writes of a copy of a row of the store's tables"
    ): "local_write_latency.count",
    Counter(
        "local_reads", "", "counter", "reads of a copy of the store's tables"
    ): "local_read_latency.count",
    Counter("key_cache_hits", "", "counter", "reads that the key cache answered"): "keys.hit_count",
    Counter("key_cache_requests", "", "counter", "reads of the key cache"): "keys.request_count",
    Counter(
        "dropped_to_nodes", "", "counter", "messages to other nodes that were too old, or too many"
    ): "outbound.dropped",
    Counter(
        "dropped_from_nodes", "", "counter", "messages from other nodes that were too old"
    ): "inbound.dropped",
    Counter("sent_to_nodes_bytes", "bytes", "counter", "bytes sent to other nodes"): "outbound.sent_bytes",
    Counter("waiting_compactions", "", "gauge", "compactions that wait"): "CompactionExecutor.pending_tasks",
    Counter("running_compactions", "", "gauge", "compactions that run"): "CompactionExecutor.active_tasks",
    Counter("waiting_writes", "", "gauge", "writes of copies that wait"): "MutationStage.pending_tasks",
    Counter("waiting_reads", "", "gauge", "reads of copies that wait"): "ReadStage.pending_tasks",
    Counter("hint_files", "", "gauge", "files with hints for nodes that are down"): "hints.files",
    Counter(
        "table_bytes", "bytes", "gauge", "size of the store's tables on disk, in whole MiB for each table"
    ): "disk.bytes",
}
COUNTERS = tuple(PLACES)

# Statements with the names of their results in PLACES. A result with the name None has its name in its first column.
STATEMENTS: Mapping[str, str | None] = {
    "SELECT name, active_tasks, pending_tasks, completed_tasks, blocked_tasks_all_time FROM system_views.thread_pools": None,
    "SELECT name, hit_count, request_count FROM system_views.caches": None,
    "SELECT count FROM system_views.local_write_latency WHERE keyspace_name = '{keyspace}' ALLOW FILTERING": "local_write_latency",
    "SELECT count FROM system_views.local_read_latency WHERE keyspace_name = '{keyspace}' ALLOW FILTERING": "local_read_latency",
    "SELECT expired_count, overload_count, sent_bytes FROM system_views.internode_outbound": "outbound",
    "SELECT expired_count FROM system_views.internode_inbound": "inbound",
    "SELECT files FROM system_views.pending_hints": "hints",
    "SELECT mebibytes FROM system_views.disk_usage WHERE keyspace_name = '{keyspace}' ALLOW FILTERING": "disk",
}
# Pools that a node starts when they are needed: until then they have done nothing.
POOLS = ("CompactionExecutor", "MemtableFlushWriter", "HintsDispatcher", "MutationStage", "ReadStage")
UNUSED = {"active_tasks": 0, "pending_tasks": 0, "completed_tasks": 0}


def read(session: Session, keyspace: str) -> dict[str, float]:
    """Return the sums over all nodes, each of which is asked itself. Raises the driver's errors, also if a node does not answer."""
    hosts = session.cluster.metadata.all_hosts()
    sent = [
        (host, name, session.execute_async(text.format(keyspace=keyspace), host=host, timeout=TIMEOUT_S))
        for host in hosts
        for text, name in STATEMENTS.items()
    ]
    reports: dict[Any, dict[str, dict[str, float]]] = {host: {} for host in hosts}
    for host, name, future in sent:
        reports[host] |= _report(name, future)
    return taken(PLACES, reports.values())


def _report(name: str | None, future: Any) -> dict[str, dict[str, float]]:
    """Return the numbers of a statement's rows by name and column; empty for a table that the server's version lacks."""
    from cassandra import InvalidRequest

    try:
        result = future.result()
    except InvalidRequest:
        return {}
    columns, rows = result.column_names, list(result)
    if name is None:
        found = {row[0]: dict(zip(columns[1:], row[1:], strict=True)) for row in rows}
        return {**(dict.fromkeys(POOLS, UNUSED) if "completed_tasks" in columns else {}), **found}
    sums = {column: sum(row[place] for row in rows) for place, column in enumerate(columns)}
    if name in ("outbound", "inbound"):
        sums["dropped"] = sums["expired_count"] + sums.get("overload_count", 0)
    if name == "disk":
        sums["bytes"] = sums["mebibytes"] * 2**20
    return {name: sums}
