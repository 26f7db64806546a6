"""The results database in memory, and the tasks that use it."""

from dataclasses import replace
from types import SimpleNamespace

from storebench.airflow.attempts import AttemptOperator
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.left import Undropped

CELL = Cell("s", "mongodb", "reference", (("batch", "10"),), 1000, 42)
OTHER = Cell("s", "elasticsearch", "reference", (("batch", "10"),), 1000, 42)
VERIFIED = AttemptResult(status="verified", operation_s=1.5, total_s=9.5)
PARAMS = {
    "rows": 1000,
    "seed": 42,
    "pod_cpu": "1",
    "pod_memory": "1Gi",
    "cpu_limit": False,
    "startup_timeout_s": 60,
    "attempt_timeout_s": 600,
    "keep_data": False,
    "budget_min": None,
    "precision_percent": None,
}


class Account:
    """What storebench.results keeps, in memory."""

    def __init__(self):
        self.attempts = []
        self.stopped = None
        self.manifests = []
        self.left = {}
        self.secret_users = []
        self.unneeded_datasets = []

    def recorded_turn(self, run_id, node_pool, number):
        return Turn(CELL, 1, None, node_pool)

    def add_attempt(self, key, result, pod, **_):
        self.attempts.append((key.operation, result, pod))

    def stop_run(self, run_id, reason):
        self.stopped = reason

    def add_dataset(self, manifest):
        self.manifests.append(manifest)

    def writes(self, run_id, cell, repeat):
        self.left[run_id, cell, repeat] = Undropped(run_id, *run_id.split("/"), cell, repeat, "", "this")

    def written(self, run_id, cell, repeat, size_bytes):
        self.left[run_id, cell, repeat] = replace(self.left[run_id, cell, repeat], size_bytes=size_bytes)

    def dropped(self, run_id, cell, repeat):
        self.left.pop((run_id, cell, repeat), None)

    def undropped(self):
        return list(self.left.values())

    def use_secrets(self, run_id, node_pool, names):
        self.secret_users += [(run_id, node_pool, name) for name in names]

    def runs(self):
        return [vars(left) for left in self.left.values()]

    def datasets(self):
        return list(self.unneeded_datasets)

    def remove_dataset(self, dataset, remove):
        remove()
        self.unneeded_datasets = [one for one in self.unneeded_datasets if one["id"] != dataset]


def context(task_id, states=None, airflow_states=None, **params):
    """Of a task whose cell's others have `states`; Airflow's runs are in airflow_states, by their ids."""
    runs = airflow_states or {}

    def get_dr_count(dag_id, run_ids, states):
        return sum(1 for run_id in run_ids if runs.get(run_id) in states)

    ti = SimpleNamespace(
        dag_id="s",
        task_id=task_id,
        run_id="now",
        map_index=0 if "." in task_id else -1,
        try_number=1,
        xcom_push=lambda **_: None,
        get_task_states=lambda **_: {"now": states or {}},
        get_dr_count=get_dr_count,
    )
    dag = SimpleNamespace(dag_id="s")
    return {"ti": ti, "dag": dag, "run_id": "now", "params": {**PARAMS, **params}}


def attempt(operation, node_pool=None):
    return AttemptOperator(
        task_id=operation, operation=operation, turn="t", **({"node_pool": node_pool} if node_pool else {})
    )


def spec_of(pod):
    """What a pod was told; nothing for the dataset's."""
    told = {each["name"]: each.get("value") for each in pod.spec["containers"][0].get("env", [])}
    return AttemptSpec.from_json(told[VARIABLE]) if VARIABLE in told else None
