"""Bulk writes through a fault, with the stores' real clients and servers. The fault is a webhook that harms no server of the stack."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from storebench import stores
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.errors import StoreUnreachable
from tests.bulk import BULK, cell_at, spec_for
from tests.integration.conftest import ROWS, SEED

BATCH = 20
# The rows that are there twice if a stored batch is sent again: PyMongo has given the rows of the reference client their ids
DOUBLED = {
    ("mongodb", "reference"): 0,
    ("mongodb", "tuned"): BATCH,
    ("elasticsearch", "reference"): BATCH,
    ("elasticsearch", "tuned"): BATCH,
    ("postgresql", "reference"): BATCH,
    ("postgresql", "tuned"): BATCH,
}


@pytest.fixture
def webhook():
    """Start a webhook. Yield its address and the event of its first request."""
    asked = Event()

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.set()
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_): ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Webhook) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


@pytest.mark.parametrize(("store", "client"), DOUBLED)
def test_a_batch_whose_acknowledgement_is_lost_is_sent_again(
    webhook, connections, bucket, target, monkeypatch, store, client
):
    url, asked = webhook
    kind = stores.load(BULK, store)
    sent, lost, send = [], [], kind.send

    def send_and_lose_one_acknowledgement(self, batch, *, again):
        send(self, batch, again=again)
        sent.append(again)
        if asked.is_set() and not lost:
            lost.append(batch)
            raise StoreUnreachable("the acknowledgement was lost")

    monkeypatch.setattr(kind, "send", send_and_lose_one_acknowledgement)
    cell = cell_at(store, SEED, ROWS, client=client, batch=BATCH, fault="kill")
    options = {"fault_url": url, "fault_after_s": "0.05", "fault_for_s": "0.1"}

    def attempt(operation):
        tried = run.Attempt(spec_for(operation, cell, target, bucket, **options), kind, PhaseClock())
        tried.run()
        return tried.result

    try:
        found = attempt("write")
    finally:
        attempt("drop")
    assert sent.count(True) == 1 == found.metrics["retried_batches"]
    assert found.metrics["lost_acknowledged"] == 0
    assert found.metrics["doubled"] == DOUBLED[store, client]
    assert found.verification.startswith(
        f"{ROWS:,} of {ROWS:,} acknowledged rows are there with all 50 fields"
    )
