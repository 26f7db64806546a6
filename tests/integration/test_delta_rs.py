"""Attempts of delta-rs against the real S3, as a pod runs them but for the pod."""

import json
import threading
from contextlib import contextmanager

import pyarrow as pa
import pytest
import smart_open
from deltalake import DeltaTable, write_deltalake

from storebench.attempt.clock import OperationClock
from storebench.dataset import typed
from storebench.dataset.manifest import dataset_key
from storebench.s3 import client_for
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from storebench.stores.bulk_write_read.source import Source
from tests.bulk import RANKED_BY
from tests.integration.conftest import ROWS, SEED
from tests.slow import slow_down

CLIENTS = ("reference", "tuned")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("batch", ["500", "700", "all"])
def test_it_is_written_and_read_and_both_are_verified(attempt, client, batch, table):
    for operation in ("write", "read"):
        code, result = attempt(operation, store="delta-rs", batch=batch, client=client)
        assert (code, result.status, result.error) == (0, "verified", None)
        assert result.metrics["rows_per_s"] == pytest.approx(
            ROWS / result.metrics[RANKED_BY[operation]], rel=1e-3
        )
        assert 0 < result.metrics["only_s"] < result.total_s
        assert (result.metrics["source_s"] > 0) == (operation == "write")
        assert ((result.data_bytes or 0) > 0) == (operation == "write")
        assert result.environment["server_name"] == "Delta Lake (delta-rs)"
        assert result.environment["server_version"] == result.environment["packages"]["deltalake"]
    assert len(table().history()) == {"500": 4, "700": 3, "all": 1}[batch], "one commit for each batch"


@pytest.fixture
def table(connections, bucket, target):
    """Open the table that the attempts of this test write to."""
    options = storage_options(connections["s3"])
    return lambda: DeltaTable(f"s3://{bucket}/tables/{target}", storage_options=options)


def spoil(table, how):
    row = table.to_pyarrow_table().slice(0, 1)
    this = f"event_key = '{row['event_key'][0]}'"
    if how == "a row deleted":
        table.delete(this)
    elif how == "a row doubled":
        write_deltalake(table, row, mode="append")
    elif how == "a field changed":
        table.update(predicate=this, updates={"comment": "'x'"})
    elif how == "a value moved":
        keys = table.to_pyarrow_table(columns=["event_key"]).slice(1, 1)["event_key"]
        table.update(predicate=this, updates={"event_key": f"'{keys[0]}'"})
    elif how == "a field added":
        more = row.append_column("more", pa.array(["x"]))
        table.delete(this)
        write_deltalake(table, more, mode="append", schema_mode="merge")


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    "how", ["a row deleted", "a row doubled", "a field changed", "a value moved", "a field added"]
)
def test_verification_notices(attempt, table, client, how):
    assert attempt("write", store="delta-rs", client=client)[0] == 0
    spoil(table(), how)
    code, result = attempt("read", store="delta-rs", client=client)
    assert (code, result.status, result.error_kind) == (4, "failed", "verification_failed")
    assert result.metrics["only_s"] > 0, "the figures of an attempt that is not verified are kept"


@pytest.mark.parametrize("client", CLIENTS)
def test_a_data_file_that_is_lost_is_a_failure_of_one_line(attempt, table, connections, bucket, client):
    assert attempt("write", store="delta-rs", client=client)[0] == 0
    key = table().file_uris()[0].removeprefix(f"s3://{bucket}/")
    client_for(connections["s3"]).delete_object(Bucket=bucket, Key=key)
    code, result = attempt("read", store="delta-rs", client=client)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "delta-rs failed at s3://" in result.error and "NoSuchKey" in result.error
    assert "\n" not in result.error and "\x1b" not in result.error


def test_a_read_without_a_write_says_that_there_is_no_table(attempt):
    code, result = attempt("read", store="delta-rs")
    assert (code, result.error_kind) == (5, "store_failed")
    assert "There is no Delta table" in result.error


def test_a_missing_bucket_is_named(attempt):
    code, result = attempt("write", store="delta-rs", bucket="no-such-bucket")
    assert (code, result.error_kind) == (5, "store_failed")
    assert "no-such-bucket" in result.error and "create the bucket" in result.error


def test_a_wrong_key_is_a_refusal_that_does_not_repeat_it(attempt, change_connection):
    change_connection("s3", password="hunter2")
    code, result = attempt("write", store="delta-rs")
    assert (code, result.error_kind) == (5, "store_failed")
    assert "check the connection's password" in result.error
    assert "hunter2" not in json.dumps(vars(result))


def test_s3_that_is_down_is_unreachable(attempt, change_connection):
    change_connection("s3", extra={"endpoint_url": "http://127.0.0.1:1"})
    code, result = attempt("write", store="delta-rs")
    assert (code, result.error_kind) == (3, "unreachable")
    assert "127.0.0.1:1" in result.error


def test_a_drop_leaves_nothing(attempt, connections, bucket, target):
    assert attempt("write", store="delta-rs")[0] == 0
    assert attempt("drop", store="delta-rs")[0] == 0
    left = client_for(connections["s3"]).list_objects_v2(Bucket=bucket, Prefix=f"tables/{target}/")
    assert left["KeyCount"] == 0


@pytest.mark.parametrize(("client", "rows"), [("reference", 700), ("tuned", 700), ("tuned", None)])
def test_a_slow_source_is_no_part_of_the_write(monkeypatch, connections, bucket, target, client, rows):
    """The operation's time does not depend on it: nothing of the source is read or parsed while the clock runs."""
    s3, key, real = client_for(connections["s3"]), dataset_key(ROWS, SEED), smart_open.open
    monkeypatch.setattr(typed, "BLOCK_BYTES", 100_000)
    streams = slow_down(
        monkeypatch, lambda: real(f"s3://{bucket}/{key}", "rb", transport_params={"client": s3})
    )

    class Clock(OperationClock):
        @contextmanager
        def operation(self):
            with super().operation(), streams[0].not_now():
                yield

    source = Source(s3, bucket, key)
    source.manifest()
    store = DeltaRs(client=client, target=target, connection=connections["s3"], source=source)
    clock = Clock()
    store.connect()
    try:
        assert store.write(rows, clock) == ROWS
    finally:
        store.drop()
    (stream,) = streams
    assert (stream.trespasses, stream.readers) == (0, {threading.get_ident()})
    assert clock.source_s >= stream.slept_s > 0.2
