"""Refusals of a plan before any pod, against the real S3 server."""

import pytest

from storebench.airflow import preflight
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.planning.checks import check_disk
from tests.bulk import bulk_study


@pytest.fixture
def s3_connection(monkeypatch, connections):
    """Change the Airflow Connection of S3 for this test."""
    import json
    import os

    def change(extra=None, **changes):
        data = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
        data |= {**changes, "extra": {**data["extra"], **(extra or {})}}
        monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_S3", json.dumps(data))

    return change


def test_a_good_connection_passes(connections):
    preflight.check(bulk_study(), 1000)


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"password": "hunter2"}, StoreRefused, "check the connection's"),
        ({"login": "nobody"}, StoreRefused, "check the connection's"),
        ({"extra": {"bucket": "storebench-missing"}}, StoreRefused, "storebench-missing"),
        ({"extra": {"endpoint_url": "http://127.0.0.1:1"}}, StoreUnreachable, "does not answer"),
    ],
)
def test_a_bad_connection_is_named_and_its_secret_is_not(s3_connection, changes, error, words):
    s3_connection(**changes)
    with pytest.raises(error, match=words) as caught:
        preflight.check(bulk_study(), 1000)
    assert "hunter2" not in str(caught.value)


def test_a_dataset_over_what_the_disk_holds_is_refused_with_what_is_free():
    with pytest.raises(SpecError, match=r"This dataset needs about 4,000,000 GB of disk .* GB free"):
        check_disk(10**15)
