"""Counters of a store's server: when they are read, and what is recorded of a server that refuses, restarts or says little."""

import json

import pytest

from storebench import protocol
from storebench.attempt import counters
from storebench.attempt.clock import OperationClock, PhaseClock
from storebench.attempt.run import Attempt
from storebench.attempt.spec import AttemptSpec
from storebench.attempt.termination import Killed
from storebench.errors import StoreRefused
from storebench.protocol.counters import Counter
from storebench.stores.base import Server, Store

ROWS = Counter("rows", "", "counter", "rows that were written")
SIZE = Counter("size_bytes", "bytes", "gauge", "size of the table")


class Counted(Store):
    """A client of a server that counts rows. `events`: the order of what happened."""

    name = "counted"
    operations = ("sum",)
    counters = (ROWS, SIZE)
    process = "first"

    def connect(self):
        self.events, self.rows = [], 100

    def describe(self):
        return Server("Server", "7")

    def drop(self):
        pass

    def operate(self, attempt):
        clock = OperationClock()
        with attempt.measuring(clock):
            with attempt.operation():
                self.events.append("enter")
                with clock.operation():
                    self.work()
                self.events.append("leave")
            with attempt.phase("barrier"):
                self.events.append("barrier")
        return ",".join(self.events)

    def work(self):
        self.rows += 5

    def server_processes(self):
        return {self.process: 0.0}

    def read_counters(self):
        self.events.append("read")
        return {"rows": self.rows, "size_bytes": 4096.5}


@pytest.fixture
def measure(monkeypatch):
    """Return a function that measures a store and returns its result and phases."""

    def measured(store_class, **options):
        monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
        monkeypatch.setattr("storebench.attempt.run.client_for", lambda connection: None)
        spec = AttemptSpec(
            operation="sum",
            cell_key="s/counted/reference/rows=1/seed=42",
            study="s",
            store="counted",
            client="reference",
            target="t",
            bucket="b",
            dataset=None,
            results="results/t/sum-",
            axes={},
            rows=1,
            seed=42,
            options=options,
        )
        phases = PhaseClock()
        attempt = Attempt(spec, store_class, phases)
        try:
            attempt.run()
        finally:
            attempt.result.phases = dict(phases.phases)
            measured.last = attempt.result
        return attempt.result

    return measured


def test_counters_are_read_right_before_and_after_the_measured_work(measure):
    found = measure(Counted)
    assert found.verification == "read,enter,leave,barrier,read", "never between the work and its barrier"
    assert found.counters == {
        "rows": {"unit": "", "kind": "counter", "before": 100, "after": 105},
        "size_bytes": {"unit": "bytes", "kind": "gauge", "before": 4096.5, "after": 4096.5},
    }
    assert "counters" in found.phases
    assert protocol.problem("result", json.loads(found.to_json())) is None


def test_a_store_without_counters_is_not_asked(measure):
    class Silent(Counted):
        counters = ()

    found = measure(Silent)
    assert (found.verification, found.counters) == ("enter,leave,barrier", {})
    assert "counters" not in found.phases


@pytest.mark.parametrize(
    ("asked", "expected"), [("on", "read,enter,leave,barrier,read"), ("off", "enter,leave,barrier")]
)
def test_a_run_without_counters_reads_none(measure, asked, expected):
    found = measure(Counted, counters=asked)
    assert (found.status, found.verification) == ("verified", expected)
    assert bool(found.counters) == ("counters" in found.phases) == (asked == "on")


def test_a_server_that_refuses_fails_no_attempt(measure, monkeypatch):
    monkeypatch.setenv("STOREBENCH_CONN_COUNTED", json.dumps({"password": "hunter2"}))

    class Refusing(Counted):
        def read_counters(self):
            raise StoreRefused("user reader may not\nread statistics")

    found = measure(Refusing)
    assert found.status == "verified"
    assert {figure["unknown"] for figure in found.counters.values()} == {
        "user reader may not read statistics"
    }
    assert not any("before" in figure for figure in found.counters.values())


def test_a_mistake_in_a_reading_fails_no_attempt(measure):
    class Mistaken(Counted):
        def read_counters(self):
            return {}["rows"]

    assert measure(Mistaken).counters["rows"]["unknown"] == "KeyError: 'rows'"


def test_a_pod_that_is_told_to_stop_while_it_reads_stops(measure):
    class Stopped(Counted):
        def read_counters(self):
            raise Killed("The pod was told to stop")

    with pytest.raises(Killed):
        measure(Stopped)


def test_a_restarted_server_has_no_differences(measure):
    class Restarted(Counted):
        def work(self):
            self.process, self.rows = "second", 200  # beyond the former value

    found = measure(Restarted).counters
    assert found["rows"] == {
        "unit": "",
        "kind": "counter",
        "unknown": "the server was restarted, or another one answered",
    }
    assert (found["size_bytes"]["before"], found["size_bytes"]["after"]) == (4096.5, 4096.5)


def test_after_failed_work_the_server_is_not_asked(measure):
    reads = []

    class Failing(Counted):
        def read_counters(self):
            reads.append(1)
            return super().read_counters()

        def work(self):
            raise StoreRefused("The disk is full")

    with pytest.raises(StoreRefused):
        measure(Failing)
    assert (len(reads), measure.last.counters) == (1, {})


def test_a_counter_that_fell_leaves_no_counter_of_the_server():
    other = Counter("flushes", "", "counter", "flushes")
    found = counters.recorded(
        (ROWS, other, SIZE),
        {"rows": 1_000, "flushes": 1, "size_bytes": 9},
        {"rows": 20, "flushes": 2, "size_bytes": 3},
    )
    reason = "rows fell from 1,000 to 20: the server has restarted, or its counters were reset"
    assert found["rows"]["unknown"] == found["flushes"]["unknown"] == reason
    assert found["size_bytes"]["after"] == 3, "a gauge may fall"


def test_a_counter_that_the_server_lacks_has_a_reason_and_others_have_values():
    before = {"rows": 1, "size_bytes": "PostgreSQL refused: permission denied"}
    found = counters.recorded((ROWS, SIZE), before, {"rows": counters.UNTOLD, "size_bytes": 7})
    assert found["rows"]["unknown"] == "after the operation: the server does not report the counter"
    assert found["size_bytes"]["unknown"] == "PostgreSQL refused: permission denied"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (("Rows", "", "counter", "text"), "Counter.name is 'Rows'"),
        (("rows", "rows", "counter", "text"), "Counter.unit is 'rows'"),
        (("rows", "", "total", "text"), "Counter.kind is 'total'"),
        (("rows", "", "counter", ""), "Counter.text"),
    ],
)
def test_a_wrong_declaration_is_refused(fields, problem):
    with pytest.raises(ValueError, match=problem):
        Counter(*fields)
