"""Pods in a namespace with the Pod Security Standard "restricted", and with a quota: the embedded API server decides."""

import json
import os
import subprocess
import uuid
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from airflow.sdk.exceptions import AirflowFailException
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

from storebench.airflow import connections
from storebench.airflow.kubernetes import parts
from storebench.airflow.kubernetes.calls import error_text
from storebench.airflow.kubernetes.placement import Placement
from storebench.airflow.operators import attempts, pods
from storebench.airflow.operators.specs import spec_of
from storebench.planning.params import run_values
from storebench.servers import topology
from storebench.servers.pods import templates
from storebench.servers.render import Place, rendered
from storebench.servers.sizes import Sizes
from storebench.spark import session
from storebench.study import studies
from storebench.study.cell import Cell
from tests.integration.watched import HOME
from tests.unit.airflow.account import PARAMS, context
from tests.unit.airflow.account import attempt as step
from tests.unit.airflow.conftest import account, cluster

__all__ = ["account", "cluster"]

ROOT = Path(__file__).parents[2]
ADMIN = HOME / "run" / "kubernetes" / "admin.kubeconfig"
AGENT = "example.com/agent:1"
STUDIES = [studies.find(name) for name in studies.names()]
REASON_WITHIN_S = 20  # controllers report a refused pod as an event


@pytest.fixture(scope="module")
def api():
    """Yield the embedded cluster's API as its administrator."""
    if "kubernetes" not in os.environ.get("STOREBENCH_EMBEDDED", "").split():
        pytest.skip("asks the embedded cluster as its administrator")
    with config.new_client_from_config(str(ADMIN)) as made:
        yield client.CoreV1Api(made)


@contextmanager
def namespace_of(api, labels=(), quota=(), limits=()):
    """Yield a namespace with these labels, this quota and these limits, and with the accounts that pods name. Remove it afterwards."""
    name = f"storebench-test-{uuid.uuid4().hex[:8]}"
    api.create_namespace({"metadata": {"name": name, "labels": dict(labels)}})
    try:
        for account_name in ("storebench-spark", "default"):
            try:
                api.create_namespaced_service_account(name, {"metadata": {"name": account_name}})
            except ApiException as error:
                assert error.status == 409, error
        meta, hard = {"name": "small"}, dict(quota)
        if limits:
            body = {"metadata": meta, "spec": {"limits": [{"type": "Container", **dict(limits)}]}}
            api.create_namespaced_limit_range(name, body)
        if hard:
            api.create_namespaced_resource_quota(name, {"metadata": meta, "spec": {"hard": hard}})
            # The embedded cluster has no controller of quotas: the test writes the status that the API server compares requests with.
            status = {"status": {"hard": hard, "used": dict.fromkeys(hard, "0")}}
            api.patch_namespaced_resource_quota_status("small", name, status)
        yield name
    finally:
        api.delete_namespace(name)


@pytest.fixture(scope="module")
def restricted(api):
    """Yield a restricted namespace whose large quota refuses pods that do not say how much CPU and memory they need."""
    quota = {"requests.cpu": "100000", "requests.memory": "1Pi", "limits.memory": "1Pi", "pods": "1000"}
    with namespace_of(api, {"pod-security.kubernetes.io/enforce": "restricted"}, quota) as name:
        yield name


@pytest.fixture(scope="module")
def full(api):
    """Yield a namespace whose quota allows no pod."""
    with namespace_of(api, quota={"pods": "0"}) as name:
        yield name


@pytest.fixture(scope="module")
def narrow(api):
    """Yield a namespace whose LimitRange allows only small containers."""
    with namespace_of(api, limits={"max": {"memory": "8Mi"}}) as name:
        yield name


@pytest.fixture
def refused(api, restricted):
    """Return why the namespace refuses a pod; empty if it takes the pod."""

    def ask(pod):
        body = api.api_client.sanitize_for_serialization(pod)
        body["metadata"].setdefault("name", "asked")
        body["metadata"].pop("namespace", None)
        try:
            api.create_namespaced_pod(restricted, body, dry_run="All")
        except ApiException as error:
            return error_text(error)
        return ""

    return ask


@pytest.fixture
def placement(monkeypatch, cluster):
    """Return the placement of the stack's own pods, with a cluster in memory, which takes the Secrets."""
    extra = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_KUBERNETES"])["extra"]
    monkeypatch.setattr(connections, "get", lambda name: SimpleNamespace(extra_dejson=extra))
    return Placement.from_extra(extra)


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_pods_of_all_stores_are_restricted(study, account, placement, refused, monkeypatch):
    monkeypatch.setattr(pods, "named", lambda image: AGENT)
    found = {}
    params = {**PARAMS, **run_values(study, {})}
    for store_name in study.stores:
        store = study.store(store_name)
        for operation in store.operations:
            operator = attempts.AttemptOperator(task_id="write", study=study, operation=operation, turn="t")
            cell = Cell(study.name, store_name, store.clients[0], (), 1000, 42)
            operator.use_store(store, spec_of(study, operation, cell, "target", params))
            operator.prepare(context("cell.write"), params, None)
            pod = operator.build_pod_request_obj(context("cell.write"))
            found[store_name, operation] = refused(pod)
            for variable in pod.spec.containers[0].env:
                if variable.name == session.EXECUTOR_POD:
                    executor = json.loads(variable.value)
                    sizes = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"memory": "1Gi"}}
                    executor["spec"]["containers"][0] |= {"image": AGENT, "resources": sizes}  # as Spark does
                    found[store_name, "executor"] = refused(executor)
            leader = api_pod(pod)
            job = parts.job_of(pod, operator.CONTAINER, 3, leader, 60)
            found[store_name, operation, "follower"] = refused(
                {"metadata": {}, "spec": job.spec.template.spec}
            )
    assert {key: reason for key, reason in found.items() if reason} == {}


def test_the_namespace_refuses_other_pods(refused):
    container = {"name": "base", "image": "example.com/python:1"}
    assert "restricted" in refused({"metadata": {}, "spec": {"containers": [container]}})
    pod = Placement().template("a", "base")
    pod["spec"]["containers"][0]["image"] = "example.com/python:1"
    assert "must specify limits.memory" in refused(pod)


def api_pod(pod):
    """Return the leader's pod as Kubernetes has it."""
    pod.metadata.uid, pod.status = "1", client.V1PodStatus(pod_ip="10.0.0.1")
    return pod


@pytest.mark.parametrize(
    "path", sorted(path.parent for path in topology.CHECKOUT_SERVERS.glob("*/*/kustomization.yaml")), ids=str
)
def test_provisioned_servers_and_their_agents_are_restricted(path, placement, refused, api, restricted):
    apps = client.AppsV1Api(api.api_client)
    creators = {
        "ConfigMap": api.create_namespaced_config_map,
        "Service": api.create_namespaced_service,
        "StatefulSet": apps.create_namespaced_stateful_set,
    }
    place = Place(spec=placement.node_spec(), agent=AGENT)
    objects = rendered(topology.find(path.parent.name, path.name), "abc", Sizes(), place)
    assert [reason for pod in templates(objects) if (reason := refused(pod))] == []
    for one in objects:
        creators[one["kind"]](restricted, one, dry_run="All", field_validation="Strict")


def test_a_server_that_may_be_cut_off_is_refused_and_admitted_without_the_standard(placement, refused, api):
    place = Place(spec=placement.node_spec(), agent=AGENT)
    objects = rendered(topology.find("cassandra", "three"), "abc", Sizes(), place, cut_off="cassandra-1")
    (pod,) = templates(objects)
    reason = refused(pod)
    assert "restricted" in reason and 'container "network" must not include "NET_ADMIN"' in reason
    api.create_namespaced_pod("default", pod, dry_run="All", field_validation="Strict")


@pytest.mark.parametrize("what", ["--kustomize=deploy/kubernetes", "--filename=deploy/helm/access.yaml"])
def test_the_api_server_takes_each_manifest_and_knows_each_field(api, what):
    kubectl = [HOME / "bin" / "kubectl", f"--kubeconfig={ADMIN}"]
    done = subprocess.run(
        [*kubectl, "apply", "--dry-run=server", "--validate=strict", what],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_airflows_pods_are_restricted(refused):
    """The chart gives all of its pods and containers these contexts."""
    values = yaml.safe_load((ROOT / "deploy/helm/values.yaml").read_text())
    container = {
        "name": "base",
        "image": AGENT,
        "securityContext": values["securityContexts"]["containers"],
        "resources": values["scheduler"]["resources"],
        "volumeMounts": values["volumeMounts"],
    }
    spec = {"securityContext": values["securityContexts"]["pod"], "volumes": values["volumes"]}
    assert refused({"metadata": {}, "spec": {**spec, "containers": [container]}}) == ""


@pytest.mark.parametrize(
    ("namespace", "words"),
    [
        ("full", "exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0"),
        ("narrow", "maximum memory usage per Container is 8Mi"),
    ],
)
def test_a_pod_that_a_rule_refuses_is_a_failed_row_with_its_words(
    api, namespace, words, account, cluster, monkeypatch, request
):
    hook = SimpleNamespace(
        core_v1_client=api,
        get_namespace=lambda: request.getfixturevalue(namespace),
        is_in_cluster=False,
        get_pod=api.read_namespaced_pod,
    )
    monkeypatch.setattr(pods.StorebenchPodOperator, "hook", hook)
    with pytest.raises(AirflowFailException, match=words):
        step("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.status == "failed" and words in result.error


def test_a_quota_that_refuses_the_other_pods_of_an_operation_is_known(api, full):
    template = Placement().template("0" * 32, "base")
    template["spec"]["containers"][0]["image"] = "example.com/python:1"
    leader = client.V1Pod(
        metadata=client.V1ObjectMeta(
            name="leader", namespace=full, uid="1", labels={"storebench/attempt": "0" * 32}
        ),
        spec=deserialized(api, template["spec"]),
        status=client.V1PodStatus(pod_ip="10.0.0.1"),
    )
    job = parts.job_of(leader, "base", 3, leader, 60)
    job.metadata.owner_references = None  # the leader is not in the cluster
    client.BatchV1Api(api.api_client).create_namespaced_job(full, job)
    parts.soon(lambda: parts.why_not_made(api, full, job.metadata.name) is not None, REASON_WITHIN_S)
    assert "exceeded quota: small" in parts.why_not_made(api, full, job.metadata.name)


def deserialized(api, spec):
    return api.api_client.deserialize(SimpleNamespace(data=json.dumps(spec)), "V1PodSpec")
