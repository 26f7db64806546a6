"""Adapt tuned clients to a server.

docs/stores.md explains the rules. An attempt records their results in its environment's `client_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.attempt import machine
from storebench.attempt.cgroup import Cgroup
from storebench.stores.base import Server

UNKNOWN_CORES = 2  # assumed cores of a server that does not report them: more requests would only wait
PER_CLIENT_CORE = 4  # requests that a core of the pod can build, send, and hold in memory
WINDOW_ROWS, WINDOW_ROWS_PER_WORKER = 20_000, 1_000

# A mongod limits an answer to 16 MB. FerretDB's PostgreSQL needs up to three times the CPU for answers of more than about 3,000 rows (4 MB).
ANSWER_ROWS = {"MongoDB": 100_000}
CAUTIOUS_ANSWER_ROWS = 1_000

# While Elasticsearch processes the request of one worker, the other worker builds and sends the next.
WORKERS_PER_PROCESSOR = 2
# The lower end of Elastic's advice of 5 to 15 MB, because several requests are concurrent.
REQUEST_BYTES = 5_000_000
# The share of the heap for all requests. The server refuses at twice this share (indexing_pressure.memory.limit).
HEAP_SHARE = 0.05


def workers(server_cores: int | None, for_each: int = 1) -> int:
    """Return the number of concurrent requests: `for_each` for each core of the server, at least 2, at most as many as the pod can feed.

    `server_cores`: None if the server does not report its cores.
    """
    most = PER_CLIENT_CORE * machine.usable_cores(Cgroup().cpu_limit_cores())
    return max(2, min(for_each * (server_cores or UNKNOWN_CORES), int(most)))


def window_rows(count: int) -> int:
    """Return the number of rows in memory for `count` workers, when all rows are written at once."""
    return max(WINDOW_ROWS, count * WINDOW_ROWS_PER_WORKER)


def for_mongodb(server: Server) -> dict[str, int]:
    """Return the settings for a server: its number of connections, one per core, and the rows of an answer."""
    count = workers(server.settings.get("cores"))
    return {
        "connections": count,
        "window_rows": window_rows(count),
        "answer_rows": ANSWER_ROWS.get(server.name, CAUTIOUS_ANSWER_ROWS),
    }


def for_elasticsearch(nodes: Mapping[str, Any]) -> dict[str, int]:
    """Return the settings for a cluster from its description of its nodes; empty without a description.

    An index has one primary shard, unless a template says otherwise: a single node's processors work on the shard.
    """
    data = [node for node in nodes.values() if any(role.startswith("data") for role in node.get("roles", ()))]
    if not data:
        count = workers(None, WORKERS_PER_PROCESSOR)
        return {"workers": count, "window_rows": window_rows(count), "request_bytes": REQUEST_BYTES}
    count = workers(min(node["os"]["allocated_processors"] for node in data), WORKERS_PER_PROCESSOR)
    heap_bytes = min(node["jvm"]["mem"]["heap_max_in_bytes"] for node in data)
    return {
        "workers": count,
        "window_rows": window_rows(count),
        "request_bytes": min(REQUEST_BYTES, int(heap_bytes * HEAP_SHARE / count)),
        "replicas_while_loading": 0,
    }
