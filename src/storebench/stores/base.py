"""The interface of a store: the attributes that the DAG reads, and, for pods in Python, the methods of an attempt."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from storebench import __version__
from storebench.attempt import usage
from storebench.attempt.usage import SOMEWHERE, CpuSeconds
from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.fields import Field

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

SERVER = r"[a-z0-9]([a-z0-9_]{0,28}[a-z0-9])?"  # the name of one of several servers, as in `mongodb@v8`
# In a connection's extra: where the CPU seconds of the server's processes are told (storebench.attempt.usage).
USAGE_URL = "usage_url"

# Whose memory and CPU a pod's figures are: those of a client whose server is elsewhere, or those of the engine in the pod.
Cover = Literal["client", "engine"]


def split(name: str) -> tuple[str, str]:
    """The store and the server that `name` means: ('mongodb', 'v8') of `mongodb@v8`; without a server, ('mongodb', '').

    The same store can be measured in several places: `mongodb@v8` is MongoDB at the Airflow Connection `storebench_mongodb_v8`, on the
    nodes of that name where there are some. A store without a server of its own has the nodes alone.
    """
    store, at, server = name.partition("@")
    if at and not re.fullmatch(SERVER, server):
        raise SpecError(
            f"{name!r}: after the @ comes the name of a connection: lower-case letters, digits and _, at most 30"
        )
    return store, server


@dataclass(frozen=True)
class Pod:
    """A pod of an attempt, or of a dataset. `arguments` are those of the program that the images of this project start."""

    image: str = "python"  # a folder under images/; with a "/" or ":" a reference
    command: tuple[str, ...] = ()  # in place of the image's entry point
    arguments: tuple[str, ...] = ("attempt",)
    account: str | None = None  # the service account of a pod that starts pods itself
    volume: str | None = (
        None  # the folder that the pods of a cell have in common; the drop removes it, without a pod
    )
    shared_memory: bool = (
        False  # /dev/shm is as large as the pod's memory; without it, most clusters give 64 MiB
    )


@dataclass(frozen=True)
class Server:
    """The server that answered, as it describes itself: never what was expected."""

    name: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Durability:
    """The durability of an acknowledged write, and the settings of server and connection that state it.

    `disk`: a crash of the server loses no acknowledged write; `memory`: a crash may lose some; `none`: there is no acknowledgement;
    `s3`: the acknowledgement of a PUT, whose durability is the S3 server's; `unknown`: nothing states the durability.
    """

    kind: Literal["disk", "memory", "none", "s3", "unknown"]
    stated: str


class Store(ABC):
    """A store to measure. The DAG reads the class variables. `storebench attempt` calls the methods in a pod, in their order here. A store
    whose pods run another program has none of the methods (docs/protocol.md).

    The client library is imported inside `connect`, never by the module: the scheduler reads these classes on machines that have no
    client. Timed are only the stretches that a method marks on the clock it gets.
    """

    name: ClassVar[str]
    operations: ClassVar[tuple[str, ...]]  # those of the study that it has
    clients: ClassVar[tuple[str, ...]] = ("reference",)
    keeps_data: ClassVar[bool] = (
        True  # False: its operations leave no data, so that nothing has to be dropped
    )
    limit: ClassVar[bool] = (
        False  # True: it leaves out what the others do, so that no store can be faster with this client
    )
    filled_by: ClassVar[str | None] = (
        None  # the store that does for it the operations that it needs and has not
    )
    connection: ClassVar[str | None] = None  # the connection of its server; "s3" if S3 is the store itself
    # The connections of other servers that can have its data: `delta-spark@hdfs_v3` has it at the server `hdfs@v3`
    elsewhere: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[Mapping[str, Field]] = {}  # parameters of a run that its pods are told
    figures_cover: ClassVar[Cover] = "client"  # "engine": no server does the work
    pod: ClassVar[Pod] = Pod()
    pods: ClassVar[Mapping[str, Pod]] = {}  # for operations that take another one
    packages: ClassVar[tuple[str, ...]] = ()  # client libraries, whose versions are recorded
    modules: ClassVar[tuple[str, ...]] = ()  # imported before the first phase, so that no phase pays for it

    @classmethod
    def pod_of(cls, operation: str) -> Pod:
        """The pod of an attempt at this operation, or of the drop."""
        return cls.pods.get(operation, cls.pod)

    @classmethod
    def keys(cls, params: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the random keys that its pods share in a run with these parameters, each a Secret."""
        return ()

    @classmethod
    def needs_agents(cls, params: Mapping[str, Any]) -> str:
        """Why its attempts need the agents of servers that the run brings, in a run with these parameters; empty where they do not."""
        return ""

    @classmethod
    def least_s(cls, operation: str, values: Mapping[str, str]) -> float:
        """How many seconds the operation lasts whatever the server does, with these values of the study's parameters and of a cell's axes.
        Raises SpecError for values that contradict each other: then the run is refused before anything is done.
        """
        return 0.0

    @classmethod
    def cannot_hold(cls, manifest: Mapping[str, Any]) -> str:
        """Say why the store cannot hold the data of a file of one's own, by the manifest that was made of the file; empty if it can."""
        return ""

    @classmethod
    def cannot_give_back(cls, manifest: Mapping[str, Any], client: str) -> str:
        """Say why `client` cannot read back data of a file of one's own that the store holds; empty if it can."""
        return ""

    @classmethod
    def cannot_address(cls, bucket: str) -> str:
        """Return why a client of the store cannot address the S3 bucket of this name; an empty text where it can."""
        return ""

    @classmethod
    def has_server(cls) -> bool:
        """Return whether the store has a server of its own, which is neither the dataset's S3 nor none."""
        return cls.connection not in (None, "s3")

    @classmethod
    def server_of(cls, name: str) -> tuple[str, str] | None:
        """The server that `name`, a name of this store, means: the name of its connection, and which one of several it is, or "". So
        ('mongodb', 'v8') of `mongodb@v8`, ('hdfs', 'v3') of `delta-spark@hdfs_v3`. None where the data is in the dataset's S3, or nowhere.
        """
        _, server = split(name)
        other, _, which = server.partition("_")
        if other in cls.elsewhere:
            return other, which
        return (str(cls.connection), server) if cls.has_server() else None

    @classmethod
    def connection_of(cls, name: str) -> str | None:
        """The name of the connection to the server that `name`, a name of this store, means: `mongodb_v8` of `mongodb@v8`."""
        found = cls.server_of(name)
        return "_".join(filter(None, found)) if found else cls.connection

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
        self.bucket = bucket  # of the S3 that has the dataset
        self.operation = operation  # one of `operations`, or the drop, which needs no session
        self.values = values or {}  # of the cell's axes, and of `options`

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        """The store of an attempt. `s3_client` is for the S3 that has the dataset."""
        return cls(
            client=spec.client,
            target=spec.target,
            connection=connection,
            values={**spec.options, **spec.axes},
            operation=spec.operation,
            bucket=spec.bucket,
        )

    @abstractmethod
    def connect(self) -> None:
        """Reach the server and log in. Raises StoreUnreachable, or StoreRefused for a wrong login."""

    def describe(self) -> Server:
        """The server's name, version and relevant settings, as the server itself reports them. Without a server: this project's code."""
        return Server(self.name, __version__)

    def client_settings(self) -> Mapping[str, Any]:
        """Return the settings that the client chose for the server and the pod that `connect` found.

        A client that does not adapt has none.
        """
        return {}

    @abstractmethod
    def operate(self, attempt: Attempt) -> str:
        """Do `operation`: prepare, measure, verify; `attempt` times and records it. Returns what was verified, and how. Raises a
        StorebenchError where it fails."""

    def server_processes(self) -> Mapping[str, float]:
        """The server's processes that can be seen, each with the second (of any one clock) in which it was started, where its name
        alone does not tell one from the next. Asked before and after the operation: what differs was restarted. Raises no error."""
        return {}

    @abstractmethod
    def drop(self) -> None:
        """Remove the target. It is no error if there is none."""

    def usage(self) -> list[dict[str, Any]]:
        """Return the figures of the pods that this pod started: for each `role`, `name`, and figures such as those of
        storebench.spark.executor. Called once, when the operation has ended."""
        return []

    def disturbances(self) -> list[str]:
        """Return the disturbances of the operation that the store knows. Called after `usage`."""
        return []

    def cpu_of_servers_s(self) -> CpuSeconds | None:
        """CPU seconds so far of the servers that work for this store, by machine; None where nobody tells it. Asked before and after the
        operation, to tell the store's own work from that of strangers, unless agents watch the servers. Raises no error."""
        if self.figures_cover == "engine":
            return {}
        if url := self.server and self.server.extra.get(USAGE_URL):
            return usage.cpu_s(url)
        seconds = self.server_cpu_s()
        return None if seconds is None else {SOMEWHERE: seconds}

    def server_cpu_s(self) -> float | None:
        """CPU seconds that the server's processes have used so far, as the server itself tells it; None where it does not. Raises no
        error."""
        return None

    def cpu_of_pods_s(self) -> CpuSeconds | None:
        """Return the CPU seconds of the pods that this pod started."""
        return {}

    def client_cores(self) -> int:
        """How many cores the client can keep busy: its threads count as one where the interpreter's lock lets one run at a time."""
        return 1

    def cpu_s(self) -> float:
        """CPU seconds of the client so far: of this process and, where the client is another one, of that."""
        return time.process_time()

    def close(self) -> None:  # noqa: B027 - a store need not have it
        """Let go of the connection."""
