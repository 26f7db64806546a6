"""Runs for tests of what is made of results: recorded as the DAG does it, with times of the tests' own."""

import uuid
from datetime import UTC, datetime

import psycopg
import pytest

from storebench.attempt.result import AttemptResult
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.grid import Cell
from storebench.order import turns
from storebench.parameters import measured_with
from storebench.results.repository import AttemptKey, PodRecord, dataset_id, run_id_of

STUDY = "s"
POD = PodRecord(
    "p", "n", 0, 10.0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
)
ENVIRONMENT = {"image": "i", "kernel": "6.1", "packages": {"pymongo": "4"}, "server_name": "FerretDB"}
PARAMS = {"pod_cpu": "500m", "cpu_limit": False, "pod_memory": "8Gi"}


@pytest.fixture
def cells():
    """Two cells that no other test has."""
    seed = uuid.uuid4().int % 2**40
    return [Cell(STUDY, "mongodb", "reference", (("batch", size),), 1000, seed) for size in ("10", "20")]


@pytest.fixture
def run(repository, database):
    """Record a run with seconds(cell, turn) as its times."""

    def make(
        cells,
        repeats=5,
        seconds=lambda cell, turn: 1 + turn.repeat / 100,
        environment=ENVIRONMENT,
        params=PARAMS,
        pod=POD,
        **order,
    ):
        name = f"manual__{uuid.uuid4().hex}"
        planned = turns(dict.fromkeys(cells, repeats), 1, **order)
        repository.start_run(
            study=STUDY,
            dag_id=STUDY,
            airflow_run_id=name,
            params={"a": 1},
            turns=planned,
            order_seed=1,
            skipped={},
        )
        dataset = dataset_id(SCHEMA_VERSION, cells[0].rows, cells[0].seed)
        with psycopg.connect(database) as connection:
            connection.execute(
                "INSERT INTO storebench.dataset (id, schema_version, rows, seed, bytes, sha256, manifest)"
                " VALUES (%s, 1, 1000, %s, 1, '', '{}') ON CONFLICT DO NOTHING",
                (dataset, cells[0].seed),
            )
        for turn in planned:
            for operation in ("write", "read"):
                repository.add_attempt(
                    AttemptKey(run_id_of(STUDY, name), turn.cell.key, turn.repeat, operation, 1),
                    AttemptResult(
                        status="verified",
                        operation_s=seconds(turn.cell, turn),
                        total_s=9.0,
                        environment=dict(environment),
                    ),
                    pod,
                    phases={"operation": 1.0},
                    target="t",
                    dataset=dataset,
                    parameters=measured_with(turn.cell.store, params),
                )
        repository.finish_run(run_id_of(STUDY, name))
        return name

    return make
