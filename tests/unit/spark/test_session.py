import pytest

from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.spark import session
from storebench.spark.filesystems.s3 import S3

VALUES = {
    "executors": "2",
    "executor_cores": "1",
    "executor_cpu": "250m",
    "executor_memory": "1g",
    "executor_memory_overhead": "768m",
    "cpu_limit": "False",
    "executor_encryption": "True",
    "driver_memory": "2g",
    "startup_timeout_s": "120",
}
PROTECTING = ("spark.authenticate", "spark.network")
POD = {
    session.POD_NAME: "delta-spark-write-" + "x" * 60,
    session.POD_IP: "10.244.0.9",
    session.POD_NAMESPACE: "bench",
    session.IMAGE: "storebench/jvm:1",
    session.EXECUTOR_POD: "{}",
}


def test_the_driver_is_where_its_pod_is_and_executors_are_its_own():
    found = session.settings(VALUES, POD)
    assert found["spark.driver.host"] == "10.244.0.9"
    assert found["spark.kubernetes.driver.pod.name"] == POD[session.POD_NAME]
    assert found["spark.kubernetes.container.image"] == "storebench/jvm:1"
    assert found["spark.executor.instances"] == "2"
    assert len(found["spark.kubernetes.executor.podNamePrefix"]) <= 50


def test_a_cpu_limit_is_the_request():
    limit = "spark.kubernetes.executor.limit.cores"
    assert limit not in session.settings(VALUES, POD)
    assert session.settings({**VALUES, "cpu_limit": str(True)}, POD)[limit] == VALUES["executor_cpu"]


def test_driver_and_executors_ask_for_the_key_and_encrypt_unless_told_not_to():
    found = session.settings(VALUES, POD)
    assert {name: value for name, value in found.items() if name.startswith(PROTECTING)} == {
        "spark.authenticate": "true",
        "spark.authenticate.secret.file": str(session.KEY),
        "spark.network.crypto.enabled": "true",
        "spark.network.crypto.authEngineVersion": "2",
        "spark.network.crypto.cipher": "AES/GCM/NoPadding",
        "spark.network.crypto.saslFallback": "false",
    }
    assert not any(
        name.startswith(PROTECTING)
        for name in session.settings({**VALUES, session.ENCRYPTION: str(False)}, POD)
    )


def test_outside_a_pod_it_says_what_is_missing():
    with pytest.raises(SpecError, match=session.POD_NAME):
        session.settings(VALUES, {})


def test_s3_of_amazon_needs_no_endpoint_and_no_key():
    found = S3(Connection("s3", extra={"region_name": "eu-north-1"})).settings()
    assert "spark.hadoop.fs.s3a.endpoint" not in found
    assert found["spark.hadoop.fs.s3a.endpoint.region"] == "eu-north-1"
    assert found["spark.hadoop.fs.s3a.connection.ssl.enabled"] == "true"


def test_an_endpoint_without_tls_is_used_without():
    s3 = Connection("s3", login="k", password="s", extra={"endpoint_url": "http://10.0.0.1:18070"})
    found = S3(s3).settings()
    assert found["spark.hadoop.fs.s3a.connection.ssl.enabled"] == "false"
    assert "s" not in found.values() and "k" not in found.values(), "settings are on the command line"


def test_the_deployment_may_name_the_api(monkeypatch):
    monkeypatch.setenv(session.API, "https://10.244.0.1:18443")
    assert session.kubernetes_api() == "https://10.244.0.1:18443"
    monkeypatch.delenv(session.API)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    assert session.kubernetes_api() == "https://10.96.0.1:443"


def waiting(reason, message=""):
    return {"status": {"containerStatuses": [{"state": {"waiting": {"reason": reason, "message": message}}}]}}


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        (
            [
                {
                    "status": {
                        "conditions": [
                            {"type": "PodScheduled", "status": "False", "message": "0/1 nodes: Insufficient memory"}
                        ]
                    }
                }
            ],
            "no node can take the pod: 0/1 nodes: Insufficient memory",
        ),
        ([waiting("ErrImagePull", "not found")], "ErrImagePull: not found"),
    ],
)  # fmt: skip
def test_the_reason_is_kubernetes_own(pods, words):
    assert words in session.reason(pods)


def test_pods_that_run_or_start_are_no_reason():
    running = {"status": {"containerStatuses": [{"state": {"running": {}}}]}}
    assert session.reason([running, waiting("ContainerCreating")]) == ""
