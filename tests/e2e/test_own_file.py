"""A file of one's own as the dataset of a run: every store gives it back, or is left out with the reason before anything is measured."""

import os
import uuid

import pytest

from storebench.connection import Connection
from storebench.s3 import client_for
from tests import own_file
from tests.bulk import bulk_study
from tests.e2e.harness import BUCKET, run


@pytest.fixture
def file():
    """Put a file into S3; returns its name."""
    client = client_for(Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"]))
    keys = []

    def put(data, kind):
        keys.append(f"own-files-test/{uuid.uuid4().hex}.{kind}")
        client.put_object(Bucket=BUCKET, Key=keys[-1], Body=data)
        return f"s3://{BUCKET}/{keys[-1]}"

    yield put
    for key in keys:
        client.delete_object(Bucket=BUCKET, Key=key)


def test_every_store_gives_it_back(file):
    stores = bulk_study().stores
    code, text, rows = run(
        *("--dataset", file(own_file.as_parquet(), "parquet"), "--stores", ",".join(stores)),
        *("--clients", "reference,tuned", "--axis", "batch=all,700", "--axis", "executors=1"),
        seconds=3000,
    )
    assert code == 0, text
    assert {row["store"] for row in rows} == set(stores)
    assert {row["status"] for row in rows} == {"verified"}
    assert {row["rows"] for row in rows} == {own_file.ROWS}
    assert all("all 12 fields by" in row["verification"] for row in rows)


def test_a_store_that_cannot_hold_it_is_left_out_with_the_reason(file):
    name = file(b"id,net price\n1,2.50\n", "csv")
    code, text, rows = run("--dataset", name, "--stores", "null,delta-rs", "--axis", "batch=all")
    assert code == 0, text
    assert {(row["store"], row["status"]) for row in rows} == {("null", "verified")}


def test_a_run_whose_only_store_cannot_hold_it_is_refused_with_the_reason(file):
    code, text, rows = run(
        "--dataset", file(b"net price\n1\n", "csv"), "--stores", "delta-rs", "--axis", "batch=all"
    )
    assert code == 1 and rows == []
    assert "delta-rs cannot hold this dataset: the column 'net price'" in text
