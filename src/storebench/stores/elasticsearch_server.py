"""Connect to an Elasticsearch server, identify it, and explain its refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from storebench.connection import Connection, tls
from storebench.connection.typed import host_list
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.redact import redacted
from storebench.servers.fault import KEEPS_MEMORY, MAINTENANCE, UNHARMED
from storebench.stores.base import Durability, Server

if TYPE_CHECKING:
    from elastic_transport import ObjectApiResponse
    from elasticsearch import ApiError, Elasticsearch

PORT = 9200


def options(server: Connection) -> dict[str, Any]:
    """Return the client's options: addresses, login or API key, and the check of certificates."""
    extra = server.extra
    behind = f"/{extra['path']}" if "path" in extra else ""
    addresses = [host_list([address]) for address in server.addresses(PORT)]
    options: dict[str, Any] = {"hosts": [f"{extra['scheme']}://{address}{behind}" for address in addresses]}
    if key := extra.get("api_key"):
        options["api_key"] = key
    elif server.login:
        options["basic_auth"] = (server.login, server.password)
    if server.tls:
        options["verify_certs"] = tls.verifies(server)
        if not options["verify_certs"]:
            options["ssl_show_warn"] = False
        elif extra.get(tls.CA_CERTS):
            options["ssl_context"] = tls.context(server)
    return options


def durability_of(settings: Mapping[str, Any]) -> Durability:
    """Return the durability that an index's `settings` and `defaults` state for an acknowledged write."""
    parts = (settings.get(part, {}).get("index", {}).get("translog", {}) for part in ("defaults", "settings"))
    translog = {name: value for part in parts for name, value in part.items()}
    mode = str(translog.get("durability", "")).lower()
    if mode == "request":
        return Durability("disk", "index.translog.durability=request")
    if mode == "async":
        interval = translog.get("sync_interval", "unknown")
        return Durability("memory", f"index.translog.durability=async, sync_interval={interval}")
    return Durability("unknown", "the index's settings cannot be seen")


def identify(info: Mapping[str, Any], nodes: Mapping[str, Any]) -> Server:
    """Identify the server from the answer to `GET /`, and from its nodes if the login may see them."""
    version = info.get("version") or {}
    settings: dict[str, Any] = {
        "flavor": version.get("build_flavor"),
        "build": version.get("build_hash"),
        "lucene": version.get("lucene_version"),
    }
    if nodes:
        settings["nodes"] = len(nodes)
        settings["jvm"] = next(iter(nodes.values())).get("jvm", {}).get("version")
        heaps = [node.get("jvm", {}).get("mem", {}).get("heap_max_in_bytes", 0) for node in nodes.values()]
        settings["heap_bytes"] = sum(heaps)
        settings["processors"] = sum(
            node.get("os", {}).get("allocated_processors", 0) for node in nodes.values()
        )
    name = str(version.get("distribution") or "elasticsearch")
    return Server(
        name.capitalize() if name == "elasticsearch" else name,
        str(version.get("number", "unknown")),
        {key: value for key, value in settings.items() if value is not None},
    )


def nodes_of(client: Elasticsearch) -> Mapping[str, Any]:
    """Return what the nodes report of their JVMs and systems, by the node's id; empty if the login may not ask, and for a serverless project."""
    from elasticsearch import ApiError

    with suppress(ApiError):
        nodes: Mapping[str, Any] = client.nodes.info(metric=["jvm", "os"])["nodes"]
        return nodes
    return {}


def durability_of_index(client: Elasticsearch, index: str) -> Durability:
    """Return the durability of an acknowledged write to an index; unknown if the login may not read the index's settings."""
    from elasticsearch import ApiError

    settings: Mapping[str, Any] = {}
    with suppress(ApiError):
        settings = client.indices.get_settings(index=index, include_defaults=True)[index]
    return durability_of(settings)


def promise(fault: str, durability: Durability) -> str | None:
    """Return what the server guarantees for acknowledged writes under a fault of one node; None if it does not guarantee that all are kept.

    A write is acknowledged after all copies that are in sync have it, and only such a copy becomes the primary (Elasticsearch's manual,
    Reading and writing documents).
    """
    if fault in MAINTENANCE:
        return UNHARMED
    if fault in KEEPS_MEMORY:
        return f"{KEEPS_MEMORY[fault]}, and all copies in sync have an acknowledged write"
    if durability.kind == "disk":
        return f"an acknowledged write is in the synced translog of each copy in sync ({durability.stated})"
    return None


def check_started(made: ObjectApiResponse[Any], index: str) -> None:
    """Raise StoreRefused if the server did not start the shard of an index. `made`: the answer to the index's creation."""
    if not made["shards_acknowledged"]:
        raise StoreRefused(
            f"Elasticsearch did not start the shard of the index {index} within 30 s. Its disk is probably fuller than"
            " the low watermark allows. GET /_cluster/allocation/explain says why"
        )


def cpu_s(client: Elasticsearch) -> float | None:
    """Return the CPU seconds of all nodes' processes so far; None if not reported. Raises no error."""
    from elasticsearch import ApiError, TransportError

    with suppress(ApiError, TransportError, KeyError):
        nodes = client.nodes.stats(metric=["process"])["nodes"]
        return sum(float(node["process"]["cpu"]["total_in_millis"]) for node in nodes.values()) / 1000
    return None


def size_bytes(client: Elasticsearch, index: str) -> int | None:
    """Return the bytes of an index's segments with its copies; None if the login may not ask, and for a serverless project.

    The statistics of an index also have a size, but Elasticsearch renews this size every 10 s only. Raises no error.
    """
    from elasticsearch import ApiError, TransportError

    with suppress(ApiError, TransportError, KeyError):
        shards = client.indices.segments(index=index)["indices"][index]["shards"]
        copies = (copy for shard in shards.values() for copy in shard)
        return sum(int(one["size_in_bytes"]) for copy in copies for one in copy["segments"].values())
    return None


@contextmanager
def errors(server: Connection | None) -> Iterator[None]:
    """Turn the client's errors into StoreUnreachable or StoreRefused."""
    from elastic_transport import ConnectionError, ConnectionTimeout, TransportError
    from elasticsearch import ApiError
    from elasticsearch.helpers import BulkIndexError

    assert server is not None
    where = server.where(PORT)
    try:
        yield
    except (ConnectionError, ConnectionTimeout) as error:
        raise StoreUnreachable(
            f"Elasticsearch at {where} does not answer: {error.message}"
            f"{tls.advice(error.message, server) or '. Is it running, and reachable from the pods?'}"
        ) from error
    except ApiError as error:
        raise StoreRefused(refusal(where, server, error)) from error
    except BulkIndexError as error:
        failed = next(iter(error.errors[0].values()))
        reason = advise(failed.get("error"))
        count = f"{len(error.errors):,} documents of one request"
        raise StoreRefused(f"Elasticsearch at {where} refused {count}: {reason}") from error
    except TransportError as error:
        raise StoreRefused(f"Elasticsearch at {where} failed: {error.message}") from error


def refusal(where: str, server: Connection, error: ApiError) -> str:
    """Return one line about an error of the server: its reason, and what to do."""
    from elasticsearch import UnsupportedProductError

    body = error.body if isinstance(error.body, Mapping) else {}
    if isinstance(error, UnsupportedProductError):
        version = body.get("version") or {}
        product = f"{version.get('distribution', 'an unknown product')} {version.get('number', '')}".strip()
        return f"The server at {where} is not Elasticsearch: it calls itself {product}"
    reason = body.get("error") or error.message
    who = "the API key" if server.extra.get("api_key") else f"user {server.login!r}"
    if error.status_code == 401:
        return f"Elasticsearch at {where} refused the login of {who}: check the connection"
    if error.status_code == 403 and _kind(reason) == "security_exception":
        return f"Elasticsearch at {where} does not give {who} enough rights: {advise(reason)}"
    return f"Elasticsearch at {where} refused: {advise(reason)}"


# Advice for errors whose reason gives none.
ADVICE = {
    "cluster_block_exception": "A server sets such a block itself when its disk is nearly full: look there",
    "es_rejected_execution_exception": "Its queue is full: give it more processors, or use smaller batches",
    "circuit_breaking_exception": "It has too little heap: give it more, or use smaller batches",
    "search_context_missing_exception": "It was restarted, or took too long over one page",
    "media_type_header_exception": "The client is made for Elasticsearch 9",
}


def advise(reason: Any) -> str:
    """Return the server's reason in one line, with advice if there is any."""
    if not isinstance(reason, Mapping):
        return " ".join(redacted(str(reason)).split())
    causes = reason.get("root_cause") or []
    root = causes[0] if causes else reason
    texts = [
        str(part.get("reason"))
        for part in (reason, root, reason.get("caused_by") or {})
        if part.get("reason")
    ]
    text = " ".join(redacted(": ".join(dict.fromkeys(texts))).split())[:500]
    advice = ADVICE.get(_kind(root))
    return f"{text}. {advice}" if advice else text


def _kind(reason: Any) -> str:
    return str(reason.get("type")) if isinstance(reason, Mapping) else ""
