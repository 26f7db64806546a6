"""The key of Spark's drivers and executors: who gets it, and that it is in a Secret only."""

import base64
import json
from types import SimpleNamespace

import pytest
from kubernetes.client.exceptions import ApiException

from storebench.airflow import attempts, connections, pods, secrets, spark_driver
from storebench.airflow.node_pools import DEFAULT
from storebench.airflow.placement import Placement
from storebench.airflow.plan import _secrets_of
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError
from storebench.grid import Cell, Grid
from storebench.spark import session
from storebench.stores import load

SECRET = "storebench-spark-key"


def grid(store):
    return Grid((Cell("s", store, "reference", (("batch", "10"), ("executors", "1")), 10, 42),), 0)


@pytest.mark.parametrize(
    ("store", "params", "needed"),
    [
        ("delta-spark", {session.ENCRYPTION: True}, True),
        ("delta-spark", {session.ENCRYPTION: False}, False),
        ("delta-kernel", {session.ENCRYPTION: True}, True),  # Spark writes its table
        ("mongodb", {session.ENCRYPTION: True}, False),
        ("mongodb", {}, False),  # in a study without Spark
    ],
)
def test_only_a_run_with_encrypted_executors_needs_the_key(store, params, needed):
    assert (connections.SPARK_KEY in _secrets_of(grid(store), params)) is needed


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
    monkeypatch.setattr(connections, "left", lambda: SimpleNamespace(use_secrets=lambda *_: None))

    def use(found):
        hook = SimpleNamespace(get_namespace=lambda: "bench", core_v1_client=found)
        monkeypatch.setattr(
            "airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", lambda conn_id: hook
        )
        return found

    return use


def test_the_key_is_random_and_stays_while_pods_may_be_using_it(cluster):
    first = cluster(Secrets())
    secrets.apply("s/now", [connections.SPARK_KEY], DEFAULT)
    key = first.key()
    secrets.apply("s/now", [connections.SPARK_KEY], DEFAULT)
    assert first.key() == key and len(key) == 64
    assert list(first.bodies[SECRET]["data"]) == [session.KEY.name]
    other = cluster(Secrets())
    secrets.apply("s/now", [connections.SPARK_KEY], DEFAULT)
    assert other.key() != key


def test_an_account_that_may_not_make_it_is_the_reason(cluster):
    cluster(Secrets(refused=403))
    with pytest.raises(SpecError, match=r"refused a Secret .*403"):
        secrets.apply("s/now", [connections.SPARK_KEY], DEFAULT)


@pytest.fixture
def given(monkeypatch):
    """What a Spark driver's pod is given: the Secrets that are its files, and the template of its executors."""

    def use_store(encryption):
        monkeypatch.setattr(pods, "image", lambda name: "image")
        monkeypatch.setattr(spark_driver.Variable, "get", lambda name, default=None: default)
        operator = attempts.AttemptOperator(task_id="write", operation="write", turn="")
        operator.placement = Placement()
        options = dict.fromkeys(session.OPTIONS, "1") | {session.ENCRYPTION: str(encryption)}
        cell = grid("delta-spark").cells[0]
        spec = AttemptSpec("write", cell.key, "t", "b", "d", "m", options=options)
        operator.use_store(load("delta-spark"), spec)
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
