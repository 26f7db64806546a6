"""The store MongoDB, also for other servers with its protocol."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.manifest import Manifest
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores import mongodb_server
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.bulk_write_read import tuning
from storebench.stores.bulk_write_read.base import READ, WRITE, TableStore, columns
from storebench.stores.bulk_write_read.maintenance import FILES, MAINTAIN
from storebench.stores.bulk_write_read.mongodb_ranges import bounds, range_of
from storebench.stores.bulk_write_read.source import Row
from storebench.stores.counters import mongodb as mongodb_counters
from storebench.stores.mongodb_server import (
    authority,
    durability_of,
    durable,
    errors,
    identify,
    shard_key,
    uri,
)

if TYPE_CHECKING:
    from pymongo import MongoClient

    from storebench.attempt.run import Attempt

CONNECT_TIMEOUT_MS = 10_000
DEFAULT_DATABASE = "storebench"
DUPLICATE = 11000  # MongoDB's error code for a document whose `_id` is there already
NOT_PERMITTED = 13  # MongoDB's error code for a command without permission
TUNED_REQUEST_ROWS = 1_000  # a mongod inserts in portions of 500, regardless of the request's rows
VERIFY_CHUNK_ROWS = 1_000  # few enough to fit in memory beside an answer of up to 16 MB of documents
ARRIVAL_TIMEOUT_S, ARRIVAL_POLL_S = 60.0, 0.1  # for writes without acknowledgement


class MongoDB(TableStore):
    """MongoDB with a collection per target. The barrier is the write's acknowledgement, durable (j=true) unless the connection's options
    say otherwise.

    The `reference` client is the study's: `insert_many` of lists of dicts, or of the CSV reader itself, and
    `for document in collection.find()`. The `tuned` client encodes rows to BSON itself, and sends unordered requests over several
    connections while it encodes the next rows. It reads documents as raw BSON. The number of connections and the size of answers depend on
    the server.
    """

    name = "mongodb"
    operations = (WRITE, MAINTAIN, READ)
    lacks = FILES
    clients = ("reference", "tuned")
    delivers = ("dicts", "raw BSON")
    divides = (WRITE, READ)
    faults = ("kill", "pause", "restart", "partition", "compact", "backup")
    connection = "mongodb"
    product = "MongoDB"
    counters = mongodb_counters.COUNTERS
    packages = ("pymongo",)
    typical = (
        TypicalTime("write", fixed_s=8, million_s=90),
        TypicalTime(MAINTAIN, fixed_s=4, million_s=85),
        TypicalTime("read", fixed_s=4, million_s=65),
    )
    modules = ("pymongo",)

    _tuning: Mapping[str, int] = MappingProxyType({})
    _query: tuple[Mapping[str, Any], ...] = ()  # the query of this part's share of a divided read

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        for name in (field.name for field in schema):
            if name == "_id":
                return "the server gives each document a field _id of its own: rename that column"
            if "." in name or name.startswith("$"):
                return (
                    f"the name of a field, {name!r}, cannot have a point, or begin with $: rename that column"
                )
        return ""

    def connect(self) -> None:
        with errors(self.server):
            self._open()
            self._client.admin.command("ping")
            if self.operation == "drop":
                return
            self._found = identify(
                self._client.admin.command("buildInfo"),
                self._if_permitted("serverStatus"),
                self._if_permitted("hostInfo"),
            )
            if self.client == "tuned":
                self._tuning = tuning.for_mongodb(self._found)
                self._client.close()
                self._open(minPoolSize=self._tuning["connections"])
                self._client.admin.command("ping")

    def _open(self, **options: Any) -> None:
        from bson.codec_options import CodecOptions
        from bson.raw_bson import RawBSONDocument
        from pymongo import MongoClient

        assert self.server is not None
        self._client: MongoClient[dict[str, Any]] = MongoClient(
            uri(self.server),
            **authority(self.server),
            serverSelectionTimeoutMS=CONNECT_TIMEOUT_MS,
            connectTimeoutMS=CONNECT_TIMEOUT_MS,
            **durable(self.server),
            retryWrites=False,  # no silent retries: they would be part of the measured time
            **options,
        )
        self._collection = self._client[self.server.schema or DEFAULT_DATABASE][self.target]
        self._raw = self._collection.with_options(CodecOptions(document_class=RawBSONDocument))

    def _if_permitted(self, command: str) -> Mapping[str, Any] | str:
        """Return the answer to an administrator's command, or the reason if the server refuses it."""
        from pymongo.errors import OperationFailure

        try:
            return self._client.admin.command(command)
        except OperationFailure as error:
            return "not permitted" if error.code == NOT_PERMITTED else f"refused, code {error.code}"

    def describe(self) -> Server:
        return self._found

    def client_settings(self) -> Mapping[str, int]:
        return self._tuning

    def read_counters(self) -> Mapping[str, float | str]:
        with errors(self.server):
            return mongodb_counters.read(self._client)

    def durability(self) -> Durability:
        written = self._raw if self.client == "tuned" else self._collection
        return durability_of(written.write_concern.document, self.describe())

    def promise(self, fault: str) -> str | None:
        with errors(self.server):
            hello = self._client.admin.command("hello")
        return mongodb_server.promise(
            fault,
            self.durability(),
            self.describe(),
            several=mongodb_server.is_several(hello),
            majority=self._collection.write_concern.document.get("w") == "majority",
        )

    def server_processes(self) -> Mapping[str, float]:
        from pymongo.errors import PyMongoError

        with suppress(PyMongoError):
            admin = self._client.admin
            hello = admin.command("hello")
            if hello.get("msg") == "isdbgrid":  # a mongos: another mongos may answer the next time
                return {}
            if version := hello.get("topologyVersion"):
                return {str(version["processId"]): 0.0}
            status = admin.command("serverStatus")
            if "uptimeMillis" in status and "localTime" in status:
                name = f"{status.get('host')} {status.get('pid')}"
                return {name: status["localTime"].timestamp() - status["uptimeMillis"] / 1000}
        return {}

    def server_cpu_s(self) -> float | None:
        from pymongo.errors import PyMongoError

        # A mongod on Linux reports it. The figure of a mongos or of a replica set's member would exclude other servers of the store.
        if "storage_engine" not in self._found.settings:
            return None
        with suppress(PyMongoError, KeyError):
            if len(self._client.admin.command("hello").get("hosts", ())) > 1:
                return None
            usage = self._client.admin.command("serverStatus")["extra_info"]
            return float(usage["user_time_us"] + usage["system_time_us"]) / 1e6
        return None

    def prepare(self) -> None:
        if not self._collection.write_concern.acknowledged and self.describe().name == "FerretDB":
            raise StoreRefused(
                "FerretDB answers writes that ask for no acknowledgement. That breaks the client's connections and loses rows: take w=0"
                " out of the connection's options"
            )
        self.drop()
        assert self.server is not None
        if kind := self.server.extra.get("shard_key"):
            key = shard_key(str(kind))
            with errors(self.server):
                self._client.admin.command("shardCollection", self._collection.full_name, key=key)

    def write(self, batch: int | None, clock: OperationClock) -> int:
        self.written = self._write(batch, clock)
        return self.written

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        with errors(self.server):
            if self.client == "tuned":
                return self._write_tuned(batch, clock)
            if batch is None:
                with clock.operation():
                    result = self._collection.insert_many(clock.source(self.source.rows()))
                return len(result.inserted_ids)
            rows = 0
            for part in clock.source(self.source.batches(batch)):
                with clock.operation():
                    self._collection.insert_many(part)
                rows += len(part)
            return rows

    def _write_tuned(self, batch: int | None, clock: OperationClock) -> int:
        rows = 0
        with ThreadPoolExecutor(self._tuning["connections"], thread_name_prefix="insert") as pool:
            # All requests of a batch or window are answered before the client reads more of the source: concurrent work
            # would be subtracted as the source's time.
            for part in clock.source(self.source.batches(batch or self._tuning["window_rows"])):
                with clock.operation():
                    self._insert(pool, part)
                rows += len(part)
        return rows

    def _insert(self, pool: ThreadPoolExecutor, batch: Sequence[Row]) -> None:
        """Insert the rows and wait for all acknowledgements. The server adds `_id` to raw documents."""
        from bson import encode
        from bson.raw_bson import RawBSONDocument

        def send(documents: list[RawBSONDocument]) -> None:
            self._raw.insert_many(documents, ordered=False)

        rows = min(TUNED_REQUEST_ROWS, -(-len(batch) // self._tuning["connections"]))
        sent = [
            pool.submit(send, [RawBSONDocument(encode(row)) for row in batch[first : first + rows]])
            for first in range(0, len(batch), rows)
        ]
        for request in sent:
            request.result()

    def send(self, batch: Sequence[Any], *, again: bool) -> None:
        """Write a batch. PyMongo has given the rows of the reference client their `_id` at the first sending, so that the server refuses rows
        that it has already. The server gives the tuned client's rows another `_id` at each sending: they may be stored twice.
        """
        with errors(self.server):
            if self.client == "tuned":
                with ThreadPoolExecutor(self._tuning["connections"], thread_name_prefix="insert") as pool:
                    self._insert(pool, batch)
            elif again:
                self._insert_missing(batch)
            else:
                self._collection.insert_many(batch)

    def _insert_missing(self, batch: Sequence[Row]) -> None:
        """Insert the rows of a batch that the server does not have yet."""
        from pymongo.errors import BulkWriteError

        try:
            self._collection.insert_many(batch, ordered=False)
        except BulkWriteError as error:
            failed = error.details["writeErrors"]
            if error.details.get("writeConcernErrors") or any(one["code"] != DUPLICATE for one in failed):
                raise

    def barrier(self) -> None:
        """Wait for the rows of unacknowledged writes. The verification reports rows that do not arrive in time."""
        if self._collection.write_concern.acknowledged:
            return
        deadline_s = time.monotonic() + ARRIVAL_TIMEOUT_S
        while self.count() < self.written and time.monotonic() < deadline_s:
            time.sleep(ARRIVAL_POLL_S)

    def maintain(self) -> None:
        """Compact the collection on the member that answers. A primary needs `force`; a mongos refuses the command."""
        with errors(self.server):
            self._collection.database.command("compact", self.target, force=True)

    def read(self, clock: OperationClock) -> int:
        rows = 0
        with errors(self.server), clock.operation():
            for _ in self._documents():
                rows += 1
        return rows

    def take_share(self, attempt: Attempt, manifest: Manifest) -> None:
        """Take a range of `_id`. The leader finds the ranges, outside the timed window."""
        part = attempt.part
        with errors(self.server):
            begins = attempt.agree("bounds", None, lambda _: bounds(self._collection, part.count))
        self._query = (range_of(begins, part.number),)

    def _documents(self) -> Iterator[Mapping[str, Any]]:
        """Yield all documents, or those of this part's share, read in the client's way, for both the timed read and its second pass."""
        if self.client == "tuned":
            return self._raw.find(*self._query, batch_size=self._tuning["answer_rows"])
        return self._collection.find(*self._query)

    def needed_bytes(self) -> int:
        """Return the bytes of the collection's blocks on disk, without free blocks."""
        with errors(self.server):
            stats = self._collection.database.command("collStats", self.target)
        if "storageSize" not in stats:
            raise StoreRefused(
                "The server does not report the size of the collection on disk, so no read can be proven cold"
            )
        return int(stats["storageSize"]) - int(stats.get("freeStorageSize", 0))

    def look(self) -> None:
        with errors(self.server):  # the count comes from the server's metadata
            self._collection.estimated_document_count()

    def count(self) -> int:
        with errors(self.server):
            return self._collection.count_documents({})

    def scan(self) -> Iterator[Mapping[str, Sequence[str]]]:
        with errors(self.server):
            documents: Iterator[Mapping[str, Any]] = (
                map(_values, self._documents())
                if self.operation == "read"
                else self._collection.find({}, {"_id": False}, batch_size=VERIFY_CHUNK_ROWS)
            )
            while chunk := list(itertools.islice(documents, VERIFY_CHUNK_ROWS)):
                yield columns(chunk, self.source.fields)

    def verified_by(self) -> str:
        tuned = self.client == "tuned" and self.operation == "read"
        return "pymongo find() of raw BSON, decoded" if tuned else "pymongo find()"

    def size_bytes(self) -> int | None:
        return mongodb_server.size_bytes(self._collection.database, self.target)

    def drop(self) -> None:
        with errors(self.server):
            mongodb_server.drop(self._collection)

    def close(self) -> None:
        self._client.close()


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document's decoded fields without the server's `_id`."""
    values = dict(document.items())
    values.pop("_id", None)
    return values
