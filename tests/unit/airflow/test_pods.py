"""The operators, with Airflow's own that they are made of, on a cluster in memory."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import (
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
)
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.airflow.kubernetes import calls as kubernetes_api
from storebench.airflow.kubernetes.placement import LABEL
from storebench.airflow.operators import leftovers, pods
from storebench.airflow.operators.dataset import DatasetOperator
from storebench.attempt import disk
from storebench.attempt.result import AttemptResult
from storebench.dataset.csv50 import CSV50
from storebench.errors import StorebenchError
from storebench.results.leftovers.stopped import COMMAND
from storebench.stores.bulk_write_read.mongodb import MongoDB
from storebench.study.model import Operation
from tests.unit.airflow.account import CELL, FIGURES, MANIFEST, VERIFIED, attempt, context, spec_of
from tests.unit.airflow.cluster import away, ended
from tests.unit.example import STUDY, cell


def test_an_attempt_is_recorded_with_its_figures(cluster, account):
    attempt("write").execute(context("cell.write"))
    ((operation, result, pod),) = account.attempts
    assert (operation, result.status, result.metrics, pod.exit_code) == (
        "write",
        "verified",
        FIGURES,
        0,
    )
    assert cluster.pods == {}


def test_a_pod_that_has_succeeded_is_no_failure_though_its_phase_is_late(cluster, account, monkeypatch):
    logged = []
    monkeypatch.setattr(pods, "error_text", logged.append)
    cluster.phase_is_late = True
    attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.status == "verified" and logged == []


@pytest.mark.parametrize("after", ["log", "create"])
def test_a_verified_attempt_is_not_lost_where_the_api_server_is_away_at_its_end(cluster, account, after):
    cluster.fails = away(after, calls=12)
    attempt("write").execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.status, result.metrics, pod.exit_code) == ("verified", FIGURES, 0)


def test_an_attempt_ends_with_its_own_container_though_a_sidecar_goes_on(cluster, account):
    cluster.sidecar = True
    began = time.monotonic()
    attempt("write").execute(context("cell.write"))
    assert time.monotonic() - began < 10
    ((_, result, pod),) = account.attempts
    assert result.status == "verified" and result.environment["image"] == "storebench/python:1"
    assert pod.exit_code == 0 and cluster.pods == {}, "the sidecar goes with the pod"


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


def test_a_pod_that_was_evicted_and_is_gone_has_its_node_and_the_reason(cluster, account):
    """A drained node's pod is removed as soon as its program has ended, so the last look may find no pod."""
    evicted = k8s.V1PodCondition(type="DisruptionTarget", status="True", reason="Evicted", message="drained")
    cluster.end = lambda pod: ended(143, "Error")

    def fails(call, before):
        if call == "log":
            for pod in cluster.pods.values():
                pod.status.conditions = [evicted]
            cluster.evicted, cluster.pods = cluster.pods, {}
            cluster.has_evicted.set()

    cluster.fails = fails
    with pytest.raises(AirflowFailException):
        attempt("write").execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.error_kind, result.error) == ("killed", "Kubernetes ended the pod: Evicted: drained")
    assert pod.pod is not None and pod.node == "n1"


def test_an_attempt_that_ran_out_of_time_says_so_and_keeps_its_figures(cluster, account):
    told_to_stop = AttemptResult(
        error_kind="killed",
        error="The pod was told to stop",
        metrics={"only_s": 3.5},
        memory_peak_bytes=7,
    )
    cluster.end = lambda pod: (ended(143, message=told_to_stop.to_json()), "DeadlineExceeded")
    with pytest.raises(AirflowFailException, match="timeout: Not finished after 600 s"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.error_kind, result.metrics, result.memory_peak_bytes) == (
        "timeout",
        {"only_s": 3.5},
        7,
    )


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (
            (ended(143, message='making it\n{"rows": 1000, "sha256": "…"}'), "DeadlineExceeded"),
            "timeout: Not finished after 600 s: raise the parameter attempt_timeout_s",
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
        DatasetOperator(task_id="dataset", study=STUDY).execute(context("dataset"))
    assert str(caught.value) == account.stopped == f"The dataset was not made: {reason}"


KILLED = {"cell.write_0": "failed", "cell.read_0": "failed"}


REFUSING = AttemptResult(status="failed", error_kind="store_failed", error="The disk is full")


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (replace(VERIFIED, metrics={"only_s": 1.5}).to_json(), "bad_result: The result lacks 'rows_per_s'"),
        (replace(VERIFIED, metrics={**FIGURES, "more_s": 1}).to_json(), "bad_result: .*'more_s'"),
        ("{", "bad_result: .*no JSON"),
        ('{"version": 1, "status": "verified"}', "bad_result: .*docs/protocol.md"),
        (None, "internal: .*exit code 0 .*no result"),
        (REFUSING.to_json(), "store_failed: The disk is full"),
    ],
)
def test_a_step_whose_result_is_not_verified_fails_though_its_program_ended_well(
    cluster, account, message, kind
):
    """Airflow's state of the step tells the steps that need it whether they may run."""
    cluster.end = lambda pod: ended(message=message)
    with pytest.raises(AirflowFailException, match=kind):
        attempt("write").execute(context("cell.write"))
    ((operation, result, pod),) = account.attempts
    assert (operation, result.status, pod.exit_code) == ("write", "failed", 0)
    assert account.left, "its drop removes what it has left"


def test_a_filler_whose_result_is_not_verified_fails_though_its_program_ended_well(cluster, account):
    account.cell = cell("delta-kernel", batch="all")
    cluster.end = lambda pod: ended(message=REFUSING.to_json())
    with pytest.raises(AirflowFailException, match="delta-spark could not do its write: The disk is full"):
        attempt("write").execute(context("cell.write"))
    assert [(operation, result.status) for operation, result, _ in account.attempts] == [("read", "failed")]


def test_a_drop_that_says_that_it_failed_has_dropped_nothing(cluster, account):
    account.leaves("s/now", CELL, 1)
    states = {"cell.write_0": "success", "cell.read_0": "success"}
    cluster.end = lambda pod: ended(message=REFUSING.to_json())
    with pytest.raises(AirflowFailException, match="The disk is full"):
        attempt("drop").execute(context("cell.drop", states))
    assert account.left
    cluster.end = lambda pod: ended()
    attempt("drop").execute(context("cell.drop", states))
    assert account.left == {}, "a drop need not leave a result"


@pytest.fixture
def orphans(cluster, monkeypatch):
    """Create a driver whose task was killed, and its executor, which take some time to end. Return the names of existing pods."""
    monkeypatch.setattr(leftovers, "POLL_INTERVAL_S", 0.0)
    labels = {"dag_id": "s", "run_id": "now", "map_index": "0", "task_id": "cell.write"}
    for name, own in (
        ("driver", {LABEL: "a", **labels}),
        ("executor", {LABEL: "a"}),
        ("other", {LABEL: "b"}),
    ):
        metadata = SimpleNamespace(name=name, labels=own, deletion_timestamp=None)
        cluster.pods[name] = SimpleNamespace(metadata=metadata, status=SimpleNamespace(phase="Running"))
    looks = {}

    def delete(name, namespace, **_):
        looks[name] = 0

    def list_pods(namespace, label_selector=""):
        for name in list(looks):
            looks[name] += 1
            if looks[name] > 3 and name != cluster.stuck:
                cluster.pods.pop(name, None)
        return type(cluster).list_namespaced_pod(cluster, namespace, label_selector)

    cluster.stuck = None
    monkeypatch.setattr(cluster, "delete_namespaced_pod", delete)
    monkeypatch.setattr(cluster, "list_namespaced_pod", list_pods)
    return cluster.pods


def test_leftover_pods_are_gone_before_the_drop_ends_even_where_the_data_is_kept(cluster, account, orphans):
    with pytest.raises(AirflowSkipException, match="keep_data"):
        attempt("drop").execute(context("cell.drop", KILLED, keep_data=True))
    assert set(orphans) == {"other"}


def test_where_no_drop_comes_leftover_pods_of_ended_cells_are_gone_before_the_next_one(
    cluster, account, orphans, monkeypatch
):
    monkeypatch.setattr(type(STUDY), "steps", ("write", "read"))
    there = []
    cluster.end = lambda pod: (there.append(set(orphans)), ended(message=VERIFIED.to_json()))[1]
    second = context(
        "cell.write", {"cell.write_0": "success", "cell.read_0": "failed", "cell.write_1": "running"}
    )
    second["ti"].map_index = 1
    attempt("write").execute(second)
    assert there == [{"other"}]


def test_a_leftover_pod_that_does_not_go_fails_the_drop(cluster, account, orphans, monkeypatch):
    monkeypatch.setattr(leftovers, "GONE_WITHIN_S", 0.1)
    cluster.stuck = "executor"
    with pytest.raises(StorebenchError, match="Still there 0 s after the removal: executor"):
        attempt("drop").execute(context("cell.drop", KILLED))


def test_a_drop_that_runs_out_of_time_says_so(cluster, account):
    told_to_stop = AttemptResult(error_kind="killed", error="The pod was told to stop")
    cluster.end = lambda pod: (ended(143, message=told_to_stop.to_json()), "DeadlineExceeded")
    states = {"cell.write_0": "success", "cell.read_0": "success"}
    with pytest.raises(AirflowFailException, match="timeout: Not finished after 600 s"):
        attempt("drop").execute(context("cell.drop", states))


def test_data_is_accounted_for_from_the_write_to_the_drop_unless_it_is_to_be_kept(cluster, account):
    attempt("write").execute(context("cell.write", keep_data=True))
    assert account.left == {}
    cluster.end = lambda pod: ended(message=replace(VERIFIED, data_bytes=512).to_json())
    attempt("write").execute(context("cell.write"))
    ((key, left),) = account.left.items()
    assert (key, left.size_bytes) == (("s/now", CELL, 1), 512)
    cluster.end = lambda pod: ended(message=VERIFIED.to_json())
    attempt("read").execute(context("cell.read", {"cell.write_0": "success"}))
    assert account.left[key].size_bytes == 512, "a read tells no size, and is accounted for all the same"
    states = {"cell.write_0": "success", "cell.read_0": "success"}
    attempt("drop").execute(context("cell.drop", states))
    assert account.left == {}


@pytest.mark.parametrize(
    ("try_number", "drop", "said"), [(1, "success", False), (2, "success", True), (2, None, False)]
)
def test_a_step_that_is_cleared_without_its_drop_says_what_it_leaves(
    cluster, account, capsys, try_number, drop, said
):
    cleared = context("cell.write", {"cell.drop_0": drop})
    cleared["ti"].try_number = cleared["ti"].max_tries = try_number
    attempt("write").execute(cleared)
    words = (
        f"data stays in the store: {CELL.target('s/now', 1)} in mongodb. To remove the data, clear the drop"
    )
    told = capsys.readouterr().out
    assert (words in told) is (COMMAND in told) is said


def test_a_read_that_is_cleared_when_its_data_is_dropped_is_not_run_and_says_what_to_clear(cluster, account):
    states = {"cell.write_0": "success", "cell.read_0": "success", "cell.drop_0": "success"}
    for step in ("write", "read", "drop"):
        attempt(step).execute(context(f"cell.{step}", states))
    assert [result.status for _, result, _ in account.attempts] == ["verified", "verified"]
    pods = cluster.calls.count("create")
    cleared = context("cell.read", states)
    cleared["ti"].try_number = cleared["ti"].max_tries = 2
    with pytest.raises(AirflowFailException, match="clear all steps of the cell together: write, read, drop"):
        attempt("read").execute(cleared)
    operation, result, _ = account.attempts[-1]
    assert (operation, result.status, result.error_kind) == ("read", "not_run", "not_run")
    assert "dropped" in result.error
    assert account.tries == [1, 1, 0], "the verified try is still the newest"
    assert cluster.calls.count("create") == pods, "no pod was started"


def test_a_step_that_needs_no_other_can_be_cleared_alone_when_the_data_is_dropped(account, told, monkeypatch):
    monkeypatch.setattr(MongoDB, "operations", ("write", "read", "copy"))
    states = states_of(write="success", read="success", scan="skipped", drop="success")
    attempt("copy", study=THREE).execute(context("cell.copy", states))
    assert [(operation, result.status) for operation, result, _ in account.attempts] == [("copy", "verified")]
    assert set(account.left) == {("s/now", CELL, 1)}, "what it leaves is accounted for"


def test_a_read_of_what_another_store_wrote_is_not_run_either_when_that_is_dropped(account, told):
    account.cell = cell("delta-kernel", batch="all")
    with pytest.raises(AirflowFailException, match="clear all steps of the cell together: write, read, drop"):
        attempt("read").execute(context("cell.read", states_of(write="success", drop="success")))
    assert [(operation, result.status) for operation, result, _ in account.attempts] == [("read", "not_run")]
    assert told == []


def test_a_read_whose_data_was_kept_can_be_cleared_alone(cluster, account):
    states = {"cell.write_0": "success", "cell.drop_0": "skipped"}
    cleared = context("cell.read", states, keep_data=True)
    cleared["ti"].try_number = cleared["ti"].max_tries = 2
    attempt("read").execute(cleared)
    assert [result.status for _, result, _ in account.attempts] == ["verified"]


def states_of(**states):
    return {f"cell.{operation}_0": state for operation, state in states.items()}


@pytest.fixture
def told(cluster):
    """Collect the specifications of the pods in order."""
    found = []

    def end(pod):
        found.append(spec_of(pod))
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    return found


def test_a_pod_is_told_its_cell_its_dataset_and_where_its_results_belong(account, told):
    attempt("write").execute(context("cell.write"))
    (spec,) = told
    target = CELL.target("s/now", 1)
    assert (spec.study, spec.store, spec.client, spec.operation) == (
        STUDY.name,
        "mongodb",
        "reference",
        "write",
    )
    assert (spec.cell_key, spec.target) == (CELL.key, target)
    assert (spec.dataset, spec.results) == ("datasets/v1/rows=1000/seed=42/", f"results/{target}/write-")
    assert (spec.axes, spec.rows, spec.seed, spec.method_version) == ({"batch": "10"}, 1000, 42, 1)
    assert spec.options == {
        "cpu_limit": "False",
        "startup_timeout_s": "60",
        "counters": "on",
        "profile": "off",
    }


@pytest.mark.parametrize(("known", "told"), [("87.10", "87.1"), (None, None)])
def test_a_pod_is_told_what_is_known_of_its_disk(cluster, account, monkeypatch, known, told):
    if known:
        monkeypatch.setenv(f"AIRFLOW_VAR_{disk.VARIABLE}", known)
    seen = []

    def end(pod):
        seen.extend(one["value"] for one in pod.spec["containers"][0]["env"] if one["name"] == disk.VARIABLE)
        return ended(message=VERIFIED.to_json())

    cluster.end = end
    attempt("write").execute(context("cell.write"))
    assert seen == [told] * (told is not None)


def test_what_a_store_needs_and_has_not_its_filler_does_and_has_no_row_of_its_own(account, told):
    account.cell = cell("delta-kernel", "tuned", batch="all")
    attempt("write").execute(context("cell.write"))
    assert account.attempts == []
    (spec,) = told
    assert (spec.store, spec.client, spec.operation) == ("delta-spark", "reference", "write")
    assert spec.cell_key == account.cell.key
    assert spec.axes == {"executors": "1", "batch": "all"}
    attempt("read").execute(context("cell.read", states_of(write="success")))
    assert [operation for operation, *_ in account.attempts] == ["read"]
    assert (told[1].store, told[1].client) == ("delta-kernel", "tuned")


def test_a_filler_that_fails_is_the_reason_of_the_operation_that_needs_it(cluster, account):
    account.cell = cell("delta-kernel", batch="all")
    refused = AttemptResult(error_kind="store_failed", error="The disk is full")
    cluster.end = lambda pod: ended(5, message=refused.to_json())
    with pytest.raises(AirflowFailException, match="delta-spark could not do its write: The disk is full"):
        attempt("write").execute(context("cell.write"))
    ((operation, result, _),) = account.attempts
    assert (operation, result.error_kind) == ("read", "store_failed")


SCAN = Operation("scan", ("only_s",), needs=("write",))
COPY = Operation("copy", ("only_s",))
THREE = replace(STUDY, operations=(*STUDY.operations, SCAN, COPY))


@pytest.fixture
def scans(monkeypatch):
    """Give mongodb another operation."""
    monkeypatch.setattr(MongoDB, "operations", ("write", "read", "scan"))


def test_an_operation_that_a_store_has_not_and_does_not_need_is_skipped(account, told):
    account.cell = cell("delta-kernel", batch="all")  # has read alone, which needs write
    with pytest.raises(AirflowSkipException, match="This cell has no copy: bulk_write_read/delta-kernel/"):
        attempt("copy", study=THREE).execute(
            context("cell.copy", states_of(write="success", read="success", scan="skipped"))
        )
    assert told == [] == account.attempts


@pytest.mark.parametrize(
    ("states", "ending", "words"),
    [
        ({"write": "success", "read": "failed"}, None, None),
        ({"write": "success", "read": "skipped"}, None, None),
        ({"write": "failed", "read": "failed"}, AirflowFailException, "because the cell's write failed"),
        (
            {"write": "upstream_failed", "read": "failed"},
            AirflowFailException,
            "because the cell's write failed",
        ),
        ({"write": "skipped", "read": "skipped"}, AirflowSkipException, "The cell's write was skipped"),
        ({"write": None, "read": "success"}, AirflowRescheduleException, None),
        ({"write": "success", "read": "running"}, AirflowRescheduleException, None),
    ],
)
def test_an_operation_waits_for_what_is_before_it_and_depends_on_what_it_needs_alone(
    account, told, scans, states, ending, words
):
    asked = context("cell.scan", states_of(**states))
    if ending is None:
        account.leaves("s/now", CELL, 1)
        attempt("scan", study=THREE).execute(asked)
        assert [operation for operation, *_ in account.attempts] == ["scan"]
        return
    with pytest.raises(ending, match=words):
        attempt("scan", study=THREE).execute(asked)
    assert told == [] == account.attempts


@pytest.mark.parametrize(
    ("states", "drops"),
    [
        ({"write": "skipped", "read": "skipped"}, False),
        ({"write": "failed", "read": "failed"}, True),
        ({"write": "skipped", "read": "success"}, True),
    ],
)
def test_a_drop_removes_whatever_any_operation_may_have_left(account, told, states, drops):
    asked = context("cell.drop", states_of(**states))
    if drops:
        attempt("drop").execute(asked)
    else:
        with pytest.raises(AirflowSkipException, match="Nothing was done"):
            attempt("drop").execute(asked)
    assert [spec.operation for spec in told] == (["drop"] if drops else [])


def test_a_store_that_keeps_nothing_is_not_dropped(account, told):
    account.cell = cell("null")
    attempt("write").execute(context("cell.write"))
    assert account.left == {}
    with pytest.raises(AirflowSkipException, match="null keeps no data"):
        attempt("drop").execute(context("cell.drop", states_of(write="success", read="success")))


@pytest.mark.parametrize("message", ["[]", '{"rows": 1000}', '{"bytes": "many"}', "done"])
def test_a_dataset_without_a_manifest_was_not_made(cluster, account, message):
    cluster.end = lambda pod: ended(message=message)
    with pytest.raises(AirflowFailException, match=r"^The dataset was not made: "):
        DatasetOperator(task_id="dataset", study=STUDY).execute(context("dataset"))
    assert account.datasets_made == [] and account.stopped.startswith("The dataset was not made")


def test_the_datasets_pod_is_told_the_parameters_that_the_run_asks_for(cluster, account):
    told = []

    def end(pod):
        told.append({each["name"]: each.get("value") for each in pod.spec["containers"][0]["env"]})
        return ended(message=MANIFEST)

    cluster.end = end
    asked = context("dataset", rows="2,000", seed=7)
    DatasetOperator(task_id="dataset", study=STUDY).execute(asked)
    (environment,) = told
    assert json.loads(environment["STOREBENCH_DATASET"]) == {
        "bucket": "storebench",
        "dataset": "datasets/v1/rows=2000/seed=7/",
        "rows": 2000,
        "seed": 7,
        "axes": {},
        "version": 1,
    }
    assert [made[:4] for made in account.datasets_made] == [("v1/rows=2000/seed=7", 1, 2000, 7)]


def test_each_dataset_that_axes_shape_is_made_once(cluster, account):
    told = []

    def end(pod):
        told.append({each["name"]: each.get("value") for each in pod.spec["containers"][0]["env"]})
        return ended(message=MANIFEST)

    cluster.end = end
    shaped = replace(STUDY, dataset=replace(CSV50, name="wide", axes=("batch",)))
    DatasetOperator(task_id="dataset", study=shaped).execute(context("dataset", batch="10,20"))
    assert [json.loads(each["STOREBENCH_DATASET"])["axes"] for each in told] == [
        {"batch": "20"},
        {"batch": "10"},
    ]
    assert [made[0] for made in account.datasets_made] == [
        "wide/v1/batch=20/rows=1000/seed=42",
        "wide/v1/batch=10/rows=1000/seed=42",
    ]


def test_a_turn_that_is_left_out_is_left_out_in_all_its_steps(account, told, scans):
    """Also in those that do not need the first one."""
    study = replace(STUDY, operations=(*STUDY.operations, replace(SCAN, needs=())))
    states = states_of(write="skipped", read="skipped")
    with pytest.raises(AirflowSkipException, match="The cell's write was skipped"):
        attempt("scan", study=study).execute(context("cell.scan", states))
    assert told == []


def test_a_task_makes_the_secrets_that_its_pod_needs(cluster, account):
    attempt("write").execute(context("cell.write"))
    assert set(cluster.secrets) == {"storebench-s3", "storebench-mongodb"}
    assert account.secret_users == [("s/now", "", "s3"), ("s/now", "", "mongodb")]


def test_secrets_that_kubernetes_does_not_take_are_a_row(cluster, account):
    forbidden = ApiException(403, "Forbidden")
    cluster.fails = lambda call, before: forbidden if call == "replace secret" else None
    with pytest.raises(AirflowFailException, match="403 Forbidden"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure" and "refused a Secret" in result.error


def test_an_attempt_whose_task_is_stopped_says_so(cluster, account):
    operator = attempt("write")

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()

    cluster.fails = stop
    with pytest.raises(AirflowFailException):  # the pod is gone
        operator.execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.status, result.error_kind) == ("failed", "killed")
    assert result.error == "The task was stopped in Airflow while its pod ran"
