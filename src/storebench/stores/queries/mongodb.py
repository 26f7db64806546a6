"""The store MongoDB, also for other servers with its protocol: a row is a document whose `_id` is the row's id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from storebench.stores import mongodb_server
from storebench.stores.base import Durability, Server
from storebench.stores.counters import mongodb as mongodb_counters
from storebench.stores.mongodb_server import (
    authority,
    durability_of,
    durable,
    errors,
    shard_key,
    uri,
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
)
from storebench.stores.queries.sql import plain

if TYPE_CHECKING:
    from pymongo import MongoClient

    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.incoming import Batch

CONNECT_TIMEOUT_MS = 10_000
DEFAULT_DATABASE = "storebench"
BATCH_ROWS = 10_000
FIRST = datetime.fromisoformat(FIRST_DAY).replace(tzinfo=UTC)
END = datetime.fromisoformat(LAST_DAY).replace(tzinfo=UTC) + timedelta(days=1)
COUNT_AND_QUANTITY = {"n": {"$sum": 1}, "quantity": {"$sum": "$quantity"}}
ALL: Mapping[str, Any] = {"_id": None}

# Aggregation pipelines by question, with the fields of the answer. "COLLECTION" and "KEY" are replaced.
PIPELINES: Mapping[str, tuple[Sequence[str], list[dict[str, Any]]]] = {
    "count": (["n"], [{"$count": "n"}]),
    "sum": (["total"], [{"$group": {**ALL, "total": {"$sum": "$duration_ms"}}}]),
    "range": (
        ["n", "quantity"],
        [
            {"$match": {"order_date": {"$gte": FIRST, "$lt": END}}},
            {"$group": {**ALL, **COUNT_AND_QUANTITY}},
        ],
    ),
    "group_low": (
        ["_id", "n", "quantity"],
        [{"$group": {"_id": "$status", **COUNT_AND_QUANTITY}}, {"$sort": {"_id": 1}}],
    ),
    "group_high": (
        ["_id", "n", "quantity"],
        [
            {"$group": {"_id": "$device_id", **COUNT_AND_QUANTITY}},
            {"$sort": {"n": -1, "_id": 1}},
            {"$limit": TOP},
        ],
    ),
    "top": (
        ["_id", "total_amount"],
        [
            {"$sort": {"total_amount": -1, "_id": 1}},
            {"$limit": TOP},
            {"$project": {"total_amount": 1}},
        ],
    ),
    "distinct": (["n"], [{"$group": {"_id": "$quantity"}}, {"$count": "n"}]),
    "contains": (
        ["n", "quantity"],
        [{"$match": {"comment": {"$regex": TEXT}}}, {"$group": {**ALL, **COUNT_AND_QUANTITY}}],
    ),
    "point": (
        ["_id", "event_key", "email"],
        [{"$match": {"_id": "KEY"}}, {"$project": {"event_key": 1, "email": 1}}],
    ),
    "join": (
        ["n", "quantity"],
        [
            {
                "$lookup": {
                    "from": "COLLECTION",
                    "localField": "last_name",
                    "foreignField": "last_name",
                    "as": "later",
                }
            },
            {"$unwind": "$later"},
            {"$match": {"$expr": {"$lt": ["$_id", "$later._id"]}}},
            {"$group": {**ALL, "n": {"$sum": 1}, "quantity": {"$sum": "$later.quantity"}}},
        ],
    ),
}
DELETED = {"discount_rate": {"$lt": DELETED_BELOW}}
# Indexes of each client. A `$lookup` needs an index on its foreign field: without it, the server compares every document with every other.
# MongoDB's documentation also recommends indexes on the fields of filters and sorts.
JOINED: Sequence[tuple[str, int]] = [("last_name", 1)]
INDEXES: Mapping[str, Sequence[Sequence[tuple[str, int]]]] = {
    "reference": [JOINED],
    "tuned": [
        JOINED,
        [("order_date", 1), ("quantity", 1)],
        [("total_amount", -1), ("_id", 1)],
        [("discount_rate", 1)],
    ],
}


class MongoDB(QueryStore):
    """MongoDB with a collection per target. Each client has the index on `_id`, and its INDEXES."""

    name = "mongodb"
    clients = ("reference", "tuned")
    connection = "mongodb"
    product = "MongoDB"
    counters = mongodb_counters.COUNTERS
    packages = ("pymongo", "pyarrow")
    modules = (*QueryStore.modules, "pymongo", "pyarrow")
    divides = (ASK,)

    def connect(self) -> None:
        from pymongo import MongoClient

        assert self.server is not None
        with errors(self.server):
            self._client: MongoClient[dict[str, Any]] = MongoClient(
                uri(self.server),
                **authority(self.server),
                serverSelectionTimeoutMS=CONNECT_TIMEOUT_MS,
                connectTimeoutMS=CONNECT_TIMEOUT_MS,
                **durable(self.server),
                retryWrites=False,  # no silent retries: they would be part of the measured time
                retryReads=False,
            )
            self._collection = self._client[self.server.schema or DEFAULT_DATABASE][self.target]
            self._client.admin.command("ping")

    def describe(self) -> Server:
        with errors(self.server):
            return mongodb_server.described(self._client)

    def client_settings(self) -> Mapping[str, Any]:
        indexes = [" ".join(name for name, _ in index) for index in INDEXES[self.client]]
        return {**super().client_settings(), "indexes": ["_id", *indexes]}

    def read_counters(self) -> Mapping[str, float | str]:
        with errors(self.server):
            return mongodb_counters.read(self._client)

    def durability(self) -> Durability:
        return durability_of(self._collection.write_concern.document, self.describe())

    def create(self) -> None:
        self.drop()
        assert self.server is not None
        if kind := self.server.extra.get("shard_key"):
            key = shard_key(str(kind))
            with errors(self.server):
                self._client.admin.command("shardCollection", self._collection.full_name, key=key)

    def load(self, clock: OperationClock) -> None:
        with errors(self.server):
            for part in clock.source(documents(self.source, BATCH_ROWS)):
                keyed(part)
                with clock.operation():
                    self._collection.insert_many(part, ordered=False)
            with clock.operation():
                for index in INDEXES[self.client]:
                    self._collection.create_index(index)

    def ask(self, question: str) -> Rows:
        fields, pipeline = PIPELINES[question]
        names = {"COLLECTION": self.target, "KEY": self.key}
        with errors(self.server):
            answer = list(self._collection.aggregate(filled(pipeline, names), allowDiskUse=True))
        # A group or a count of no documents is no document
        found = answer or ([] if question == "point" else [{}])
        return plain(question, [[document.get(name) for name in fields] for document in found])

    def delete(self) -> None:
        with errors(self.server):
            self._collection.delete_many(DELETED)

    def append(self, batch: Batch) -> None:
        with errors(self.server):
            self._collection.insert_many(keyed(documents_of(batch.table())), ordered=False)

    def take_back(self) -> None:
        with errors(self.server):
            self._collection.delete_many({"_id": {"$gte": first_incoming(self.rows)}})

    def size_bytes(self) -> int | None:
        return mongodb_server.size_bytes(self._collection.database, self.target)

    def drop(self) -> None:
        with errors(self.server):
            mongodb_server.drop(self._collection)

    def close(self) -> None:
        self._client.close()


def keyed(part: list[Document]) -> list[Document]:
    """Return the documents with their ids as `_id`. Changes the documents."""
    for document in part:
        document["_id"] = document.pop("id")
    return part


def filled(value: Any, names: Mapping[str, Any]) -> Any:
    """Return a pipeline with the names replaced by their values."""
    if isinstance(value, dict):
        return {key: filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value
