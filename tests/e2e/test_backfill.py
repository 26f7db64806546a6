"""A grid is filled by Airflow's own backfill, through a DAG of the test's own with the null store."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from storebench import stores
from storebench.results.database.queries import Queries
from tests.e2e.harness import ROWS, SEED, run, storebench

STUDY = '''"""A grid for a test, which removes it."""

from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.study.model import Axis, Metric, Operation, Study


def axis(name, *grid):
    return Axis(
        name=name, title=name.title(), description="", pattern="[0-9]+|all", hint="a number or 'all'",
        default=grid, choices=grid, grid=grid,
    )


METRICS = (
    Metric("write_s", "time until a write is durable and visible"),
    Metric("only_s", "time in the store's client"),
    Metric("rows_per_s", "dataset rows a second", "higher"),
    Metric("source_s", "reading and parsing the CSV", "neither"),
    Metric("barrier_s", "making it durable and visible"),
)
FIGURES = tuple(metric.name for metric in METRICS[1:])
GRID = Study(
    name="{name}",
    title="A grid",
    description="A grid for a test.",
    stores=("null",),
    operations=(Operation("write", ("write_s", *FIGURES)), Operation("read", FIGURES, needs=("write",))),
    metrics=METRICS,
    dataset=CSV50,
    rows=1000,
    axes=(axis("batch", *{values!r}),),
)
dag = study_dag(GRID)
'''
# The stack's images have no store of this study. So its pods make one: that of the bulk study, by another name.
STORE = """from dataclasses import replace

from storebench import stores

FOLDER, MODULE = "/tmp/more/storebench/stores/{study}", "{store}".replace("-", "_") + ".py"
MAKE = "from storebench.stores import load; Store = load('bulk_write_read', '{store}')"
Bulk = stores.load("bulk_write_read", "{store}")


class Same(Bulk):
    name = "{store}"
    pod = replace(
        Bulk.pod,
        command=(
            "sh", "-c", f'mkdir -p {{FOLDER}} && echo "{{MAKE}}" > {{FOLDER}}/{{MODULE}} && PYTHONPATH=/tmp/more exec storebench attempt'
        ),
    )
"""


@pytest.fixture
def study(airflow):
    """Write a DAG with these values as its grid (the null store's batches), and wait until Airflow knows its cells."""
    name = f"e2e_grid_{uuid.uuid4().hex[:8]}"
    path = Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"], f"{name}.py")
    folder = Path(stores.__file__).parent / name

    def write(values, text=STUDY, clients=1, store="null"):
        folder.mkdir(exist_ok=True)
        (folder / f"{store.replace('-', '_')}.py").write_text(STORE.format(study=name, store=store))
        path.write_text(text.format(name=name, values=tuple(values)))
        known_as(airflow, name, f"{clients * len(values)} cells, by backfill")
        return name

    yield write
    path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    airflow.call("DELETE", f"/api/v2/dags/{name}")


def known_as(airflow, name, summary):
    """Wait until Airflow knows the DAG, with these cells."""
    deadline_s = time.monotonic() + 180
    while True:
        known = airflow.call("GET", "/api/v2/dags", params={"dag_id_pattern": name})["dags"]
        if [dag["timetable_summary"] for dag in known] == [summary]:
            return
        assert time.monotonic() < deadline_s, f"Airflow does not know the DAG: {known}"
        time.sleep(1)


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


def results(name):
    return json.loads(storebench("results", "--cell", f"{name}/", "--format", "json").stdout)


def disturbed(name):
    """Return the batches of the cells with an operation that other work on the node disturbed."""
    return {row["axes"]["batch"] for row in results(name) if row["disturbed"]}


def measured(name):
    """Return the batch of each verified write, sorted."""
    rows = results(name)
    assert {row["status"] for row in rows} == {"verified"}
    return sorted(row["axes"]["batch"] for row in rows if row["operation"] == "write")


def fill(airflow, study, values, by_hand, new):
    """Fill some cells by hand, the others by a backfill, none by a second backfill, and a new value's cells by a third."""
    name = study(values)
    code, text, _ = run("--study", name, "--stores", "null", "--axis", f"batch={','.join(by_hand)}")
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
    """One without parameters is refused, and the next one offers its dates again."""
    values = ["100", "200"]
    name = study(values)
    command = shlex.join(
        [
            *("airflow", "backfill", "create", "--dag-id", name, "--max-active-runs", "1"),
            *("--from-date", "2001-01-01", "--to-date", "2001-01-02", "--reprocess-behavior", "completed"),
        ]
    )
    backfill(airflow, command)
    runs = Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]).runs(20)
    refused = [each for each in runs if each["dag_id"] == name]
    assert [each["state"] for each in refused] == ["refused"] * len(values)
    assert all("tick 'Override parameters on existing runs'" in each["reason"] for each in refused)
    fill(airflow, study, values, ["200"], "300")
