"""The pods of an operation that several pods do together: a Job beside the leader's pod, and what becomes of both."""

import copy
import json
from types import SimpleNamespace

import pytest
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.sdk.exceptions import AirflowFailException
from kubernetes import client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.airflow.compat.kubernetes_provider import LABELS_OF_TASKS
from storebench.airflow.kubernetes import parts
from storebench.airflow.kubernetes.placement import LABEL, Placement
from storebench.airflow.operators import divided, leftovers
from storebench.airflow.operators.pickup import newest_pod, selector_of
from storebench.airflow.outcome.observe import reason_of_part
from storebench.attempt.parts.environment import KEY, LEADER, PARTS, WAIT_S
from storebench.attempt.result import AttemptResult
from tests.unit.airflow.account import VERIFIED, attempt, context, spec_of
from tests.unit.airflow.cluster import ended, matches
from tests.unit.airflow.jobs import jobs_of, part
from tests.unit.example import STUDY, cell
from tests.unit.study.test_several_pods import DIVIDED, MERGES

TASK = {
    "dag_id": "s",
    "task_id": "cell.read",
    "run_id": "now",
    "map_index": "0",
    "try_number": "1",
    "kubernetes_pod_operator": "True",
    "airflow_version": "3",
    "airflow_kpo_in_cluster": "False",
}


PLACED = Placement()


def leader(attempt="a1b2c3d4e5f60718", placement=PLACED, **spec):
    """Return the leader's pod of an attempt, as Kubernetes has it."""
    template = placement.template(attempt, "base", "servers-1")
    deserialized = client.ApiClient().deserialize(SimpleNamespace(data=json.dumps(template)), "V1Pod")
    deserialized.metadata.name, deserialized.metadata.namespace, deserialized.metadata.uid = (
        "null-read-x",
        "ns",
        "u-1",
    )
    deserialized.metadata.labels |= TASK
    deserialized.spec.active_deadline_seconds = 600
    deserialized.spec.containers[0].image = "storebench/python:1"
    deserialized.spec.containers[0].resources = k8s.V1ResourceRequirements(
        requests={"cpu": "200m", "memory": "1Gi"}, limits={"memory": "1Gi"}
    )
    deserialized.spec.containers[0].env = [
        k8s.V1EnvVar(name="STOREBENCH_ATTEMPT", value="{}"),
        *parts.variables(3, 60),
    ]
    for name, value in spec.items():
        setattr(deserialized.spec, name, value)
    deserialized.status = k8s.V1PodStatus(phase="Running", pod_ip="10.0.0.7")
    return deserialized


def test_the_other_pods_are_like_the_leaders_and_belong_to_it():
    pod = leader(
        placement=Placement(node_selector={"pool": "bench"}, labels={"team": "x"}, annotations={"a": "b"})
    )
    before = copy.deepcopy(pod)
    job = parts.job_of(pod, "base", 3, pod, 60)
    assert pod == before, "the leader's pod stays as it is"
    sent = client.ApiClient().sanitize_for_serialization(job)
    spec, template = sent["spec"], sent["spec"]["template"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"], spec["backoffLimit"]) == (
        "Indexed",
        2,
        2,
        0,
    )
    assert (spec["activeDeadlineSeconds"], spec["ttlSecondsAfterFinished"]) == (660, 600)
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "null-read-x", "uid": "u-1"}
    assert sent["metadata"]["ownerReferences"] == [owner]
    own = client.ApiClient().sanitize_for_serialization(pod)["spec"]
    variables = [*own["containers"][0]["env"], {"name": "STOREBENCH_LEADER", "value": "10.0.0.7"}]
    expected = {**own, "restartPolicy": "Never", "containers": [{**own["containers"][0], "env": variables}]}
    assert template["spec"] == expected
    assert template["metadata"]["annotations"] == {"a": "b"}


def test_the_other_pods_avoid_each_other_if_they_can_and_other_attempts_always():
    pod = leader()
    affinity = parts.job_of(pod, "base", 3, pod, 60).spec.template.spec.affinity.pod_anti_affinity
    (required,) = affinity.required_during_scheduling_ignored_during_execution
    others = required.label_selector.match_expressions[1]
    assert (others.key, others.operator, others.values) == (LABEL, "NotIn", [pod.metadata.labels[LABEL]])
    preferred = [
        term.pod_affinity_term.label_selector
        for term in affinity.preferred_during_scheduling_ignored_during_execution
    ]
    assert any(selector.match_expressions[0].values == [pod.metadata.labels[LABEL]] for selector in preferred)


def test_no_pod_of_the_job_is_taken_for_the_pod_of_the_task():
    pod = leader()
    labels = parts.job_of(pod, "base", 3, pod, 60).spec.template.metadata.labels
    assert labels == {
        LABEL: pod.metadata.labels[LABEL],
        **{k: v for k, v in labels.items() if k.startswith("storebench")},
    }
    assert "storebench/client" in str(labels) or len(labels) == 2, "the servers of the run admit the pods"
    assert TASK.keys() | {KubernetesPodOperator.POD_CHECKED_KEY} <= LABELS_OF_TASKS
    task = {
        name: TASK[name] for name in ("dag_id", "task_id", "run_id", "map_index", "kubernetes_pod_operator")
    }
    for selector in (
        selector_of(task, [1]),
        "dag_id=s,run_id=now",
        "map_index=0,dag_id=s,run_id=now,task_id in (cell.read)",
    ):
        assert matches(pod.metadata.labels, selector) and not matches(labels, selector)


def test_a_sidecar_and_a_place_that_the_cluster_gave_the_leader_stay_with_the_leader():
    pod = leader(node_name="n1", priority=7)
    pod.spec.containers.insert(0, k8s.V1Container(name="proxy", image="mesh:1"))
    spec = parts.job_of(pod, "base", 2, pod, 60).spec.template.spec
    assert [container.name for container in spec.containers] == ["base"]
    assert spec.node_name is None and spec.priority is None


def test_the_environment_says_how_many_and_who():
    found = {variable.name: variable for variable in parts.variables(4, 90)}
    assert (found["STOREBENCH_PARTS"].value, found["STOREBENCH_PARTS_WAIT_S"].value) == ("4", "90")
    paths = {
        name: found[name].value_from.field_ref.field_path for name in ("STOREBENCH_POD", "STOREBENCH_NODE")
    }
    assert paths == {"STOREBENCH_POD": "metadata.name", "STOREBENCH_NODE": "spec.nodeName"}


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        (part(terminated=ended(137, "OOMKilled")), "oom_killed"),
        (part(terminated=ended(139)), "crashed"),
        (part(reason="Evicted"), "killed"),
        (part(condition="0/1 nodes are available: 1 Insufficient cpu.", node=None), "unschedulable"),
        (part(waiting="ErrImagePull"), "image"),
        (part(waiting="CreateContainerConfigError"), "infrastructure"),
        (part(waiting="ContainerCreating"), None),
        (part(terminated=ended(1)), None),
        (part(terminated=ended(0)), None),
        (part(), None),
    ],
)
def test_only_what_kubernetes_knows_is_the_reason_of_a_part(pod, kind):
    found = reason_of_part(pod, "base")
    assert (found and found.error_kind) == kind


def test_the_row_names_the_parts_and_keeps_what_the_leader_says():
    lost = AttemptResult(
        status="failed", error_kind="part_failed", error="part 2 is gone", metrics={"only_s": 1.0}
    )
    pods = [part(number, terminated=ended(137, "OOMKilled")) for number in (2, 3, 4, 5)]
    failures = [(pod, reason_of_part(pod, "base")) for pod in pods]
    found = divided.with_failures_of_parts(lost, failures)
    assert (found.error_kind, found.metrics) == ("oom_killed", {"only_s": 1.0})
    assert found.error.startswith("Part 2 (pod part-a1-1-x on n2): The pod needed more memory than its limit")
    assert "1 more parts failed" in found.error and found.error.endswith("The leader says: part 2 is gone")
    timeout = AttemptResult(status="failed", error_kind="timeout", error="late")
    assert divided.with_failures_of_parts(timeout, failures).error_kind == "timeout"
    assert divided.with_failures_of_parts(lost, []) is lost
    quota = divided.with_failures_of_parts(lost, [], "exceeded quota: pods")
    assert (quota.error_kind, "exceeded quota: pods" in quota.error) == ("unschedulable", True)


@pytest.fixture
def jobs(cluster, account, monkeypatch):
    """Return the Jobs of a cluster on which a cell of two pods is measured. The study divides reads of null."""
    found = jobs_of(cluster, monkeypatch)
    monkeypatch.setattr(STUDY.store("null"), "divides", ("read",))
    monkeypatch.setattr("storebench.study.studies.find", {DIVIDED.name: DIVIDED}.__getitem__)
    account.cell = cell("null", batch="10", pods="2")
    return found


def operator(operation="read"):
    made = attempt(operation)
    made.study = DIVIDED
    return made


def run(cluster, operation="read"):
    states = {"plan": "success", "cell.write_0": "success"}
    specs = []
    end = cluster.end

    def kept(pod):
        specs.append((spec_of(pod), pod))
        return end(pod)

    cluster.end = kept
    made = operator(operation)
    try:
        made.execute(context(f"cell.{operation}", states))
    finally:
        cluster.end = end
    return specs


def test_the_leader_starts_the_others_and_nothing_of_them_is_left(cluster, account, jobs):
    account.holds = lambda *_: True
    ((spec, pod),) = run(cluster)
    ((_, result, _),) = account.attempts
    assert result.status == "verified"
    assert (spec.axes["pods"], spec.merges) == ("2", MERGES)
    env = {variable["name"]: variable for variable in pod.spec["containers"][0]["env"]}
    secret = env[KEY]["valueFrom"]["secretKeyRef"]
    (job,) = jobs.made
    assert job.spec.completions == 1
    assert job.spec.template.spec.containers[0].env[-1].value == "10.0.0.7"
    names = [variable.name for variable in job.spec.template.spec.containers[0].env]
    assert {KEY, PARTS, WAIT_S, LEADER, "STOREBENCH_ATTEMPT"} <= set(names)
    assert secret["name"].startswith("storebench-parts-key-") and secret["name"] not in cluster.secrets
    assert any(name.startswith("parts_key_") for _, _, name in account.secret_users), (
        "a killed worker's run removes it"
    )
    assert jobs.jobs == {} and jobs.removed == [(job.metadata.name, "Background")] and cluster.pods == {}


@pytest.mark.parametrize(("operation", "pods"), [("write", "2"), ("read", None)])
def test_what_is_not_divided_has_one_pod_and_no_trace_of_parts(cluster, account, jobs, operation, pods):
    account.cell = cell("null", **{"batch": "10", **({"pods": pods} if pods else {})})
    account.holds = lambda *_: True
    ((spec, pod),) = run(cluster, operation)
    assert spec.merges == {} and ("pods" in spec.axes) == (pods is not None)
    assert not [
        variable["name"] for variable in pod.spec["containers"][0]["env"] if "PART" in variable["name"]
    ]
    assert jobs.made == [] and not any("parts" in name for name in cluster.secrets)


def test_a_lost_part_is_named_with_the_reason_of_kubernetes(cluster, account, jobs):
    account.holds = lambda *_: True
    jobs.pods = lambda job: [part(1, terminated=ended(137, "OOMKilled"))]
    lost = AttemptResult(status="failed", error_kind="part_failed", error="part 1 is gone")
    cluster.end = lambda pod: ended(1, message=lost.to_json())
    with pytest.raises(AirflowFailException, match=r"oom_killed: Part 1 \(pod part-a1-0-x on n2\)"):
        run(cluster)
    assert jobs.jobs == {} and cluster.pods == {}


def test_a_job_that_is_refused_is_the_reason_of_the_row_and_the_leader_goes(cluster, account, jobs):
    account.holds = lambda *_: True
    jobs.error = ApiException(403, "Forbidden")
    with pytest.raises(AirflowFailException, match=r"other 1 pods cannot be made: .*deploy/kubernetes has"):
        run(cluster)
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure" and cluster.pods == {}


def test_a_pod_that_is_picked_up_has_its_others_already(cluster, account, jobs):
    account.holds = lambda *_: True
    name = parts.job_name("a1b2c3d4e5f60718")
    pod = leader()
    pod.metadata.creation_timestamp = cluster.created_at
    pod.status.container_statuses = [
        k8s.V1ContainerStatus(
            name="base", image="i", image_id="", ready=False, restart_count=0,
            state=k8s.V1ContainerState(terminated=ended(message=VERIFIED.to_json())),
        )
    ]  # fmt: skip
    looks = []

    def look(_):
        looks.append(1)
        seen = copy.deepcopy(pod)
        if len(looks) < 4:
            seen.status.container_statuses[0].state = k8s.V1ContainerState(
                running=k8s.V1ContainerStateRunning()
            )
        else:
            seen.status.phase = "Succeeded"
        return seen

    cluster._look = look
    cluster.pods["null-read-x"] = pod
    jobs.jobs[name] = parts.job_of(pod, "base", 2, pod, 60)
    second = context("cell.read", {"plan": "success", "cell.write_0": "success"})
    second["ti"].try_number = 2
    operator().execute(second)
    assert account.attempts[0][1].status == "verified"
    assert jobs.made == [] and jobs.jobs == {} and jobs.removed == [(name, "Background")]


def test_the_pods_of_a_killed_task_go_with_their_job(cluster, jobs):
    pod, follower = leader(), part(1)
    follower.metadata.labels = {LABEL: pod.metadata.labels[LABEL], parts.JOB_OF_POD: "part-a1b2c3d4e5f6"}
    cluster.pods |= {"null-read-x": pod, follower.metadata.name: follower}
    jobs.jobs["part-a1b2c3d4e5f6"] = object()
    assert newest_pod(cluster, "ns", "dag_id=s,run_id=now").metadata.name == "null-read-x"
    leftovers.remove_pods(cluster, "ns", "dag_id=s,run_id=now")
    assert cluster.pods == {} and jobs.jobs == {}
