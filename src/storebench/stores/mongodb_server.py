"""Connect to and identify MongoDB, and servers with its protocol, for the stores of several studies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote

from storebench.connection import Connection, tls
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.servers.fault import KEEPS_MEMORY, MAINTENANCE, UNHARMED
from storebench.stores.base import Durability, Server

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection
    from pymongo.database import Database

# MongoDB's error codes: a refused login; a mongos without a shard's primary, such as during an election
LOGIN_FAILED, NO_PRIMARY = 18, 133
PORT = 27017
DEFAULT_SCHEME = "mongodb"
SRV = "mongodb+srv"  # the scheme for servers and ports from DNS


def uri(server: Connection) -> str:
    """Return the connection string, with the connection's options and, as one of them, `tls`."""
    login = f"{quote(server.login, safe='')}:{quote(server.password, safe='')}@" if server.login else ""
    scheme = server.extra.get("scheme", DEFAULT_SCHEME)
    hosts = server.host if scheme == SRV else server.where(PORT)
    encrypted = server.extra.get("tls")
    tls_options = [] if encrypted is None else [f"tls={str(encrypted).lower()}"]
    options = "&".join(filter(None, [server.extra.get("options", ""), *tls_options]))
    return f"{scheme}://{login}{hosts}/?{options}"


def authority(server: Connection) -> dict[str, Any]:
    """Return the client's options for the server's certificate: the file of the connection's CA, or no check of certificates."""
    if not server.tls:
        return {}
    if not tls.verifies(server):
        return {"tlsInsecure": True}
    file = tls.authority_file(server)
    return {"tlsCAFile": file} if file else {}


def shard_key(kind: str) -> dict[str, int | str]:
    """Return the shard key of a collection for the connection's extra `shard_key`: `_id` by hash or by range."""
    kinds: dict[str, int | str] = {"hashed": "hashed", "ranged": 1}
    if kind not in kinds:
        raise SpecError(
            f"The extra 'shard_key' of the MongoDB connection must be one of {', '.join(kinds)}, not {kind!r}"
        )
    return {"_id": kinds[kind]}


def durable(server: Connection) -> dict[str, Any]:
    """Return the client's options for durable acknowledgements; empty if the connection's own options set the write concern."""
    options = parse_qsl(server.extra.get("options", "").replace(";", "&"))
    by_name = {name.lower(): value for name, value in options}
    return {} if "journal" in by_name or "fsync" in by_name or by_name.get("w") == "0" else {"journal": True}


def durability_of(concern: Mapping[str, Any], server: Server) -> Durability:
    """Return the durability of an acknowledgement under a write concern, PyMongo's document, from a server."""
    concern_text = ", ".join(
        f"{name}={str(value).lower()}" for name, value in sorted(concern.items(), reverse=True)
    )
    concern_text = concern_text or "the server's default write concern"
    if concern.get("w") == 0:
        return Durability("none", concern_text)
    if server.name == "FerretDB":
        if "postgresql" not in server.settings:  # the backend may be SQLite, which may be in memory
            return Durability(
                "unknown", f"{concern_text}; which database FerretDB commits to, it does not say"
            )
        return Durability("disk", f"{concern_text}; FerretDB commits to PostgreSQL")
    if server.name != "MongoDB" or "j" not in concern:
        return Durability("unknown", concern_text)
    if not concern["j"]:
        return Durability("memory", concern_text)
    # The journal of the engine inMemory is also in memory: the server acknowledges j=true immediately.
    engine = server.settings.get("storage_engine")
    if engine is None:
        return Durability("unknown", f"{concern_text}; which storage engine it has, the server does not say")
    if engine == "inMemory":
        return Durability("memory", f"{concern_text}; the storage engine is inMemory")
    return Durability("disk", concern_text)


def promise(
    fault: str, durability: Durability, server: Server, *, several: bool, majority: bool
) -> str | None:
    """Return what the server guarantees for acknowledged writes under a fault of one server; None if it does not guarantee that all are kept.

    A replica set may elect a member that lacks a write that no majority has, and then rolls the write back. A mongod without a journaled
    acknowledgement loses up to 100 ms of writes with its memory (MongoDB's manual, Journaling). `several`: a replica set or shards.
    `majority`: a majority of the members has acknowledged.
    """
    if (several and not majority) or durability.kind == "none":
        return None
    if fault in MAINTENANCE and not several:
        return UNHARMED
    if fault in KEEPS_MEMORY and not several:
        return KEEPS_MEMORY[fault]
    if durability.kind == "disk":
        return f"an acknowledged write is on disk ({durability.stated})"
    if fault == "restart" and server.settings.get("storage_engine") == "wiredTiger" and not several:
        return "on SIGTERM a mongod writes a checkpoint before it ends (MongoDB's manual, Terminate a mongod Process)"
    return None


def is_several(hello: Mapping[str, Any]) -> bool:
    """Return whether the server is a member of a replica set, or a mongos. `hello`: the answer to the command."""
    return "setName" in hello or hello.get("msg") == "isdbgrid"


def identify(
    build: Mapping[str, Any], status: Mapping[str, Any] | str, host: Mapping[str, Any] | str
) -> Server:
    """Identify the server. Every server of the protocol reports a MongoDB version in `hello` and `buildInfo.version`.

    FerretDB 2 has `buildInfo.ferretdb`, FerretDB 1 has `ferretdbVersion`; a mongod has a 40-digit git version and a list of storage
    engines. `status`, `host`: the answers to serverStatus and hostInfo, or the reason why there is no answer.
    """
    settings: dict[str, Any] = {}
    for command, answer in (("serverStatus", status), ("hostInfo", host)):
        if isinstance(answer, str):
            settings[command] = answer
    if isinstance(status, str):
        status = {}
    system = {} if isinstance(host, str) else host.get("system") or {}
    # a mongod in a container may use fewer cores than the machine has
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


def described(client: MongoClient[Any]) -> Server:
    """Ask the server for its identity. A command that the login may not use leaves its refusal in the settings."""
    from pymongo.errors import OperationFailure

    def answer(command: str) -> Mapping[str, Any] | str:
        try:
            return client.admin.command(command)
        except OperationFailure as error:
            return f"refused, code {error.code}"

    answers = [answer(command) for command in ("serverStatus", "hostInfo")]
    return identify(client.admin.command("buildInfo"), *answers)


def drop(collection: Collection[Any]) -> None:
    """Remove a collection. The server always acknowledges the drop, which must end before the next write."""
    from pymongo import WriteConcern

    collection.with_options(write_concern=WriteConcern()).drop()


def size_bytes(database: Database[Any], collection: str) -> int | None:
    """Return the bytes of a collection with its indexes; None if the server does not report both, or the login may not ask."""
    from pymongo.errors import PyMongoError

    with suppress(PyMongoError, KeyError):
        stats = database.command("collStats", collection)
        return int(stats["storageSize"] + stats["totalIndexSize"])
    return None


@contextmanager
def errors(server: Connection | None) -> Iterator[None]:
    """Turn PyMongo's errors into StoreUnreachable or StoreRefused."""
    from pymongo.errors import AutoReconnect, OperationFailure, PyMongoError

    assert server is not None
    where = server.host if server.extra.get("scheme") == SRV else server.where(PORT)
    try:
        yield
    except AutoReconnect as error:  # includes errors of server selection
        reason = str(error).partition(" (configured")[0]  # without pymongo's description of the topology
        raise StoreUnreachable(
            f"MongoDB at {where} does not answer: {reason}{tls.advice(str(error), server) or '. Is it running, and reachable from the pods?'}"
        ) from error
    except OperationFailure as error:
        if error.code == LOGIN_FAILED:
            raise StoreRefused(
                f"MongoDB at {where} refused the login of user {server.login!r}: check the connection{_source(server)}"
            ) from error
        if error.code == NO_PRIMARY:
            raise StoreUnreachable(f"MongoDB at {where} has no member that answers: {error}") from error
        raise StoreRefused(f"MongoDB at {where} refused: {error}") from error
    except PyMongoError as error:
        raise StoreRefused(f"MongoDB at {where} failed: {error}") from error


def _source(server: Connection) -> str:
    """Return the advice for a refused login, if the connection does not name the user's database."""
    options = {name.casefold() for name, _ in parse_qsl(server.extra.get("options", ""))}
    if "authsource" in options:
        return ""
    return (
        ". It was looked up in the database 'admin'. A user that was made in another database needs its name:"
        f' {{"authSource": "{server.schema or "DATABASE"}"}} in the connection\'s extra'
    )
