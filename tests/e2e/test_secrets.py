"""Secrets stay where they belong: canaries are planted in connections, a run uses them, and all that it left is searched.

What may have a secret, and is not searched: Kubernetes' own Secrets, the private files that the stack is configured by, and the
environment of its processes.
"""

import base64
import json
import os
import subprocess
import sys
import threading
import time
import uuid
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import kubernetes
import psycopg
import pytest
from kubernetes.client.exceptions import ApiException
from psycopg import sql

from bench.grid import airflow_dsn
from storebench.spark.session import KEY
from tests.e2e.harness import KUBERNETES, NAMESPACE, administrator, run, storebench
from tests.e2e.spark_probe import answers_of_spark

HOME = Path(os.environ.get("STOREBENCH_HOME", ""))
STUDY, SPARK_KEY = "bulk_write_read", "storebench-spark-key"
STORES = "mongodb@canary,mongodb@wrong,elasticsearch@canary,elasticsearch@key,delta-spark"


@pytest.fixture(scope="module")
def canaries(airflow, cluster):
    """Connections with secrets of their own: in a password that is right, in one that is wrong, and in extras; and Spark's key."""
    # The stack stops Elasticsearch after 30 minutes without use, and a plan only starts servers that its stores name.
    subprocess.run([sys.executable, "-m", "local.stack", "wake", "elasticsearch"], check=True)
    planted = {name: f"canary{uuid.uuid4().hex}" for name in ("extra", "wrong", "elasticsearch", "spark")}
    key = {"metadata": {"name": SPARK_KEY}, "stringData": {KEY.name: planted["spark"]}}
    try:
        cluster.create_namespaced_secret(NAMESPACE, key)
    except ApiException as error:
        assert error.status == 409
        cluster.replace_namespaced_secret(SPARK_KEY, NAMESPACE, key)
    mongodb = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_MONGODB"])
    elasticsearch = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH"])
    connections = {
        "storebench_mongodb_canary": mongodb,
        "storebench_mongodb_wrong": mongodb | {"password": planted["wrong"]},
        "storebench_elasticsearch_canary": elasticsearch
        | {"login": "somebody", "password": planted["elasticsearch"]},
        "storebench_elasticsearch_key": elasticsearch | {"extra": {"api_key": planted["extra"]}},
    }
    for name, connection in connections.items():
        body = connection | {"connection_id": name, "extra": json.dumps(connection.get("extra", {}))}
        airflow.call("POST", "/api/v2/connections", json=body)
    yield planted
    for name in connections:
        airflow.call("DELETE", f"/api/v2/connections/{name}")


@pytest.fixture(scope="module")
def secrets(canaries):
    """Return all secrets: the canaries, the stack's passwords and keys, and the token of Airflow's account."""
    own = json.loads((HOME / "secrets.json").read_text())
    kubeconfig = json.loads(Path(KUBERNETES["extra"]["kube_config_path"]).read_text())
    return {**canaries, **own, "kubernetes_token": kubeconfig["users"][0]["user"]["token"]}


@pytest.fixture(scope="module")
def seen(cluster, canaries):
    """Run a study with the canaries.

    Return its rows, all pods and events during the run, the answers of its Spark without its key, and the run's beginning (Unix time).
    """
    since_s = time.time()
    texts, over = [], threading.Event()

    def look():
        while not over.wait(0.3):
            for listed in (cluster.list_namespaced_pod, cluster.list_namespaced_event):
                found = listed(NAMESPACE)
                texts.append(json.dumps(cluster.api_client.sanitize_for_serialization(found)))

    watcher = threading.Thread(target=look)
    watcher.start()
    arguments = ("--stores", STORES, "--clients", "tuned", "--axis", "batch=1000", "--axis", "executors=1")
    try:
        with ThreadPoolExecutor(1) as pool:
            result = pool.submit(run, *arguments)
            answers = answers_of_spark(cluster)
            _, text, rows = result.result()
    finally:
        over.set()
        watcher.join()
    return rows, {"command line": text, "pods and events": "\n".join(texts)}, answers, since_s


def forms(secret):
    """Return the forms of a secret: as it is, in an address, and in base64 at any offset."""
    found = {secret, quote(secret, safe="")}
    for before in ("", "x", "xx"):
        encoded = base64.b64encode((before + secret).encode()).decode().rstrip("=")
        found.add(encoded[4 if before else 0 : -2])
    return {form.encode() for form in found}


def hits(secrets, places):
    return [
        f"{name} in {place}"
        for place, content in places.items()
        for name, secret in secrets.items()
        if any(form in content for form in forms(secret))
    ]


def tables(dsn):
    """Every row of every table of a database, as text."""
    with psycopg.connect(dsn) as connection:
        names = connection.execute(
            "SELECT schemaname, tablename FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        for name in names:
            copying = sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(*name))
            with connection.cursor() as cursor, cursor.copy(copying) as rows:
                yield ".".join(name), b"".join(rows)


def test_the_canaries_were_used(seen):
    rows, *_ = seen
    status = {(row["store"], row["operation"]): row["error_kind"] or row["status"] for row in rows}
    assert status == {
        ("mongodb@canary", "write"): "verified",
        ("mongodb@canary", "read"): "verified",
        ("mongodb@wrong", "write"): "store_failed",
        ("mongodb@wrong", "read"): "not_run",
        ("elasticsearch@canary", "write"): "verified",
        ("elasticsearch@canary", "read"): "verified",
        ("elasticsearch@key", "write"): "verified",
        ("elasticsearch@key", "read"): "verified",
        ("delta-spark", "write"): "verified",
        ("delta-spark", "read"): "verified",
    }
    delivered = {row["store"]: row["delivers"] for row in rows if row["delivers"]}
    assert delivered["mongodb@canary"] == "raw BSON" and delivered["elasticsearch@canary"] == "dicts"


def test_spark_answers_nobody_without_the_key(seen):
    _, _, answers, _ = seen
    assert all(b"Unknown challenge" in answer for answer in answers), answers


def test_the_run_has_left_no_secret_in_the_cluster(seen):
    with administrator() as admin:
        found = kubernetes.client.CoreV1Api(admin).list_namespaced_secret(
            NAMESPACE, label_selector="app.kubernetes.io/managed-by=storebench"
        )
    assert [secret.metadata.name for secret in found.items] == []


def test_the_search_finds_what_is_there():
    secret = uuid.uuid4().hex
    for prefix in ("", "a", "ab", "abc"):
        text = f'{prefix}{{"password": "{secret}"}}'
        assert hits({"it": secret}, {"text": text.encode()})
        assert hits({"it": secret}, {"base64": base64.b64encode(text.encode())}), prefix
    assert not hits({"it": secret}, {"another": uuid.uuid4().hex.encode()})


def test_no_secret_is_in_pods_events_termination_messages_or_on_the_command_line(seen, secrets):
    _, places, _, _ = seen
    assert (
        "terminated" in places["pods and events"] and "spark-kubernetes-executor" in places["pods and events"]
    )
    assert SPARK_KEY in places["pods and events"], "the pods were given the planted key"
    assert "_SPARK_AUTH_SECRET" not in places["pods and events"], "nor one that Spark made"
    assert hits(secrets, {name: text.encode() for name, text in places.items()}) == []


def test_no_secret_is_in_what_airflow_tells(seen, secrets, airflow):
    rows, *_ = seen
    path = f"/api/v2/dags/{STUDY}/dagRuns/{rows[0]['run']}"
    places = {"run": airflow.call("GET", path), "connections": airflow.call("GET", "/api/v2/connections")}
    places["tasks"] = airflow.call("GET", f"{path}/taskInstances", params={"limit": 100})
    places["xcom"] = airflow.call("GET", f"{path}/taskInstances/~/xcomEntries", params={"limit": 100})
    assert places["xcom"]["total_entries"] > 0
    for entry in places["xcom"]["xcom_entries"]:
        where = f"{path}/taskInstances/{entry['task_id']}/xcomEntries/{entry['key']}"
        places[where] = airflow.call("GET", where, params={"map_index": entry["map_index"]})
    assert hits(secrets, {name: json.dumps(found).encode() for name, found in places.items()}) == []


def test_no_secret_is_in_a_log(seen, secrets):
    """Search the logs that were written since the canaries were planted: older logs cannot have a canary."""
    _, _, _, since_s = seen
    logs = {}
    for path in (HOME / "log").rglob("*"):
        with suppress(FileNotFoundError):  # rotated meanwhile
            if path.is_file() and path.stat().st_mtime >= since_s:
                logs[str(path)] = path.read_bytes()
    assert any("cell.write" in path for path in logs), "the tasks' logs are among them"
    assert hits(secrets, logs) == []


def test_no_secret_is_in_the_databases(seen, secrets):
    for dsn in (os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"], airflow_dsn()):
        found = dict(tables(dsn))
        assert len(found) > 5
        assert hits(secrets, found) == []


def test_no_secret_is_in_an_exported_bundle_a_report_or_a_site(seen, secrets, tmp_path):
    rows, *_ = seen
    bundle, report, site = tmp_path / "run.zip", tmp_path / "report", tmp_path / "site"
    assert storebench("export", rows[0]["run"], "--out", str(bundle)).returncode == 0
    assert storebench("report", rows[0]["run"], "--out", str(report)).returncode == 0
    assert storebench("site", str(site)).returncode == 0
    with zipfile.ZipFile(bundle) as archive:
        places = {name: archive.read(name) for name in archive.namelist()}
    places |= {
        str(path): path.read_bytes()
        for folder in (report, site)
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert len(places) > 2
    assert hits(secrets, places) == []
