"""The floor: a store that accepts all rows and keeps none, which shows the client's own limit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from storebench import __version__
from storebench.attempt.clock import OperationClock
from storebench.dataset.manifest import Manifest
from storebench.stores.base import Durability, Server
from storebench.stores.bulk_write_read.base import READ, VERIFY_CHUNK_ROWS, WRITE, TableStore, columns

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt


class Null(TableStore):
    """A store that discards written rows. A read iterates over the source, whose time is subtracted: only the loop remains.

    Since no data is kept, verification covers the rows that the client read from the source and wrote.
    """

    name = "null"
    keeps_data = False
    floor = True
    divides = (WRITE, READ)
    delivers = ("nothing",)
    figures_cover = "engine"

    def connect(self) -> None:
        pass

    def describe(self) -> Server:
        return Server("null", __version__)

    def durability(self) -> Durability:
        return Durability("none", "nothing is kept")

    def prepare(self) -> None:
        pass

    def write(self, batch: int | None, clock: OperationClock) -> int:
        if batch is None:
            with clock.operation():
                return sum(1 for _ in clock.source(self.source.rows()))
        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                rows += len(part)
        return rows

    def barrier(self) -> None:
        pass

    def take_share(self, attempt: Attempt, manifest: Manifest) -> None:
        self.source.take(attempt.part.share(manifest.rows), manifest)

    def read(self, clock: OperationClock) -> int:
        rows = 0
        with clock.operation():
            for _ in clock.source(self.source.rows()):
                rows += 1
        return rows

    def count(self) -> int:
        return sum(1 for _ in self.source.rows())

    def scan(self) -> Iterator[Mapping[str, Sequence[str]]]:
        for rows in self.source.batches(VERIFY_CHUNK_ROWS):
            yield columns(rows, self.source.fields)

    def verified_by(self) -> str:
        return "csv.DictReader over the source"

    def drop(self) -> None:
        pass
