"""The base class of the study's stores, which load the dataset once, answer questions about it, and delete rows."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import FIELDS
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.base import Durability, Store, TypicalTime
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.queries.answers import compare, tally_of
from storebench.stores.queries.ask import by_clients, by_one_client
from storebench.stores.queries.asking import LEAST_ROUNDS, PASSES, Setting
from storebench.stores.queries.questions import Rows, key_of

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection
    from storebench.dataset.manifest import Manifest
    from storebench.stores.queries.incoming import Batch

LOAD, ASK, DELETE = "load", "ask", "delete"


class QueryStore(Store):
    """A store of the 50-field table. Each store's module has its queries as data, in the store's own language."""

    operations: ClassVar[tuple[str, ...]] = (LOAD, ASK, DELETE)
    # Medians over the stores of a run with 20,000 rows. They include the computation of the right answers.
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime(LOAD, fixed_s=9, million_s=103),
        TypicalTime(ASK, fixed_s=4, million_s=91),
        TypicalTime(DELETE, fixed_s=4, million_s=70),
    )
    modules: ClassVar[tuple[str, ...]] = ("numpy",)
    rows: int
    seed: int
    source: Source

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        store.rows, store.seed = spec.rows, spec.seed
        store.source = Source.of(s3_client, spec.bucket, str(spec.dataset))
        return store

    @classmethod
    def least_s(cls, operation: str, values: Mapping[str, str]) -> float:
        setting = Setting.of(values)
        return setting.window_s if operation == ASK and setting.together else 0.0

    @property
    def setting(self) -> Setting:
        """Return how the clients ask."""
        return Setting.of(self.values)

    # The methods of this study's stores beside `connect`, `describe` and `drop`.

    @abstractmethod
    def create(self) -> None:
        """Create an empty table, without leftovers of an earlier attempt."""

    @abstractmethod
    def load(self, clock: OperationClock) -> None:
        """Write the source's rows, and return when they are durable, visible and indexed. The clock marks the timed work."""

    @abstractmethod
    def ask(self, question: str) -> Rows:
        """Return the store's answer to a question."""

    @abstractmethod
    def delete(self) -> None:
        """Delete the rows with a discount_rate below DELETED_BELOW, and return when the deletion is durable and visible."""

    @abstractmethod
    def append(self, batch: Batch) -> None:
        """Append rows, and return when they are durable and visible."""

    @abstractmethod
    def take_back(self) -> None:
        """Delete all rows with ids beyond the dataset's ids."""

    def another(self) -> Self:
        """Return a connected store for another client, with a connection of its own."""
        other = copy.copy(self)
        other.connect()
        return other

    def make_cold(self) -> int:
        """Connect again, without the table in any cache. Return the bytes that stay in the page cache. Raises StoreRefused."""
        raise StoreRefused("This pod cannot empty the caches of a server")

    @abstractmethod
    def durability(self) -> Durability:
        """Return the durability of an acknowledged write."""

    def size_bytes(self) -> int | None:
        """Return the bytes of the table with its indexes; None if not reported."""
        return None

    # The methods of an attempt.

    @property
    def key(self) -> int:
        """Return the id that the question `point` asks for."""
        return key_of(self.rows)

    def client_settings(self) -> Mapping[str, Any]:
        if self.operation != ASK:
            return {}
        if self.setting.together:
            return {"clients": self.setting.clients, "least_rounds": LEAST_ROUNDS}
        return {"passes": PASSES}

    def operate(self, attempt: Attempt) -> str:
        with attempt.phase("prepare"):
            manifest = self.source.manifest()
            if tuple(manifest.schema) != FIELDS:
                raise StoreRefused("The questions are about the 50 fields of the generated dataset")
        does = {LOAD: self._load, ASK: self._ask, DELETE: self._delete}
        return does[self.operation](attempt, manifest)

    def _load(self, attempt: Attempt, manifest: Manifest) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
            self.create()
        attempt.durability(self.durability())
        with attempt.measuring(clock), attempt.operation():
            self.load(clock)
        attempt.metric("load_s", clock.operation_s)
        attempt.metric("rows_per_s", self.rows / clock.operation_s)
        with attempt.phase("verify"):
            right = tally_of(manifest, self.key).answers()
            for question in ("count", "sum"):
                compare(question, self.ask(question), right.of[question])
            attempt.result.data_bytes = self.size_bytes()
        return f"{manifest.rows:,} rows counted; sum of duration_ms. The operation ask verifies more fields"

    def _ask(self, attempt: Attempt, manifest: Manifest) -> str:
        if self.setting.together:
            return by_clients(self, attempt, manifest)
        return by_one_client(self, attempt, manifest)

    def _delete(self, attempt: Attempt, manifest: Manifest) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
            if self.setting.ingest:
                self.take_back()  # rows of a failed operation `ask`
            if (count := self.ask("count")) != [(self.rows,)]:
                raise StoreRefused(
                    f"The table has {count[0][0]:,} rows, and not {self.rows:,}: an earlier try has deleted rows. Clear the cell's steps"
                    " from load on"
                )
        attempt.durability(self.durability())
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            self.delete()
        attempt.metric("delete_s", clock.operation_s)
        with attempt.phase("verify"):
            right = tally_of(manifest, self.key).answers()
            ((count_now,),), ((sum_now,),) = self.ask("count"), self.ask("sum")
            if (count_now, sum_now) != right.remaining:
                raise VerificationFailed(
                    f"After the deletion there are {count_now:,} rows with the sum {sum_now:,}, and not {right.remaining[0]:,} with"
                    f" {right.remaining[1]:,}"
                )
        return f"{right.deleted:,} rows deleted; {count_now:,} rows counted; sum of duration_ms of the remaining rows"
