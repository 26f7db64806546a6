"""What a store is to Storebench: one small class with the verbs of an attempt."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, ClassVar, Literal

from storebench.attempt.clock import OperationClock
from storebench.attempt.source import Source
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum

VERIFY_CHUNK_ROWS = 10_000
OPERATIONS = ("write", "read")

# Whose memory and CPU a pod's figures are: those of a client whose server is elsewhere, or those of the engine in the pod.
Cover = Literal["client", "engine"]


@dataclass(frozen=True)
class Server:
    """The server that answered, as it describes itself: never what was expected."""

    name: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Durability:
    """What the acknowledgement of a write promises, and how the server and the connection state it.

    `disk`: a crash of the server loses nothing that was acknowledged; `memory`: it may; `none`: there is no acknowledgement;
    `s3`: of a PUT, and what that promises is the S3 server's; `unknown`: nothing states it.
    """

    kind: Literal["disk", "memory", "none", "s3", "unknown"]
    stated: str


class Store(ABC):
    """One storage engine. The class attributes say what it needs, the methods are the verbs of an attempt.

    The client library is imported inside `connect`, never by the module: the scheduler reads these classes
    on machines that have no client. Timed are only the stretches that a method marks on the clock it gets.
    """

    name: ClassVar[str]
    clients: ClassVar[tuple[str, ...]] = ("reference",)
    delivers: ClassVar[tuple[str, ...]] = ()  # what a read hands to the program, for each of `clients`
    axes: ClassVar[tuple[str, ...]] = ("batch_size",)  # the axes that mean something for it
    operations: ClassVar[tuple[str, ...]] = OPERATIONS  # a store that only reads has no write
    keeps_data: ClassVar[bool] = True  # False: a write leaves no data, so that nothing has to be dropped
    filled_by: ClassVar[str | None] = None  # the store that makes the table for one that only reads
    connection: ClassVar[str | None] = None  # the connection of its server; "s3" if S3 is the store itself
    options: ClassVar[tuple[str, ...]] = ()  # the parameters of a run that are passed to its pods
    image: ClassVar[str] = "python"  # the folder under images/
    packages: ClassVar[tuple[str, ...]] = ()  # client libraries, whose versions are recorded
    modules: ClassVar[tuple[str, ...]] = ()  # imported before the first phase, so that no phase pays for it
    service_account: ClassVar[str | None] = None  # for pods that use the Kubernetes API themselves
    figures_cover: ClassVar[Cover] = "client"  # "engine": no server does the work

    def __init__(
        self,
        *,
        client: str,
        target: str,
        connection: Connection | None,
        source: Source,
        values: Mapping[str, str] | None = None,
        operation: str = "write",
    ) -> None:
        self.client = client
        self.target = target
        self.server = connection
        self.source = source
        self.operation = operation  # write, read or drop; a drop needs no session
        self.values = values or {}  # of the cell's axes, by their key, and of `options`

    @abstractmethod
    def connect(self) -> None:
        """Reach the server and log in. Raises StoreUnreachable, or StoreRefused for a wrong login."""

    @abstractmethod
    def describe(self) -> Server:
        """The server's name, version and relevant settings, as the server itself reports them."""

    def client_settings(self) -> Mapping[str, Any]:
        """What the client does as it does for the server and the pod that `connect` found, whatever the cell's axes are.

        A client that is driven alike everywhere has none.
        """
        return {}

    def durability(self) -> Durability:
        """What the acknowledgements of this write promise; asked after `prepare`. What cannot be asked is `unknown`, never an error."""
        return Durability("unknown", "the store does not state it")

    def server_processes(self) -> Mapping[str, float]:
        """The server's processes that can be seen, each with the second (of any one clock) in which it was started, where its name
        alone does not tell one from the next. Asked before and after the operation: what differs was restarted. Raises no error."""
        return {}

    @abstractmethod
    def prepare(self) -> None:
        """Make the empty target for a write; what an earlier attempt left there is removed."""

    @abstractmethod
    def write(self, batch_rows: int | None, clock: OperationClock) -> int:
        """Write the source in batches of `batch_rows` (None: all at once); returns the rows handed over."""

    @abstractmethod
    def barrier(self) -> None:
        """Make what was written durable and visible, as far as the write did not."""

    @abstractmethod
    def read(self, clock: OperationClock) -> int:
        """Read every row of the target; returns the rows seen."""

    @abstractmethod
    def count(self) -> int:
        """The exact number of rows in the target, as the server counts them."""

    def scan(self) -> Iterator[Mapping[str, Any]]:
        """Every row of the target once, in any order, for verification: chunks of columns of canonical text.

        After a read it gets them by the very call that `read` times: a second pass of it. A chunk maps each field's name to
        as many texts as the chunk has rows, in what TableChecksum takes.
        A null is the empty text.
        """
        raise NotImplementedError(f"{self.name} has neither a scan nor a checksum of its own")

    def checksum(self) -> TableChecksum:
        """The checksum of the target's rows. A store that can compute it where the data is needs no `scan`."""
        total = TableChecksum()
        for chunk in self.scan():
            total.update(chunk)
        return total

    def verified_by(self) -> str:
        """The call by which `checksum` gets the rows, in a few words for people: `pymongo find()`."""
        return f"scan() of {self.name}"

    def size_bytes(self) -> int | None:
        """How much room the target takes, as the server counts it, all copies and indices included. Asked after a write was verified.
        None where the server does not tell it, never an error.
        """
        return None

    @abstractmethod
    def drop(self) -> None:
        """Remove the target. It is no error if there is none."""

    def executors(self) -> list[dict[str, Any]]:
        """What the pods that this one started have used until now: for each its id as `executor`, and the figures of
        storebench.spark.executor. Called once, when the operation has ended."""
        return []

    def disturbances(self) -> list[str]:
        """What befell the operation that makes its time incomparable, as far as the store sees it; asked after `executors`."""
        return []

    def client_cores(self) -> int:
        """How many cores the client can keep busy: its threads count as one where the interpreter's lock lets one run at a time."""
        return 1

    def cpu_s(self) -> float:
        """CPU seconds of the client so far: of this process and, where the client is another one, of that."""
        return time.process_time()

    def close(self) -> None:  # noqa: B027 - most clients have something to close, null has not
        """Let go of the connection."""


def columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Turn rows into columns. Raises ValueError or KeyError for a row that has other fields than `names`."""
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{len(row)} fields instead of {len(names)}")
    return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
