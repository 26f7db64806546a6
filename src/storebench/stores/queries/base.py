"""The base class of the study's stores, which load the dataset once, answer questions about it, and delete rows."""

from __future__ import annotations

import statistics
from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench.attempt.clock import OperationClock
from storebench.dataset.schema import FIELDS
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.base import Durability, Store, TypicalTime
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.queries.answers import answers_for, compare
from storebench.stores.queries.questions import QUESTIONS, Rows, asked_of, key_of, metric_of
from storebench.stores.queries.score import geometric_mean_s

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.connection import Connection
    from storebench.dataset.manifest import Manifest

LOAD, ASK, DELETE = "load", "ask", "delete"
PASSES = 5  # timed passes of a question, after one untimed pass


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
    source: Source

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        store = super().of(spec, connection, s3_client)
        store.rows, store.source = spec.rows, Source.of(s3_client, spec.bucket, str(spec.dataset))
        return store

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
        return {"passes": PASSES} if self.operation == ASK else {}

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
            right = answers_for(manifest, self.key)
            for question in ("count", "sum"):
                compare(question, self.ask(question), right.of[question])
            attempt.result.data_bytes = self.size_bytes()
        return f"{manifest.rows:,} rows counted; sum of duration_ms. The operation ask verifies more fields"

    def _ask(self, attempt: Attempt, manifest: Manifest) -> str:
        clock = OperationClock(self.cpu_s)
        asked = asked_of(self.lacks)
        given: dict[str, list[Rows]] = {}
        times_s: dict[str, list[float]] = {}
        with attempt.measuring(clock), attempt.operation():
            for question in asked:
                try:
                    given[question], times_s[question] = self._passes(question, clock)
                except StoreRefused as error:
                    raise StoreRefused(f"The question {question}: {error}") from error
        with attempt.phase("verify"):
            right = answers_for(manifest, self.key)
            for question in asked:  # a question with a wrong answer gets no figure
                for answer in given[question]:
                    compare(question, answer, right.of[question])
        medians_s = [statistics.median(times_s[question]) for question in asked]
        for question, median_s in zip(asked, medians_s, strict=True):
            attempt.metric(metric_of(question), median_s)
        missing = [question for question in QUESTIONS if question not in asked]
        attempt.metric("geometric_mean_s", geometric_mean_s(medians_s, len(missing)))
        attempt.metric("questions", len(asked))
        said = f"{PASSES + 1} answers to each of {len(asked)} questions are right"
        return f"{said}; no answer to {', '.join(missing)}" if missing else said

    def _passes(self, question: str, clock: OperationClock) -> tuple[list[Rows], list[float]]:
        """Ask a question once untimed, and PASSES times on the clock. Return all answers, and the seconds of the timed passes."""
        answers, times_s = [self.ask(question)], []
        for _ in range(PASSES):
            before_s = clock.operation_s
            with clock.operation():
                answers.append(self.ask(question))
            times_s.append(clock.operation_s - before_s)
        return answers, times_s

    def _delete(self, attempt: Attempt, manifest: Manifest) -> str:
        clock = OperationClock(self.cpu_s)
        with attempt.phase("prepare"):
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
            right = answers_for(manifest, self.key)
            ((count_now,),), ((sum_now,),) = self.ask("count"), self.ask("sum")
            if (count_now, sum_now) != right.remaining:
                raise VerificationFailed(
                    f"After the deletion there are {count_now:,} rows with the sum {sum_now:,}, and not {right.remaining[0]:,} with"
                    f" {right.remaining[1]:,}"
                )
        return f"{right.deleted:,} rows deleted; {count_now:,} rows counted; sum of duration_ms of the remaining rows"
