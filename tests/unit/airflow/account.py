"""The results database in memory, and the tasks that use it."""

from dataclasses import replace
from types import SimpleNamespace

from storebench.airflow.operators.attempts import AttemptOperator
from storebench.airflow.operators.drops import DropOperator
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.planning.params import run_values
from storebench.results.leftovers.servers import ServerUse
from storebench.results.leftovers.tracking import Undropped
from storebench.study.order import Turn
from storebench.study.reserved import DROP
from tests.unit.example import STUDY, cell

CELL, OTHER = cell("mongodb"), cell("elasticsearch")
FIGURES = {"only_s": 1.5, "rows_per_s": 667.0, "source_s": 0.5}
VERIFIED = AttemptResult(status="verified", verification="all of it", metrics=FIGURES, total_s=9.5)
MANIFEST = '{"rows": 1000, "bytes": 484000}'
PARAMS = {
    **run_values(STUDY, {}),
    "pod_cpu": "1",
    "pod_memory": "1Gi",
    "startup_timeout_s": 60,
    "attempt_timeout_s": 600,
    "profile": "off",
}


class Account:
    """The records of storebench.results, in memory; the turns are of `cell`."""

    cell = CELL

    def __init__(self):
        self.attempts = []
        self.tries = []
        self.phases = []
        self.rows = {}  # as the database keeps them: the first of each id
        self.stopped = None
        self.datasets_made = []
        self.left = {}
        self.secret_users = []
        self.servers = {}
        self.unneeded_datasets = []

    def recorded_turn(self, run_id, node_pool, number):
        return Turn(self.cell, 1, None, node_pool)

    def add_attempt(self, key, result, pod, *, phases, **_):
        row = {
            "operation": key.operation,
            "try_number": key.try_number,
            "pod": pod.pod,
            **{name: getattr(result, name) for name in ("status", "error_kind", "error")},
        }
        self.rows.setdefault(key.id, row)
        self.attempts.append((key.operation, result, pod))
        self.tries.append(key.try_number)
        self.phases.append(phases)

    def tries_of(self, key):
        found = [row for row in self.rows.values() if row["operation"] == key.operation]
        return sorted(found, key=lambda row: -row["try_number"])

    def stop_run(self, run_id, reason):
        self.stopped = reason

    def add_dataset(self, dataset, version, rows, seed, manifest):
        self.datasets_made.append((dataset, version, rows, seed, manifest))

    def leaves(self, run_id, cell, repeat, *, anew=True):
        begun = Undropped(run_id, *run_id.split("/"), cell, repeat, "", "this")
        self.left[run_id, cell, repeat] = begun if anew else self.left.get((run_id, cell, repeat), begun)

    def has_left(self, run_id, cell, repeat, size_bytes):
        self.left[run_id, cell, repeat] = replace(self.left[run_id, cell, repeat], size_bytes=size_bytes)

    def dropped(self, run_id, cell, repeat):
        self.left.pop((run_id, cell, repeat), None)

    def holds(self, run_id, cell, repeat):
        return (run_id, cell, repeat) in self.left

    def undropped(self):
        return list(self.left.values())

    def use_secrets(self, run_id, node_pool, names):
        self.secret_users += [(run_id, node_pool, name) for name in names]

    def provision_servers(self, run_id, servers, store):
        self.servers[run_id, servers] = ServerUse(servers, store)

    def servers_ready(self, run_id, servers, pods):
        self.servers[run_id, servers] = replace(self.servers[run_id, servers], pods=pods)

    def servers_failed(self, run_id, servers, reason):
        self.servers[run_id, servers] = replace(self.servers[run_id, servers], pods=None, failed=reason)

    def servers_removed(self, run_id, servers):
        use = self.servers.pop((run_id, servers), None)
        for key in [key for key in self.left if use and key[0] == run_id and key[1].store == use.store]:
            del self.left[key]

    def servers_of(self, run_id):
        return [use for (run, _), use in self.servers.items() if run == run_id]

    def runs(self):
        return [vars(left) for left in self.left.values()]

    def datasets(self):
        return list(self.unneeded_datasets)

    def remove_dataset(self, dataset, remove):
        remove()
        self.unneeded_datasets = [one for one in self.unneeded_datasets if one["id"] != dataset]


def context(task_id, states=None, airflow_states=None, **params):
    """Return the context of a task. `states` are the states of the cell's other tasks, `airflow_states` those of Airflow's runs by id."""
    runs = airflow_states or {}

    def get_dr_count(dag_id, run_ids, states):
        return sum(1 for run_id in run_ids if runs.get(run_id) in states)

    ti = SimpleNamespace(
        dag_id="s",
        task_id=task_id,
        run_id="now",
        map_index=0 if "." in task_id else -1,
        try_number=1,
        max_tries=1,
        xcom_push=lambda **_: None,
        get_task_states=lambda **_: {"now": states or {"plan": "success"}},
        get_dr_count=get_dr_count,
    )
    dag = SimpleNamespace(dag_id="s")
    dag_run = SimpleNamespace(partition_key=None)
    return {"ti": ti, "dag": dag, "dag_run": dag_run, "run_id": "now", "params": {**PARAMS, **params}}


def attempt(operation, node_pool=None, study=STUDY):
    others = {"node_pool": node_pool} if node_pool else {}
    if operation == DROP:
        return DropOperator(task_id=operation, study=study, turn="t", **others)
    return AttemptOperator(task_id=operation, study=study, operation=operation, turn="t", **others)


def spec_of(pod):
    """Return the specification of an attempt's pod; None for the dataset's pod."""
    told = {each["name"]: each.get("value") for each in pod.spec["containers"][0].get("env", [])}
    return AttemptSpec.from_json(told[VARIABLE]) if VARIABLE in told else None
