"""What an attempt records of a store that is not there: durability, what the figures cover, what disturbed it."""

import pytest

from storebench.attempt import run
from storebench.attempt.cgroup import CpuUsage
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import CPU_LIMIT, AttemptSpec
from storebench.stores.base import Durability
from storebench.stores.null import Null

SPEC = AttemptSpec("write", "s/null/reference/batch=1/rows=1/seed=1", "t", "b", "d", "m")


class Client(Null):
    """A client of a server."""

    figures_cover = "client"
    process = "first"

    def durability(self):
        return Durability("memory", "w=1")

    def server_processes(self):
        return {self.process: 0.0}


class Restarted(Client):
    def write(self, batch_rows, clock):
        self.process = "second"
        return super().write(batch_rows, clock)


class Parallel(Client):
    def client_cores(self):
        return 1_000


class Lossy(Null):
    def disturbances(self):
        return ["lost 1 of 2 executors"]


class Sized(Null):
    def size_bytes(self):
        return 512


class Rows:
    def rows(self):
        return iter([{}])

    def batches(self, rows):
        return iter([[{}]])


class Cgroup:
    """A container with a CPU limit, if it has one, which throttles it `each` time that its CPU is asked for."""

    version = 2

    def __init__(self, limit=None, each=0):
        self.limit, self.each, self.periods = limit, each, 0

    def cpu(self):
        self.periods += self.each
        return CpuUsage(1.0, 0.0, self.periods)

    def cpu_limit_cores(self):
        return self.limit

    def __getattr__(self, name):
        return lambda: 1


@pytest.fixture
def measure(monkeypatch):
    """What measuring an operation of a store records."""
    monkeypatch.setattr(run, "verify", lambda *arguments: None)

    def measured(store_class, operation="write", options=None, **cgroup):
        monkeypatch.setattr(run, "Cgroup", lambda: Cgroup(**cgroup))
        attempt = run.Attempt(
            AttemptSpec(**{**vars(SPEC), "operation": operation, "options": options or {}}), PhaseClock()
        )
        store = store_class(
            client="reference", target="t", connection=None, source=Rows(), operation=operation
        )
        attempt._measure(store, None)
        return attempt.result

    return measured


def test_a_write_says_what_its_acknowledgement_promises_and_a_read_nothing(measure):
    written, read = measure(Client), measure(Client, "read")
    assert (written.durability, written.durability_stated) == ("memory", "w=1")
    assert (read.durability, read.durability_stated) == (None, None)


def test_a_write_says_how_much_room_its_data_takes_if_the_store_tells_it(measure):
    assert (measure(Sized).data_bytes, measure(Sized, "read").data_bytes, measure(Null).data_bytes) == (
        512,
        None,
        None,
    )


def test_the_cores_that_a_client_can_use_are_its_own_and_the_pods(measure):
    assert measure(Client).client_cores_usable == 1
    assert measure(Client, limit=0.5).client_cores_usable == 0.5
    assert 1 <= measure(Parallel).client_cores_usable < 1_000
    assert measure(Parallel, limit=1.0).client_cores_usable == 1.0


def test_an_engine_in_the_pod_is_no_client_that_could_be_bound(measure):
    found = measure(Null)
    assert (found.figures_cover, found.client_cores_usable) == ("engine", None)
    assert found.client_cpu_share is not None
    assert measure(Client).figures_cover == "client"


def test_what_disturbed_an_attempt_is_recorded_with_every_reason(measure):
    assert measure(Client).disturbed is None
    assert measure(Restarted).disturbed == "the server was restarted, or another one answered"
    assert measure(Lossy, each=1).disturbed == "lost 1 of 2 executors; throttled in 3 periods"


def test_a_cpu_limit_that_was_asked_for_is_no_disturbance(measure):
    assert measure(Null, each=1, options={CPU_LIMIT: "True"}).disturbed is None
    assert measure(Null, each=1, options={CPU_LIMIT: "False"}).disturbed is not None
