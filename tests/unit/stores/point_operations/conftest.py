"""Attempts at a toy store in this process. Their load generators are those of real attempts."""

from pathlib import Path

import pytest

from storebench import stores
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.study.cell import Cell

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
}


@pytest.fixture
def attempt(tmp_path, monkeypatch):
    """Run an operation of the toy; returns its result, or that of an attempt that has failed as the error's `result`."""
    monkeypatch.setattr(stores, "__path__", [*stores.__path__, str(TOY / "storebench" / "stores")])
    source = Path(stores.__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", f"{source}:{TOY}")
    monkeypatch.setattr(run, "client_for", lambda connection: None)
    connection = Connection("toy", host=str(tmp_path / "toy.db"))
    monkeypatch.setattr(Connection, "from_environment", classmethod(lambda cls, name: connection))

    def attempt(operation, *, rows=300, axes=(), **options):
        cell = Cell("toy_points", "toy", "direct", tuple(dict(axes).items()), rows, SEED)
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
        tried = run.Attempt(spec, stores.load("toy_points", "toy"), PhaseClock())
        try:
            tried.run()
        except Exception as error:
            error.result = tried.result
            raise
        return tried.result

    return attempt
