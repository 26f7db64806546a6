"""A new study is one thin DAG file, a new store one module in the folder of the study's stores.

Both are added to a copy of the checkout, whose pod image is built and whose DAG is run on the stack's cluster, S3 and
results. The run is `airflow dags test` with a metadata database of its own: the stack's Airflow would take a run that it
finds in its database for its own, and look for the DAG among the DAGs of the checkout.
"""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from bench.variant import command, copied_checkout, pod_image
from storebench import stores
from storebench.connection import Connection
from storebench.s3 import client_for
from storebench.skeletons.write import rendered
from tests.e2e.harness import BUCKET, NAMESPACE, ROWS, SEED, delete, storebench

TOY = Path(__file__).parents[1] / "e2e" / "toy"
# What `storebench new store toy --study bulk_write_read` writes.
SKELETON = Path(stores.__file__).parent / "bulk_write_read" / "skeleton" / "store.py.template"
PODS = "dag_id=toy_study"


@pytest.fixture
def checkout():
    """Yield a copy of the checkout with the toy store and its study."""
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("puts an image into the embedded cluster's containerd")
    with copied_checkout() as copy:
        shutil.copy(TOY / "toy_study.py", copy / "dags")
        folder = copy / "src" / "storebench" / "stores" / "toy_study"
        folder.mkdir()
        (folder / "toy.py").write_text(rendered(SKELETON, "toy_study", "toy"))
        yield copy


@pytest.fixture
def image(checkout):
    with pod_image(checkout) as name:
        yield name


@pytest.fixture
def environment(checkout, image):
    """Return the environment of the copy's Airflow: the copy's code, DAGs and image, and nothing of the stack's own Airflow."""
    folder = checkout.parent
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
    """Return the names of the toy's existing pods. Pods of an interrupted run disappear later."""

    def names():
        found = cluster.list_namespaced_pod(NAMESPACE, label_selector=PODS).items
        return [pod.metadata.name for pod in found]

    yield names
    for name in names():
        delete(cluster, name)


def toy_results():
    found = storebench("results", "--store", "toy", "--format", "json")
    # Here the store is known by its results alone.
    return [] if found.returncode == 2 else json.loads(found.stdout)


def test_a_module_and_a_thin_dag_file_are_a_store_and_a_study(checkout, environment, toy_pods):
    airflow = Path(sys.executable).with_name("airflow")
    found = command(
        sys.executable, "-c", "import storebench; print(storebench.__file__)", cwd=checkout, **environment
    )
    assert found.strip() == str(checkout / "src" / "storebench" / "__init__.py")
    listed = command(sys.executable, "-m", "storebench.cli", "studies", cwd=checkout, **environment)
    assert "toy_study: Toy" in listed and "cannot be used" not in listed
    command(airflow, "db", "migrate", cwd=checkout, **environment)
    earlier = {row["run_id"] for row in toy_results()}

    conf = json.dumps({"rows": ROWS, "seed": SEED, "batch": ["500", "all"], "pod_memory": "1Gi"})
    command(airflow, "dags", "test", "toy_study", "--conf", conf, cwd=checkout, **environment)

    rows = [row for row in toy_results() if row["run_id"] not in earlier]
    assert sorted((row["axes"]["batch"], row["operation"]) for row in rows) == [
        ("500", "read"),
        ("500", "write"),
        ("all", "read"),
        ("all", "write"),
    ]
    assert {row["status"] for row in rows} == {"verified"}
    for row in rows:
        assert (
            row["metric"] == ("write_s" if row["operation"] == "write" else "only_s")
            and 0 < row["value"] < row["total_s"]
        )
        assert row["study"] == "toy_study" and row["server_name"] and row["pod"]
    assert toy_pods() == []
    s3 = client_for(Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"]))
    for target in {row["target"] for row in rows}:
        left = s3.list_objects_v2(Bucket=BUCKET, Prefix=f"toy/{target}")
        assert left["KeyCount"] == 0, "what a cell wrote is dropped"
