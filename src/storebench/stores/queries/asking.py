"""The ways to ask all questions: one client with warm or cold caches, or several clients at once."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storebench.errors import SpecError, StoreRefused
from storebench.stores.caches import Cold
from storebench.stores.column_scan import residence
from storebench.stores.queries.incoming import Incoming
from storebench.stores.queries.questions import Rows
from storebench.study.reserved import PODS

if TYPE_CHECKING:
    from storebench.attempt.clock import OperationClock
    from storebench.stores.queries.base import QueryStore

CONCURRENCY, CACHE, INGEST = "concurrency", "cache", "ingest"  # axes
HOT, COLD, OFF, ON = "hot", "cold", "off", "on"
WINDOW_S, RATE = "window_s", "ingest_rate"  # parameters of a run
PASSES = 5  # timed passes of a question by one client, after one untimed pass
LEAST_ROUNDS = 3  # of all questions, by each client of several
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Setting:
    """How the clients ask: values of a cell's axes and of a run's parameters. `clients`: of each pod."""

    clients: int = 1
    cold: bool = False
    ingest: bool = False
    pods: int = 1
    window_s: float = 0.0
    rows_per_s: int = 1

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Setting:
        """Read the values. Raises SpecError for values that contradict each other."""
        setting = cls(
            int(values.get(CONCURRENCY, 1)),
            values.get(CACHE) == COLD,
            values.get(INGEST) == ON,
            int(values.get(PODS, 1)),
            float(values.get(WINDOW_S, 0)),
            int(values.get(RATE, 1)),
        )
        if setting.ingest and (setting.cold or setting.pods > 1):
            other = f"{CACHE}={COLD}" if setting.cold else f"{PODS}={setting.pods}"
            raise SpecError(
                f"{INGEST}={ON} and {other} cannot be in one cell: start one run for each, or vary one thing at a time (full_grid=false)"
            )
        return setting

    @property
    def together(self) -> bool:
        """Return whether clients ask in a common window: several clients, or one while rows come in."""
        return self.clients * self.pods > 1 or self.ingest


@dataclass(frozen=True)
class Given:
    """A store's answer. `seconds`: None for an untimed question.

    `least`: number of incoming rows that were acknowledged before the question. `most`: number of incoming rows that were sent until the answer
    was there.
    """

    question: str
    answer: Rows
    seconds: float | None
    least: int = 0
    most: int = 0


def ask(store: QueryStore, question: str) -> Rows:
    """Return the store's answer. Raises StoreRefused with the question's name."""
    try:
        return store.ask(question)
    except StoreRefused as error:
        raise StoreRefused(f"The question {question}: {error}") from error


def hot_passes(store: QueryStore, asked: Sequence[str], clock: OperationClock) -> list[Given]:
    """Ask each question once untimed, and PASSES times on the clock."""
    given = []
    for question in asked:
        given.append(Given(question, ask(store, question), None))
        given += [_timed(store, question, clock) for _ in range(PASSES)]
    return given


@dataclass(frozen=True)
class ColdPass:
    """A question that was asked with cold caches. `read_bytes`: bytes that the process read from disk for the answer."""

    question: str
    cold: Cold
    read_bytes: int

    def prove(self) -> None:
        """Raise VerificationFailed if the caches were not cold."""
        self.cold.prove(f"answer to {self.question}", self.read_bytes)


def cold_passes(
    store: QueryStore, asked: Sequence[str], clock: OperationClock
) -> tuple[list[Given], list[ColdPass]]:
    """Ask each question PASSES times, each time with a new connection and without the table's files in the page cache.

    An engine may count the rows without reading the table. Each other question needs a page of the table at least.
    """
    given, passes = [], []
    for question in asked:
        for _ in range(PASSES):
            remaining = store.make_cold()
            before = residence.read_bytes()
            given.append(_timed(store, question, clock))
            read = residence.read_bytes() - before
            needed = 0 if question == "count" else PAGE_BYTES
            passes.append(ColdPass(question, Cold(remaining, remaining, needed), read))
    return given, passes


def _timed(store: QueryStore, question: str, clock: OperationClock) -> Given:
    """Ask a question on the clock."""
    before_s = clock.operation_s
    with clock.operation():
        answer = ask(store, question)
    return Given(question, answer, clock.operation_s - before_s)


@dataclass(frozen=True)
class Window:
    """The questions of several clients. `ends_s`: the second at which each client got its last answer, since the window began."""

    given: list[Given]
    ends_s: list[float]

    @property
    def seconds(self) -> float:
        """Return the seconds from the begin of the clients until the last client ends."""
        return max(self.ends_s)


def ask_together(
    sessions: Sequence[QueryStore],
    asked: Sequence[str],
    orders: Sequence[random.Random],
    incoming: Incoming,
    *,
    rounds: int = 1,
    least_s: float = 0.0,
) -> Window:
    """Let clients ask all questions at once, each client in a thread, over its own connection, in its own order in each round.

    A client begins `rounds` rounds at least, and further rounds until `least_s` seconds have passed. It ends no round early, so all questions
    have the same share. Rows come in until the last client ends.
    """
    failed = incoming.failed
    began_s = time.perf_counter()

    def client(session: QueryStore, order: random.Random) -> tuple[list[Given], float]:
        given: list[Given] = []
        try:
            while len(given) < rounds * len(asked) or time.perf_counter() - began_s < least_s:
                for question in order.sample(asked, len(asked)):
                    if failed.is_set():
                        return given, time.perf_counter() - began_s
                    least, at_s = incoming.acknowledged, time.perf_counter()
                    answer = ask(session, question)
                    seconds = time.perf_counter() - at_s
                    given.append(Given(question, answer, seconds, least, incoming.sent))
        except BaseException:
            failed.set()
            raise
        return given, time.perf_counter() - began_s

    incoming.begin()
    try:
        with ThreadPoolExecutor(len(sessions)) as pool:
            try:
                clients = list(pool.map(client, sessions, orders))
            finally:
                failed.set()  # also after an error in this thread, such as a failed part
    finally:
        incoming.end()
    return Window([given for all_given, _ in clients for given in all_given], [end_s for _, end_s in clients])
