"""How the scheduler rests while there is no run."""

import time

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from storebench.airflow.compat import executor


@pytest.fixture
def database():
    """Runs as Airflow's database has them."""
    with Session(create_engine("sqlite://")) as session:
        session.execute(text("CREATE TABLE dag_run (run_id text, state text)"))
        yield session


@pytest.mark.parametrize(
    ("states", "found"),
    [([], False), (["success", "failed"], False), (["success", "queued"], True), (["running"], True)],
)
def test_a_run_is_there_from_its_queueing_to_its_end(database, states, found):
    for state in states:
        database.execute(text("INSERT INTO dag_run VALUES (:id, :state)"), {"id": state, "state": state})
    assert executor.has_run(database) is found


def test_the_rest_ends_with_the_next_run():
    answers = iter([False, False, True])
    executor.rest(lambda: next(answers))
    assert next(answers, None) is None


def test_the_rest_ends_without_a_run_too_before_the_scheduler_counts_as_dead(monkeypatch):
    monkeypatch.setattr(executor, "REST_S", 0.05)
    monkeypatch.setattr(executor, "LOOK_S", 0.01)
    began_s = time.monotonic()
    executor.rest(lambda: False)
    assert 0.05 <= time.monotonic() - began_s < 5


class Idle(executor.RestingExecutor):
    """Without its workers."""

    def _read_results(self):
        pass

    def _check_workers(self):
        pass


@pytest.mark.parametrize("busy", ["running", "queued_tasks", "event_buffer", None])
def test_while_there_is_something_to_do_no_database_is_asked(monkeypatch, busy):
    looks = []
    monkeypatch.setattr(executor, "rest", lambda *_: looks.append(1))
    idle = Idle()
    if busy:
        setattr(idle, busy, {"a task": "its state"})
    idle.sync()
    assert bool(looks) == (busy is None)
