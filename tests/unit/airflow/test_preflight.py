"""What a plan refuses that the embedded stack has not built or started yet."""

import json
import socket

import pytest

from storebench.airflow import images, preflight
from storebench.errors import SpecError


@pytest.fixture
def embedded(monkeypatch):
    """The stack with the image `python` and no other; its Elasticsearch is at the port that `embedded` is given."""
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes s3 mongodb elasticsearch")
    monkeypatch.setattr(images, "named", {"python": "localhost/storebench/python:1"}.get)

    def at(port):
        server = {"conn_type": "elasticsearch", "host": "127.0.0.1", "port": port}
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH", json.dumps(server))

    return at


def test_a_server_that_listens_is_started(embedded):
    with socket.create_server(("127.0.0.1", 0)) as server:
        embedded(server.getsockname()[1])
        preflight.check_embedded(["elasticsearch", "null"])


def test_stores_whose_server_or_image_is_not_there_are_refused_with_what_to_type(embedded):
    embedded(1)
    with pytest.raises(SpecError, match=r"`make up STORES=delta-spark,elasticsearch`"):
        preflight.check_embedded(["elasticsearch", "delta-spark", "null"])


def test_a_server_of_the_users_own_is_not_looked_at(embedded, monkeypatch):
    embedded(1)
    monkeypatch.setenv("STOREBENCH_EMBEDDED", "kubernetes s3")
    preflight.check_embedded(["elasticsearch", "elasticsearch@v9"])


def test_a_store_in_the_datasets_s3_needs_no_server_of_its_own(embedded, monkeypatch):
    embedded(1)
    s3 = {"conn_type": "aws", "login": "key", "extra": {"endpoint_url": "http://127.0.0.1:1"}}
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_S3", json.dumps(s3))
    preflight.check_embedded(["delta-rs"])
