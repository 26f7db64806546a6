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
# What the dataset has: both ways of Protobuf read the same bytes.
ENCODINGS = {"yson": "yson", "skiff": "skiff", "protobuf": "protobuf_static", "arrow": "arrow"}


class Format(ABC):
    """The jobs of a format: one method for each benchmark, which reads its rows from `source` and writes those that come out to `sink`.

    Whatever a job can prepare before the first row, such as classes of rows, it prepares before its clock begins: by `ready` or, within
    packages, by the rehearsal (job.py). Each field that a job needs becomes a value of Python. Jobs work row by row; those of Arrow also on
    columns, if they are asked to.
    """

    decoded_by: ClassVar[str]  # what `decode` is

    def __init__(self, benchmark: Benchmark) -> None:
        self.table, self.output = benchmark.table, benchmark.output
        self.values = benchmark.values
        # Where the new column of `extend` is; -1 for the other benchmarks
        self.added = self.output.names.index(ADDED.name) if ADDED in self.output.columns else -1

    def ready(self) -> None:  # noqa: B027 - a format need not have it
        """Get ready for a job. Raises SpecError if the package's fast implementation is not the one that is used."""

    @abstractmethod
    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        """Write plain rows, as the dataset has them."""

    @abstractmethod
    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        """The plain rows that were written, by an implementation that is not the one of `encode` and of the jobs."""

    @abstractmethod
    def records(self) -> Records:
        """The rows of a job through the common interface (common.py)."""

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
    """Return the format of that name, whose jobs work row by row or on columns. Raises SpecError for an unknown name."""
    if name not in FORMATS:
        raise unknown("format", name, FORMATS)
    module = importlib.import_module(f"storebench.stores.map_formats.{name}")
    found: Format = (module.COLUMNS if access == "column" else module.FORMAT)(benchmark)
    return found


def check_access(access: str, name: str, interface: str) -> str:
    """Return `access` if a job of this format has it through this interface; raises SpecError if not."""
    if access not in ACCESSES:
        raise unknown("access", access, ACCESSES)
    if access != "row" and (name, interface) != ("arrow", "direct"):
        raise SpecError(f"access={access}: only a job of arrow that is driven directly has columns")
    return access
