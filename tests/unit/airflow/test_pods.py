"""The operators, with Airflow's own that they are made of, on a cluster in memory."""

from types import SimpleNamespace

import pytest
import tenacity
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from kubernetes.client.exceptions import ApiException

from storebench.airflow import connections, kubernetes_api, pods, secrets
from storebench.airflow.dataset import DatasetOperator
from storebench.airflow.node_pools import NodePool
from storebench.airflow.pods import AttemptOperator
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.dataset.manifest import Manifest
from storebench.errors import SpecError
from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.left import Undropped
from tests.unit.airflow.cluster import Cluster, away, ended

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
        self.datasets = []
        self.left = {}
        self.secret_users = []

    def recorded_turn(self, run_id, node_pool, number):
        return Turn(CELL, 1, None, node_pool)

    def add_attempt(self, key, result, pod, **_):
        self.attempts.append((key.operation, result, pod))

    def stop_run(self, run_id, reason):
        self.stopped = reason

    def add_dataset(self, manifest):
        self.datasets.append(manifest)

    def writes(self, run_id, cell, repeat):
        self.left[run_id, cell, repeat] = Undropped(run_id, *run_id.split("/"), cell, repeat, "", "this")

    def dropped(self, run_id, cell, repeat):
        self.left.pop((run_id, cell, repeat), None)

    def undropped(self):
        return list(self.left.values())

    def use_secrets(self, run_id, node_pool, names):
        self.secret_users += [(run_id, node_pool, name) for name in names]


@pytest.fixture
def account(monkeypatch):
    monkeypatch.setenv("AIRFLOW_VAR_STOREBENCH_AIRFLOW_ID", "this")
    kept = Account()
    for name in ("repository", "queries", "left"):
        monkeypatch.setattr(connections, name, lambda *_: kept)
    return kept


@pytest.fixture
def cluster(monkeypatch):
    found = Cluster(lambda pod: ended(message=VERIFIED.to_json()))
    hook = SimpleNamespace(core_v1_client=found, get_namespace=lambda: "ns", is_in_cluster=False)
    monkeypatch.setattr(pods.StorebenchPodOperator, "hook", hook)
    monkeypatch.setattr(
        "airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", lambda conn_id: hook
    )
    monkeypatch.setattr(secrets, "WAIT_S", 0.01)
    monkeypatch.setattr(connections, "get", lambda name: SimpleNamespace(extra_dejson={}))
    monkeypatch.setattr(connections, "bucket", lambda: "storebench")
    monkeypatch.setattr(connections, "pod_json", lambda name: "{}")
    for module in ("pods", "dataset"):
        monkeypatch.setattr(f"storebench.airflow.{module}.image", lambda name: f"storebench/{name}:1")
    helper = "airflow.providers.cncf.kubernetes.kubernetes_helper_functions._default_wait"
    monkeypatch.setattr(helper, tenacity.wait_none())
    monkeypatch.setattr(kubernetes_api, "LONGEST_WAIT_S", 0.01)
    monkeypatch.setattr(pods.AttemptOperator, "kubernetes_version", lambda self: "v1")
    return found


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


def test_an_attempt_is_recorded_with_its_figures(cluster, account):
    attempt("write").execute(context("cell.write"))
    ((operation, result, pod),) = account.attempts
    assert (operation, result.status, result.operation_s, pod.exit_code) == ("write", "verified", 1.5, 0)
    assert cluster.pods == {}


@pytest.mark.parametrize("after", ["log", "create"])
def test_a_verified_attempt_is_not_lost_where_the_api_server_is_away_at_its_end(cluster, account, after):
    cluster.fails = away(after, calls=12)
    attempt("write").execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.status, result.operation_s, pod.exit_code) == ("verified", 1.5, 0)


def test_an_attempt_goes_on_while_the_api_server_is_away(cluster, account):
    cluster.runs_for = 4
    cluster.fails = away("log", calls=12)
    attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.status == "verified"


def test_what_the_operator_knows_is_used_where_the_last_look_fails(cluster, account, monkeypatch):
    monkeypatch.setattr(kubernetes_api, "PATIENCE_S", 0.05)
    looks = []

    def fails(call, before):
        looks.append(call)
        # the operator's own reads are over when it has read the pod's end
        return ApiException(503, "Unavailable") if watching["over"] else None

    watching = {"over": False}
    operator = attempt("write")
    cleanup = operator.cleanup

    def from_now_on(*args, **kwargs):
        watching["over"] = True
        cleanup(*args, **kwargs)

    operator.cleanup = from_now_on
    cluster.fails = fails
    operator.execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.status, pod.exit_code) == ("verified", 0) and looks


def test_a_pod_that_is_gone_is_not_asked_for_again(cluster, account):
    def fails(call, before):
        if call == "log":
            cluster.pods.clear()

    cluster.fails = fails
    with pytest.raises(AirflowFailException):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure"
    assert cluster.calls.count("read") < 8


def test_an_attempt_that_ran_out_of_time_says_so_and_keeps_its_figures(cluster, account):
    told_to_stop = AttemptResult(
        error_kind="killed", error="The pod was told to stop", operation_s=3.5, memory_peak_bytes=7
    )
    cluster.end = lambda pod: (ended(143, message=told_to_stop.to_json()), "DeadlineExceeded")
    with pytest.raises(AirflowFailException, match="timeout: Not done after 600 s"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.error_kind, result.operation_s, result.memory_peak_bytes) == ("timeout", 3.5, 7)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (
            (ended(143, message='making it\n{"rows": 1000, "sha256": "…"}'), "DeadlineExceeded"),
            "timeout: Not done after 600 s: raise the parameter attempt_timeout_s",
        ),
        (
            ended(3, message="10 %\nstorebench: S3 at http://s3 does not answer"),
            "unreachable: S3 at http://s3 does not answer",
        ),
        (
            ended(143, message='{"rows": 1000}'),
            "killed: The container ended with exit code 143 (Error) and no result",
        ),
    ],
)
def test_the_datasets_failure_names_the_step_and_its_reason_in_one_line(cluster, account, end, reason):
    cluster.end = lambda pod: end
    with pytest.raises(AirflowFailException) as caught:
        DatasetOperator(task_id="dataset").execute(context("dataset"))
    assert str(caught.value) == account.stopped == f"The dataset was not made: {reason}"


def test_leftover_pods_are_removed_even_where_the_data_is_kept(cluster, account):
    states = {"cell.write_0": "failed", "cell.read_0": "failed"}
    cluster.pods["orphan"] = SimpleNamespace(
        metadata=SimpleNamespace(
            name="orphan", labels={"dag_id": "s", "run_id": "now", "map_index": "0", "task_id": "cell.write"}
        ),
        status=SimpleNamespace(phase="Running"),
    )
    with pytest.raises(AirflowSkipException, match="keep_data"):
        attempt("drop").execute(context("cell.drop", states, keep_data=True))
    assert cluster.pods == {}


def test_data_is_accounted_for_from_the_write_to_the_drop_unless_it_is_to_be_kept(cluster, account):
    attempt("write").execute(context("cell.write", keep_data=True))
    assert account.left == {}
    attempt("write").execute(context("cell.write"))
    assert list(account.left) == [("s/now", CELL, 1)]
    states = {"cell.write_0": "success", "cell.read_0": "success"}
    attempt("drop").execute(context("cell.drop", states))
    assert account.left == {}


def test_a_task_makes_the_secrets_that_its_pod_needs(cluster, account):
    attempt("write").execute(context("cell.write"))
    assert set(cluster.secrets) == {"storebench-s3", "storebench-mongodb"}
    assert account.secret_users == [("s/now", "", "s3"), ("s/now", "", "mongodb")]


def test_secrets_that_kubernetes_does_not_take_are_a_row(cluster, account):
    forbidden = ApiException(403, "Forbidden")
    cluster.fails = lambda call, before: forbidden if call == "replace secret" else None
    with pytest.raises(SpecError, match="403 Forbidden"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure" and "does not take a Secret" in result.error


@pytest.fixture
def dropped(cluster):
    """The targets that pods have dropped; the dataset's pod gives its manifest."""
    found = []

    def end(pod):
        spec = spec_of(pod)
        if spec is None:
            return ended(message="{}")
        if spec.operation == "drop":
            found.append(spec.target)
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    return found


@pytest.fixture(autouse=True)
def any_manifest(monkeypatch):
    monkeypatch.setattr(Manifest, "from_json", classmethod(lambda cls, text: text))


def test_the_dataset_step_drops_what_runs_that_are_over_have_left(cluster, account, dropped):
    for run in ("s/stopped", "s/deleted", "s/goes-on", "s/cleared"):
        account.writes(run, CELL, 1)
    other = Undropped("s/elsewhere", "s", "elsewhere", CELL, 1, "", "another Airflow")
    account.left["s/elsewhere", CELL, 1] = other
    states = {"stopped": "failed", "goes-on": "running", "cleared": "queued", "now": "running"}
    DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states=states))
    assert dropped == [CELL.target("s/stopped", 1), CELL.target("s/deleted", 1)]
    assert {run_id for run_id, *_ in account.left} == {"s/goes-on", "s/cleared", "s/elsewhere"}
    assert len(account.datasets) == 1 and cluster.pods == {}


def test_nothing_left_costs_no_pod(cluster, account, dropped):
    account.writes("s/now", CELL, 1)
    DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states={"now": "running"}))
    assert dropped == [] and len(cluster.started) == 1
    assert account.left, "what the run itself has written is not its leftover"


def test_the_pods_of_a_run_that_was_stopped_go_before_its_data(cluster, account, dropped):
    account.writes("s/stopped", CELL, 1)
    cluster.pods["orphan"] = SimpleNamespace(
        metadata=SimpleNamespace(name="orphan", labels={"dag_id": "s", "run_id": "stopped"}),
        status=SimpleNamespace(phase="Running"),
    )
    alive = []
    end = cluster.end
    cluster.end = lambda pod: (alive.append("orphan" in cluster.pods), end(pod))[1]
    DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states={"stopped": "failed"}))
    assert alive == [False, False] and len(dropped) == 1


def test_a_store_that_does_not_answer_fails_no_run_and_is_asked_once(cluster, account, caplog):
    for repeat in (1, 2):
        account.writes("s/stopped", CELL, repeat)
    account.writes("s/stopped", OTHER, 1)
    away_result = AttemptResult(error_kind="unreachable", error="MongoDB does not answer")

    def end(pod):
        spec = spec_of(pod)
        if spec and spec.cell == CELL:
            return ended(3, message=away_result.to_json())
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    with caplog.at_level("WARNING"):
        DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states={"stopped": "failed"}))
    assert [key[1:] for key in account.left] == [(CELL, 1), (CELL, 2)]
    assert len(cluster.started) == 3, "one at MongoDB, one at Elasticsearch, the dataset's"
    assert f"Left in the store mongodb: {CELL.target('s/stopped', 2)}" in caplog.text


def test_what_has_no_connection_any_more_is_forgotten(cluster, account, dropped, monkeypatch):
    account.writes("s/stopped", CELL, 1)

    def get(name):
        if name == "mongodb":
            raise SpecError("There is no Airflow Connection 'storebench_mongodb'")
        return SimpleNamespace(extra_dejson={})

    monkeypatch.setattr(connections, "get", get)
    DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states={"stopped": "failed"}))
    assert dropped == [] and account.left == {}


def test_a_task_that_is_stopped_while_it_cleans_up_starts_nothing_more(cluster, account):
    for repeat in (1, 2):
        account.writes("s/stopped", CELL, repeat)
    operator = DatasetOperator(task_id="dataset")

    def end(pod):
        operator.on_kill()
        return ended(143)

    cluster.end = end
    with pytest.raises(AirflowFailException, match="The task was stopped"):
        operator.execute(context("dataset", airflow_states={"stopped": "failed"}))
    assert len(cluster.started) == 1 and len(account.left) == 2


def test_an_attempt_whose_task_is_stopped_says_so(cluster, account):
    operator = attempt("write")

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()

    cluster.fails = stop
    with pytest.raises(ApiException):  # the pod is gone
        operator.execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.status, result.error_kind) == ("failed", "killed")
    assert result.error == "The task was stopped in Airflow while its pod ran"


def test_the_first_write_of_another_pool_of_nodes_cleans_up_there(cluster, account, dropped):
    account.left["s/stopped", CELL, 1] = Undropped("s/stopped", "s", "stopped", CELL, 1, "v8", "this")
    airflow_states = {"stopped": "failed"}
    DatasetOperator(task_id="dataset").execute(context("dataset", airflow_states=airflow_states))
    assert dropped == [], "the default pool's step leaves other pools alone"
    attempt("write", NodePool("v8")).execute(context("cell_v8.write", airflow_states=airflow_states))
    assert dropped == [CELL.target("s/stopped", 1)]
