"""Reads with chosen caches: preparation, reported metrics, and failures."""

from contextlib import contextmanager

import pytest

from storebench.attempt import disk
from storebench.errors import SpecError, StoreRefused, StoreUnreachable, VerificationFailed
from storebench.stores import caches
from storebench.stores.bulk_write_read import base, cached
from storebench.stores.bulk_write_read.cached import AS_IS, COLD, HOT, LUKEWARM
from tests.unit.stores.bulk_write_read.test_table_store import Attempt, Rows, Table

NEEDED = 1000


class Brought(caches.Servers):
    """Servers whose agents say this; a read takes `reads` bytes from disk."""

    def __init__(self, steps, reads=NEEDED, left=0):
        super().__init__(["agent"])
        self.steps, self.reads, self.left, self.so_far = steps, reads, left, 0

    def make_cold(self, away, needed_bytes):
        with away:
            self.steps.append("cold")
        return caches.Cold(self.left, self.left + 7, needed_bytes)

    def make_lukewarm(self, needed_bytes):
        self.steps.append("lukewarm")
        return caches.Cold(self.left, self.left + 7, needed_bytes)

    def read_bytes(self):
        if self.reads is None:
            raise StoreRefused("no read can be proven cold")
        return self.so_far


class Remote(Table):
    """At a server; each read takes one of `seconds`."""

    seconds = (2.0,)

    def connect(self):
        self.steps.append("connected")

    def close(self):
        self.steps.append("closed")

    def needed_bytes(self):
        self.steps.append("needed")
        return NEEDED

    def read(self, clock):
        rows = super().read(clock)
        self.steps.append("read")
        done = self.steps.count("read") - 1
        clock.operation_s = self.seconds[min(done, len(self.seconds) - 1)]
        if self.servers and self.servers.reads:
            self.servers.so_far += self.servers.reads
        return rows


@pytest.fixture
def read(monkeypatch):
    """Try a read with caches like this; returns the attempt, and the steps in their order."""
    monkeypatch.setattr(base, "verify", lambda store, rows, manifest, seen, pods: "3 rows")

    def read(cache, servers=Brought, attempt=None, operation="read", **brought):
        steps = []
        there = servers(steps, **brought) if servers else caches.Servers()
        monkeypatch.setattr(cached.Servers, "from_environment", lambda: there)
        store = Remote(
            client="reference",
            target="t",
            connection=None,
            source=Rows(),
            operation=operation,
            values={"batch": "2"} | ({"cache": cache} if cache else {}),
        )
        store.steps, store.servers = steps, there
        attempt = attempt or Attempt()
        try:
            attempt.result.verification = store.operate(attempt)
        finally:
            attempt.steps, attempt.disturbances = steps, store.disturbances()
        return attempt

    return read


def extra(attempt):
    """Return the figures that a read reports beside the metrics of all reads."""
    return {
        name: value
        for name, value in attempt.result.metrics.items()
        if name not in ("write_s", "only_s", "source_s", "barrier_s", "rows_per_s")
    }


@pytest.mark.parametrize("cache", [None, AS_IS])
def test_by_itself_a_read_is_as_it_was(read, cache):
    attempt = read(cache)
    assert (attempt.steps, extra(attempt), attempt.result.verification) == (["read"], {}, "3 rows")


def test_a_write_has_no_caches_to_choose(read):
    attempt = read(COLD, operation="write")
    assert attempt.steps == [] and extra(attempt) == {}


def test_a_cold_read_meets_servers_that_were_stopped_and_has_its_proof(read):
    attempt = read(COLD)
    assert attempt.steps == ["needed", "closed", "cold", "connected", "read"]
    assert extra(attempt) == {"disk_read_bytes": 1000, "needed_bytes": 1000, "resident_before_bytes": 7}
    assert attempt.result.verification == (
        "3 rows; cold: page cache emptied, 7 bytes in it before, 1,000 bytes from disk, 1,000 needed"
    )


@pytest.mark.parametrize("cache", [COLD, LUKEWARM])
def test_a_read_that_is_faster_than_the_disk_is_marked(read, cache, monkeypatch):
    monkeypatch.setenv(disk.VARIABLE, "100")
    result = read(cache, reads=1_000_000_000).result  # in 2 s
    assert (result.metrics["cold_read_mb_per_s"], result.metrics["uncached_mb_per_s"]) == (500, 100)
    assert "500 MB per second came from a disk that has shown 100" in result.perhaps_disturbed


@pytest.mark.parametrize(
    ("brought", "why"),
    [
        ({"reads": 999}, "999 came from disk, where it needs 1,000"),
        ({"left": 4096}, "4,096 bytes of the data stayed in the page cache"),
    ],
)
def test_a_read_that_was_not_cold_is_not_verified_and_keeps_its_figures(read, brought, why):
    attempt = Attempt()
    with pytest.raises(VerificationFailed, match=f"The read was not cold: .*{why}"):
        read(COLD, attempt=attempt, **brought)
    assert attempt.result.verification is None
    assert extra(attempt).keys() == {"disk_read_bytes", "needed_bytes", "resident_before_bytes"}


@pytest.mark.parametrize("cache", [COLD, LUKEWARM])
def test_servers_are_left_alone_where_nobody_counts_what_comes_from_disk(read, cache):
    attempt = Attempt()
    with pytest.raises(StoreRefused, match="no read can be proven cold"):
        read(cache, attempt=attempt, reads=None)
    assert attempt.steps == []


@pytest.mark.parametrize("cache", [COLD, LUKEWARM])
def test_without_agents_nothing_is_emptied(read, cache):
    with pytest.raises(SpecError, match=f"cache={cache} needs the agents of servers that the run provisions"):
        read(cache, servers=None)


def test_a_lukewarm_read_leaves_the_servers_running_and_needs_no_disk(read):
    attempt = read(LUKEWARM, reads=3, left=10)
    assert attempt.steps == ["needed", "lukewarm", "read"]
    assert extra(attempt) == {"disk_read_bytes": 3, "needed_bytes": 1000, "resident_before_bytes": 17}
    assert attempt.result.verification.endswith(
        "lukewarm: 17 bytes in the page cache before, 3 bytes from disk"
    )


@pytest.mark.parametrize(
    ("servers", "brought", "counted"),
    [(Brought, {}, {"disk_read_bytes": 1000}), (Brought, {"reads": None}, {}), (None, {}, {})],
)
def test_a_hot_read_follows_passes_that_do_not_count_whatever_the_store(
    read, monkeypatch, servers, brought, counted
):
    monkeypatch.setattr(Remote, "seconds", (9.0, 2.0, 1.99, 5.0))
    attempt = read(HOT, servers, **brought)
    assert attempt.steps == ["read"] * 4 and attempt.disturbances == []
    assert extra(attempt) == {"warm_passes": 3, **counted}
    assert attempt.result.metrics["only_s"] == 5.0, "the one after them"
    assert attempt.result.verification == "3 rows; hot: after 3 passes"


def test_passes_that_never_agree_disturb_a_hot_read(read, monkeypatch):
    monkeypatch.setattr(Remote, "seconds", [2.0**-n for n in range(40)])
    attempt = read(HOT)
    assert len(attempt.steps) == caches.MAX_PASSES + 1
    assert attempt.disturbances == ["no two of 30 passes in a row agreed within 5%"]


def test_passes_are_over_before_anything_is_measured(read):
    attempt = read(HOT)
    assert attempt.phases == ["prepare", "operation", "measured", "verify"]


def test_caches_that_are_not_known_are_refused(read):
    with pytest.raises(SpecError, match=r"Unknown cache 'colt'\. Did you mean cold"):
        read("colt")


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({}, ""),
        ({"cache": AS_IS}, ""),
        ({"cache": HOT}, ""),
        ({"cache": COLD}, "cache=cold empties the caches of servers before each read"),
        ({"cache": LUKEWARM}, "cache=lukewarm empties the caches of servers before each read"),
    ],
)
def test_only_caches_that_are_emptied_need_agents(params, why):
    assert Table.needs_agents(params) == why


def test_a_server_that_does_not_come_back_is_the_reason(read, monkeypatch):
    def lost(*_):
        raise StoreRefused("The agent refuses")

    monkeypatch.setattr(Brought, "make_cold", lost)
    with pytest.raises(StoreRefused, match="The agent refuses"):
        read(COLD)


def test_a_server_that_cannot_be_reached_at_once_is_tried_again_with_a_new_client(read, monkeypatch):
    def connect(self):
        self.steps.append("tried")
        if self.steps.count("tried") < 3:
            raise StoreUnreachable("nobody listens")

    monkeypatch.setattr(Remote, "connect", connect)
    tries = ["tried", "closed", "tried", "closed", "tried"]
    assert read(COLD).steps == ["needed", "closed", "cold", *tries, "read"]


def test_a_store_can_wait_until_its_server_has_the_table_again(read, monkeypatch):
    @contextmanager
    def away(self):
        with base.TableStore.away(self):
            yield
        self.steps.append("has the table")

    monkeypatch.setattr(Remote, "away", away)
    assert read(COLD).steps[1:] == ["closed", "cold", "connected", "has the table", "read"]
