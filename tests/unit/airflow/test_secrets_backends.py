"""Connections come from where Airflow is told to look: a secrets backend, or variables from a Kubernetes Secret."""

import base64
import json
import re
from pathlib import Path

import pytest
import yaml
from airflow.sdk import BaseHook
from airflow.sdk.configuration import clear_secrets_backends_cache
from airflow.secrets import BaseSecretsBackend

from storebench.airflow import connections
from storebench.airflow.kubernetes import secrets
from storebench.airflow.kubernetes.placement import Placement
from storebench.errors import SpecError

ROOT = Path(__file__).parents[3]
HOW_TO = (ROOT / "docs/how-to/kubernetes.md").read_text()
S3 = {"conn_type": "aws", "login": "KEY", "password": "PASSWORD", "extra": {"bucket": "b"}}


class Vault(BaseSecretsBackend):
    """A secrets backend of a user's own, with connections by id."""

    def __init__(self, **connections):
        self.connections = connections

    def get_conn_value(self, conn_id):
        return self.connections.get(conn_id)


@pytest.fixture
def backend(monkeypatch):
    """Return a function that configures Airflow's secrets backend."""
    clear_secrets_backends_cache()

    def configure(name, **arguments):
        monkeypatch.setenv("AIRFLOW__SECRETS__BACKEND", name)
        monkeypatch.setenv("AIRFLOW__SECRETS__BACKEND_KWARGS", json.dumps(arguments))

    yield configure
    clear_secrets_backends_cache()


@pytest.fixture(params=["file", "own"])
def configured(request, backend, monkeypatch, tmp_path):
    """Configure a backend that alone has the connections."""
    for name in ("S3", "READER"):
        monkeypatch.delenv(f"AIRFLOW_CONN_STOREBENCH_{name}", raising=False)
    kept = {
        "storebench_s3": S3,
        "storebench_reader": "postgres://storebench:hidden@db:5433/results?sslmode=require",
    }
    if request.param == "file":
        (tmp_path / "connections.json").write_text(json.dumps(kept))
        backend(
            "airflow.secrets.local_filesystem.LocalFilesystemBackend",
            connections_file_path=str(tmp_path / "connections.json"),
        )
    else:
        texts = {name: one if isinstance(one, str) else json.dumps(one) for name, one in kept.items()}
        backend(f"{__name__}.Vault", **texts)


def test_the_connections_of_a_backend_are_used(configured):
    found = connections.pod("s3")
    assert (found.login, found.password, found.extra) == ("KEY", "PASSWORD", {"bucket": "b"})
    assert connections.bucket() == "b"
    assert "host=db" in (dsn := connections.reader_dsn()) and "sslmode=require" in dsn
    assert json.loads(secret_of("s3"))["password"] == "PASSWORD", "the Secret of pods"
    assert not connections.exists("mongodb_v8")
    with pytest.raises(SpecError, match="no Airflow Connection 'storebench_mongodb'"):
        connections.pod("mongodb")


def secret_of(name):
    return base64.b64decode(secrets._body(name)["data"][connections.SECRET_KEY])


def test_no_module_reads_a_connection_past_the_backends():
    """Only the command line, which runs without Airflow, takes the results database from a variable."""
    past = re.compile(
        r"AIRFLOW_CONN_STOREBENCH|airflow\.models.*\bConnection\b|import Connection as AirflowConnection"
    )
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "plugins").rglob("*.py"), *(ROOT / "dags").rglob("*.py")]
    found = {str(file.relative_to(ROOT)) for file in files if past.search(file.read_text())}
    assert found == {"src/storebench/cli/environment.py"}
    assert connections.BaseHook is BaseHook


def test_the_secret_of_the_how_to_has_connections_that_pods_can_use(monkeypatch):
    lines = dict(
        re.findall(
            r"^(AIRFLOW_CONN_STOREBENCH_\w+)=(.*)$",
            HOW_TO.partition("## Install")[2].partition("### 6")[0],
            re.MULTILINE,
        )
    )
    assert {"RESULTS", "READER", "S3", "KUBERNETES"} <= {
        name.removeprefix("AIRFLOW_CONN_STOREBENCH_") for name in lines
    }
    for name, text in lines.items():
        monkeypatch.setenv(name, text.replace("HOST", "host").replace("REGION", "eu-central-1"))
        found = connections.pod(name.removeprefix("AIRFLOW_CONN_STOREBENCH_").lower())
        if found.name == "kubernetes":
            assert Placement.from_extra(found.extra).priority_class_name == "storebench"


def test_helm_gives_airflow_the_secret_of_the_how_to():
    values = yaml.safe_load((ROOT / "deploy/helm/values.yaml").read_text())
    (source,) = yaml.safe_load(values["extraEnvFrom"])
    assert f"create secret generic {source['secretRef']['name']} --from-env-file=connections.env" in HOW_TO
