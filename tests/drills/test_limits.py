"""Messages and leftovers of attempts and runs that are ended from outside."""

import os

import psutil
import pytest
from pymongo import MongoClient

from storebench.connection import Connection
from storebench.results.database.queries import Queries
from storebench.results.leftovers.tracking import Left
from storebench.stores.bulk_write_read.mongodb import uri
from tests.drills.drill import STUDY, frozen, stopped
from tests.e2e.harness import soon, storebench

LIMIT_S = 30
REASON = f"Not finished after {LIMIT_S} s: raise the parameter attempt_timeout_s"


def test_attempt_ended_by_its_limit(drill, say):
    made = drill("null", batch=["all"])  # the limit is the dataset's, too: it is there already
    assert made.end() == "success"
    # 200,000 inserts of one document are no matter of half a minute
    run = drill(seed=made.conf["seed"], batch=["1"], attempt_timeout_s=LIMIT_S)
    assert run.end() == "failed"
    run.check_rows()
    run.check_drops()
    write, read = run.rows()
    assert (write["error_kind"], write["error"]) == ("timeout", REASON)
    assert 0 < write["value"] < write["total_s"] <= LIMIT_S + 30
    assert write["memory_working_set_peak_bytes"] and write["cpu_s"]
    phases = Queries(run.database).phases([write["attempt_id"]])
    assert {"connect", "operation"} <= {phase["name"] for phase in phases}
    assert (read["status"], read["error"]) == ("not_run", f"Its write failed: timeout: {REASON}")
    say(
        f"an attempt ended by its limit of {LIMIT_S} s: timeout, with its figures; its read names that as the reason"
    )


def test_dataset_ended_by_the_limit(drill, say):
    run = drill(attempt_timeout_s=LIMIT_S)
    pod = run.started("dataset")
    with frozen("versitygw"):
        run.wait_for_end_of(pod)
    assert run.end() == "failed"
    run.check_stack()
    run.check_rows()
    rows = run.rows()
    assert {(row["status"], row["error"]) for row in rows} == {
        ("not_run", f"The dataset was not made: timeout: {REASON}")
    }
    say(f"the dataset's pod ended by the limit: each of {len(rows)} rows names the step and the limit")


def attempts():
    """Return the processes of attempts in all pods on this machine."""
    found = psutil.process_iter(["cmdline"])
    return [process for process in found if (process.info["cmdline"] or [])[-1:] == ["attempt"]]


def test_api_server_away_at_the_end_of_an_attempt(drill):
    run = drill()
    run.working("write")
    working = attempts()
    assert working
    with stopped("kube-apiserver"):
        _, alive = psutil.wait_procs(working, timeout=50)
    assert not alive, "the write has ended while nobody could look"
    run.must_end("Kubernetes' API server away at the end of a write", "success")


@pytest.fixture
def collections():
    """The names of the collections that the store has."""
    server = Connection.from_json("mongodb", os.environ["AIRFLOW_CONN_STOREBENCH_MONGODB"])
    with MongoClient(uri(server)) as client:
        yield lambda: set(client[server.schema].list_collection_names())


@pytest.fixture
def stopped_run(drill, collections):
    """Return a run that was marked as failed during a write, and its leftover collections."""
    run = drill()
    run.working("write")
    targets = {one.target for one in Left(run.database).undropped() if one.run_id == run.run_id}
    assert targets
    soon(lambda: targets <= collections())
    run.airflow.call("PATCH", f"/api/v2/dags/{STUDY}/dagRuns/{run.run}", json={"state": "failed"})
    # Its last step, which removes servers of the run, is done first
    soon(lambda: run.airflow.run_state(STUDY, run.run) == "failed")
    return run, targets


def test_clean_removes_what_a_stopped_run_has_left(stopped_run, say, collections):
    run, targets = stopped_run
    listed = storebench("clean")
    assert listed.returncode == 0 and all(target in listed.stdout for target in targets)
    assert targets <= collections()
    cleaned = storebench("clean", "--yes")
    assert cleaned.returncode == 0, cleaned.stderr
    assert not targets & collections()
    assert [one for one in Left(run.database).undropped() if one.run_id == run.run_id] == []
    assert Queries(run.database).run_named(run.run_id)["state"] == "failed"
    say(f"storebench clean: closed a run marked as failed and dropped its {len(targets)} collection")


def test_run_marked_as_failed(drill, stopped_run, say, collections):
    run, targets = stopped_run
    told = storebench("runs").stdout
    assert f"{run.run} is open, but was marked as failed in Airflow" in told
    following = drill(seed=run.conf["seed"])
    assert following.end() == "success"
    assert not targets & collections()
    assert [one for one in Left(run.database).undropped() if one.run_id == run.run_id] == []
    queries = Queries(run.database)
    assert queries.run_named(run.run_id)["state"] == "failed"
    rows = queries.attempts_of_run(run.run_id)
    assert len(rows) == 4
    interrupted = next(row for row in rows if row["status"] == "failed")
    assert (interrupted["operation"], interrupted["error_kind"]) == ("write", "killed")
    not_begun = [row["error"] for row in rows if row["cell_key"] != interrupted["cell_key"]]
    assert not_begun == ["The run was stopped: marked as failed in Airflow"] * 2
    told = storebench("runs").stdout
    assert f"{run.run} is open" not in told and f"{run.run} has left" not in told
    say(f"a run marked as failed: the next one closed it and dropped its {len(targets)} collection")
