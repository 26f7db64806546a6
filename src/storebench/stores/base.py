"""The interface of a store: attributes for the DAG, and methods of an attempt for pods in Python."""

from __future__ import annotations

import math
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench import __version__, declared
from storebench.attempt import usage
from storebench.attempt.usage import SOMEWHERE, CpuSeconds
from storebench.connection import Connection
from storebench.errors import SpecError, quoted
from storebench.fields import Field
from storebench.protocol.counters import Counter
from storebench.protocol.figures import Cover, Guarantee

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

CLIENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")  # the name of a store, or of a client
SERVER = r"[a-z0-9]([a-z0-9_]{0,28}[a-z0-9])?"  # the name of one of several servers, as in `mongodb@v8`
# The key of a connection's extra for the address that reports the server's CPU seconds (storebench.attempt.usage).
USAGE_URL = "usage_url"


def split(name: str) -> tuple[str, str]:
    """Split a name into store and server: ('mongodb', 'v8') for `mongodb@v8`; ('mongodb', '') without a server.

    A store can be measured in several places: `mongodb@v8` is MongoDB at the Airflow Connection `storebench_mongodb_v8`, on the node pool
    of that name if it exists. For a store without its own server, the name only selects the node pool.
    """
    store, at, server = name.partition("@")
    if at and not re.fullmatch(SERVER, server):
        raise SpecError(
            f"{quoted(name)}: after the @ comes the name of a connection: lower-case letters, digits and _, at most 30"
        )
    return store, server


def is_server(connection: str | None) -> bool:
    """Return whether a store's connection is to a server of the store, other than the dataset's S3."""
    return connection not in (None, "s3")


def server_named(connection: str | None, elsewhere: Collection[str], name: str) -> tuple[str, str] | None:
    """Return the server of a store's name, as the connection's name and the server's name or "".

    Examples: ('mongodb', 'v8') for `mongodb@v8`, ('hdfs', 'v3') for `delta-spark@hdfs_v3`. None if the data is in the dataset's S3, or not
    kept. `connection`, `elsewhere`: as in Store.
    """
    _, server = split(name)
    other, _, which = server.partition("_")
    if other in elsewhere:
        return other, which
    return (str(connection), server) if is_server(connection) else None


def connection_named(connection: str | None, elsewhere: Collection[str], name: str) -> str | None:
    """Return the name of the connection to the server of a store's name. `connection`, `elsewhere`: as in Store."""
    server = server_named(connection, elsewhere, name)
    return "_".join(filter(None, server)) if server else connection


@dataclass(frozen=True)
class Pod:
    """A pod of an attempt or of a dataset. `arguments`: arguments of the program that this project's images start."""

    image: str = "python"  # a folder under images/; with "/" or ":" an image reference
    command: tuple[str, ...] = ()  # replaces the image's entry point
    arguments: tuple[str, ...] = ("attempt",)
    account: str | None = None  # the service account of a pod that starts other pods
    volume: str | None = None  # the common folder of a cell's pods; the drop removes it without a pod
    shared_memory: bool = (
        False  # True: /dev/shm as large as the pod's memory; most clusters default to 64 MiB
    )


@dataclass(frozen=True)
class Server:
    """The description of a server by the server itself."""

    name: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Durability:
    """The durability of an acknowledged write, and the settings of server and connection that state it.

    `kind` is `disk`: a crash of the server loses no acknowledged write; `memory`: a crash may lose some; `none`: there is no
    acknowledgement; `s3`: the acknowledgement of a PUT, whose durability is the S3 server's; `unknown`: nothing states the durability.
    Raises ValueError for another kind.

    Example:
        >>> Durability("memory", "w=1, j=false")
        Durability(kind='memory', stated='w=1, j=false')
    """

    kind: Guarantee
    stated: str

    def __post_init__(self) -> None:
        if mistakes := list(declared.mistakes_of(self, "Durability")):
            raise ValueError("; ".join(mistakes))


@dataclass(frozen=True)
class TypicalTime:
    """The typical time of an operation on the usual machine, which estimates a run before any similar attempt exists.

    `fixed_s`: seconds from the end of the pod before to the end of the operation's pod, without the work on rows: the removal of the previous
    cell's data, the start of servers, pods and sessions. `million_s`: seconds for a million rows, with their verification. `client`: the
    client with this time; empty: all other clients. `times`: axes whose values multiply the number of rows.

    The usual machine is the machine of storebench.results.forecast.calibration.
    """

    operation: str
    fixed_s: float
    million_s: float = 0.0
    client: str = ""
    times: tuple[str, ...] = ()

    def growing_s(self, rows: int, values: Mapping[str, str]) -> float:
        """Return the seconds of the work on rows. `values`: of the cell's axes."""
        factors = [values[name] for name in self.times if values.get(name, "").isdecimal()]
        return self.million_s * rows * math.prod(map(int, factors)) / 1_000_000


class Store(ABC):
    """A store to measure. The DAG reads the class variables. `storebench attempt` calls the methods in a pod, in the order below. A store
    whose pods run another program has none of the methods (docs/protocol.md).

    `connect` imports the client library, never the module: the scheduler reads these classes on machines without client libraries. Only the
    blocks that a method marks on its clock are timed.
    """

    name: ClassVar[str]
    operations: ClassVar[tuple[str, ...]]  # the study's operations that the store has
    clients: ClassVar[tuple[str, ...]] = ("reference",)
    # The form in which a reading operation hands data to the program, a text for each of `clients`; empty: not stated
    delivers: ClassVar[tuple[str, ...]] = ()
    # The operations that several pods can do together (the axis `pods`)
    divides: ClassVar[tuple[str, ...]] = ()
    # What a run may do to its server on purpose while an operation runs (the axis `fault`)
    faults: ClassVar[tuple[str, ...]] = ()
    lacks: ClassVar[tuple[str, ...]] = ()  # metrics of its operations that the store cannot report
    keeps_data: ClassVar[bool] = True  # False: operations leave no data to drop
    floor: ClassVar[bool] = False  # True: no store can be faster with this client
    filled_by: ClassVar[str | None] = None  # the store that does the needed operations that this store lacks
    connection: ClassVar[str | None] = None  # the connection to its server; "s3" if S3 is the store itself
    # Why its pods only connect to servers that the run provisions; empty for a store that accepts any server
    provisioned_servers_only: ClassVar[str] = ""
    provisions: ClassVar[bool] = True  # False: no run provisions its server, which keeps none of its data
    # The product that the store is named after, as its server names itself; labels name another product that answered. None: any product
    product: ClassVar[str | None] = None
    # Connections of other servers that can hold its data: `delta-spark@hdfs_v3` keeps it on the server `hdfs@v3`
    elsewhere: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Field]] = {}  # parameters of a run that its pods get
    figures_cover: ClassVar[Cover] = "client"  # "engine": no server does the work
    pod: ClassVar[Pod] = Pod()
    pods: ClassVar[Mapping[str, Pod]] = {}  # by operation: other pods than `pod`
    packages: ClassVar[tuple[str, ...]] = ()  # client libraries whose versions are recorded
    modules: ClassVar[tuple[str, ...]] = ()  # modules to import before the first phase, outside its time
    counters: ClassVar[tuple[Counter, ...]] = ()  # what its server reports about itself: `read_counters`
    typical: ClassVar[
        tuple[TypicalTime, ...]
    ] = ()  # measured times of operations, for estimates of first runs

    @classmethod
    def contradictions(cls) -> Iterator[str]:
        """Yield the mistakes in the class variables beyond their types."""
        if not cls.clients:
            yield "clients is empty: leave it out, or name a client"
        yield from (
            f"clients: {client!r} is no name of a client: lower-case letters, digits, _ and -, at most 63"
            for client in cls.clients
            if not CLIENT.fullmatch(client)
        )
        for name in ("clients", "operations"):
            values = getattr(cls, name)
            yield from (
                f"{name} has {value!r} twice" for value in dict.fromkeys(values) if values.count(value) > 1
            )
        if cls.delivers and len(cls.delivers) != len(cls.clients):
            yield (
                f"delivers has the length {len(cls.delivers)}, and clients {len(cls.clients)}:"
                f" give one text for each of {', '.join(cls.clients)}, in this order"
            )
        for name, option in cls.options.items():
            yield from (f"options[{name!r}].{problem}" for problem in option.mistakes())

    @classmethod
    def pod_of(cls, operation: str) -> Pod:
        """Return the pod of an operation or of the drop."""
        return cls.pods.get(operation, cls.pod)

    @classmethod
    def keys(cls, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the names of the random keys that the store's pods share in a run. Each key is a Secret. `values`: of the run's parameters."""
        return ()

    @classmethod
    def needs_agents(cls, values: Mapping[str, Any]) -> str:
        """Return why the store's attempts need the agents of provisioned servers; empty if they do not. `values`: of the run's parameters."""
        return ""

    @classmethod
    def least_s(cls, operation: str, values: Mapping[str, str]) -> float:
        """Return the least seconds of an operation, whatever the server does. `values`: of the study's parameters and of a cell's axes.

        Raises SpecError for values that contradict each other: then the run is refused before any work.
        """
        return 0.0

    @classmethod
    def typical_of(cls, operation: str, client: str) -> TypicalTime | None:
        """Return the typical time of a client's operation; None if the store declares none."""
        of_clients = {typical.client: typical for typical in cls.typical if typical.operation == operation}
        return of_clients.get(client) or of_clients.get("")

    @classmethod
    def cannot_hold(cls, manifest: Mapping[str, Any]) -> str:
        """Return why the store cannot hold the data of a custom file; empty if it can. `manifest`: of the dataset made of the file."""
        return ""

    @classmethod
    def cannot_give_back(cls, manifest: Mapping[str, Any], client: str) -> str:
        """Return why `client` cannot read back data of a custom file that the store holds; empty if it can."""
        return ""

    @classmethod
    def cannot_address(cls, bucket: str) -> str:
        """Return why a client of the store cannot address the S3 bucket of this name; empty if it can."""
        return ""

    @classmethod
    def has_server(cls) -> bool:
        """Return whether the store has its own server, other than the dataset's S3."""
        return is_server(cls.connection)

    @classmethod
    def server_of(cls, name: str) -> tuple[str, str] | None:
        """Return the server of a name of this store, as the connection's name and the server's name or "" (`server_named`)."""
        return server_named(cls.connection, cls.elsewhere, name)

    @classmethod
    def connection_of(cls, name: str) -> str | None:
        """Return the name of the connection to the server of a name of this store: `mongodb_v8` for `mongodb@v8`."""
        return connection_named(cls.connection, cls.elsewhere, name)

    def __init__(
        self,
        *,
        client: str,
        target: str,
        connection: Connection | None,
        values: Mapping[str, str] | None = None,
        operation: str = "",
        bucket: str = "",
    ) -> None:
        self.client = client
        self.target = target
        self.server = connection
        self.bucket = bucket  # the bucket of the dataset
        self.operation = operation  # an item of `operations`, or the drop, which needs no session
        self.values = values or {}  # values of the cell's axes and of `options`

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        """Create the store of an attempt. `s3_client`: client of the dataset's S3."""
        return cls(
            client=spec.client,
            target=spec.target,
            connection=connection,
            values={**spec.options, **spec.axes},
            operation=spec.operation,
            bucket=spec.bucket,
        )

    def delivered(self) -> str | None:
        """Return the form in which the cell's client delivers data, as stated in `delivers`; None if not stated."""
        return dict(zip(self.clients, self.delivers, strict=False)).get(self.client)

    @abstractmethod
    def connect(self) -> None:
        """Connect to the server and log in. Raises StoreUnreachable, or StoreRefused for a wrong login."""

    def describe(self) -> Server:
        """Return the server's own report of its name, version and relevant settings. Without a server: this project's code."""
        return Server(self.name, __version__)

    def client_settings(self) -> Mapping[str, Any]:
        """Return the settings that the client chose for the server and the pod that `connect` found.

        A client that does not adapt has none.
        """
        return {}

    @abstractmethod
    def operate(self, attempt: Attempt) -> str:
        """Prepare, measure and verify `operation`. `attempt` times and records it. Return the subject and way of the verification.

        Raises a StorebenchError if the operation fails."""

    def promise(self, fault: str) -> str | None:
        """Return what the store guarantees of acknowledged writes under a fault of one server, as a sentence with its source. Return None if
        the store does not guarantee that all are kept. Called before the operation, for a fault of `faults`.
        """
        return None

    def server_processes(self) -> Mapping[str, float]:
        """Return the visible processes of the server by name, each with the second of its start, by any fixed clock. The second may be
        constant if names are unique. Called before and after the operation: a difference shows a restart. Raises no error."""
        return {}

    @abstractmethod
    def drop(self) -> None:
        """Remove the target. A missing target is no error."""

    def usage(self) -> list[dict[str, Any]]:
        """Return the figures of each pod that this pod started: `role`, `name`, and figures as in storebench.spark.executor. Called once,
        after the operation."""
        return []

    def disturbances(self) -> list[str]:
        """Return the disturbances of the operation that the store knows. Called after `usage`."""
        return []

    def cpu_of_servers_s(self) -> CpuSeconds | None:
        """Return the CPU seconds so far of this store's servers, by machine; None if not reported. Called before and after the operation,
        to separate the store's work from strangers' work, unless agents watch the servers. Raises no error."""
        if self.figures_cover == "engine":
            return {}
        if url := self.server and self.server.extra.get(USAGE_URL):
            return usage.cpu_s(url)
        seconds = self.server_cpu_s()
        return None if seconds is None else {SOMEWHERE: seconds}

    def server_cpu_s(self) -> float | None:
        """Return the CPU seconds of the server's processes so far, as reported by the server; None if not reported. Raises no error."""
        return None

    def cpu_of_pods_s(self) -> CpuSeconds | None:
        """Return the CPU seconds of the pods that this pod started."""
        return {}

    def read_counters(self) -> Mapping[str, float | str]:
        """Return the present values of `counters` by name; for a counter that the server refuses, the reason. Called outside the timed
        work, only for a store with counters. A failure or an absent counter is recorded, and does not fail the attempt."""
        return {}

    def client_cores(self) -> int:
        """Return the number of cores that the client can keep busy. Threads under the interpreter's lock count as one."""
        return 1

    def cpu_s(self) -> float:
        """Return the CPU seconds of the client so far: of this process, and of a separate client process if there is one."""
        return time.process_time()

    def close(self) -> None:  # noqa: B027 - optional
        """Close the connection."""
