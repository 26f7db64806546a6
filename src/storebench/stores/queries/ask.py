"""The operation `ask`: ask in the way of the cell's setting, verify all answers, and report the figures."""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from storebench.attempt.clock import OperationClock
from storebench.errors import StoreRefused
from storebench.stores.caches import Cold
from storebench.stores.queries.answers import Tally, compare, tally_of
from storebench.stores.queries.asking import (
    LEAST_ROUNDS,
    PASSES,
    ColdPass,
    Given,
    ask_together,
    cold_passes,
    hot_passes,
)
from storebench.stores.queries.incoming import LEAST_ROWS, Incoming, Writer
from storebench.stores.queries.questions import QUESTIONS, Rows, asked_of, metric_of, p99_of
from storebench.stores.queries.score import geometric_mean_s

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.dataset.manifest import Manifest
    from storebench.stores.queries.base import QueryStore

LEAST_TIMES = 100  # of a question with a 99th percentile
HOUR_S = 3600
COUNTED = ("count", "sum")  # the questions that are asked about all rows after rows have come in

Times = Mapping[str, Sequence[float]]  # seconds by question


def by_one_client(store: QueryStore, attempt: Attempt, manifest: Manifest) -> str:
    """Let one client ask with hot or cold caches. Return the verification."""
    clock = OperationClock(store.cpu_s)
    asked = asked_of(store.lacks)
    passes: list[ColdPass] = []
    with attempt.measuring(clock), attempt.operation():
        if store.setting.cold:
            given, passes = cold_passes(store, asked, clock)
        else:
            given = hot_passes(store, asked, clock)
    with attempt.phase("verify"):
        check(given, tally_of(manifest, store.key), Incoming())
        for one_pass in passes:
            one_pass.prove()
    times = _times(given)
    said = f"{len(given) // len(asked)} answers to each of {len(asked)} questions are right"
    if passes:
        said += f"; {_cold(attempt, passes, clock.operation_s)}"
    return said + _report(attempt, times, clock.operation_s)


def by_clients(store: QueryStore, attempt: Attempt, manifest: Manifest) -> str:
    """Let several clients ask at once, or let rows come in meanwhile. Return the verification."""
    clock, setting, asked = OperationClock(store.cpu_s), store.setting, asked_of(store.lacks)
    with ExitStack() as open_sessions:
        with attempt.phase("prepare"):
            sessions = [open_sessions.enter_context(closing(store.another())) for _ in range(setting.clients)]
            first = attempt.part.number * setting.clients
            orders = [random.Random(f"{store.seed} {first + n}") for n in range(setting.clients)]
            incoming = open_sessions.enter_context(closing(store.another())) if setting.ingest else None
            rows_in = _writer(store, incoming, attempt) if incoming else Incoming()
            warm = ask_together(sessions, asked, orders, Incoming())
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            window = ask_together(
                sessions, asked, orders, rows_in, rounds=LEAST_ROUNDS, least_s=setting.window_s
            )
    given = [*warm.given, *window.given]
    with attempt.phase("verify"):
        said = _verify(store, manifest, given, rows_in)
    attempt.metric("window_s", window.seconds)
    if isinstance(rows_in, Writer):
        attempt.metric("ingested_rows_per_s", rows_in.in_time / window.seconds)
        attempt.metric("ingest_delay_s", rows_in.longest_s)
    tallies = attempt.gather(
        {"answers": len(given), "times_s": _times(window.given), "ends_s": window.ends_s}
    )
    if tallies is None:
        return "left with the leader"
    times = {name: [time_s for tally in tallies for time_s in tally["times_s"][name]] for name in asked}
    ends_s = [end_s for tally in tallies for end_s in tally["ends_s"]]
    window_s = attempt.result.metrics["window_s"]  # until the last client of all parts ends
    attempt.metric("tail_s", window_s - min(ends_s))
    for question, times_s in times.items():
        if len(times_s) >= LEAST_TIMES:
            attempt.metric(p99_of(question), statistics.quantiles(times_s, n=100)[98])
    answers = sum(tally["answers"] for tally in tallies)
    clients = "1 client" if len(ends_s) == 1 else f"{len(ends_s)} clients"
    right = f"{answers:,} answers of {clients} to {len(asked)} questions are right"
    return f"{right}{said}{_report(attempt, times, window_s)}"


def _writer(store: QueryStore, session: QueryStore, attempt: Attempt) -> Writer:
    """Return the writer of incoming rows, which appends over a session of its own. Removes the rows of an earlier try."""
    if store.rows < LEAST_ROWS:
        raise StoreRefused(f"Incoming rows need a table of at least {LEAST_ROWS} rows, not {store.rows}")
    store.take_back()
    attempt.durability(store.durability())
    return Writer(session.append, store.rows, store.seed, store.setting.rows_per_s)


def check(given: Sequence[Given], tally: Tally, incoming: Incoming) -> None:
    """Compare all answers with the right ones. `tally`: of the dataset's rows; at the end, also of all incoming rows.

    Each answer must lie between the right answer about the rows that were acknowledged before the question, and the right answer about all rows
    that were sent until its end. Without incoming rows, both are the same. Raises VerificationFailed.
    """
    wanted: dict[int, set[str]] = {}  # questions by number of incoming rows
    for one in given:
        for number in (one.least, one.most):
            wanted.setdefault(number, set()).add(one.question)
    right: dict[tuple[int, str], Rows] = {}
    added = 0
    for number in sorted({*wanted, incoming.acknowledged}):
        tally.add(incoming.rows(added, number))
        added = number
        right |= {(number, question): tally.answer(question) for question in wanted.get(number, ())}
    for one in given:
        compare(one.question, one.answer, right[one.least, one.question], right[one.most, one.question])


def _verify(store: QueryStore, manifest: Manifest, given: Sequence[Given], incoming: Incoming) -> str:
    """Verify all answers, and the rows that came in. Take these rows back. Return the statement about these rows."""
    tally = tally_of(manifest, store.key)
    before = {question: tally.answer(question) for question in COUNTED}
    check(given, tally, incoming)
    if not isinstance(incoming, Writer):
        return ""
    for question in COUNTED:
        compare(question, store.ask(question), tally.answer(question))
    store.take_back()
    for question in COUNTED:
        compare(question, store.ask(question), before[question])
    late = f", and {incoming.due:,} were due: the writer fell behind" if incoming.behind else ""
    return (
        f", each for the rows that had come in; {incoming.acknowledged:,} rows came in, are counted and taken back;"
        f" {incoming.in_time:,} of these until the last client ended{late}"
    )


def _times(given: Iterable[Given]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    for one in given:
        if one.seconds is not None:
            times.setdefault(one.question, []).append(one.seconds)
    return times


def _report(attempt: Attempt, times: Times, seconds: float) -> str:
    """Report the median of each question's times, their geometric mean, and the rate of all answers in `seconds`. Return the statement about
    questions without an answer."""
    medians_s = {question: statistics.median(times_s) for question, times_s in times.items()}
    for question, median_s in medians_s.items():
        attempt.metric(metric_of(question), median_s)
    missing = [question for question in QUESTIONS if question not in medians_s]
    attempt.metric("geometric_mean_s", geometric_mean_s(list(medians_s.values()), len(missing)))
    attempt.metric("questions", len(medians_s))
    attempt.metric("queries_per_h", HOUR_S * sum(map(len, times.values())) / seconds)
    return f"; no answer to {', '.join(missing)}" if missing else ""


def _cold(attempt: Attempt, passes: Sequence[ColdPass], seconds: float) -> str:
    """Report the bytes of cold passes in `seconds`. Return the statement about the caches."""
    read = sum(one.read_bytes for one in passes)
    needed = sum(one.cold.needed_bytes for one in passes)
    resident = max(one.cold.resident_bytes for one in passes)
    attempt.metric("disk_read_bytes", read / PASSES)
    Cold(resident, resident, needed).report(attempt, read, seconds)
    return f"cold: before each answer a new connection, and no page of the table in the page cache; {read:,} bytes from disk"
