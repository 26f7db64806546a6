"""Planted truth: a fault whose losses and whose length are known is found by the real load generators with the right numbers."""

import json
import sqlite3
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from uuid import UUID

import pytest

from storebench.errors import BrokenPromise, FaultFailed, SpecError
from storebench.servers import fault
from storebench.stores.point_operations.entities import entity, number_of
from tests.unit.stores.point_operations.conftest import SEED

UNAVAILABLE_S = 5.0
# A request every 20 ms sees the begin and the end of the fault, on a machine that may be busy.
TOLERANCE_S = 0.25
SLOW_S = 0.2


class Faulty(BaseHTTPRequestHandler):
    """A service that gives each entity of the seed, and a webhook that makes it refuse every read for exactly UNAVAILABLE_S.

    Until the fault, 10 % of the reads take SLOW_S: so the latency afterwards is below the latency before, however busy the machine is.
    """

    protocol_version = "HTTP/1.1"
    until_s = 0.0
    asked = None

    def do_GET(self):
        if self.path == "/health":
            return self._answer(200, {"name": "faulty"})
        if time.monotonic() < Faulty.until_s:
            return self._answer(503, {})
        id = UUID(self.path.partition("?")[0].rpartition("/")[2])
        number = number_of(SEED, id)
        if number % 10 == 0 and not Faulty.until_s:
            time.sleep(SLOW_S)
        return self._answer(200, {**entity(SEED, number)._asdict(), "id": str(id)})

    def do_POST(self):
        Faulty.asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.fault()
        self._answer(200, {})

    def fault(self):
        Faulty.until_s = time.monotonic() + UNAVAILABLE_S
        time.sleep(UNAVAILABLE_S)

    def _answer(self, status, told):
        body = json.dumps(told).encode()
        self.wfile.write(
            b"HTTP/1.1 %d OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (status, len(body), body)
        )

    def log_message(self, *_):
        pass


@pytest.fixture
def serve(monkeypatch):
    """Return a function that starts a server with a handler and returns its address."""
    servers = []

    def start(handler):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        servers.append(server)
        Thread(target=server.serve_forever, daemon=True).start()
        return f"127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def short(monkeypatch):
    """Let a load end soon after its fault."""
    monkeypatch.setattr(fault, "AFTERWARDS_S", 0.5)


def test_a_store_that_loses_every_thousandth_write_after_a_kill_has_broken_its_guarantee(
    attempt, serve, short, tmp_path
):
    file = tmp_path / "toy.db"

    class Kill(Faulty):
        def fault(self):
            with sqlite3.connect(file) as session:
                session.execute("INSERT INTO killed VALUES (1)")

    attempt("fill")
    asks = {"fault_url": f"http://{serve(Kill)}/fault", "fault_after_s": "0.2", "fault_for_s": "0.1"}
    asks |= {"trouble": "lost after a kill", "duration_s": "3.0", "promise": "every write is kept"}
    with pytest.raises(BrokenPromise) as error:
        attempt("write", axes={"fault": "kill"}, **asks)
    with sqlite3.connect(file) as session:
        ((lost,),) = session.execute("SELECT count(*) FROM lost")
    found = error.value.result
    assert Faulty.asked == {"fault": "kill", "server": "", "for_s": 0.1}
    assert lost > 0 and found.metrics["lost_acknowledged"] == lost and found.metrics["doubled"] == 0
    assert found.status == "failed" and found.metrics["operations_per_s"] > 0
    assert str(error.value) == (
        f"{lost:,} acknowledged writes are lost and 0 are there twice after the kill,"
        " although the store guarantees: every write is kept"
    )
    assert found.metrics["error_share"] == 0 and found.metrics["unavailable_s"] < 1


def test_a_server_that_is_unavailable_for_five_seconds_is_seen_as_that(attempt, serve, short):
    """The load is open, with a request every 20 ms. The server refuses requests at once while it is unavailable."""
    attempt("fill")
    service = serve(Faulty)
    asks = {"fault_url": f"http://{service}/fault", "fault_for_s": "5", "fault_after_s": "0.2"}
    asks |= {"rate": "50", "duration_s": "10.5", "warmup_s": "0.8"}
    found = attempt("read", axes={"fault": "pause", "load": "open"}, service=service, **asks)
    metrics = found.metrics
    assert found.status == "verified" and "the pause lost nothing and doubled nothing" in found.verification
    assert metrics["unavailable_s"] == pytest.approx(UNAVAILABLE_S, abs=TOLERANCE_S)
    assert metrics["unavailable_sum_s"] == pytest.approx(UNAVAILABLE_S, abs=TOLERANCE_S)
    assert metrics["recover_s"] == pytest.approx(UNAVAILABLE_S, abs=TOLERANCE_S)
    assert metrics["fault_to_s"] - metrics["fault_from_s"] == pytest.approx(UNAVAILABLE_S, abs=0.1)
    assert metrics["fault_from_s"] == pytest.approx(metrics["measured_from_s"] + 0.2, abs=0.1)
    assert metrics["fault_skew_s"] < 0.1
    assert metrics["server_errors"] == pytest.approx(250, abs=8) and found.disturbed is None
    assert metrics["lost_acknowledged"] == metrics["doubled"] == 0
    assert metrics["p99_before_s"] >= SLOW_S


def test_a_fault_that_cannot_be_made_fails_the_attempt_after_the_load(attempt, short):
    attempt("fill")
    asks = {"fault_url": "http://127.0.0.1:1/fault", "fault_after_s": "0.2", "fault_for_s": "0.1"}
    with pytest.raises(
        FaultFailed, match=r"The fault 'kill' failed: the webhook .* does not answer"
    ) as error:
        attempt("read", axes={"fault": "kill"}, **asks)
    assert error.value.result.metrics["operations_per_s"] > 0


def test_a_fault_without_a_server_of_the_run_fails_before_the_load(attempt, short):
    attempt("fill")
    with pytest.raises(SpecError, match="There is no agent of the server 'toy-0'"):
        attempt("read", axes={"fault": "kill"}, fault_server="toy-0", fault_for_s="0.1")
