"""MongoDB, and servers with its protocol: the command `serverStatus` of the server that answers the client.

FerretDB reports only the commands. Its clients cannot see the work of the PostgreSQL behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from storebench.protocol.counters import Counter
from storebench.stores.counters.report import Places, taken

if TYPE_CHECKING:
    from pymongo import MongoClient

COMMANDS = {
    "inserts": "insert",
    "updates": "update",
    "deletes": "delete",
    "finds": "find",
    "get_mores": "getMore",
    "aggregations": "aggregate",
}
PLACES: Places = {
    **{
        Counter(name, "", "counter", f"commands {command}"): f"metrics.commands.{command}.total"
        for name, command in COMMANDS.items()
    },
    Counter("documents_inserted", "", "counter", "documents that were inserted"): "metrics.document.inserted",
    Counter("documents_updated", "", "counter", "documents that were updated"): "metrics.document.updated",
    Counter("documents_deleted", "", "counter", "documents that were deleted"): "metrics.document.deleted",
    Counter(
        "documents_returned", "", "counter", "documents that queries returned"
    ): "metrics.document.returned",
    Counter("keys_scanned", "", "counter", "index keys that queries read"): "metrics.queryExecutor.scanned",
    Counter(
        "documents_scanned", "", "counter", "documents that queries read"
    ): "metrics.queryExecutor.scannedObjects",
    Counter("received_bytes", "bytes", "counter", "bytes from clients and other servers"): "network.bytesIn",
    Counter("sent_bytes", "bytes", "counter", "bytes to clients and other servers"): "network.bytesOut",
    Counter(
        "cache_read_bytes", "bytes", "counter", "bytes read into the cache"
    ): "wiredTiger.cache.bytes read into cache",
    Counter(
        "cache_written_bytes", "bytes", "counter", "bytes written from the cache"
    ): "wiredTiger.cache.bytes written from cache",
    Counter(
        "evicted_pages", "", "counter", "changed pages that the cache evicted"
    ): "wiredTiger.cache.modified pages evicted",
    Counter("journal_bytes", "bytes", "counter", "bytes of the journal"): "wiredTiger.log.log bytes written",
    Counter("journal_syncs", "", "counter", "syncs of the journal"): "wiredTiger.log.log sync operations",
    Counter("checkpoints", "", "counter", "checkpoints that have ended"): (
        "wiredTiger.checkpoint.total succeed number of checkpoints",
        "wiredTiger.transaction.transaction checkpoints",
    ),
    Counter("checkpoint_s", "s", "counter", "time of the checkpoints"): (
        "wiredTiger.checkpoint.total time (msecs)",
        "wiredTiger.transaction.transaction checkpoint total time (msecs)",
    ),
    Counter("page_faults", "", "counter", "page faults that needed the disk"): "extra_info.page_faults",
    Counter(
        "cache_bytes", "bytes", "gauge", "size of the cache's content"
    ): "wiredTiger.cache.bytes currently in the cache",
    Counter(
        "dirty_bytes", "bytes", "gauge", "changed content of the cache"
    ): "wiredTiger.cache.tracked dirty bytes in the cache",
    Counter("connections", "", "gauge", "connections of clients"): "connections.current",
    Counter("waiting", "", "gauge", "operations that wait for a lock"): "globalLock.currentQueue.total",
}
COUNTERS = tuple(PLACES)


def read(client: MongoClient[Any]) -> dict[str, float]:
    """Read the counters. Raises PyMongo's errors, such as for a login that may not read `serverStatus`."""
    status: Mapping[str, Any] = client.admin.command("serverStatus")
    if commands := status.get("metrics", {}).get("commands"):
        for command in COMMANDS.values():  # FerretDB lists the commands that were used
            commands.setdefault(command, {"total": 0})
    return taken(PLACES, [status])
