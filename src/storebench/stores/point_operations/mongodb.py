"""The store MongoDB, also for servers with its protocol: an entity is a document whose `_id` is the entity's id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from storebench.stores import mongodb_server
from storebench.stores.base import Durability, Server
from storebench.stores.counters import mongodb as mongodb_counters
from storebench.stores.mongodb_server import authority, durability_of, errors, shard_key, uri
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.base import CONNECT_S, PointStore
from storebench.stores.point_operations.entities import FIELDS, Entity

if TYPE_CHECKING:
    from pymongo import MongoClient

DEFAULT_DATABASE = "storebench"
SCAN_DOCUMENTS = 1_000  # documents of an answer
# Write concern and read concern of each consistency: the study's, and a majority of the copies.
CONCERNS: Mapping[str, tuple[int | str, str]] = {"one": (1, "local"), "quorum": ("majority", "majority")}


class MongoDB(PointStore):
    """MongoDB with a collection of the target's name. Reads go to the primary."""

    name = "mongodb"
    connection = "mongodb"
    product = "MongoDB"
    counters = mongodb_counters.COUNTERS
    faults = ("kill", "pause", "restart", "partition", "compact", "backup")
    packages = (*PointStore.packages, "pymongo")
    modules = (*PointStore.modules, "pymongo")

    def connect(self) -> None:
        from bson.binary import UuidRepresentation
        from bson.codec_options import CodecOptions
        from pymongo import MongoClient, WriteConcern
        from pymongo.read_concern import ReadConcern

        assert self.server is not None
        write, read = CONCERNS[self.consistency]
        timeout_ms = int(float(self.values.get("request_timeout_s", CONNECT_S)) * 1000)
        with errors(self.server):
            self._client: MongoClient[dict[str, Any]] = MongoClient(
                uri(self.server),
                **authority(self.server),
                serverSelectionTimeoutMS=CONNECT_S * 1000,
                connectTimeoutMS=CONNECT_S * 1000,
                socketTimeoutMS=timeout_ms,
                waitQueueTimeoutMS=timeout_ms,
                maxPoolSize=int(self.values.get("users", 100)),
                retryWrites=False,  # no silent retries: they would be part of the measured time
                retryReads=False,
            )
            # Set in both concerns: a mongod adds the journal to a majority, and the axis must only vary the number of copies
            self._journal = bool(self._client.write_concern.document.get("j", False))
            self._database = self._client[self.server.schema or DEFAULT_DATABASE]
            options: CodecOptions[dict[str, Any]] = CodecOptions(
                uuid_representation=UuidRepresentation.STANDARD
            )
            self._collection = self._database.get_collection(
                self.target,
                options,
                write_concern=WriteConcern(write, j=self._journal),
                read_concern=ReadConcern(read),
            )
            self._client.admin.command("ping")

    def describe(self) -> Server:
        with errors(self.server):
            return mongodb_server.described(self._client)

    def client_settings(self) -> Mapping[str, Any]:
        write, read = CONCERNS[self.consistency]
        return {
            **super().client_settings(),
            "write_concern": f"w={write}",
            "journal": self._journal,
            "read_concern": read,
        }

    def read_counters(self) -> Mapping[str, float | str]:
        with errors(self.server):
            return mongodb_counters.read(self._client)

    def durability(self) -> Durability:
        return durability_of(self._collection.write_concern.document, self.describe())

    def promise(self, fault: str) -> str | None:
        with errors(self.server):
            hello = self._client.admin.command("hello")
            server = self.describe()
        return mongodb_server.promise(
            fault,
            self.durability(),
            server,
            several=mongodb_server.is_several(hello),
            majority=self.consistency == "quorum",
        )

    def create(self) -> None:
        assert self.server is not None
        self.drop()
        if kind := self.server.extra.get("shard_key"):
            key = shard_key(str(kind))
            with errors(self.server):
                self._client.admin.command("shardCollection", self._collection.full_name, key=key)

    def fill(self, entities: Sequence[Entity]) -> None:
        with errors(self.server):
            self._collection.insert_many([_document(entity) for entity in entities], ordered=False)

    def insert(self, new: Entity) -> None:
        self._collection.insert_one(_document(new))

    def get(self, id: UUID) -> tuple[Any, ...] | None:
        document = self._collection.find_one({"_id": id})
        return None if document is None else _fields(document)

    def outcome(self, error: Exception) -> int:
        from pymongo.errors import ConnectionFailure, PyMongoError

        if isinstance(error, PyMongoError) and error.timeout:
            return requests.TIMEOUT
        if isinstance(error, ConnectionFailure):
            return requests.CONNECTION
        if isinstance(error, PyMongoError):
            return requests.SERVER
        raise error

    def scan(self) -> Iterator[tuple[Any, ...]]:
        with errors(self.server):
            yield from map(_fields, self._collection.find(batch_size=SCAN_DOCUMENTS))

    def scanned_by(self) -> str:
        return f"find() with the read concern {CONCERNS[self.consistency][1]}"

    def drop(self) -> None:
        with errors(self.server):
            mongodb_server.drop(self._collection)

    def close(self) -> None:
        self._client.close()


def _document(entity: Entity) -> dict[str, Any]:
    return {"_id": entity.id, **dict(zip(FIELDS[1:], entity[1:], strict=True))}


def _fields(document: Mapping[str, Any]) -> tuple[Any, ...]:
    return (document.get("_id"), *(document.get(name) for name in FIELDS[1:]))
