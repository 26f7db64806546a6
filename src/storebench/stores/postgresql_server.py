"""Connect to and identify PostgreSQL, for stores of any study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from storebench.connection import Connection, tls
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.servers.fault import KEEPS_MEMORY, MAINTENANCE, UNHARMED
from storebench.stores.base import Durability, Server

if TYPE_CHECKING:
    import psycopg

PORT = 5432
CONNECT_S = 10
SETTINGS = (
    "synchronous_commit",
    "fsync",
    "full_page_writes",
    "wal_level",
    "shared_buffers",
    "max_wal_size",
    "work_mem",
)
# Without these words, an error of a new connection is a refusal: of the login, or for want of the database.
UNREACHABLE = (
    "could not connect",
    "connection failed: connection to server",
    "timeout expired",
    "could not translate host name",
    "name resolution",
    "server closed the connection",
    "the connection is lost",
)
REFUSED_LOGIN = (
    "password authentication failed",
    "no pg_hba.conf entry",
    "does not exist",
    "no password supplied",
)


def conninfo(server: Connection) -> str:
    """Return libpq's connection string, with the login."""
    from psycopg.conninfo import make_conninfo

    ((host, port),) = server.addresses(PORT)
    given: dict[str, Any] = {
        "host": host,
        "port": port,
        "user": server.login,
        "password": server.password,
        "dbname": server.schema,
        "connect_timeout": CONNECT_S,
        **encryption(server),
    }
    return make_conninfo("", **{name: value for name, value in given.items() if value})


def encryption(server: Connection) -> Mapping[str, str]:
    """Return libpq's options for TLS. Without `tls` in the connection, the server decides, and no certificate is checked."""
    if server.extra.get("tls") is False:
        return {"sslmode": "disable"}
    if not server.tls:
        return {"sslmode": "prefer"}
    if not tls.verifies(server):
        return {"sslmode": "require"}
    return {"sslmode": "verify-full", "sslrootcert": tls.authority_file(server) or "system"}


def connected(server: Connection) -> psycopg.Connection:
    """Connect and log in. Raises StoreUnreachable or StoreRefused."""
    import psycopg

    with errors(server):
        return psycopg.connect(conninfo(server), autocommit=True)


def identify(session: psycopg.Connection) -> Server:
    """Return the server's version and its settings that matter."""
    rows = session.execute(
        "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY(%s)", [list(SETTINGS)]
    )
    version = session.execute("SHOW server_version").fetchone()
    return Server("PostgreSQL", str(version[0]) if version else "unknown", dict(rows.fetchall()))


def durability_of(settings: Mapping[str, Any]) -> Durability:
    """Return the durability of a commit with the server's settings."""
    if not {"fsync", "synchronous_commit"} <= settings.keys():
        return Durability("unknown", "the server does not show fsync and synchronous_commit")
    stated = f"synchronous_commit={settings['synchronous_commit']}, fsync={settings['fsync']}"
    on = settings["fsync"] == "on" and settings["synchronous_commit"] != "off"
    return Durability("disk" if on else "memory", stated)


def promise(fault: str, durability: Durability) -> str | None:
    """Return what the server guarantees for commits under a fault; None if it does not guarantee that all are kept."""
    if fault in MAINTENANCE:
        return UNHARMED
    if fault in KEEPS_MEMORY:
        return KEEPS_MEMORY[fault]
    if durability.kind == "disk":
        return f"a commit is in the flushed write-ahead log before it is acknowledged ({durability.stated})"
    return None


@contextmanager
def errors(server: Connection | None) -> Iterator[None]:
    """Turn the errors of psycopg and of ADBC into StoreUnreachable or StoreRefused."""
    assert server is not None
    where = server.where(PORT)
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("psycopg", "adbc_driver_manager"):
            raise
        said = " ".join(str(error).split())
        if any(words in said for words in REFUSED_LOGIN) and type(error).__name__ == "OperationalError":
            raise StoreRefused(
                f"PostgreSQL at {where} refused the login of user {server.login!r} to the database {server.schema!r}: {said}"
            ) from error
        if any(words in said for words in UNREACHABLE):
            more = tls.advice(said, server) or ". Is it running, and reachable from the pods?"
            raise StoreUnreachable(f"PostgreSQL at {where} does not answer: {said}{more}") from error
        raise StoreRefused(f"PostgreSQL at {where} refused: {said}") from error
