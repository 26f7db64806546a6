"""The ends of runs in the results, and leftovers of runs, on a real database."""

import json
import threading
import time
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from storebench.attempt.result import AttemptResult
from storebench.dataset.manifest import Manifest
from storebench.dataset.schema import FIELD_NAMES, SCHEMA_VERSION
from storebench.errors import StoreUnreachable
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.repository import run_id_of
from storebench.results.export.bundle import Bundles
from storebench.results.leftovers.stopped import COMMAND, RunStates, as_closed, ask, close, stopped_runs, tell
from storebench.results.leftovers.tracking import Left
from storebench.results.runs.gaps import KILLED, STOPPED, fill_gaps
from storebench.results.runs.prune import Pruning
from storebench.study.order import Turn
from tests.bulk import RANKED_BY, bulk_study, cell_at
from tests.integration.recorded import STUDY, timed

CELLS = [cell_at("mongodb", 42, batch=size) for size in ("10", "20")]
AIRFLOW = "this-airflow"
VERIFIED = timed(1.0, total_s=2.0, environment={"kernel": "6"})
FAILED = AttemptResult(status="failed", error_kind="store_failed", error="no room")


@pytest.fixture
def left(database):
    return Left(database)


@pytest.fixture
def begin(repository, request):
    """Record that a run of both cells, or of others, has begun; returns its id."""

    def start(name="", airflow_id=AIRFLOW, cells=CELLS):
        airflow_run_id = f"{request.node.name}{name}"
        repository.start_run(
            study=bulk_study(),
            dag_id=STUDY,
            airflow_run_id=airflow_run_id,
            params={},
            turns=[Turn(cell, 1) for cell in cells],
            order_seed=1,
            skipped={},
            airflow_id=airflow_id,
        )
        return run_id_of(STUDY, airflow_run_id)

    return start


@pytest.fixture
def add(repository):
    def attempt(run, cell, operation, result):
        key = AttemptKey(run, cell.key, 1, operation, 1)
        repository.add_attempt(
            key, result, PodRecord(), phases={}, metric=RANKED_BY[operation], target=None, dataset=None
        )

    return attempt


def stopped(repository, run, state_of, ended_at=None):
    """Return the run if it is found stopped; the database also has other tests' runs."""
    found = stopped_runs(repository, RunStates(state_of, lambda *_: ended_at, lambda: AIRFLOW))
    return [one for one in found if one.run["id"] == run]


def errors(queries, run):
    rows = queries.results(run=run)
    not_run = [row for row in rows if row["status"] == "not_run"]
    for row in not_run:
        assert row["metric"] == RANKED_BY[row["operation"]], "a gap has the metric that would stand for it"
    return {(row["axes"]["batch"], row["operation"]): row["error"] for row in not_run}


def test_what_was_not_run_names_the_step_that_failed_and_its_reason(repository, queries, begin):
    run, reason = begin(), "The dataset was not made: timeout: Not finished after 60 s"
    repository.stop_run(run, reason)
    assert fill_gaps(repository, run, reason="The step dataset failed") == 4
    assert set(errors(queries, run).values()) == {reason}


def test_a_step_that_could_not_say_why_it_failed_is_named(repository, queries, begin):
    run = begin()
    fill_gaps(repository, run, reason="The step dataset failed: its log says why")
    assert set(errors(queries, run).values()) == {"The step dataset failed: its log says why"}


def test_a_read_that_was_not_run_has_the_reason_of_its_write(repository, queries, begin, add):
    run = begin()
    add(run, CELLS[0], "write", FAILED)
    fill_gaps(repository, run, {(CELLS[1].key, 1, "write")})
    assert errors(queries, run) == {
        ("10", "read"): "Its write failed: store_failed: no room",
        ("20", "read"): f"Its write failed: infrastructure: {KILLED}",
    }


def test_what_somebody_kept_from_running_says_so(repository, queries, begin, add):
    run = begin()
    add(run, CELLS[0], "write", VERIFIED)
    fill_gaps(repository, run)
    assert set(errors(queries, run).values()) == {STOPPED}


def test_a_run_that_goes_on_again_forgets_why_it_was_stopped(repository, queries, begin):
    run = begin()
    repository.stop_run(run, "The dataset was not made")
    repository.reopen_run(run)
    assert queries.run_named(run)["reason"] is None


@pytest.mark.parametrize(
    ("state", "words", "closed_as"),
    [("failed", "marked as failed in Airflow", "failed"), (None, "deleted from Airflow", "failed")],
)
def test_a_run_that_is_over_in_airflow_is_closed_with_its_reason(
    repository, queries, begin, add, state, words, closed_as
):
    run = begin()
    add(run, CELLS[0], "write", VERIFIED)
    (found,) = stopped(repository, run, lambda dag_id, name: state)
    assert found.state == state
    assert close(repository, found) == 3
    assert set(errors(queries, run).values()) == {f"The run was stopped: {words}"}
    closed = queries.run_named(run)
    assert (closed["state"], closed["reason"]) == (closed_as, f"The run was stopped: {words}")
    assert stopped(repository, run, lambda dag_id, name: state) == []


@pytest.mark.parametrize(("state", "closed_as"), [("failed", "failed"), (None, "failed")])
def test_a_stopped_run_is_told_as_it_will_be_closed_and_ends_when_it_was_stopped(
    repository, queries, begin, add, state, closed_as
):
    run, minute_ago = begin(), datetime.now(UTC) - timedelta(minutes=1)
    add(run, CELLS[0], "write", VERIFIED)
    add(run, CELLS[0], "read", FAILED)
    last_s = queries.last_seen_at(run)
    (found,) = stopped(repository, run, lambda dag_id, name: state, minute_ago)
    (told,) = as_closed([queries.run_counted(run)], [found])
    close(repository, found)
    closed = queries.run_counted(run)
    assert {**closed, "to_close": True} == told
    assert (told["state"], told["verified"], told["failed"], told["not_run"]) == (closed_as, 1, 1, 2)
    assert closed["finished_at"] == (minute_ago if state else last_s), "Airflow knows no end of a deleted run"
    assert stopped(repository, run, lambda dag_id, name: state) == []


def test_a_run_that_airflow_cannot_be_asked_for_is_said_to_be_unknown(repository, left, begin):
    def away(dag_id, name):
        raise StoreUnreachable("Airflow does not answer")

    begin()
    for states, why in (
        (None, "STOREBENCH_AIRFLOW_URL is not set"),
        (RunStates(away, away, lambda: None), "Airflow does not answer"),
    ):
        found, unknown = ask(repository, states)
        assert (found, unknown) == ([], why)
        first, *_ = tell(repository, left, found, unknown)
        assert first == f"Airflow cannot be asked which runs are still running: {why}"


def test_a_run_whose_last_step_was_lost_is_not_called_failed_where_all_is_verified(
    repository, queries, begin, add
):
    run = begin()
    for cell in CELLS:
        for operation in ("write", "read"):
            add(run, cell, operation, VERIFIED)
    close(repository, *stopped(repository, run, lambda dag_id, name: "success"))
    closed = queries.run_named(run)
    assert (closed["state"], closed["reason"]) == ("success", None)


@pytest.fixture
def refuse(repository, request):
    """Record that the plan of a run has refused it; returns the run's id."""

    def record(reason, params):
        name = request.node.name
        repository.refuse_run(
            study=bulk_study(), dag_id=STUDY, airflow_run_id=name, requested=params, reason=reason
        )
        return run_id_of(STUDY, name)

    return record


def test_a_run_that_was_refused_is_there_with_its_reason(repository, queries, refuse, begin):
    before = begin("-before")
    run = refuse("Rows: '-5' is not a whole number", {"rows": "-5"})
    assert repository.finish_run(run) == []
    (row,) = [one for one in queries.runs(10_000) if one["id"] == run]
    assert (row["state"], row["reason"]) == ("refused", "Rows: '-5' is not a whole number")
    assert (row["verified"], row["params"]) == (0, {"rows": "-5"})
    assert row["finished_at"] is not None
    assert run not in {one["id"] for one in queries.open_runs()}
    assert queries.run_named("latest")["id"] == before, "the other one has measured nothing"


def test_a_run_that_was_refused_can_be_started_again(repository, queries, refuse, begin):
    refuse("the disk is full", {"rows": 1})
    run = begin()
    row = queries.run_named(run)
    assert (row["state"], row["reason"], row["params"], row["order_seed"]) == ("running", None, {}, 1)
    assert len(repository.recorded_turns(run)) == 2


def test_a_run_that_has_rows_is_not_called_refused(repository, queries, refuse, begin, add):
    run = begin()
    add(run, CELLS[0], "write", VERIFIED)
    assert refuse("the disk is full", {}) == run
    fill_gaps(repository, run)
    repository.finish_run(run)
    row = queries.run_named(run)
    assert (row["state"], row["reason"]) == ("failed", "the disk is full")
    assert set(errors(queries, run).values()) == {"the disk is full"}


def test_a_run_that_was_refused_can_be_exported_and_pruned(repository, database, refuse, tmp_path):
    run = refuse("the disk is full", {})
    path = tmp_path / "run.zip"
    assert Bundles(database).export(run, path)["run"] == 1
    Pruning(database).remove(datetime.now(UTC) + timedelta(days=1))
    assert not repository.has_run(run)
    Bundles(database).load(path)
    assert repository.run_named(run)["state"] == "refused"


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_run_that_goes_on_or_was_cleared_is_left_alone(repository, begin, state):
    assert stopped(repository, begin(), lambda dag_id, name: state) == []


@pytest.mark.parametrize("airflow_id", ["another", None])
def test_a_run_of_another_airflow_is_not_taken_for_deleted(repository, begin, airflow_id):
    run = begin(airflow_id=airflow_id)
    assert stopped(repository, run, lambda dag_id, name: None) == []


def test_a_run_that_ends_while_airflow_is_asked_is_left_alone(repository, begin):
    run = begin()

    def ends_now(dag_id, airflow_run_id):
        repository.finish_run(run)
        return "success"

    assert stopped(repository, run, ends_now) == []


def test_data_is_left_from_the_write_to_the_drop(left, repository, begin):
    run = begin()
    for _ in range(2):
        left.leaves(run, CELLS[0], 1)
    (found,) = left.undropped()
    assert (found.run_id, found.cell, found.repeat, found.node_pool) == (run, CELLS[0], 1, "")
    assert found.target == CELLS[0].target(run, 1)
    assert list(tell(repository, left, [], None)) == [], "it goes on"
    repository.finish_run(run)
    assert list(tell(repository, left, [], None)) == [
        f"{found.airflow_run_id} has left data in mongodb (1 of its turns): the next run removes it, or {COMMAND}"
    ]
    left.dropped(run, CELLS[0], 1)
    assert left.undropped() == []


def test_left_data_has_the_size_that_its_write_ended_with(left, begin):
    run = begin()

    def size():
        (found,) = [one for one in left.undropped() if one.run_id == run]
        return found.size_bytes

    left.leaves(run, CELLS[0], 1)
    assert size() is None
    left.has_left(run, CELLS[0], 1, 4096)
    assert size() == 4096
    left.leaves(run, CELLS[0], 1)  # the step was cleared
    assert size() is None
    left.dropped(run, CELLS[0], 1)


def test_a_turns_data_is_there_from_its_write_to_its_drop(left, begin):
    run = begin()
    assert not left.holds(run, CELLS[0], 1)
    left.leaves(run, CELLS[0], 1)
    assert left.holds(run, CELLS[0], 1) and not left.holds(run, CELLS[0], 2)
    left.dropped(run, CELLS[0], 1)
    assert not left.holds(run, CELLS[0], 1)


def test_a_dataset_is_unneeded_when_its_last_run_is_pruned(left, repository, database, begin):
    cell = cell_at("mongodb", 42, 123, batch="10")  # no other test's
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        rows=123,
        seed=42,
        bytes=5,
        sha256="0" * 64,
        fields=dict.fromkeys(FIELD_NAMES, 1),
        row_sum=1,
        generator_version="1",
        bucket="b",
        key="k",
    )
    run, name = begin(cells=[cell]), bulk_study().dataset_of(cell)
    repository.add_dataset(name, 1, 123, 42, json.loads(manifest.to_json()))

    def unneeded():
        return [one["bytes"] for one in left.datasets() if one["id"] == name]

    removed = []
    left.remove_dataset(name, lambda: removed.append(name))
    assert unneeded() == removed == [], "a run has planned cells with it"
    repository.finish_run(run)
    Pruning(database).remove(datetime.now(UTC) + timedelta(days=1))
    assert unneeded() == [5]

    def away():
        raise StoreUnreachable("S3 does not answer")

    with pytest.raises(StoreUnreachable):
        left.remove_dataset(name, away)
    assert unneeded() == [5]
    left.remove_dataset(name, lambda: removed.append(name))
    assert (unneeded(), removed) == ([], [name])


def test_a_run_whose_data_is_left_is_not_pruned(left, repository, database, begin):
    run, other = begin(), begin("-other")
    left.leaves(run, CELLS[0], 1)
    for one in (run, other):
        repository.finish_run(one)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    Pruning(database).remove(tomorrow)
    assert repository.has_run(run) and not repository.has_run(other)
    left.dropped(run, CELLS[0], 1)
    Pruning(database).remove(tomorrow)
    assert not repository.has_run(run)


def test_what_is_left_here_is_not_exported(left, repository, database, begin, tmp_path):
    run = begin()
    left.leaves(run, CELLS[0], 1)
    repository.finish_run(run)
    assert "undropped" not in Bundles(database).export(run, tmp_path / "run.zip")
    left.dropped(run, CELLS[0], 1)


def released(left, run, shared=()):
    """Return the Secrets removed with this run; the `shared` node pools have their pods in one namespace."""
    removed = []
    left.release_secrets(
        run,
        lambda node_pool, name: removed.append((node_pool, name)),
        lambda node_pool: "shared" if node_pool in shared else node_pool,
    )
    return removed


def test_secrets_are_removed_with_the_last_run_that_needs_them(left):
    left.use_secrets("a/1", "", ["s3", "mongodb"])
    left.use_secrets("a/1", "v8", ["s3"])
    left.use_secrets("a/2", "", ["s3"])
    assert released(left, "a/1") == [("", "mongodb"), ("v8", "s3")], "s3 is needed in the default pool alone"
    assert released(left, "a/1") == []
    assert left.runs_with_secrets() == [{"run_id": "a/2", "airflow_id": None, "secrets": [["", "s3"]]}]
    assert released(left, "a/2") == [("", "s3")]
    assert left.runs_with_secrets() == []


def test_secrets_stay_where_another_pool_of_nodes_shares_the_namespace(left):
    left.use_secrets("a/1", "v8", ["s3"])
    left.use_secrets("a/1", "v9", ["s3"])
    left.use_secrets("a/2", "", ["s3"])
    assert released(left, "a/1", shared=("", "v8")) == [("v9", "s3")]
    assert released(left, "a/2", shared=("", "v8")) == [("", "s3")]


def test_a_run_that_died_while_it_removed_secrets_is_not_waited_for(left, database):
    left.use_secrets("a/1", "", ["s3"])
    left._mark_unneeded("a/1", str)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE storebench.secret_use SET removing_at = removing_at - interval '121 s'")
    began = time.monotonic()
    left.use_secrets("a/2", "", ["s3"])
    left.use_secrets("a/1", "", ["s3"])
    assert time.monotonic() - began < 5
    assert released(left, "a/1") == []
    assert released(left, "a/2") == [("", "s3")]


def test_two_runs_that_end_at_once_leave_no_secret(left):
    left.use_secrets("a/1", "", ["s3"])
    left.use_secrets("a/2", "", ["s3"])
    left._mark_unneeded("a/2", str)
    assert released(left, "a/1") == [("", "s3")]
    assert released(left, "a/2") == [("", "s3")], "a Secret that is gone is removed once more"
    assert left.runs_with_secrets() == []


def test_secrets_that_could_not_be_removed_are_still_known(left):
    left.use_secrets("a/1", "", ["s3"])

    def refuse(node_pool, name):
        raise RuntimeError("403")

    with pytest.raises(RuntimeError):
        left.release_secrets("a/1", refuse, str)
    assert released(left, "a/1") == [("", "s3")]


def test_a_secret_that_cannot_be_removed_keeps_no_other_secret(left):
    left.use_secrets("a/1", "", ["mongodb", "s3"])
    left.use_secrets("a/1", "gone", ["s3"])
    removed = []

    def remove(node_pool, name):
        if (node_pool, name) in {("", "mongodb"), ("gone", "s3")}:
            raise RuntimeError(f"{node_pool}/{name} stays")
        removed.append((node_pool, name))

    with pytest.raises(RuntimeError, match=r"^/mongodb stays"):
        left.release_secrets("a/1", remove, str)
    assert removed == [("", "s3")]
    (user,) = left.runs_with_secrets()
    assert user["secrets"] == [["", "mongodb"], ["gone", "s3"]]
    assert released(left, "a/1") == [("", "mongodb"), ("gone", "s3")]


def test_a_run_that_begins_while_another_removes_secrets_makes_them_afterwards(left, database):
    left.use_secrets("a/1", "", ["s3"])
    events, started = [], threading.Event()

    def begins():
        started.set()
        left.use_secrets("a/2", "", ["s3"])
        events.append("made")

    other = threading.Thread(target=begins)

    def remove(node_pool, name):
        other.start()
        started.wait()
        wait_until_used(database, "a/2")
        assert locks_held(database) == 0, "a host that dies now must not stall every run"
        events.append("removed")

    left.release_secrets("a/1", remove, str)
    other.join(30)
    assert events == ["removed", "made"]
    assert released(left, "a/2") == [("", "s3")]


def wait_until_used(database, run):
    """Wait until a run has recorded that it needs a Secret."""
    deadline = time.monotonic() + 30
    with psycopg.connect(database, autocommit=True) as connection:
        while (
            connection.execute("SELECT FROM storebench.secret_use WHERE run_id = %s", (run,)).fetchone()
            is None
        ):
            assert time.monotonic() < deadline
            time.sleep(0.05)


def locks_held(database):
    """Count the other sessions of the database that are in a transaction and wait for their client."""
    with psycopg.connect(database, autocommit=True) as connection:
        (found,) = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'"
        ).fetchone()
    return found
