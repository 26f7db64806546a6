"""Record runs as the DAG does, with fixed times, for tests that read results."""

import uuid
from datetime import UTC, datetime

import pytest

from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.repository import run_id_of
from storebench.servers.sizes import FIELDS
from storebench.study.order import turns
from storebench.study.parameters import measured_with
from tests.bulk import BULK, RANKED_BY, bulk_study, cell_at

STUDY = BULK
ROWS = 1000
POD = PodRecord(
    "p", "n", 0, 10.0, datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 0, 10, tzinfo=UTC)
)
ENVIRONMENT = {"image": "i", "kernel": "6.1", "packages": {"pymongo": "4"}, "server_name": "FerretDB"}
SPARK = {
    "executor_cores": 1,
    "executor_cpu": "250m",
    "executor_memory": "1g",
    "executor_memory_overhead": "768m",
    "executor_encryption": True,
    "driver_memory": "2g",
}
POD_PARAMS = {"pod_cpu": "500m", "cpu_limit": False, "pod_memory": "8Gi"}
PARAMS = {**POD_PARAMS, **SPARK}
PHASES = {"operation": 1.0, "verify": 2.0}


def timed(seconds, rows=ROWS, **figures):
    """Return the result of a verified attempt whose operation took `seconds`."""
    metrics = {**dict.fromkeys(RANKED_BY.values(), seconds), "rows_per_s": rows / seconds}
    version = bulk_study().method_version
    return AttemptResult(status="verified", metrics=metrics, method_version=version, **figures)


@pytest.fixture
def cells():
    """Return two cells that no other test uses."""
    seed = uuid.uuid4().int % 2**40
    return [cell_at("mongodb", seed, ROWS, batch=size) for size in ("10", "20")]


@pytest.fixture
def run(repository):
    """Record a run with seconds(cell, turn) as its times, and figures(cell, operation) of each attempt.

    `so_far`: the number of finished turns of a run in progress. `asked`: the recorded parameters. The run provisions its servers if `params`
    have their sizes.
    """

    def make(
        cells,
        repeats=5,
        seconds=lambda cell, turn: 1 + turn.repeat / 100,
        environment=ENVIRONMENT,
        params=PARAMS,
        pod=POD,
        of=None,
        figures=lambda cell, operation: {},
        so_far=None,
        phases=PHASES,
        name=None,
        asked=None,
        **order,
    ):
        study = of or bulk_study()
        name = name or f"manual__{uuid.uuid4().hex}"
        planned = turns(dict.fromkeys(cells, repeats), 1, **order)
        repository.start_run(
            study=study,
            dag_id=study.name,
            airflow_run_id=name,
            params=asked or {"a": 1},
            turns=planned,
            order_seed=1,
            skipped={},
        )
        run_id, dataset = run_id_of(study.name, name), study.dataset_of(cells[0])
        provisioned = not FIELDS.keys().isdisjoint(params)
        if dataset:
            rows, seed = cells[0].rows, cells[0].seed
            repository.add_dataset(
                dataset, study.dataset.version, rows, seed, {"bytes": 1, "rows": rows, "sha256": ""}
            )
        for turn in planned[:so_far]:
            for operation in study.operations_in(turn.cell):
                took_s = seconds(turn.cell, turn)
                metrics = {operation.ranked_by: took_s, "rows_per_s": turn.cell.rows / took_s}
                repository.add_attempt(
                    AttemptKey(run_id, turn.cell.key, turn.repeat, operation.name, 1),
                    AttemptResult(
                        status="verified",
                        metrics=metrics,
                        total_s=9.0,
                        environment=dict(environment),
                        method_version=study.method_version,
                        **figures(turn.cell, operation.name),
                    ),
                    pod,
                    phases=phases,
                    metric=operation.ranked_by,
                    target="t",
                    dataset=dataset,
                    parameters=measured_with(study, turn.cell.store, params, provisioned=provisioned),
                )
        if so_far is None:
            repository.finish_run(run_id)
        return name

    return make
