"""Planted truth: what a bulk load loses or stores twice in a fault, and for how long it stands still, is found with the right numbers."""

import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import Field
from storebench.errors import BrokenPromise, FaultFailed, StoreUnreachable, VerificationFailed
from storebench.stores.bulk_write_read import under_fault
from storebench.stores.bulk_write_read.base import TableStore, columns
from storebench.stores.bulk_write_read.under_fault import Batch, delays
from tests.attempted import result_of
from tests.bulk import cell_at, spec_for
from tests.given_back import source_of

SCHEMA = [Field("n", "integer", ""), Field("text", "string", "")]
ROWS = [{"n": str(n), "text": f"text {n}"} for n in range(1_000)]
BATCH = 10
BATCH_S = 0.01  # seconds of a batch: 100 batches outlast the fault, which begins after AFTER_S
AFTER_S = 0.2
AWAY_S = 2.0


class Planted(TableStore):
    """A table in this process. The webhook of the fault sets `faulty`."""

    name, faults, guarantee = "planted", ("kill",), None
    faulty = Event()

    def __init__(self, **arguments):
        super().__init__(**arguments)
        self.rows, self.began = [], False

    def send(self, batch, *, again):
        time.sleep(BATCH_S)
        if self.faulty.is_set() and not self.began:
            self.began = True
            self.first_after_the_fault(batch)
        else:
            self.rows += batch

    def first_after_the_fault(self, batch):
        """Do to the first batch after the fault what the store is planted for."""
        self.rows += batch

    def promise(self, fault):
        return self.guarantee

    def scan(self):
        yield columns(self.rows, self.source.fields)

    def count(self):
        return len(self.rows)

    def connect(self): ...
    def prepare(self): ...
    def write(self, batch, clock): ...
    def barrier(self): ...
    def read(self, clock): ...
    def drop(self): ...


class Loses(Planted):
    def first_after_the_fault(self, batch):
        """Acknowledge the batch, and store none of its rows."""


class LosesKeptBatch(Planted):
    guarantee = "an acknowledged batch is on disk"

    def first_after_the_fault(self, batch):
        self.rows = self.rows[BATCH:] + batch


class Doubles(Planted):
    guarantee = "an acknowledged batch is on disk"

    def first_after_the_fault(self, batch):
        self.rows += batch
        raise StoreUnreachable("the acknowledgement was lost")


class Changes(Planted):
    def first_after_the_fault(self, batch):
        self.rows += [*batch[1:], {**batch[0], "text": "other"}]


class Away(Planted):
    """Refuses each batch for AWAY_S."""

    back_s = None

    def send(self, batch, *, again):
        if self.faulty.is_set() and self.back_s is None:
            self.back_s = time.monotonic() + AWAY_S
        if self.back_s and time.monotonic() < self.back_s:
            raise StoreUnreachable("the server is away")
        super().send(batch, again=again)


class Gone(Planted):
    def first_after_the_fault(self, batch):
        self.began = False
        raise StoreUnreachable("the server is gone")


class Webhook(BaseHTTPRequestHandler):
    def do_POST(self):
        Planted.faulty.set()
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_): ...


@pytest.fixture
def write(monkeypatch):
    """Write the rows with a store through a fault. Return the result; a failure has it as the error's `result`."""
    Planted.faulty.clear()
    expected = TableChecksum([field.name for field in SCHEMA])
    expected.update(columns(ROWS, [field.name for field in SCHEMA]))
    manifest = SimpleNamespace(rows=len(ROWS), fields=expected.fields, row_sum=expected.row_sum)
    monkeypatch.setattr(run, "client_for", lambda connection: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Webhook)
    Thread(target=server.serve_forever, daemon=True).start()

    def write(store_class, after_s=AFTER_S):
        source = source_of(monkeypatch, SCHEMA, ROWS)
        monkeypatch.setattr(source, "manifest", lambda: manifest)

        def of(spec, connection, s3_client):
            values = {**spec.options, **spec.axes}
            return store_class(client="reference", target="t", connection=None, source=source, values=values)

        monkeypatch.setattr(store_class, "of", of)
        monkeypatch.setattr(run.Connection, "from_environment", classmethod(lambda cls, name: None))
        asked = {"fault_url": f"http://127.0.0.1:{server.server_port}/", "fault_after_s": str(after_s)}
        asked |= {"fault_for_s": "0.1"}
        cell = cell_at("null", 1, rows=len(ROWS), batch=BATCH, fault="kill")
        return result_of(run.Attempt(spec_for("write", cell, "t", "b", **asked), store_class, PhaseClock()))

    yield write
    server.shutdown()
    server.server_close()


def test_a_load_that_nothing_happens_to_is_verified_row_by_row(write):
    found = write(Planted)
    assert (found.metrics["lost_acknowledged"], found.metrics["doubled"]) == (0, 0)
    assert found.metrics["retried_batches"] == 0 and found.metrics["unavailable_sum_s"] < 0.5
    assert found.verification.startswith("1,000 of 1,000 acknowledged rows are there with all 2 fields")
    assert "0 of 100 batches were sent again; the kill lost nothing and doubled nothing" in found.verification
    assert found.metrics["fault_from_s"] == pytest.approx(AFTER_S, abs=0.1)


def test_a_lost_batch_is_counted_and_named(write):
    found = write(Loses)
    assert (found.metrics["lost_acknowledged"], found.metrics["doubled"]) == (BATCH, 0)
    assert found.status == "verified" and "990 of 1,000 acknowledged rows are there" in found.verification
    assert "the store does not guarantee that a kill loses nothing; the first lost row is of batch " in (
        found.verification
    )


def test_a_lost_batch_breaks_the_guarantee(write):
    with pytest.raises(BrokenPromise) as error:
        write(LosesKeptBatch)
    assert str(error.value) == (
        "10 acknowledged rows are lost and 0 are there twice after the kill, although the store guarantees:"
        " an acknowledged batch is on disk"
    )
    found = error.value.result
    assert found.status == "failed" and found.metrics["lost_acknowledged"] == BATCH
    assert found.metrics["write_s"] > 0


def test_a_batch_that_is_stored_twice_is_counted_and_fails_nothing(write):
    found = write(Doubles)
    assert (found.metrics["lost_acknowledged"], found.metrics["doubled"]) == (0, BATCH)
    assert found.metrics["retried_batches"] == 1 and found.status == "verified"
    assert "does not guarantee that rows that are sent again are stored once" in found.verification


def test_a_changed_field_fails_the_verification(write):
    with pytest.raises(VerificationFailed, match="1 rows of the table are not those that were written"):
        write(Changes)


def test_a_store_that_is_away_for_two_seconds_is_seen_as_that(write):
    found = write(Away).metrics
    assert found["unavailable_s"] == pytest.approx(AWAY_S, abs=0.2)
    assert found["unavailable_sum_s"] == pytest.approx(AWAY_S, abs=0.4)
    assert (found["retried_batches"], found["lost_acknowledged"], found["doubled"]) == (1, 0, 0)
    assert found["write_s"] > AWAY_S + len(ROWS) / BATCH * BATCH_S


def test_a_batch_that_goes_on_failing_fails_the_attempt(write, monkeypatch):
    monkeypatch.setattr(under_fault, "AGAIN_FOR_S", 0.3)
    with pytest.raises(StoreUnreachable, match="the server is gone") as error:
        write(Gone)
    assert "lost_acknowledged" not in error.value.result.metrics


def test_a_write_that_ends_before_its_fault_says_so(write):
    with pytest.raises(
        FaultFailed, match=r"the load ended before the fault\. Ask for a longer load, or a smaller"
    ):
        write(Planted, after_s=60)
    assert not Planted.faulty.is_set()


def test_a_delay_is_beyond_the_usual_time_of_a_batch():
    """Each batch takes 1 s, one before the fault 1.5 s. Two are delayed after the fault: by 3 s and by 1 s."""
    times_s = (1, 1.5, 1, 4, 1.2, 2)
    batches, now_s = [], 0.0
    for time_s in times_s:
        batches.append(Batch(10, now_s, now_s + time_s, again=False))
        now_s += time_s
    assert delays(batches, began_s=4.0) == (3.0, 4.0)
    assert delays(batches, began_s=20.0) == (0.0, 0)
    assert delays(batches, began_s=0.5) is None
