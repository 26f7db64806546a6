"""The wait for a store after a fault: a store that misses the first reads and writes, and a driver with a mistake."""

import time
from types import SimpleNamespace

import pytest

from storebench.attempt import fault
from storebench.attempt.fault import Happened, Injection
from storebench.errors import StoreUnreachable
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.check import PROBE
from storebench.stores.point_operations.entities import number_of
from storebench.stores.point_operations.healing import MOST_PROBES, wait_until_answers
from tests.unit.stores.point_operations.conftest import SEED


class Deaf:
    """A store that stores each entity, and does not acknowledge the first ones: it raises `errors`, one at each write."""

    operations, operation = ("fill", "read", "write"), "write"

    def __init__(self, *errors):
        self.errors, self.stored = [*errors], []

    def get_from_all(self, id):
        assert number_of(SEED, id) == 0

    def insert(self, new):
        self.stored.append(number_of(SEED, new.id))
        if self.errors:
            raise self.errors.pop(0)

    def outcome(self, error):
        if isinstance(error, TimeoutError):
            return requests.TIMEOUT
        raise error


@pytest.fixture
def attempt(monkeypatch):
    """Return an attempt whose fault has ended."""

    def caused(planned):
        return lambda: Happened("toy-0", time.monotonic(), time.monotonic(), 0.0)

    monkeypatch.setattr(fault, "_cause_of", caused)
    monkeypatch.setattr(fault, "PAUSE_S", 0.01)
    options = {"fault_url": "http://192.0.2.1/"}
    injection = Injection(SimpleNamespace(options=options, axes={"fault": "kill"}))
    injection.at(0.0)
    return SimpleNamespace(spec=SimpleNamespace(seed=SEED), fault=injection)


def test_each_try_writes_a_new_probe(attempt):
    store = Deaf(TimeoutError(), StoreUnreachable("no connection"))
    wait_until_answers(store, attempt)
    assert store.stored == [PROBE + 2 * MOST_PROBES + n for n in range(3)]


def test_a_store_that_never_acknowledges_is_unreachable(attempt, monkeypatch):
    monkeypatch.setattr(fault, "HEALED_WITHIN_S", 0.05)
    with pytest.raises(StoreUnreachable, match="a read and a write failed: TimeoutError: no answer"):
        wait_until_answers(Deaf(*[TimeoutError("no answer")] * 100), attempt)


def test_a_mistake_of_the_driver_is_no_answer(attempt):
    store = Deaf(TypeError("the driver is broken"))
    with pytest.raises(TypeError, match="the driver is broken"):
        wait_until_answers(store, attempt)
    assert len(store.stored) == 1
