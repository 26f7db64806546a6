"""MongoDB, and servers that speak its protocol."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from storebench.attempt.clock import OperationClock
from storebench.attempt.source import Row
from storebench.connection import Connection
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores import tuning
from storebench.stores.base import Durability, Server, Store, columns

if TYPE_CHECKING:
    from pymongo import MongoClient

CONNECT_TIMEOUT_MS = 10_000
DEFAULT_DATABASE = "storebench"
NOT_PERMITTED = 13  # MongoDB's code for a command that the user may not run
TUNED_REQUEST_ROWS = 1_000  # a mongod inserts in portions of 500, however many it gets
VERIFY_CHUNK_ROWS = 1_000  # room beside an answer of the server, which holds up to 16 MB of documents
ARRIVAL_TIMEOUT_S, ARRIVAL_POLL_S = 60.0, 0.1  # of writes that are not acknowledged


class MongoDB(Store):
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

    def connect(self) -> None:
        with self._errors():
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
            serverSelectionTimeoutMS=CONNECT_TIMEOUT_MS,
            connectTimeoutMS=CONNECT_TIMEOUT_MS,
            **durable(self.server),
            retryWrites=False,  # no silent retries: they would be measured, too
            **options,
        )
        self._collection = self._client[self.server.schema or DEFAULT_DATABASE][self.target]
        self._raw = self._collection.with_options(CodecOptions(document_class=RawBSONDocument))

    def _if_permitted(self, command: str) -> Mapping[str, Any] | str:
        """What the server answers to a command of its administrators, or why it does not: the benchmark works without."""
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

    def prepare(self) -> None:
        if not self._collection.write_concern.acknowledged and self.describe().name == "FerretDB":
            raise StoreRefused(
                "FerretDB answers writes that ask for no acknowledgement. That breaks the client's connections and loses rows: take w=0"
                " out of the connection's options"
            )
        self.drop()

    def write(self, batch_rows: int | None, clock: OperationClock) -> int:
        self._written = self._write(batch_rows, clock)
        return self._written

    def _write(self, batch_rows: int | None, clock: OperationClock) -> int:
        with self._errors():
            if self.client == "tuned":
                return self._write_tuned(batch_rows, clock)
            if batch_rows is None:
                with clock.operation():
                    result = self._collection.insert_many(clock.source(self.source.rows()))
                return len(result.inserted_ids)
            rows = 0
            for batch in clock.source(self.source.batches(batch_rows)):
                with clock.operation():
                    self._collection.insert_many(batch)
                rows += len(batch)
            return rows

    def _write_tuned(self, batch_rows: int | None, clock: OperationClock) -> int:
        rows = 0
        with ThreadPoolExecutor(self._tuning["connections"], thread_name_prefix="insert") as pool:
            # All requests of a batch, or of a block of the whole, are answered before more of the source is read:
            # what goes on beside the source would be taken out as the source's time.
            for batch in clock.source(self.source.batches(batch_rows or self._tuning["window_rows"])):
                with clock.operation():
                    self._insert(pool, batch)
                rows += len(batch)
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
        with self._errors(), clock.operation():
            for _ in self._documents():
                rows += 1
        return rows

    def _documents(self) -> Iterator[Mapping[str, Any]]:
        """All documents, as each client reads them: the timed read and its second pass are both this call."""
        if self.client == "tuned":
            return self._raw.find(batch_size=self._tuning["answer_rows"])
        return self._collection.find()

    def count(self) -> int:
        with self._errors():
            return self._collection.count_documents({})

    def scan(self) -> Iterator[Mapping[str, Sequence[str]]]:
        with self._errors():
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

        with self._errors():  # always acknowledged: the drop must be over before the next write
            self._collection.with_options(write_concern=WriteConcern()).drop()

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Tell an unreachable server from one that refused."""
        from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

        assert self.server is not None
        where = f"{self.server.host}:{self.server.port or 27017}"
        try:
            yield
        except AutoReconnect as error:  # a server that cannot be selected is one of these
            reason = str(error).partition(" (configured")[0]  # without pymongo's description of the topology
            raise StoreUnreachable(
                f"MongoDB at {where} does not answer: {reason}. Is it running, and reachable from the pods?"
            ) from error
        except OperationFailure as error:
            if error.code == 18:
                raise StoreRefused(
                    f"MongoDB at {where} refused the login of user {self.server.login!r}: check the connection"
                ) from error
            raise StoreRefused(f"MongoDB at {where} refused: {error}") from error
        except PyMongoError as error:
            raise StoreRefused(f"MongoDB at {where} failed: {error}") from error


def _values(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document's fields, decoded where they are not yet; the server's `_id` is none of them."""
    values = dict(document.items())
    values.pop("_id", None)
    return values


def uri(server: Connection) -> str:
    """The connection string. `extra` may hold `scheme` (mongodb, mongodb+srv) and `options` (a query string)."""
    login = f"{quote(server.login, safe='')}:{quote(server.password, safe='')}@" if server.login else ""
    port = f":{server.port}" if server.port else ""
    options = server.extra.get("options", "")
    return f"{server.extra.get('scheme', 'mongodb')}://{login}{server.host}{port}/?{options}"


def durable(server: Connection) -> dict[str, Any]:
    """The client's options that ask for a durable acknowledgement; none where the connection's own options say how they want it."""
    options = parse_qsl(server.extra.get("options", "").replace(";", "&"))
    asked = {name.lower(): value for name, value in options}
    return {} if "journal" in asked or "fsync" in asked or asked.get("w") == "0" else {"journal": True}


def durability_of(concern: Mapping[str, Any], server: Server) -> Durability:
    """What an acknowledgement under a write concern promises: PyMongo's document of it, and the server that answered."""
    asked = ", ".join(f"{name}={str(value).lower()}" for name, value in sorted(concern.items(), reverse=True))
    asked = asked or "the server's default write concern"
    if concern.get("w") == 0:
        return Durability("none", asked)
    if server.name == "FerretDB":
        database = "PostgreSQL" if "postgresql" in server.settings else "its database"
        return Durability("disk", f"{asked}; FerretDB commits to {database}")
    if server.name != "MongoDB" or "j" not in concern:
        return Durability("unknown", asked)
    if server.settings.get("storage_engine") == "inMemory":
        return Durability("memory", f"{asked}; the storage engine is inMemory")
    return Durability("disk" if concern["j"] else "memory", asked)


def identify(
    build: Mapping[str, Any], status: Mapping[str, Any] | str, host: Mapping[str, Any] | str
) -> Server:
    """Which server answered. `hello` and `buildInfo.version` alone name MongoDB for each that speaks its protocol.

    FerretDB 2 says so in `buildInfo.ferretdb`, FerretDB 1 in `ferretdbVersion`; a mongod has a 40-digit git
    version and a list of storage engines. `status` and `host`, the answers to serverStatus and hostInfo, may each be a text
    that says why there is none.
    """
    settings: dict[str, Any] = {}
    for command, answer in (("serverStatus", status), ("hostInfo", host)):
        if isinstance(answer, str):
            settings[command] = answer
    if isinstance(status, str):
        status = {}
    system = {} if isinstance(host, str) else host.get("system") or {}
    # in a container a mongod may use fewer than the machine has
    if cores := system.get("numCoresAvailableToProcess") or system.get("numCores"):
        settings["cores"] = int(cores)
    if ferretdb := build.get("ferretdb"):
        details = status.get("ferretdb") or {}
        settings |= {
            "protocol": str(build.get("version", "")),
            **{key: str(value) for key, value in sorted(details.items()) if isinstance(value, str | int)},
        }
        return Server("FerretDB", str(ferretdb.get("version", "unknown")), settings)
    if version := build.get("ferretdbVersion"):
        return Server("FerretDB", str(version), settings | {"protocol": str(build.get("version", ""))})
    if len(str(build.get("gitVersion", ""))) == 40 and build.get("storageEngines"):
        if engine := (status.get("storageEngine") or {}).get("name"):
            settings["storage_engine"] = engine
        return Server("MongoDB", str(build["version"]), settings | {"git": build["gitVersion"]})
    return Server("unknown server of the MongoDB protocol", str(build.get("version", "unknown")), settings)
