import http.server
import json
import ssl
import threading

import pytest
import trustme

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


# What Spark 4.2 has logged for an executor's pod that an API server refused, by session.LOGGED.
QUOTA = 'pods "x-exec-1" is forbidden: exceeded quota: small, requested: limits.memory=1792Mi, used: limits.memory=4Gi, limited: limits.memory=5Gi'
REFUSED = (
    "Failure executing: POST at: https://10.96.0.1:443/api/v1/namespaces/bench/pods. Message: {}. Received status: Status(apiVersion=v1,"
    " code=403, details=null, kind=Status, message={}, reason=Forbidden, status=Failure, additionalProperties={{}}).\n"
)


def test_a_refused_executor_says_kubernetes_own_sentence():
    policy = 'admission webhook "validate.example.org" denied the request: [rule] no'
    logged = "\n" + REFUSED.format(policy, policy) + "\n" + REFUSED.format(QUOTA, QUOTA) + "\n"
    assert session.refusal(logged) == f"Kubernetes refuses their pods: {QUOTA}"
    assert session.refusal(REFUSED.format(policy, policy)).endswith(policy)
    long = session.refusal(REFUSED.format("x" * 5_000, ""))
    assert len(long) < 1_100


def test_other_messages_of_sparks_client_are_no_refusal():
    assert session.refusal("") == ""
    assert (
        session.refusal(
            "Failure executing: GET at: https://10.96.0.1/api/v1/namespaces/bench/pods. Message: no."
        )
        == ""
    )
    assert session.refusal("Connection reset\n\nFailed to connect to /10.96.0.1:443\n") == ""


def test_a_driver_with_executors_keeps_what_kubernetes_has_refused_in_a_file(monkeypatch, tmp_path):
    options = session.settings(VALUES, POD)[session.DRIVER_OPTIONS]
    assert options == f"-Dlog4j2.configurationFile={session.SPARK_LOGGING},{session.LOGGING}"
    archived = session.settings(VALUES, {**POD, "SPARK_CLASSES": "/c.jsa"})[session.DRIVER_OPTIONS]
    assert archived == f"-XX:SharedArchiveFile=/c.jsa {options}"
    assert session.DRIVER_OPTIONS not in session.local_settings(VALUES, POD)
    assert f"fileName = {session.REFUSALS}\n" in session.LOGGED
    monkeypatch.setattr(session, "REFUSALS", tmp_path / "log")
    assert session.last_refusal() == ""
    (tmp_path / "log").write_text(REFUSED.format(QUOTA, QUOTA))
    assert session.last_refusal().endswith(QUOTA)


def test_pods_that_run_or_start_are_no_reason():
    running = {"status": {"containerStatuses": [{"state": {"running": {}}}]}}
    assert session.reason([running, waiting("ContainerCreating")]) == ""


def test_kubernetes_tells_why_executors_do_not_run_to_the_pods_account(monkeypatch, tmp_path):
    """The cluster's certificate is from the authority beside the account's token, and no proxy is asked."""
    asked = []

    class Kubernetes(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append((self.path, self.headers["Authorization"]))
            condition = {"type": "PodScheduled", "status": "False", "message": "too little memory"}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"items": [{"status": {"conditions": [condition]}}]}).encode())

        def log_message(self, *_):
            pass

    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    (tmp_path / "token").write_text("t")
    monkeypatch.setattr(session, "CREDENTIALS", tmp_path)
    monkeypatch.setattr(session, "REFUSALS", tmp_path / "refusals")
    monkeypatch.setenv(session.POD_NAMESPACE, "here")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Kubernetes) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        monkeypatch.setenv(session.API, f"https://127.0.0.1:{server.server_port}")
        trustme.CA().cert_pem.write_to_path(tmp_path / "ca.crt")
        assert "CERTIFICATE_VERIFY_FAILED" in session._why("a=b,c=d", "")
        assert session._why("a=b,c=d", "earlier reason") == "earlier reason"
        authority.cert_pem.write_to_path(tmp_path / "ca.crt")
        why = session._why("a=b,c=d", "")
        server.shutdown()
    assert why == "no node can take the pod: too little memory"
    assert asked == [("/api/v1/namespaces/here/pods?labelSelector=a=b%2Cc=d", "Bearer t")]
