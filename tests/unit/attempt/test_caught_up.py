"""When all copies of the data are whole after a fault: what the servers' agents say, and what the attempt makes of the answers."""

import time
from threading import Event
from types import SimpleNamespace

import pytest

from storebench.attempt import copies, fault
from storebench.attempt.copies import NEVER_S, caught_up
from storebench.attempt.fault import Injection
from storebench.servers.agent import AgentRefused
from storebench.servers.watch import Watch


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(copies, "PAUSE_S", 0.001)


def asked(*answers, over=None, at=None):
    """Return what `caught_up` makes of these answers; the last is repeated. The load ends before the answer number `at`."""
    given, over = iter(answers), over or Event()
    times = []

    def ask():
        if len(times) == at:
            over.set()
        times.append(time.monotonic())
        return next(given, answers[-1])

    return caught_up(ask, 0.0, over), times


def test_copies_are_whole_from_the_first_answer_after_which_none_was_incomplete():
    found, times = asked(False, True, False, False, True, True, at=5)
    assert times[4] <= found < times[5] and len(times) == 7, "asked once more after the end of the load"


def test_copies_that_nobody_tells_of_have_no_figure():
    assert asked(None)[0] is None and asked(False, None)[0] is None


def test_copies_that_stay_incomplete_after_the_load_are_given_up(monkeypatch):
    monkeypatch.setattr(copies, "WITHIN_S", 0.05)
    found, times = asked(True, False, at=2)
    assert found == NEVER_S and times[-1] - times[2] > 0.05


class Told:
    """An agent that says how the copies are. An error is raised."""

    def __init__(self, answer):
        self.answer, self.asked = answer, 0

    def copies(self):
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answers", "whole"),
    [
        ([], None),
        (["unknown", "unknown"], None),
        (["unknown", "none"], None),
        (["unknown", "whole"], True),
        (["incomplete", "whole"], False),
        ([AgentRefused("not now", 409)], False),
    ],
)
def test_the_first_server_that_tells_is_believed(answers, whole):
    assert Watch([Told(answer) for answer in answers]).copies_whole() is whole


@pytest.mark.parametrize(
    ("name", "answer", "says", "recorded"),
    [
        ("kill", "whole", "; all copies were whole ", True),
        ("kill", "unknown", "", False),
        ("kill", "incomplete", "; not all copies were whole 0 s after the load", False),
        ("compact", "whole", "", False),
    ],
)
def test_the_attempt_waits_for_the_copies_and_records_the_seconds(monkeypatch, name, answer, says, recorded):
    monkeypatch.setattr(copies, "WITHIN_S", 0.0)
    watch = Watch([Told(answer)])
    watch.agent_of = lambda server: None
    monkeypatch.setattr(fault.Watch, "from_environment", classmethod(lambda cls: watch))
    happened = fault.Happened("server-0", time.monotonic(), time.monotonic(), 0.0)
    monkeypatch.setattr(fault, "_by_agent", lambda agent, planned: happened)
    attempt = SimpleNamespace(metrics={}, metric=lambda key, value: attempt.metrics.update({key: value}))
    one = Injection(SimpleNamespace(options={}, axes={"fault": name}))
    one.at(0.0)
    one.happened()
    said = one.caught_up(attempt)
    assert said.startswith(says) and bool(said) == bool(says)
    assert (set(attempt.metrics) == {"caught_up_s"}) == recorded
    assert all(0 <= seconds < 5 for seconds in attempt.metrics.values())
