"""Rules by which tuned clients adapt to a server, and the limits behind the rules.

docs/stores.md explains the rules. An attempt records their results in its environment's `client_settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.attempt import machine
from storebench.attempt.cgroup import Cgroup
from storebench.stores.base import Server

UNKNOWN_CORES = 2  # if the server does not say how many it works on: more requests would only wait there
PER_CLIENT_CORE = 4  # requests that one core of the pod can make, send, and hold in its memory
WINDOW_ROWS, WINDOW_ROWS_PER_WORKER = 20_000, 1_000

# A mongod ends an answer at 16 MB by itself. FerretDB needs three times the CPU for an answer of more than about 3,000 rows.
ANSWER_ROWS = {"MongoDB": 100_000}
CAUTIOUS_ANSWER_ROWS = 1_000

# While Elasticsearch works on the request of one, the other one makes and sends its next.
WORKERS_PER_PROCESSOR = 2
# The least of the 5 to 15 MB that Elastic advises: several requests are under way at once.
REQUEST_BYTES = 5_000_000
# For all requests together. At twice as much (indexing_pressure.memory.limit) the server refuses.
HEAP_SHARE = 0.05


def workers(server_cores: int | None, for_each: int = 1) -> int:
    """How many requests are under way at once: `for_each` for each core of the server (None: it does not tell), 2 at least,
    and no more than the pod can feed.
    """
    most = PER_CLIENT_CORE * machine.usable_cores(Cgroup().cpu_limit_cores())
    return max(2, min(for_each * (server_cores or UNKNOWN_CORES), int(most)))


def window_rows(count: int) -> int:
    """The rows that are held in memory, and go to so many workers, when all is written at once."""
    return max(WINDOW_ROWS, count * WINDOW_ROWS_PER_WORKER)


def for_mongodb(server: Server) -> dict[str, int]:
    """A connection for each of the server's cores, and answers as long as it gives well."""
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
