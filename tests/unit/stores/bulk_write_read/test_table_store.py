"""The record of an attempt at a table: metrics, phases, and the sentences about a write and a read."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from storebench.attempt.parts.part import Part
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import VerificationFailed
from storebench.stores.base import Durability
from storebench.stores.bulk_write_read import base
from storebench.stores.bulk_write_read.null import Null
from tests.bulk import bulk_study


class Attempt:
    """An attempt like storebench.attempt.run's, without the figures of a container."""

    part = Part()

    def __init__(self):
        self.result = AttemptResult()
        self.phases = []

    @contextmanager
    def phase(self, name):
        self.phases.append(name)
        yield

    @contextmanager
    def measuring(self, clock):
        self.clock = clock
        try:
            yield
        finally:
            self.phases.append("measured")

    def operation(self):
        return self.phase("operation")

    def agree(self, name, value, decide):
        return decide([value])

    def gather(self, tally):
        return [tally]

    def seconds_in(self, phase):
        return 0.25 if phase in self.phases else 0.0

    def metric(self, name, value):
        self.result.metrics[name] = value

    def possibly_disturbed(self, reason):
        self.result.perhaps_disturbed = reason

    def durability(self, found):
        self.result.durability, self.result.durability_stated = found.kind, found.stated


class Rows:
    fields = ("a",)

    def manifest(self):
        return SimpleNamespace(rows=3)

    def rows(self):
        return iter([{"a": "1"}] * 3)

    def batches(self, rows):
        yield from ([{"a": "1"}] * n for n in (2, 1))


class Table(Null):
    """Takes a while for each batch, and tells how much room its table takes."""

    delivers = ("dicts",)

    def durability(self):
        return Durability("memory", "w=1")

    def write(self, batch, clock):
        rows = super().write(batch, clock)
        clock.operation_s = 0.5
        return rows

    def read(self, clock):
        rows = super().read(clock)
        clock.operation_s = 2.0
        return rows

    def size_bytes(self):
        return 512


class Broken(Table):
    def write(self, batch, clock):
        super().write(batch, clock)
        raise RuntimeError("the connection was lost")


@pytest.fixture
def operate(monkeypatch):
    monkeypatch.setattr(
        base, "verify", lambda store, rows, manifest, seen, pods: f"{rows} of {manifest.rows} rows"
    )

    def operated(operation, store_class=Table, attempt=None):
        attempt = attempt or Attempt()
        attempt.result.verification = store_class(
            client="reference",
            target="t",
            connection=None,
            source=Rows(),
            operation=operation,
            values={"batch": "2"},
        ).operate(attempt)
        return attempt

    return operated


def test_a_write_and_a_read_have_the_metrics_of_the_study(operate):
    write, read = operate("write").result.metrics, operate("read").result.metrics
    assert (read["only_s"], read["rows_per_s"], read["barrier_s"]) == (2.0, 1.5, 0.0)
    assert write["source_s"] > 0 and "write_s" not in read


def test_a_write_is_ranked_by_the_time_until_what_its_barrier_waits_for_holds(operate):
    write, ranked_by = operate("write").result.metrics, bulk_study().operation("write").ranked_by
    assert (write["only_s"], write["barrier_s"], write[ranked_by]) == (0.5, 0.25, 0.75)
    assert write["rows_per_s"] == 3 / 0.75


def test_a_write_says_what_its_acknowledgement_promises_and_its_room_and_a_read_what_it_delivers(operate):
    write, read = operate("write").result, operate("read").result
    assert (write.durability, write.durability_stated, write.data_bytes) == ("memory", "w=1", 512)
    assert (read.durability, read.durability_stated, read.data_bytes) == (None, None, None)
    assert (write.delivers, read.delivers) == (None, "dicts")
    assert operate("write", Null).result.data_bytes is None, "it does not tell"


def test_what_is_measured_has_ended_before_it_is_verified(operate):
    assert operate("write").phases == ["prepare", "operation", "barrier", "measured", "verify", "teardown"]
    assert operate("read").phases == ["prepare", "operation", "measured", "verify"]


def test_a_failure_keeps_the_figures_and_has_no_rate(operate):
    attempt = Attempt()
    with pytest.raises(RuntimeError, match="lost"):
        operate("write", Broken, attempt)
    assert attempt.result.metrics.keys() == {"only_s", "source_s", "barrier_s"}
    assert "verify" not in attempt.phases and attempt.result.verification is None


def test_what_is_not_what_was_written_fails_and_is_not_said_to_be_verified(operate, monkeypatch):
    def wrong(*arguments):
        raise VerificationFailed("The server counts 2 rows")

    attempt = Attempt()
    monkeypatch.setattr(base, "verify", wrong)
    with pytest.raises(VerificationFailed):
        operate("write", Table, attempt)
    assert attempt.result.verification is None and attempt.result.metrics["write_s"] == 0.75


@pytest.mark.parametrize(("batch", "rows"), [("100", 100), ("all", None)])
def test_a_batch_is_so_many_rows_or_all(batch, rows):
    spec = AttemptSpec(
        "write",
        f"s/null/reference/batch={batch}/rows=3/seed=1",
        "s",
        "null",
        "reference",
        target="t",
        bucket="b",
        dataset="datasets/v1/rows=3/seed=1/",
        results="r",
        axes={"batch": batch},
        rows=3,
        seed=1,
        options={"depth": "2"},
    )
    store = Null.of(spec, None, "client")
    assert store.batch == rows
    assert store.values == {"batch": batch, "depth": "2"}
    assert (store.source.bucket, store.source.key) == ("b", "datasets/v1/rows=3/seed=1/data.csv")
