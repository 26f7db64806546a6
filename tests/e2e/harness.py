"""Helpers of the end-to-end tests: runs through the command line, and pods."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from kubernetes import config
from kubernetes.client.exceptions import ApiException
from pymongo import MongoClient

from storebench.airflow.kubernetes.placement import Placement
from storebench.attempt.spec import VARIABLE
from storebench.connection import Connection, variable
from storebench.spark import session
from storebench.stores.mongodb_server import uri
from tests.bulk import bulk_study

NAMESPACE, BUCKET = "storebench", "storebench"
EXECUTORS = "spark-role=executor"  # the label of their pods
S3_SECRET = "storebench-test-s3"  # of pods that no run starts: a run's Secrets go with it
ROWS, SEED = 2000, 7
KUBERNETES = json.loads(os.environ.get("AIRFLOW_CONN_STOREBENCH_KUBERNETES", '{"extra": {}}'))
PLACEMENT = Placement.from_extra(KUBERNETES["extra"])


@contextmanager
def administrator():
    """Yield a client of the embedded cluster with all rights. Skip the test where the cluster is another one."""
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("asks the embedded cluster as its administrator")
    configuration = Path(os.environ["STOREBENCH_HOME"], "run", "kubernetes", "admin.kubeconfig")
    with config.new_client_from_config(str(configuration)) as client:
        yield client


def storebench(*arguments, seconds=800, **environment):
    """Call the command line with a time limit in seconds."""
    process = subprocess.run(
        [sys.executable, "-m", "storebench.cli", *arguments],
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    print(process.stdout, process.stderr)
    return process


def run(*arguments, seconds=800):
    """Run a study on a small dataset, within so many seconds; returns the exit code, all output, and the run's rows.

    What is not said otherwise is the bulk study, and MongoDB with its reference client.
    """
    defaults = {"--rows": str(ROWS), "--seed": str(SEED), "--stores": "mongodb", "--clients": "reference"}
    chosen = [text for pair in defaults.items() if pair[0] not in arguments for text in pair]
    process = storebench("run", *chosen, *arguments, seconds=seconds)
    text = process.stdout + process.stderr
    if not process.stdout.startswith("run "):
        return process.returncode, text, []
    run_id = process.stdout.split()[1].rstrip(":")
    rows = storebench("results", "--run", run_id, "--format", "json")
    # a run that its plan has refused has no rows
    return process.returncode, text, json.loads(rows.stdout) if rows.returncode == 0 else []


def growth_of(rows):
    """Return the differences of the counters of a run's attempts, by store, operation and counter. `rows`: of the run."""
    told = storebench("results", "--run", rows[0]["run"], "--counters", "--format", "json")
    return {
        (attempt["store"], attempt["operation"], name): figure["difference"]
        for attempt in json.loads(told.stdout)
        for name, figure in attempt["counters"].items()
    }


def collections():
    """Return the names of the collections in Storebench's MongoDB database."""
    server = Connection.from_json("mongodb", os.environ["AIRFLOW_CONN_STOREBENCH_MONGODB"])
    with MongoClient(uri(server)) as client:
        return set(client[server.schema].list_collection_names())


def finished_one_by_one(rows):
    """Return the cells of a run. Check that each cell was written and read before the next began."""
    cells = [(row["store"], row["axes"]["batch"], row["repeat"]) for row in rows]
    assert [row["operation"] for row in rows] == ["write", "read"] * (len(rows) // 2)
    assert cells[::2] == cells[1::2], "a cell is finished before the next one starts"
    assert len(set(cells)) == len(rows) // 2
    return set(cells)


def as_user(pod, user):
    """Return the pod with a user's number in the group 0, as on OpenShift; None: the image's user."""
    if user is not None:
        pod["spec"]["securityContext"] |= {"runAsUser": user, "runAsGroup": 0}
    return pod


def pod(name, image, spec, program=None, user=None):
    """The manifest of a pod that tries one attempt; `program` is Python that does so in the place of `storebench attempt`. The pod and
    those that it starts run as `user`.
    """
    account = bulk_study().store(spec.store).pod_of(spec.operation).account
    fields = {
        session.POD_NAME: "metadata.name",
        session.POD_IP: "status.podIP",
        session.POD_NAMESPACE: "metadata.namespace",
    }
    made = as_user(PLACEMENT.template(name, "base"), user)
    made["metadata"]["name"] = name
    made["spec"] |= {"restartPolicy": "Never", "automountServiceAccountToken": bool(account)}
    made["spec"]["serviceAccountName"] = account or "default"
    made["spec"]["containers"][0] |= {
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        **({"command": ["python", "-c", program]} if program else {"args": ["attempt"]}),
        "env": [
            {"name": VARIABLE, "value": spec.to_json()},
            {"name": session.IMAGE, "value": image},
            {
                "name": session.EXECUTOR_POD,
                "value": json.dumps(as_user(PLACEMENT.template(name, session.EXECUTOR), user)),
            },
            {"name": session.API, "value": os.environ["AIRFLOW_VAR_STOREBENCH_KUBERNETES_API"]},
            {
                "name": variable("s3"),
                "valueFrom": {"secretKeyRef": {"name": S3_SECRET, "key": "connection"}},
            },
            *({"name": key, "valueFrom": {"fieldRef": {"fieldPath": path}}} for key, path in fields.items()),
        ],
    }
    return made


def pods(cluster, selector):
    """Return the living pods with these labels."""
    found = cluster.list_namespaced_pod(NAMESPACE, label_selector=selector).items
    return [pod for pod in found if pod.status.phase in ("Pending", "Running")]


def driver_with_executors(cluster, least=1):
    """Return the name of the Spark driver and the pods of its running executors; nothing while fewer than `least` run."""
    executors = [pod for pod in pods(cluster, EXECUTORS) if pod.status.phase == "Running"]
    return len(executors) >= least and (executors[0].metadata.owner_references[0].name, executors)


def delete(cluster, name):
    """Kill a pod at once; it may be gone already."""
    try:
        cluster.delete_namespaced_pod(name, NAMESPACE, grace_period_seconds=0)
    except ApiException as error:
        if error.status != 404:
            raise


def soon(condition, seconds=120):
    """Wait until `condition` returns a true value, and return the value."""
    deadline_s = time.monotonic() + seconds
    while time.monotonic() < deadline_s:
        if found := condition():
            return found
        time.sleep(0.2)
    raise AssertionError(f"not within {seconds} s")
