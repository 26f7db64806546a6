"""Cold, lukewarm and hot caches: preparation and proofs."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from storebench.attempt import disk
from storebench.errors import StoreRefused, StoreUnreachable, VerificationFailed
from storebench.servers import agent
from storebench.servers.watch import AGENTS, TOKEN
from storebench.stores import caches
from storebench.stores.caches import Cold, Servers, WarmedUp


def passes(*seconds):
    """Do passes that take so long; how many were done, and whether two agreed."""
    left = iter(seconds)
    found = WarmedUp.by(lambda: next(left))
    return found.passes, found.agreed


@pytest.mark.parametrize(
    ("seconds", "found"),
    [
        ((1.0, 1.04), (2, True)),
        ((1.04, 1.0), (2, True)),
        ((1.0, 1.06, 1.0, 1.01), (4, True)),  # only two in a row agree
        ((4.0, 2.0, 1.0, 0.96), (4, True)),
        ((0.0, 0.0), (2, True)),
        ([2.0**-n for n in range(40)], (caches.MAX_PASSES, False)),
    ],
)
def test_a_cache_is_hot_when_two_passes_in_a_row_agree(seconds, found):
    assert passes(*seconds) == found


def test_passes_that_never_agree_disturb():
    assert WarmedUp(30, agreed=True).disturbances() == []
    assert WarmedUp(30, agreed=False).disturbances() == [
        "no two of 30 passes in a row agreed within 5%",
    ]


@pytest.mark.parametrize(
    ("left", "read", "why"),
    [
        (4096, 1000, "4,096 bytes of the data stayed in the page cache"),
        (0, 999, "999 came from disk, where it needs 1,000"),
    ],
)
def test_what_was_not_cold_is_not_verified(left, read, why):
    with pytest.raises(VerificationFailed, match=why):
        Cold(left, left, 1000).prove("read", read)


def test_what_was_cold_says_why():
    said = Cold(0, 8192, 1000).prove("read", 2000)
    assert said == "cold: page cache emptied, 8,192 bytes in it before, 2,000 bytes from disk, 1,000 needed"


@pytest.mark.parametrize(
    ("told", "read_bytes", "seconds", "metrics", "marked"),
    [
        ("100", 262_000_000, 0.1, {"cold_read_mb_per_s": 2620, "uncached_mb_per_s": 100}, True),
        ("100", 20_000_001, 0.1, {"cold_read_mb_per_s": 200.00001, "uncached_mb_per_s": 100}, True),
        ("100", 20_000_000, 0.1, {"cold_read_mb_per_s": 200, "uncached_mb_per_s": 100}, False),
        ("", 262_000_000, 0.1, {"cold_read_mb_per_s": 2620}, False),  # not known
        ("100", 1_000_000, 0.0001, {}, False),  # too little to tell
        ("100", 0, 0.005, {}, False),  # no disk is read
    ],
)
def test_a_cold_read_that_is_faster_than_the_disk_is_marked(
    monkeypatch, told, read_bytes, seconds, metrics, marked
):
    monkeypatch.setenv(disk.VARIABLE, told)
    found, marks = {}, []
    attempt = SimpleNamespace(metric=found.__setitem__, possibly_disturbed=marks.append)
    Cold(0, 0, 1000).report(attempt, read_bytes, seconds)
    assert found == {"resident_before_bytes": 0, "needed_bytes": 1000} | {
        name: pytest.approx(value) for name, value in metrics.items()
    }
    assert bool(marks) == marked
    if marked:
        assert "a disk that has shown 100 for data that nobody had read" in marks[0]


def server(read_bytes=5, steps=None):
    def lukewarm():
        if steps is not None:
            steps.append("dropped")
        return SimpleNamespace(resident_after_drop_bytes=3)

    return SimpleNamespace(
        pod="a",
        figures=lambda: SimpleNamespace(read_bytes=read_bytes),
        resident=lambda: SimpleNamespace(resident_bytes=7),
        lukewarm=lukewarm,
    )


def test_cold_servers_are_stopped_together_and_what_their_start_has_read_is_dropped(monkeypatch):
    steps = []
    servers = Servers([server(steps=steps), server(steps=steps)])

    @contextmanager
    def away():
        steps.append("closed")
        yield
        steps.append("opened")

    def cold_together(agents):
        assert agents == servers.agents
        steps.append("cold")
        return {n: SimpleNamespace(resident_after_drop_bytes=2) for n in range(len(agents))}

    monkeypatch.setattr(agent, "cold_together", cold_together)
    assert servers.make_cold(away(), 100) == Cold(4, 14, 100)
    assert steps == ["closed", "cold", "opened", "dropped", "dropped"]


def test_lukewarm_servers_are_only_dropped():
    servers = Servers([server(), server()])
    assert servers.make_lukewarm(100) == Cold(6, 14, 100)
    assert servers.read_bytes() == 10


@pytest.fixture
def waits(monkeypatch):
    """Return the list of waits in seconds. No other time passes."""
    found = []
    monkeypatch.setattr(caches, "SETTLE_S", 5)
    monkeypatch.setattr(caches.time, "sleep", found.append)
    monkeypatch.setattr(caches.time, "monotonic", lambda: sum(found))
    return found


def unreachable(times):
    """Cannot be reached so often."""
    left = iter([True] * times)

    def connect():
        if next(left, False):
            raise StoreUnreachable("nobody listens")

    return connect


def test_a_server_that_is_back_is_waited_for_until_kubernetes_leads_to_it(waits):
    caches.reconnect(unreachable(3))
    assert waits == [caches.SETTLE_S] + [caches.AGAIN_S] * 3
    with pytest.raises(StoreUnreachable, match="nobody listens"):
        caches.reconnect(unreachable(1000))
    assert sum(waits) < 3 * caches.REACHABLE_S


def test_reads_that_nobody_counts_are_no_proof():
    with pytest.raises(StoreRefused, match="no read can be proven cold"):
        Servers([server(), server(None)]).read_bytes()


def test_a_pod_knows_the_servers_of_its_run(monkeypatch):
    monkeypatch.delenv(AGENTS, raising=False)
    assert not Servers.from_environment()
    monkeypatch.setenv(AGENTS, '{"es-0": "10.0.0.1"}')
    monkeypatch.setenv(TOKEN, "t")
    assert [one.pod for one in Servers.from_environment().agents] == ["es-0"]
