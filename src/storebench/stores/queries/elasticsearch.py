"""The store Elasticsearch: a row is a document whose `_id` is the row's id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from storebench.dataset.schema import FIELDS
from storebench.errors import StoreRefused
from storebench.stores import elasticsearch_server
from storebench.stores.base import Durability, Server
from storebench.stores.bulk_write_read.elasticsearch_index import index_of
from storebench.stores.counters import elasticsearch as elasticsearch_counters
from storebench.stores.elasticsearch_server import (
    errors,
    identify,
    options,
)
from storebench.stores.queries.base import ASK, QueryStore
from storebench.stores.queries.documents import Document, documents, documents_of
from storebench.stores.queries.questions import (
    DELETED_BELOW,
    FIRST_DAY,
    LAST_DAY,
    TEXT,
    TOP,
    Rows,
    first_incoming,
    metric_of,
)
from storebench.stores.queries.sql import plain

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch as Client

    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

REQUEST_TIMEOUT_S = 600
BATCH_ROWS = 10_000
QUANTITY = {"quantity": {"sum": {"field": "quantity"}}}
MOST_GROUPS = 10_000  # more than there are values of status or quantity: no bucket is cut off

# Bodies of a search by question. `count` and `point` have requests of their own.
SEARCHES: Mapping[str, dict[str, Any]] = {
    "sum": {"size": 0, "aggs": {"total": {"sum": {"field": "duration_ms"}}}},
    "range": {
        "size": 0,
        "track_total_hits": True,
        "query": {"range": {"order_date": {"gte": FIRST_DAY, "lte": LAST_DAY}}},
        "aggs": QUANTITY,
    },
    "group_low": {
        "size": 0,
        "aggs": {
            "groups": {
                "terms": {"field": "status", "size": MOST_GROUPS, "order": {"_key": "asc"}},
                "aggs": QUANTITY,
            }
        },
    },
    "group_high": {
        "size": 0,
        "aggs": {
            "groups": {
                "terms": {
                    "field": "device_id",
                    "size": TOP,
                    "order": [{"_count": "desc"}, {"_key": "asc"}],
                },
                "aggs": QUANTITY,
            }
        },
    },
    "top": {
        "size": TOP,
        "sort": [{"total_amount": "desc"}, {"id": "asc"}],
        "_source": ["id", "total_amount"],
        "track_total_hits": False,
    },
    # The aggregation `cardinality` estimates: only buckets count exactly.
    "distinct": {"size": 0, "aggs": {"groups": {"terms": {"field": "quantity", "size": MOST_GROUPS}}}},
    "contains": {
        "size": 0,
        "track_total_hits": True,
        "query": {"match_phrase": {"comment": TEXT}},
        "aggs": QUANTITY,
    },
}
POINT = ["id", "event_key", "email"]
DELETED = {"range": {"discount_rate": {"lt": DELETED_BELOW}}}


class Elasticsearch(QueryStore):
    """Elasticsearch with an index per target, which maps each field once by its type. All other settings are the defaults.

    A search has no join of an index with itself. ES|QL joins an index only with an index of the mode `lookup`.
    """

    name = "elasticsearch"
    connection = "elasticsearch"
    divides = (ASK,)
    lacks = (metric_of("join"),)
    counters = elasticsearch_counters.COUNTERS
    packages = ("elasticsearch", "pyarrow")
    modules = (*QueryStore.modules, "elasticsearch.helpers", "pyarrow")

    def connect(self) -> None:
        from elasticsearch import Elasticsearch as Client

        assert self.server is not None
        self._client: Client = Client(
            **options(self.server),
            request_timeout=REQUEST_TIMEOUT_S,
            max_retries=0,  # no silent retries: they would be part of the measured time
        )
        with self._errors():
            self._info = dict(self._client.info())
            self._nodes = elasticsearch_server.nodes_of(self._client)

    def describe(self) -> Server:
        return identify(self._info, self._nodes)

    def durability(self) -> Durability:
        with self._errors():
            return elasticsearch_server.durability_of_index(self._client, self.target)

    def server_cpu_s(self) -> float | None:
        return elasticsearch_server.cpu_s(self._client)

    def read_counters(self) -> Mapping[str, float | str]:
        with self._errors():
            return elasticsearch_counters.read(self._client, self.target)

    def create(self) -> None:
        self.drop()
        mappings, _ = index_of("tuned", FIELDS)
        with self._errors():
            made = self._client.indices.create(index=self.target, mappings=mappings)
        elasticsearch_server.check_started(made, self.target)

    def load(self, clock: OperationClock) -> None:
        from elasticsearch import helpers

        with self._errors():
            for part in clock.source(documents(self.source, BATCH_ROWS)):
                with clock.operation():
                    helpers.bulk(self._client, actions_of(part), index=self.target)
            with clock.operation():
                self._client.indices.refresh(index=self.target)

    def ask(self, question: str) -> Rows:
        with self._errors():
            if question == "count":
                return [(int(self._client.count(index=self.target)["count"]),)]
            if question == "point":
                source = self._client.get(index=self.target, id=str(self.key), source_includes=POINT)[
                    "_source"
                ]
                return plain(question, [[source[name] for name in POINT]])
            # Without the cache of answers, which would give the second pass the answer of the first
            answer = self._client.search(index=self.target, request_cache=False, body=SEARCHES[question])
        return plain(question, rows_of(question, answer.body))

    def append(self, batch: Batch) -> None:
        """Index rows, and return when they are visible to searches: the request refreshes the index."""
        from elasticsearch import helpers

        with self._errors():
            helpers.bulk(
                self._client, actions_of(documents_of(batch.table())), index=self.target, refresh=True
            )

    def delete(self) -> None:
        self._delete_found(DELETED)

    def take_back(self) -> None:
        self._delete_found({"range": {"id": {"gte": first_incoming(self.rows)}}})

    def _delete_found(self, query: Mapping[str, Any]) -> None:
        """Find the documents, and delete them by their ids: `_delete_by_query` does the same on the server, and is a module that the embedded
        server lacks."""
        from elasticsearch import helpers

        with self._errors():
            found = helpers.scan(
                self._client, index=self.target, query={"query": query, "_source": False}, size=BATCH_ROWS
            )
            actions = ({"_op_type": "delete", "_id": hit["_id"]} for hit in found)
            helpers.bulk(self._client, actions, index=self.target)
            self._client.indices.refresh(index=self.target)

    def size_bytes(self) -> int | None:
        return elasticsearch_server.size_bytes(self._client, self.target)

    def drop(self) -> None:
        with self._errors():
            self._client.options(ignore_status=404).indices.delete(index=self.target)

    def close(self) -> None:
        self._client.close()

    def _errors(self) -> AbstractContextManager[None]:
        return errors(self.server)


def actions_of(part: Iterable[Document]) -> Iterator[dict[str, Any]]:
    """Return the actions of a bulk request that index documents."""
    return ({"_id": str(document["id"]), "_source": document} for document in part)


def rows_of(question: str, answer: Mapping[str, Any]) -> list[list[Any]]:
    """Return the rows of a search's answer. Raises StoreRefused if a shard did not answer or the time ran out."""
    if answer["timed_out"] or answer["_shards"]["failed"]:
        raise StoreRefused(f"Elasticsearch answered {question} only in part: {answer['_shards']}")
    aggregations = answer.get("aggregations", {})
    if question == "top":
        return [[hit["_source"]["id"], hit["_source"]["total_amount"]] for hit in answer["hits"]["hits"]]
    if question == "sum":
        return [[aggregations["total"]["value"]]]
    if "groups" in aggregations:
        buckets = aggregations["groups"]["buckets"]
        if question == "distinct":
            return [[len(buckets)]]
        return [[bucket["key"], bucket["doc_count"], bucket["quantity"]["value"]] for bucket in buckets]
    return [[answer["hits"]["total"]["value"], aggregations["quantity"]["value"]]]
