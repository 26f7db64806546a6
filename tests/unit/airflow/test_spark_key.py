"""The key of Spark's drivers and executors: who gets it, and that it is in a Secret only."""

import base64
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest
from kubernetes.client.exceptions import ApiException

from storebench.airflow import connections
from storebench.airflow.dags.plan import _secrets_of
from storebench.airflow.kubernetes import secrets
from storebench.airflow.kubernetes.placement import Placement
from storebench.airflow.operators import attempts, pods
from storebench.airflow.operators.specs import spec_of
from storebench.errors import SpecError
from storebench.planning.node_pools import DEFAULT
from storebench.planning.params import run_values
from storebench.spark import session
from storebench.spark.options import ENCRYPTION, KEY_NAME
from tests.unit.example import BATCH, STUDY, cell

SECRET = "storebench-spark-key"


WITHOUT_SPARK = replace(STUDY, stores=("mongodb",), axes=(BATCH,))


@pytest.mark.parametrize(
    ("study", "store", "asked", "needed"),
    [
        (STUDY, "delta-spark", {ENCRYPTION: True}, True),
        (STUDY, "delta-spark", {ENCRYPTION: False}, False),
        (STUDY, "delta-kernel", {ENCRYPTION: True}, True),  # Spark writes its table
        (STUDY, "mongodb", {ENCRYPTION: True}, False),
        (WITHOUT_SPARK, "mongodb", {}, False),
    ],
)
def test_only_a_run_with_encrypted_executors_needs_the_key(study, store, asked, needed):
    stores = study.with_fillers([store])
    assert (KEY_NAME in _secrets_of(study, stores, run_values(study, asked))) is needed


class Secrets:
    """The Secrets of a namespace, as the Kubernetes API keeps them for an account that can write and not read."""

    def __init__(self, refused=None):
        self.bodies, self.refused = {}, refused

    def create_namespaced_secret(self, namespace, body):
        name = body["metadata"]["name"]
        if name in self.bodies or self.refused:
            raise ApiException(self.refused or 409)
        self.bodies[name] = body

    def replace_namespaced_secret(self, name, namespace, body):
        if name not in self.bodies:
            raise ApiException(404)
        self.bodies[name] = body

    def key(self):
        (value,) = self.bodies[SECRET]["data"].values()
        return base64.b64decode(value).decode()


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(connections, "get", lambda name: None)
    monkeypatch.setattr(connections, "leftovers", lambda: SimpleNamespace(use_secrets=lambda *_: None))

    def use(found):
        hook = SimpleNamespace(get_namespace=lambda: "bench", core_v1_client=found)
        monkeypatch.setattr(
            "airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", lambda conn_id: hook
        )
        return found

    return use


def test_the_key_is_random_and_stays_while_pods_may_be_using_it(cluster):
    first = cluster(Secrets())
    secrets.apply("s/now", [KEY_NAME], DEFAULT)
    key = first.key()
    secrets.apply("s/now", [KEY_NAME], DEFAULT)
    assert first.key() == key and len(key) == 64
    assert list(first.bodies[SECRET]["data"]) == [session.KEY.name]
    other = cluster(Secrets())
    secrets.apply("s/now", [KEY_NAME], DEFAULT)
    assert other.key() != key


def test_an_account_that_may_not_make_it_is_the_reason(cluster):
    cluster(Secrets(refused=403))
    with pytest.raises(SpecError, match=r"refused a Secret .*403"):
        secrets.apply("s/now", [KEY_NAME], DEFAULT)


@pytest.fixture
def given(monkeypatch):
    """Return the files from Secrets of a Spark driver's pod, and the template of its executors."""

    def use_store(encryption):
        monkeypatch.setattr(pods, "image", lambda name: "image")
        monkeypatch.setattr(pods.Variable, "get", lambda name, default=None: default)
        monkeypatch.setattr(connections, "bucket", lambda: "b")
        operator = attempts.AttemptOperator(task_id="write", study=STUDY, operation="write", turn="")
        operator.placement = Placement()
        params = run_values(STUDY, {ENCRYPTION: encryption})
        spec = spec_of(STUDY, "write", cell("delta-spark", batch="10", executors="1"), "t", params)
        operator.use_store(STUDY.store("delta-spark"), spec)
        (executor,) = [each.value for each in operator.env_vars if each.name == session.EXECUTOR_POD]
        files = {each.deploy_target: each.secret for each in operator.secrets if each.deploy_type == "volume"}
        return files, json.loads(executor)["spec"]

    return use_store


def test_the_driver_and_its_executors_have_the_key_in_the_same_file(given):
    folder = str(session.KEY.parent)
    files, executor = given(True)
    assert files == {folder: SECRET}
    (volume,) = [each for each in executor["volumes"] if "secret" in each]
    mounts = {each["name"]: each["mountPath"] for each in executor["containers"][0]["volumeMounts"]}
    assert volume["secret"]["secretName"] == SECRET and mounts[volume["name"]] == folder


def test_without_encryption_no_pod_gets_a_key(given):
    files, executor = given(False)
    assert files == {} and not any("secret" in each for each in executor["volumes"])
