"""MongoDB, and servers that speak its protocol."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused
from storebench.stores.base import Durability, Server
from storebench.stores.bulk_write_read import tuning
from storebench.stores.bulk_write_read.base import TableStore, columns
from storebench.stores.bulk_write_read.source import Row
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

CONNECT_TIMEOUT_MS = 10_000
DEFAULT_DATABASE = "storebench"
NOT_PERMITTED = 13  # MongoDB's code for a command that the user may not run
TUNED_REQUEST_ROWS = 1_000  # a mongod inserts in portions of 500, however many it gets
VERIFY_CHUNK_ROWS = 1_000  # room beside an answer of the server, which holds up to 16 MB of documents
ARRIVAL_TIMEOUT_S, ARRIVAL_POLL_S = 60.0, 0.1  # of writes that are not acknowledged


class MongoDB(TableStore):
    """One collection per target. The write's acknowledgement is the barrier: it is asked to be durable (j=true), unless the
    connection's options say otherwise.

    The `reference` client is the study's: `insert_many` of lists of dicts, or of the CSV reader itself,
    and `for document in collection.find()`. The `tuned` client encodes the rows to BSON itself and sends them unordered,
    in requests over several connections, while it encodes the next; it reads documents as raw BSON. How many connections, and how
    long the answers are, depends on the server.
    """

    name = "mongodb"
    clients = ("reference", "tuned")
    delivers = ("dicts", "raw BSON")
    connection = "mongodb"
    packages = ("pymongo",)
    modules = ("pymongo",)

    _tuning: Mapping[str, int] = MappingProxyType({})

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
            retryWrites=False,  # no silent retries: they would be measured, too
            **options,
        )
        self._collection = self._client[self.server.schema or DEFAULT_DATABASE][self.target]
        self._raw = self._collection.with_options(CodecOptions(document_class=RawBSONDocument))

    def _if_permitted(self, command: str) -> Mapping[str, Any] | str:
        """Return the answer to an administrator's command, or the reason of its refusal, which the benchmark tolerates."""
        from pymongo.errors import OperationFailure

        try:
            return self._client.admin.command(command)
        except OperationFailure as error:
            return "not permitted" if error.code == NOT_PERMITTED else f"refused, code {error.code}"

    def describe(self) -> Server:
        return self._found

    def client_settings(self) -> Mapping[str, int]:
        return self._tuning

    def durability(self) -> Durability:
        written = self._raw if self.client == "tuned" else self._collection
        return durability_of(written.write_concern.document, self.describe())

    def server_processes(self) -> Mapping[str, float]:
        from pymongo.errors import PyMongoError

        with suppress(PyMongoError):
            admin = self._client.admin
            hello = admin.command("hello")
            if hello.get("msg") == "isdbgrid":  # a mongos: another one may answer the next time
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

        # A mongod on Linux tells it. A mongos, or one of several members, would not tell that of all that work for the store.
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
        if asked := self.server.extra.get("shard_key"):
            key = shard_key(str(asked))
            with errors(self.server):
                self._client.admin.command("shardCollection", self._collection.full_name, key=key)

    def write(self, batch: int | None, clock: OperationClock) -> int:
        self._written = self._write(batch, clock)
        return self._written

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
            # All requests of a batch, or of a block of the whole, are answered before more of the source is read:
            # what goes on beside the source would be taken out as the source's time.
            for part in clock.source(self.source.batches(batch or self._tuning["window_rows"])):
                with clock.operation():
                    self._insert(pool, part)
                rows += len(part)
        return rows

    def _insert(self, pool: ThreadPoolExecutor, batch: Sequence[Row]) -> None:
        """Insert the rows, and wait for all acknowledgements. The server gives raw documents their `_id`."""
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

    def barrier(self) -> None:
        """The acknowledgement was it. Where there is none, the rows are waited for; what does not come in time, the verification tells."""
        if self._collection.write_concern.acknowledged:
            return
        deadline_s = time.monotonic() + ARRIVAL_TIMEOUT_S
        while self.count() < self._written and time.monotonic() < deadline_s:
            time.sleep(ARRIVAL_POLL_S)

    def read(self, clock: OperationClock) -> int:
        rows = 0
        with errors(self.server), clock.operation():
            for _ in self._documents():
                rows += 1
        return rows

    def _documents(self) -> Iterator[Mapping[str, Any]]:
        """All documents, as each client reads them: the timed read and its second pass are both this call."""
        if self.client == "tuned":
            return self._raw.find(batch_size=self._tuning["answer_rows"])
        return self._collection.find()

    def needed_bytes(self) -> int:
        """The collection's blocks, without the free ones among them, as they are on disk."""
        with errors(self.server):
            stats = self._collection.database.command("collStats", self.target)
        if "storageSize" not in stats:
            raise StoreRefused(
                "The server does not tell what the collection takes on disk, so no read can be proven cold"
            )
        return int(stats["storageSize"]) - int(stats.get("freeStorageSize", 0))

    def look(self) -> None:
        with errors(self.server):  # the count is of what it knows by heart
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
        from pymongo.errors import PyMongoError

        # A user may lack the right to ask. Not each server of the protocol answers with both.
        with suppress(PyMongoError, KeyError):
            stats = self._collection.database.command("collStats", self.target)
            return int(stats["storageSize"] + stats["totalIndexSize"])
        return None

    def drop(self) -> None:
        from pymongo import WriteConcern

        with errors(self.server):  # always acknowledged: the drop must be over before the next write
            self._collection.with_options(write_concern=WriteConcern()).drop()

    def close(self) -> None:
        self._client.close()


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document's fields, decoded where they are not yet; the server's `_id` is none of them."""
    values = dict(document.items())
    values.pop("_id", None)
    return values
