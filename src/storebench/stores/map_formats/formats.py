"""The formats of a benchmark: each format's job, and a second implementation that decodes a job's output."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import IO, TYPE_CHECKING, ClassVar

from storebench.errors import SpecError, unknown
from storebench.stores.map_formats.tables import ADDED, Benchmark, Row, Table

if TYPE_CHECKING:
    from storebench.stores.map_formats.common import Records

FORMATS = ("yson", "skiff", "protobuf_static", "protobuf_dynamic", "arrow")
ACCESSES = ("row", "column")
# The dataset's encodings: both kinds of Protobuf read the same bytes.
ENCODINGS = {"yson": "yson", "skiff": "skiff", "protobuf": "protobuf_static", "arrow": "arrow"}


class Format(ABC):
    """The jobs of a format: a method for each benchmark, which reads rows from `source` and writes output rows to `sink`.

    Preparations before the first row, such as classes of rows, happen before the job's clock begins: in `ready` or, within packages, in the
    rehearsal (job.py). Each needed field becomes a Python value. Jobs work row by row; Arrow's jobs can also work on columns.
    """

    decoded_by: ClassVar[str]  # name of the implementation of `decode`

    def __init__(self, benchmark: Benchmark) -> None:
        self.table, self.output = benchmark.table, benchmark.output
        self.values = benchmark.values
        # position of the new column of `extend`; -1 for other benchmarks
        self.added = self.output.names.index(ADDED.name) if ADDED in self.output.columns else -1

    def ready(self) -> None:  # noqa: B027 - optional
        """Prepare a job. Raises SpecError if the package does not use its fast implementation."""

    @abstractmethod
    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        """Encode plain rows to `sink`."""

    @abstractmethod
    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        """Decode rows to plain rows, with another implementation than `encode` and the jobs."""

    @abstractmethod
    def records(self) -> Records:
        """Return the adapter of the common interface (common.py)."""

    @abstractmethod
    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None: ...

    @abstractmethod
    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None: ...

    @abstractmethod
    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None: ...

    @abstractmethod
    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None: ...

    @abstractmethod
    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None: ...

    @abstractmethod
    def write(self, numbers: range, sink: IO[bytes]) -> None: ...


def format_of(name: str, benchmark: Benchmark, access: str = "row") -> Format:
    """Return the format `name`. `access`: whether jobs work on rows or columns. Raises SpecError for an unknown name."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    module = importlib.import_module(f"storebench.stores.map_formats.{name}")
    format_: Format = (module.COLUMNS if access == "column" else module.FORMAT)(benchmark)
    return format_


def check_access(access: str, name: str, interface: str) -> str:
    """Return `access`. Raises SpecError if this format and interface do not support it."""
    if access not in ACCESSES:
        raise unknown("access", access, ACCESSES)
    if access != "row" and (name, interface) != ("arrow", "direct"):
        raise SpecError(f"access={access}: only a job of arrow that is driven directly has columns")
    return access
