"""Write an Elasticsearch index without replicas, and make the replicas afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch as Client

NO_REPLICAS = {"number_of_replicas": 0, "auto_expand_replicas": False}


def lift(client: Client, index: str) -> Mapping[str, Any] | None:
    """Remove the replicas that the server or a template gives the index. Return their settings; None if there are none to remove."""
    answer = client.indices.get_settings(index=index, name=[f"index.{name}" for name in NO_REPLICAS])
    settings = answer[index]["settings"]["index"]
    if settings == {"number_of_replicas": "0"}:
        return None
    client.indices.put_settings(index=index, settings=NO_REPLICAS)
    return {name: settings.get(name) for name in NO_REPLICAS}


def put_back(client: Client, index: str, settings: Mapping[str, Any], wait_s: int) -> None:
    """Restore the replicas, and wait for the replicas that the cluster has nodes for: none on a single node.

    `settings`: as `lift` returned them. `wait_s`: seconds of one request that waits.
    """
    client.indices.put_settings(index=index, settings=settings)
    while client.options(ignore_status=408).cluster.health(
        index=index,
        wait_for_events="languid",
        wait_for_no_initializing_shards=True,
        timeout=f"{wait_s}s",
    )["timed_out"]:
        pass
