"""Several clients, rows that come in, and cold caches: at the engines that run in this process."""

import csv
import importlib.util
import io
import random
import threading
import time

import pytest

from storebench.airflow.outcome.result_check import check_result
from storebench.errors import SpecError, StoreRefused, VerificationFailed
from storebench.stores.column_scan import residence
from storebench.stores.queries import incoming
from storebench.stores.queries.answers import Tally, compare
from storebench.stores.queries.ask import check
from storebench.stores.queries.asking import Given, Setting, ask_together
from storebench.stores.queries.chdb import Chdb
from storebench.stores.queries.duckdb import Duckdb
from storebench.stores.queries.incoming import Incoming, Writer
from storebench.stores.queries.questions import QUESTIONS, key_of, metric_of, p99_of
from tests.unit.stores.queries.conftest import ROWS, SEED

# Only the image of chdb has its engine. To test both engines, install the package chdb into the environment of the tests.
CHDB = pytest.param(
    "chdb", marks=pytest.mark.skipif(not importlib.util.find_spec("chdb"), reason="no package chdb")
)
ON_VOLUMES = ["duckdb", "duckdb-parquet", CHDB]
CLASSES = {"duckdb": Duckdb, "chdb": Chdb}
TOGETHER = {"options": {"window_s": "0"}, "concurrency": "3"}
INGEST = {"options": {"window_s": "0.5", "ingest_rate": "400"}, "ingest": "on"}


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Let rows come in often, so that short windows have several batches."""
    monkeypatch.setattr(incoming, "PERIOD_S", 0.05)


def one_row_less(store, question):
    """Return a statement that answers a question about a table that lacks one of its rows."""
    order = {"top": "total_amount DESC", "distinct": "quantity"}.get(question, "id")
    some = {
        "range": "order_date BETWEEN DATE '2020-01-01' AND DATE '2020-12-31'",
        "contains": "comment LIKE '%got lost%'",
        "point": f"id = {key_of(ROWS)}",
    }.get(question, "id > 0")
    lost = f"(SELECT id FROM records WHERE {some} ORDER BY {order} LIMIT 1)"
    return store.statements[question].replace("{table}", f"(SELECT * FROM records WHERE id NOT IN {lost})")


@pytest.mark.parametrize("name", ON_VOLUMES)
def test_several_clients_get_right_answers(attempt, study, name):
    attempt(name, "load")
    result = attempt(name, "ask", **TOGETHER)
    assert check_result(result, study, study.operation("ask")).status == "verified", result.error
    assert result.environment["client_settings"] == {"clients": 3, "least_rounds": 3}
    # 3 clients ask 10 questions in a warm round and 3 timed rounds
    assert result.verification == "120 answers of 3 clients to 10 questions are right"
    metrics = result.metrics
    assert metrics["queries_per_h"] == pytest.approx(90 * 3600 / metrics["window_s"])
    assert 0 <= metrics["tail_s"] < metrics["window_s"]
    assert all(0 < metrics[metric_of(question)] < metrics["window_s"] for question in QUESTIONS)
    assert p99_of("count") not in metrics  # nine times have no 99th percentile


@pytest.mark.parametrize(("clients", "answers"), [("1", 80), ("2", 160)])
def test_the_clients_of_several_pods_are_one_attempt(attempt, study, clients, answers):
    attempt("duckdb", "load")
    result = attempt("duckdb", "ask", parts=2, options={"window_s": "0"}, concurrency=clients)
    assert check_result(result, study, study.operation("ask")).status == "verified", result.error
    assert result.verification == f"{answers} answers of {2 * int(clients)} clients to 10 questions are right"
    timed = answers * 3 / 4
    assert result.metrics["queries_per_h"] == pytest.approx(timed * 3600 / result.metrics["window_s"])


def test_a_wrong_answer_of_one_pod_fails_the_attempt(attempt, monkeypatch):
    attempt("duckdb", "load")
    asked = Duckdb.ask
    calls = iter(range(1_000))

    def ask(store, question):
        answer = asked(store, question)
        return [(ROWS - 1,)] if question == "count" and next(calls) == 7 else answer

    monkeypatch.setattr(Duckdb, "ask", ask)
    with pytest.raises(VerificationFailed, match="The answer to count is "):
        attempt("duckdb", "ask", parts=2, options={"window_s": "0"})


@pytest.mark.parametrize("question", ["count", "range", "point"])
@pytest.mark.parametrize("name", ["duckdb", CHDB])
def test_a_row_that_one_of_several_clients_misses_fails_the_attempt(attempt, monkeypatch, name, question):
    attempt(name, "load")
    kind = CLASSES[name]
    wrong = one_row_less(kind, question)
    asked = kind.ask
    calls = iter(range(1_000))

    def ask(store, which):
        """Answer right, but for one of the 12 times that the question is asked."""
        if which == question and next(calls) == 7:
            monkeypatch.setattr(store, "statements", {**kind.statements, question: wrong}, raising=False)
        return asked(store, which)

    monkeypatch.setattr(kind, "ask", ask)
    with pytest.raises(VerificationFailed, match=f"The answer to {question} is "):
        attempt(name, "ask", **TOGETHER)


def test_a_refused_question_of_a_client_ends_all_clients(attempt, monkeypatch):
    attempt("duckdb", "load")
    unknown = "SELECT SUM(nothing) FROM {table}"
    monkeypatch.setattr(Duckdb, "statements", {**Duckdb.statements, "sum": unknown})
    with pytest.raises(StoreRefused, match=r"^The question sum: DuckDB refused: .*nothing"):
        attempt("duckdb", "ask", options={"window_s": "3600"}, concurrency="2")


class Session:
    """Answers after a time, and notes which question of which client came when."""

    def __init__(self, log, seconds=0.0):
        self.log, self.seconds = log, seconds

    def ask(self, question):
        time.sleep(self.seconds)
        self.log.append(question)
        return [(1,)]


def test_clients_ask_in_different_orders_that_a_seed_repeats():
    logs = [[], [], [], []]
    for first in (0, 2):
        orders = [random.Random(f"7 {n}") for n in range(2)]
        sessions = [Session(log) for log in logs[first : first + 2]]
        ask_together(sessions, list(QUESTIONS), orders, Incoming(), rounds=2)
    assert logs[:2] == logs[2:] and logs[0] != logs[1]
    for log in logs:
        rounds = [log[:10], log[10:]]
        assert rounds[0] != rounds[1] and all(sorted(asked) == sorted(QUESTIONS) for asked in rounds)


def test_clients_ask_at_once_until_the_last_one_ends():
    both = threading.Barrier(2, timeout=60)  # passes no client that is alone

    class Meeting(Session):
        def ask(self, question):
            both.wait()
            return super().ask(question)

    sessions = [Meeting([]), Meeting([], 0.01)]
    window = ask_together(sessions, list(QUESTIONS), [random.Random(n) for n in "ab"], Incoming())
    assert len(window.given) == 20 and len(window.ends_s) == 2 and window.seconds == max(window.ends_s)


@pytest.mark.parametrize(
    ("name", "clients"), [("duckdb", "1"), ("duckdb", "2"), pytest.param("chdb", "2", marks=CHDB.marks)]
)
def test_answers_are_right_while_rows_come_in_and_the_rows_go_again(attempt, study, name, clients):
    attempt(name, "load")
    result = attempt(name, "ask", concurrency=clients, **INGEST)
    assert check_result(result, study, study.operation("ask")).status == "verified", result.error
    assert result.durability == "disk"
    assert "rows came in, are counted and taken back" in result.verification
    assert 0 < result.metrics["ingested_rows_per_s"] <= 400 and result.metrics["ingest_delay_s"] > 0
    # All rows of the dataset are left, and no other
    assert attempt(name, "ask").status == "verified"
    assert attempt(name, "delete", ingest="on").status == "verified"


def losing(kind, n=1):
    """Return a method `append` that acknowledges a batch, and loses its last `n` rows."""
    append = kind.append

    def lose(store, batch):
        append(store, batch)
        lost = f"(SELECT id FROM {store.table} ORDER BY id DESC LIMIT {n})"
        store.run(f"DELETE FROM {store.table} WHERE id IN {lost}")

    return lose


@pytest.mark.parametrize("name", ["duckdb", CHDB])
def test_an_acknowledged_row_that_is_lost_fails_the_attempt(attempt, monkeypatch, name):
    attempt(name, "load")
    kind = CLASSES[name]
    monkeypatch.setattr(kind, "append", losing(kind))
    with pytest.raises(
        VerificationFailed, match=r"The answer to (count|sum|group_low|range|contains|distinct|join) is "
    ):
        attempt(name, "ask", **INGEST)


def test_rows_that_are_not_taken_back_fail_the_attempt(attempt, monkeypatch):
    attempt("duckdb", "load")
    monkeypatch.setattr(Duckdb, "take_back", lambda store: None)
    with pytest.raises(VerificationFailed, match="The answer to count is "):
        attempt("duckdb", "ask", **INGEST)


def test_a_writer_that_fails_ends_the_attempt_with_its_reason(attempt, monkeypatch):
    attempt("duckdb", "load")
    monkeypatch.setattr(Duckdb, "append", lambda store, batch: store.run("INSERT INTO nothing VALUES (1)"))
    with pytest.raises(StoreRefused, match=r"DuckDB refused: .*nothing"):
        attempt("duckdb", "ask", options={"window_s": "3600", "ingest_rate": "400"}, ingest="on")


@pytest.fixture(scope="module")
def writer():
    return Writer(lambda batch: None, ROWS, SEED, 100)


@pytest.fixture
def tally(made):
    """Return the tally of the dataset."""
    tally = Tally(key_of(ROWS))
    tally.add(list(csv.reader(io.StringIO(made[0].decode(), newline="")))[1:])
    return tally


def test_incoming_rows_grow_counts_and_change_no_ten_largest(writer, tally):
    before = tally.answers().of
    tally.add(writer.rows(0, 500))
    after = tally.answers().of
    for question in QUESTIONS:
        compare(question, before[question], before[question], after[question])
    assert {question for question in QUESTIONS if before[question] == after[question]} == {
        "group_high",
        "top",
        "point",
    }
    assert after["count"] == [(ROWS + 500,)]


@pytest.mark.parametrize(
    ("answer", "right"), [(ROWS + 49, False), (ROWS + 50, True), (ROWS + 100, True), (ROWS + 101, False)]
)
def test_an_answer_lies_between_the_acknowledged_and_the_sent_rows(writer, tally, answer, right):
    given = [Given("count", [(answer,)], 0.1, least=50, most=100)]
    if right:
        check(given, tally, writer)
    else:
        with pytest.raises(
            VerificationFailed, match=rf"is \[\({answer},\)\], and not \[\(3050,\)\] to \[\(3100,\)\]"
        ):
            check(given, tally, writer)


def test_a_slow_store_is_said_to_fall_behind():
    acknowledge = threading.Event()
    slow = Writer(lambda batch: acknowledge.wait(60), ROWS, SEED, 1_000)
    slow.begin()
    time.sleep(5 * incoming.PERIOD_S)
    threading.Timer(0.1, acknowledge.set).start()
    slow.end()
    assert slow.behind and slow.due >= 5 * 50 and slow.in_time == 0
    assert slow.acknowledged == slow.sent == 50 and slow.longest_s > 0.1


@pytest.mark.parametrize("name", ON_VOLUMES)
def test_cold_answers_come_from_disk(attempt, study, name):
    attempt(name, "load")
    result = attempt(name, "ask", cache="cold")
    assert check_result(result, study, study.operation("ask")).status == "verified", result.error
    assert result.verification.startswith(
        "5 answers to each of 10 questions are right; cold: before each answer"
    )
    assert result.metrics["needed_bytes"] == 45 * 4096 and result.metrics["resident_before_bytes"] == 0
    assert result.metrics["disk_read_bytes"] >= 9 * 4096


def test_an_answer_from_the_page_cache_is_not_cold(attempt, monkeypatch):
    attempt("duckdb", "load")
    monkeypatch.setattr(residence, "drop", lambda paths: None)
    with pytest.raises(
        VerificationFailed, match=r"The answer to \w+ was not cold: [1-9][0-9,]+ bytes of the data stayed"
    ):
        attempt("duckdb", "ask", cache="cold")


def test_an_answer_from_the_engines_own_cache_is_not_cold(attempt, monkeypatch):
    attempt("duckdb", "load")
    monkeypatch.setattr(Duckdb, "close", lambda store: None)
    monkeypatch.setattr(
        Duckdb, "connect", lambda store, connect=Duckdb.connect: store._database or connect(store)
    )
    with pytest.raises(
        VerificationFailed, match=r"The answer to \w+ was not cold: 0 bytes .* and 0 came from disk"
    ):
        attempt("duckdb", "ask", cache="cold")


@pytest.mark.parametrize("values", [{"cache": "cold"}, {"pods": "2"}])
def test_rows_come_in_at_warm_caches_and_for_one_pod(values):
    (other,) = (f"{name}={value}" for name, value in values.items())
    with pytest.raises(SpecError, match=f"ingest=on and {other} cannot be in one cell"):
        Setting.of({"ingest": "on", **values})


def test_a_window_takes_at_least_its_seconds():
    values = {"window_s": "10"}
    assert Duckdb.least_s("ask", values) == Duckdb.least_s("load", {**values, "concurrency": "4"}) == 0
    for together in ({"concurrency": "4"}, {"ingest": "on"}, {"pods": "2"}):
        assert Duckdb.least_s("ask", {**values, **together}) == 10


def test_threads_of_a_failed_window_end():
    with pytest.raises(ZeroDivisionError):
        ask_together([Session([], 0.01)], ["count"], [BadOrder()], Incoming(), least_s=3600)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPool")]


class BadOrder:
    def sample(self, *_):
        raise ZeroDivisionError
