"""A grid is filled by Airflow's own backfill, through a DAG of the test's own with the null store."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from storebench.results.queries import Queries
from storebench.trigger import Airflow
from tests.e2e.harness import ROWS, SEED, run, storebench

STUDY = '''"""A grid for a test, which removes it."""

from dataclasses import replace

from storebench.airflow.dag import study_dag
from storebench.grid import BATCH_SIZE, Study

GRID = Study(
    name="{name}",
    description="A grid for a test.",
    stores=("null",),
    default_stores=("null",),
    default_rows=1000,
    axes=(replace(BATCH_SIZE, grid={values!r}),),
)
dag = study_dag(GRID)
'''


@pytest.fixture
def airflow():
    return Airflow(*(os.environ[f"STOREBENCH_AIRFLOW_{name}"] for name in ("URL", "USER", "PASSWORD")))


@pytest.fixture
def study(airflow):
    """Write a DAG with these values as its grid (the null store's batch sizes), and wait until Airflow knows its cells."""
    name = f"grid_{uuid.uuid4().hex[:8]}"
    path = Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"], f"{name}.py")

    def write(values, text=STUDY, clients=1):
        path.write_text(text.format(name=name, values=tuple(values)))
        deadline_s = time.monotonic() + 180
        while True:
            known = airflow.call("GET", "/api/v2/dags", params={"dag_id_pattern": name})["dags"]
            if [dag["timetable_summary"] for dag in known] == [f"{clients * len(values)} cells, by backfill"]:
                return name
            assert time.monotonic() < deadline_s, f"Airflow does not know the DAG: {known}"
            time.sleep(1)

    yield write
    path.unlink(missing_ok=True)
    airflow.call("DELETE", f"/api/v2/dags/{name}")


def backfill(airflow, command):
    """Run the command that `storebench grid` printed, and wait for the backfill's end."""
    before = {each["id"] for each in backfills(airflow, command)}
    done = subprocess.run(
        shlex.split(command),
        env={**os.environ, "PATH": f"{sys.prefix}/bin:{os.environ['PATH']}"},
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr[-2000:]
    deadline_s = time.monotonic() + 900
    while True:
        (mine,) = [each for each in backfills(airflow, command) if each["id"] not in before]
        if mine["completed_at"]:
            return
        assert time.monotonic() < deadline_s, "the backfill does not end"
        time.sleep(1)


def backfills(airflow, command):
    dag_id = re.search(r"--dag-id (\S+)", command)[1]
    return airflow.call("GET", "/api/v2/backfills", params={"dag_id": dag_id})["backfills"]


def grid(name):
    process = storebench("grid", "--study", name, "--rows", str(ROWS), "--seed", str(SEED))
    assert process.returncode == 0, process.stderr
    return process.stdout


def measured(name):
    """How often each batch size was written, verified."""
    rows = json.loads(storebench("results", "--cell", f"{name}/", "--format", "json").stdout)
    assert {row["status"] for row in rows} == {"verified"}
    return sorted(row["batch_size"] for row in rows if row["operation"] == "write")


def fill(airflow, study, values, by_hand, new):
    """Some cells by hand, the others by a backfill, none by a second one, and a new value's by a third."""
    name = study(values)
    code, text, _ = run("--study", name, "--stores", "null", "--batches", ",".join(by_hand))
    assert code == 0, text
    assert measured(name) == sorted(by_hand)

    printed = grid(name)
    assert printed.count("missing") == len(values) - len(by_hand)
    assert f"{len(values) - len(by_hand)} of {len(values)} cells are to be measured" in printed
    command = printed.strip().splitlines()[-1]
    backfill(airflow, command)
    assert measured(name) == sorted(values), "exactly the others were run"

    assert f"All {len(values)} cells are verified" in grid(name)
    backfill(airflow, command)
    assert measured(name) == sorted(values), "a second backfill runs none"

    study([*values, new])
    printed = grid(name)
    assert f"1 of {len(values) + 1} cells" in printed
    backfill(airflow, printed.strip().splitlines()[-1])
    assert measured(name) == sorted([*values, new]), "only the new value was run"


def test_a_backfill_runs_what_is_missing_and_nothing_else(airflow, study):
    fill(airflow, study, ["100", "200", "300"], ["200"], "400")


def test_a_backfill_without_parameters_is_refused_and_the_next_one_offers_its_dates_again(airflow, study):
    name = study(["100"])
    command = shlex.join(
        [
            *("airflow", "backfill", "create", "--dag-id", name, "--max-active-runs", "1"),
            *("--from-date", "2001-01-01", "--to-date", "2001-01-02", "--reprocess-behavior", "completed"),
        ]
    )
    backfill(airflow, command)
    runs = Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]).runs(20)
    (refused,) = [each for each in runs if each["dag_id"] == name]
    assert refused["state"] == "refused"
    assert "tick 'Override parameters on existing runs'" in refused["reason"]
    backfill(airflow, f"{command} --dag-run-conf {shlex.quote(json.dumps({'rows': ROWS, 'seed': SEED}))}")
    assert measured(name) == ["100"]
