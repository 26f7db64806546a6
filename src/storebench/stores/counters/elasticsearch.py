"""Elasticsearch: the statistics of the store's index with its copies, and of all nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from storebench.protocol.counters import Counter
from storebench.stores.counters.report import Places, taken

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch

TIMEOUT_S = 10
INDEX: Places = {
    Counter("indexed", "", "counter", "documents that were indexed"): "indexing.index_total",
    Counter(
        "indexing_s", "s", "counter", "time of the indexing, of all threads"
    ): "indexing.index_time_in_millis",
    Counter(
        "indexing_throttled_s", "s", "counter", "time in which merges that fell behind slowed the indexing"
    ): "indexing.throttle_time_in_millis",
    Counter("refreshes", "", "counter", "refreshes, which make documents visible"): "refresh.total",
    Counter("refresh_s", "s", "counter", "time of the refreshes"): "refresh.total_time_in_millis",
    Counter("flushes", "", "counter", "flushes, which commit segments and empty the translog"): "flush.total",
    Counter("flush_s", "s", "counter", "time of the flushes"): "flush.total_time_in_millis",
    Counter("merges", "", "counter", "merges of segments that have ended"): "merges.total",
    Counter("merge_s", "s", "counter", "time of these merges, of all threads"): "merges.total_time_in_millis",
    Counter(
        "merged_bytes", "bytes", "counter", "size of the segments that were merged"
    ): "merges.total_size_in_bytes",
    Counter(
        "merge_throttled_s", "s", "counter", "time in which merges waited for their rate limit"
    ): "merges.total_throttled_time_in_millis",
    Counter("queries", "", "counter", "query phases of searches, for each shard"): "search.query_total",
    Counter("query_s", "s", "counter", "time of these query phases"): "search.query_time_in_millis",
    Counter("fetch_s", "s", "counter", "time of the fetch phases of searches"): "search.fetch_time_in_millis",
    Counter(
        "request_cache_hits", "", "counter", "searches that the request cache answered"
    ): "request_cache.hit_count",
    Counter("merges_running", "", "gauge", "merges that run at the moment"): "merges.current",
    Counter("segments", "", "gauge", "segments of the index"): "segments.count",
    # Elasticsearch renews the size of the store every 10 s only. The size of the documents' segments is of the moment.
    Counter("store_bytes", "bytes", "gauge", "size of the index on disk"): (
        "docs.total_size_in_bytes",
        "store.size_in_bytes",
    ),
    Counter("translog_bytes", "bytes", "gauge", "size of the translog"): "translog.size_in_bytes",
}
NODES: Places = {
    Counter(
        "write_rejections", "", "counter", "requests that the full queue of writes rejected"
    ): "thread_pool.write.rejected",
    Counter(
        "search_rejections", "", "counter", "requests that the full queue of searches rejected"
    ): "thread_pool.search.rejected",
    Counter("gc_collections", "", "counter", "garbage collections of the JVMs"): "gc.collection_count",
    Counter("gc_s", "s", "counter", "time of the garbage collections"): "gc.collection_time_in_millis",
    Counter("heap_used_bytes", "bytes", "gauge", "heap of the JVMs in use"): "jvm.mem.heap_used_in_bytes",
}
COUNTERS = (*INDEX, *NODES)


def read(client: Elasticsearch, index: str) -> dict[str, float | str]:
    """Read the counters. What the login may not read, and what a serverless project does not report, has its reason instead."""
    quick = client.options(request_timeout=TIMEOUT_S)
    metrics = ["jvm", "thread_pool"]
    return {
        **_asked(INDEX, lambda: [quick.indices.stats(index=index)["_all"]["total"]]),
        **_asked(
            NODES, lambda: [_with_gc(node) for node in quick.nodes.stats(metric=metrics)["nodes"].values()]
        ),
    }


def _asked(places: Places, ask: Callable[[], list[Mapping[str, Any]]]) -> Mapping[str, float | str]:
    """Return the counters of the reports that `ask` returns, or the server's refusal for each counter."""
    from elasticsearch import ApiError

    from storebench.stores.elasticsearch_server import advise

    try:
        return taken(places, ask())
    except ApiError as error:
        body = error.body if isinstance(error.body, Mapping) else {}
        refusal = f"Elasticsearch refused: {advise(body.get('error') or error.message)}"
        return {counter.name: refusal for counter in places}


def _with_gc(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a node's statistics with the sums over its garbage collectors as `gc`."""
    collectors = node.get("jvm", {}).get("gc", {}).get("collectors", {}).values()
    names = ("collection_count", "collection_time_in_millis")
    return {
        **node,
        "gc": {name: sum(collector[name] for collector in collectors) for name in names if collectors},
    }
