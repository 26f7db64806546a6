"""What a store is to Storebench: one small class with the verbs of an attempt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, ClassVar

from storebench.attempt.clock import OperationClock
from storebench.attempt.source import Source
from storebench.connection import Connection

VERIFY_CHUNK_ROWS = 10_000


@dataclass(frozen=True)
class Server:
    """The server that answered, as it describes itself: never what was expected."""

    name: str
    version: str
    settings: Mapping[str, Any] = field(default_factory=dict)


class Store(ABC):
    """One storage engine. The class attributes say what it needs, the methods are the verbs of an attempt.

    The client library is imported inside `connect`, never by the module: the scheduler reads these classes
    on machines that have no client. Timed are only the stretches that a method marks on the clock it gets.
    """

    name: ClassVar[str]
    clients: ClassVar[tuple[str, ...]] = ("reference",)
    axes: ClassVar[tuple[str, ...]] = ("batch_size",)  # the axes that mean something for it
    connection: ClassVar[str | None] = None  # the connection it needs beside S3
    image: ClassVar[str] = "python"  # the folder under images/
    packages: ClassVar[tuple[str, ...]] = ()  # client libraries, whose versions are recorded
    modules: ClassVar[tuple[str, ...]] = ()  # imported before the first phase, so that no phase pays for it

    def __init__(self, *, client: str, target: str, connection: Connection | None, source: Source) -> None:
        self.client = client
        self.target = target
        self.server = connection
        self.source = source

    @abstractmethod
    def connect(self) -> None:
        """Reach the server and log in. Raises StoreUnreachable, or StoreRefused for a wrong login."""

    @abstractmethod
    def describe(self) -> Server:
        """The server's name, version and relevant settings, as the server itself reports them."""

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

    @abstractmethod
    def scan(self) -> Iterator[Mapping[str, Sequence[str]]]:
        """Every row of the target once, in any order, for verification: chunks of columns of canonical text.

        A chunk maps each field's name to as many texts as the chunk has rows; a null is the empty text.
        """

    @abstractmethod
    def drop(self) -> None:
        """Remove the target. It is no error if there is none."""

    def close(self) -> None:  # noqa: B027 - most clients have something to close, null has not
        """Let go of the connection."""


def columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Turn rows into columns. Raises ValueError or KeyError for a row that has other fields than `names`."""
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{len(row)} fields instead of {len(names)}")
    return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
