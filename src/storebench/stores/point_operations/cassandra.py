"""The store Cassandra: an entity is a row whose primary key is the entity's id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import UUID

from storebench.connection import Connection, tls
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.servers.fault import KEEPS_MEMORY, MAINTENANCE, UNHARMED
from storebench.stores.base import Durability, Server
from storebench.stores.counters import cassandra as cassandra_counters
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.base import CONNECT_S, PointStore
from storebench.stores.point_operations.entities import FIELDS, Entity

PORT = 9042
TABLE = "entities"
CREATE = f"CREATE TABLE {TABLE} (id uuid PRIMARY KEY, name text, age int, description text, address text, phone text, email text)"
COPIES = 3  # copies of each row, if there are enough nodes
FILL_CONCURRENCY = 64
SCAN_ROWS = 2_000  # rows of a page
# With version 5, driver 3.30 loses bytes and then the connection: docs/decisions/0028
PROTOCOL = 4
SLOW_S = 60.0  # time limit of statements that are not measured, in seconds
# Settings that the server reports.
SETTINGS = (
    "commitlog_sync",
    "commitlog_sync_period",
    "concurrent_reads",
    "concurrent_writes",
    "memtable_allocation_type",
    "num_tokens",
    "disk_access_mode",
)


class Cassandra(PointStore):
    """Cassandra with a keyspace for each target. Each row has COPIES copies, or one on each node if there are fewer nodes."""

    name = "cassandra"
    connection = "cassandra"
    counters = cassandra_counters.COUNTERS
    faults = ("kill", "pause", "restart", "partition", *MAINTENANCE)
    packages = (*PointStore.packages, "cassandra-driver")
    modules = (*PointStore.modules, "cassandra.cluster")
    _scanned = ""

    def connect(self) -> None:
        from cassandra import ConsistencyLevel
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
        from cassandra.policies import DCAwareRoundRobinPolicy, FallthroughRetryPolicy, TokenAwarePolicy
        from cassandra.query import tuple_factory

        server = self.server
        assert server is not None
        self._level = {"one": ConsistencyLevel.ONE, "quorum": ConsistencyLevel.QUORUM}[self.consistency]
        profile = ExecutionProfile(
            load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(self._centre)),
            retry_policy=FallthroughRetryPolicy(),  # no silent retries: they would be part of the measured time
            consistency_level=self._level,
            request_timeout=float(self.values.get("request_timeout_s", CONNECT_S)),
            row_factory=tuple_factory,
        )
        addresses = server.addresses(PORT)
        self._cluster = Cluster(
            addresses,
            port=addresses[0][1],  # the port of all nodes
            ssl_context=_context(server) if server.tls else None,
            protocol_version=PROTOCOL,
            connect_timeout=CONNECT_S,
            control_connection_timeout=CONNECT_S,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            auth_provider=PlainTextAuthProvider(server.login, server.password) if server.login else None,
        )
        with self._errors():
            self._session = self._cluster.connect()
            if self.operation in ("read", "write"):
                self._prepare()

    def _prepare(self) -> None:
        self._session.set_keyspace(self._keyspace)
        names, places = ", ".join(FIELDS), ", ".join("?" * len(FIELDS))
        self._insert = self._session.prepare(f"INSERT INTO {TABLE} ({names}) VALUES ({places})")
        self._select = self._session.prepare(f"SELECT {names} FROM {TABLE} WHERE id = ?")

    @property
    def _centre(self) -> str:
        """Return the data centre of the connection; empty for the data centre of the first node that answers."""
        return str((self.server.extra if self.server else {}).get("local_dc", ""))

    @property
    def _keyspace(self) -> str:
        """Return the keyspace's name: the end of the target, which is unique, since names have at most 48 characters."""
        return f"storebench{self.target[-17:]}"

    def describe(self) -> Server:
        with self._errors():
            ((version,),) = self._ask("SELECT release_version FROM system.local")
            settings = self._settings()
            tables = self._ask(
                "SELECT table_name FROM system_schema.tables WHERE keyspace_name = 'system_schema'"
            )
        name = "ScyllaDB" if ("scylla_tables",) in list(tables) else "Cassandra"
        nodes = len(self._cluster.metadata.all_hosts())
        return Server(name, str(version), {**settings, "nodes": nodes, "copies": min(COPIES, nodes)})

    def client_settings(self) -> Mapping[str, Any]:
        return {**super().client_settings(), "protocol_version": self._cluster.protocol_version}

    def read_counters(self) -> Mapping[str, float | str]:
        with self._errors():
            return cassandra_counters.read(self._session, self._keyspace)

    def server_processes(self) -> Mapping[str, float]:
        """Return the second in which each node was started, as the nodes tell each other; none before Cassandra 5."""
        from cassandra import DriverException
        from cassandra.cluster import NoHostAvailable

        with suppress(DriverException, NoHostAvailable):
            nodes = self._ask("SELECT address, generation FROM system_views.gossip_info")
            return {str(address): float(generation) for address, generation in nodes}
        return {}

    def durability(self) -> Durability:
        sync = self._settings().get("commitlog_sync")
        if sync is None:
            return Durability("unknown", "the server does not tell its commitlog_sync")
        copies = f"acknowledged by {self.consistency} of its copies"
        return Durability("memory" if sync == "periodic" else "disk", f"{copies}, commitlog_sync={sync}")

    def promise(self, fault: str) -> str | None:
        """Return what the server guarantees under a fault of one node.

        With commitlog_sync=periodic, a node acknowledges a write before the commit log is synced, so its end by SIGKILL may lose the writes
        of the last commitlog_sync_period (cassandra.yaml). Copies on other nodes keep a write at quorum, but not at one.
        """
        server = self.describe()
        copies = server.settings["copies"]
        if self.consistency == "quorum" and copies > 2:
            return f"a majority of {copies} copies has an acknowledged write, and the fault is of one node"
        if fault in MAINTENANCE:
            return UNHARMED
        if fault in KEEPS_MEMORY:
            return KEEPS_MEMORY[fault]
        if fault == "restart" and server.name == "Cassandra":
            return "on SIGTERM a node drains: it writes its memory to disk before it ends (StorageService's shutdown hook)"
        sync = server.settings.get("commitlog_sync")
        if fault == "kill" and sync in ("batch", "group"):
            return f"the commit log is on disk before the acknowledgement (cassandra.yaml, commitlog_sync={sync})"
        return None

    def create(self) -> None:
        self.drop()
        with self._errors():
            hosts = self._cluster.metadata.all_hosts()
            centre = self._centre or hosts[0].datacenter
            copies = min(COPIES, sum(host.datacenter == centre for host in hosts))
            if not copies:
                centres = ", ".join(sorted({str(host.datacenter) for host in hosts}))
                raise StoreRefused(
                    f"Cassandra has no data centre {centre!r}, which the connection's extra names as local_dc. It has {centres}"
                )
            self._ask(
                f"CREATE KEYSPACE {self._keyspace} WITH replication ="
                f" {{'class': 'NetworkTopologyStrategy', '{centre}': {copies}}}"
            )
            self._session.set_keyspace(self._keyspace)
            self._ask(CREATE)
            self._prepare()

    def created(self) -> None:
        with self._errors():
            self._prepare()

    def fill(self, entities: Sequence[Entity]) -> None:
        from cassandra.concurrent import execute_concurrent_with_args

        with self._errors():
            execute_concurrent_with_args(self._session, self._insert, entities, concurrency=FILL_CONCURRENCY)

    def insert(self, new: Entity) -> None:
        self._session.execute(self._insert, new)

    def get(self, id: UUID) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._session.execute(self._select, (id,)).one()
        return row

    def get_from_all(self, id: UUID) -> tuple[Any, ...] | None:
        """Return a row's fields, read from all its copies: on the nodes of a small cluster, each copy is a node."""
        from cassandra import ConsistencyLevel

        select = self._select.bind((id,))
        select.consistency_level = ConsistencyLevel.ALL
        row: tuple[Any, ...] | None = self._session.execute(select).one()
        return row

    def outcome(self, error: Exception) -> int:
        from cassandra import DriverException, OperationTimedOut, RequestExecutionException, Timeout
        from cassandra.cluster import NoHostAvailable
        from cassandra.connection import ConnectionException

        if isinstance(error, OperationTimedOut | Timeout):
            return requests.TIMEOUT
        if isinstance(error, NoHostAvailable | ConnectionException | OSError):
            return requests.CONNECTION
        if isinstance(error, DriverException | RequestExecutionException):
            return requests.SERVER
        raise error

    def scan(self) -> Iterator[tuple[Any, ...]]:
        """Yield each row, read from all copies, or from a majority of copies if a node is down."""
        from cassandra import ConsistencyLevel, ReadTimeout, Unavailable
        from cassandra.query import SimpleStatement

        self._session.set_keyspace(self._keyspace)
        text = f"SELECT {', '.join(FIELDS)} FROM {TABLE}"
        with self._errors():
            try:
                level, self._scanned = ConsistencyLevel.ALL, "ALL"
                entities = self._session.execute(
                    SimpleStatement(text, fetch_size=SCAN_ROWS, consistency_level=level), timeout=SLOW_S
                )
            except (Unavailable, ReadTimeout):  # a node is down, whether or not other nodes know it
                level, self._scanned = ConsistencyLevel.QUORUM, "QUORUM, as not all nodes are there"
                entities = self._session.execute(
                    SimpleStatement(text, fetch_size=SCAN_ROWS, consistency_level=level), timeout=SLOW_S
                )
            yield from entities

    def scanned_by(self) -> str:
        return f"a scan with the consistency {self._scanned}"

    def drop(self) -> None:
        with self._errors():
            self._ask(f"DROP KEYSPACE IF EXISTS {self._keyspace}")

    def close(self) -> None:
        self._cluster.shutdown()

    def _ask(self, text: str) -> Any:
        return self._session.execute(text, timeout=SLOW_S)

    def _settings(self) -> dict[str, Any]:
        """Return the values of SETTINGS that the server reports; none before Cassandra 4, which has no such table."""
        from cassandra import InvalidRequest

        with suppress(InvalidRequest):
            settings = dict(self._ask("SELECT name, value FROM system_views.settings"))
            return {name: settings[name] for name in SETTINGS if name in settings}
        return {}

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn the client's errors into StoreUnreachable or StoreRefused."""
        from cassandra import AuthenticationFailed, DriverException
        from cassandra.cluster import NoHostAvailable

        assert self.server is not None
        where = self.server.where(PORT)
        try:
            yield
        except NoHostAvailable as error:
            reasons = list(getattr(error, "errors", {}).values())
            if any(isinstance(reason, AuthenticationFailed) for reason in reasons):
                raise StoreRefused(
                    f"Cassandra at {where} refused the login of user {self.server.login!r}: check the connection"
                ) from error
            reason = reasons[0] if reasons else error
            raise StoreUnreachable(
                f"Cassandra at {where} does not answer: {reason}{tls.advice(str(reason), self.server) or '. Is it running, and reachable from the pods?'}"
            ) from error
        except DriverException as error:
            raise StoreRefused(f"Cassandra at {where} refused: {error}") from error


def _context(server: Connection) -> Any:
    """Return the TLS context. Nodes name each other by addresses, which their certificates seldom contain. So names are only checked with
    the system's CAs, not with the connection's CA."""
    context = tls.context(server)
    context.check_hostname = context.check_hostname and tls.CA_CERTS not in server.extra
    return context
