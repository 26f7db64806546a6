"""Attempts at a toy store in this process. Their load generators are those of real attempts."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

import pytest

from storebench import stores
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.stores.point_operations.entities import entity, number_of
from storebench.study.cell import Cell
from tests.attempted import result_of

TOY = Path(__file__).parent / "toy"
SEED = 7
LOAD = {
    "users": "4",
    "spawn_rate": "8.0",
    "warmup_s": "0.5",
    "duration_s": "2.0",
    "request_timeout_s": "5.0",
    "max_error_share": "0.01",
    "load_processes": "1",
    "rate": "200",
    "first_rate": "50.0",
    "rate_factor": "1.5",
    "step_s": "2.0",
    "slo_ms": "500.0",
    "read_share": "0",
    "capacity_tolerance": "0.2",
    "longest_step_s": "10.0",
}


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Run an operation of the toy; returns its result, or that of an attempt that has failed as the error's `result`."""
    monkeypatch.setattr(stores, "__path__", [*stores.__path__, str(TOY / "storebench" / "stores")])
    source = Path(stores.__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{source}:{TOY}")
    monkeypatch.setattr(run, "client_for", lambda connection: None)

    def attempt(operation, *, rows=300, axes=(), service="", **options):
        """Run an attempt. `service`: address of a service before the toy, for the requests."""
        connection = Connection(
            "toy", host=str(tmp_path / "toy.db"), extra={"services": {"rest": service}} if service else {}
        )
        monkeypatch.setattr(Connection, "from_environment", classmethod(lambda cls, name: connection))
        client = "rest" if service else "direct"
        cell = Cell("toy_points", "toy", client, tuple(dict(axes).items()), rows, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=cell.store,
            client=cell.client,
            axes=dict(axes),
            rows=rows,
            seed=SEED,
            target=cell.target("test", 0),
            bucket="b",
            dataset=None,
            results="results/",
            options={**LOAD, **options},
        )
        return result_of(run.Attempt(spec, stores.load("toy_points", "toy"), PhaseClock()))

    return attempt


class Silent(BaseHTTPRequestHandler):
    """A service that gives each entity of the seed, but never answers a request for every hundredth one."""

    protocol_version = "HTTP/1.1"
    ended = Event()

    def do_GET(self):
        told = {"name": "silent"}
        if self.path != "/health":
            id = UUID(self.path.partition("?")[0].rpartition("/")[2])
            if (number := number_of(SEED, id)) % 100 == 0:
                self.ended.wait()
                self.close_connection = True
                return
            told = {**entity(SEED, number)._asdict(), "id": str(id)}
        body = json.dumps(told).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    def log_message(self, *_):
        pass


@pytest.fixture
def silent():
    """Start a service that does not answer every hundredth request. Yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        Silent.ended.clear()
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        Silent.ended.set()
        server.shutdown()
