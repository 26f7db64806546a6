"""A new store is one module and its name in the registry, a new study one thin DAG file.

Both are added to a copy of the checkout, whose pod image is built and whose DAG is run on the stack's cluster, S3 and
results. The run is `airflow dags test` with a metadata database of its own: the stack's Airflow would take a run that it
finds in its database for its own, and look for the DAG among the DAGs of the checkout.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import pytest

from storebench.connection import Connection
from storebench.s3 import client_for
from tests.e2e.harness import BUCKET, NAMESPACE, ROWS, SEED, delete, storebench

CHECKOUT, TOY = Path(__file__).parents[2], Path(__file__).parent / "toy"
CA_BUNDLE = Path("/etc/ssl/certs/ca-certificates.crt")
PODS = "dag_id=toy_study"


def command(*arguments, cwd, **environment):
    """Run a command; returns what it printed."""
    process = subprocess.run(
        [str(argument) for argument in arguments],
        cwd=cwd,
        env={**os.environ, **{name: str(value) for name, value in environment.items()}},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=400,
    )
    print(process.stdout)
    assert process.returncode == 0, process.stdout[-2000:]
    return process.stdout


@pytest.fixture
def folder():
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("puts an image into the embedded cluster's containerd")
    parent = Path(os.environ["STOREBENCH_HOME"], "tmp")
    parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="toy-", dir=parent) as name:
        yield Path(name)


@pytest.fixture
def checkout(folder):
    """A copy of the checkout with the toy store and its study."""
    copy = folder / "checkout"
    for name in ("dags", "images", "local", "plugins", "requirements", "src"):
        shutil.copytree(CHECKOUT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__", "target"))
    shutil.copy(TOY / "toy.py", copy / "src" / "storebench" / "stores")
    shutil.copy(TOY / "toy_study.py", copy / "dags")
    registry = copy / "src" / "storebench" / "stores" / "__init__.py"
    before, opening, after = registry.read_text().partition("REGISTRY = {\n")
    registry.write_text(f'{before}{opening}    "toy": "storebench.stores.toy:Toy",\n{after}')
    return copy


@pytest.fixture
def image(checkout, folder):
    """The copy's pod image in the cluster's containerd, built as local/images/pod.sh does it."""
    home, name = os.environ["STOREBENCH_HOME"], f"localhost/storebench/python:toy-{uuid.uuid4().hex[:12]}"
    archive = folder / "python.tar"
    isolated = ("sh", "-euc", '. local/images/storage.sh; exec local/isolated "$@"', "sh")
    ctr = ("ctr", "--address", f"{home}/run/containerd.sock", "--namespace", "k8s.io", "images")
    ca_bundle = ("--ca-bundle", CA_BUNDLE) if CA_BUNDLE.exists() else ()
    options = ("--engine", "buildah", "--tag", name, "--archive", archive, *ca_bundle)
    command(*isolated, "images/build", "python", *options, cwd=checkout, TMPDIR=folder)
    try:
        command(*ctr, "import", archive, cwd=checkout)
        try:
            yield name
        finally:
            command(*ctr, "remove", "--sync", name, cwd=checkout)
    finally:
        command(*isolated, "buildah", "rmi", name, cwd=checkout, TMPDIR=folder)


@pytest.fixture
def environment(checkout, folder, image):
    """What makes Airflow that of the copy: its code, DAGs and image, and nothing of the stack's own Airflow."""
    return {
        "PYTHONPATH": checkout / "src",
        "AIRFLOW_HOME": folder / "airflow",
        "AIRFLOW__CORE__DAGS_FOLDER": checkout / "dags",
        "AIRFLOW__CORE__PLUGINS_FOLDER": checkout / "plugins",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{folder}/airflow.db",
        "AIRFLOW__LOGGING__BASE_LOG_FOLDER": folder / "log",
        "AIRFLOW_VAR_STOREBENCH_IMAGE_PYTHON": image,
    }


@pytest.fixture
def toy_pods(cluster):
    """The names of the toy's pods that are there; those of a run that was broken off are gone afterwards."""

    def names():
        found = cluster.list_namespaced_pod(NAMESPACE, label_selector=PODS).items
        return [pod.metadata.name for pod in found]

    yield names
    for name in names():
        delete(cluster, name)


def toy_results():
    return json.loads(storebench("results", "--store", "toy", "--format", "json").stdout)


def test_a_module_its_name_and_a_thin_dag_file_are_a_store_and_a_study(checkout, environment, toy_pods):
    airflow = Path(sys.executable).with_name("airflow")
    where = "import storebench.stores.toy as toy; print(toy.__file__)"
    found = command(sys.executable, "-c", where, cwd=checkout, **environment)
    assert found.strip() == str(checkout / "src" / "storebench" / "stores" / "toy.py")
    command(airflow, "db", "migrate", cwd=checkout, **environment)
    earlier = {row["run_id"] for row in toy_results()}

    conf = json.dumps({"rows": ROWS, "seed": SEED, "batch_sizes": ["500", "all"], "pod_memory": "1Gi"})
    command(airflow, "dags", "test", "toy_study", "--conf", conf, cwd=checkout, **environment)

    rows = [row for row in toy_results() if row["run_id"] not in earlier]
    assert sorted((row["batch_size"], row["operation"]) for row in rows) == [
        ("500", "read"),
        ("500", "write"),
        ("all", "read"),
        ("all", "write"),
    ]
    assert {row["status"] for row in rows} == {"verified"}
    for row in rows:
        only_s = row["write_only_s"] if row["operation"] == "write" else row["read_only_s"]
        assert 0 < only_s < row["total_s"]
        assert row["study"] == "toy_study" and row["server_name"] and row["pod"]
    assert toy_pods() == []
    s3 = client_for(Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"]))
    for target in {row["target"] for row in rows}:
        left = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"toy/{target}")
        assert left["KeyCount"] == 0, "what a cell wrote is dropped"
