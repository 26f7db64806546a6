"""The kept tables of a filling store, in the real S3. e2e/test_bulk_write_read.py has a table that Spark wrote."""

from dataclasses import replace

import pytest
from deltalake import DeltaTable

from storebench.attempt.clock import OperationClock
from storebench.errors import StoreRefused, VerificationFailed
from storebench.s3 import client_for
from storebench.stores.base import Server
from storebench.stores.bulk_write_read import filled_tables
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark
from storebench.stores.bulk_write_read.filled_tables import KeptTable
from storebench.stores.bulk_write_read.verify import verify
from tests.bulk import cell_at, spec_for
from tests.integration.conftest import ROWS, SEED

WRITER = Server("Delta Lake", "as planted by a test")


@pytest.fixture
def spec(bucket, target):
    """Return the specification of the write by delta-spark for a cell of delta-kernel."""
    cell = cell_at("delta-kernel", SEED, ROWS, batch="500")
    return replace(spec_for("write", cell, target, bucket), store="delta-spark")


@pytest.fixture
def kept(connections, spec):
    """Return the place of the kept table, and remove its objects at the end."""
    client = client_for(connections["s3"])
    table = KeptTable.of(spec, client)
    yield table
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=spec.bucket, Prefix=table.folder):
        for item in page.get("Contents", []):
            client.delete_object(Bucket=spec.bucket, Key=item["Key"])


@pytest.fixture
def keep(attempt, connections, spec, kept):
    """Write a table with delta-rs, change the table, keep its copy, and remove the table itself."""

    def write(change=lambda table: None):
        assert attempt("write", store="delta-rs")[0] == 0
        key = f"tables/{spec.target}"
        change(DeltaTable(f"s3://{spec.bucket}/{key}", storage_options=storage_options(connections["s3"])))
        kept.keep(key, spec.target, ROWS, WRITER)
        assert attempt("drop", store="delta-rs")[0] == 0

    return write


@pytest.fixture
def fill(connections, spec):
    """Fill the target as the pod of delta-spark does, and verify the table. These tests have no Spark."""

    def write():
        store = DeltaSpark.of(spec, connections["s3"], client_for(connections["s3"]))
        store.connect()
        assert store.describe() == WRITER
        manifest = store.source.manifest()
        store.prepare()
        verify(store, store.write(store.batch, OperationClock()), manifest)

    return write


def test_a_kept_table_is_copied_without_spark_verified_and_read(attempt, keep, fill):
    keep()
    fill()
    code, result = attempt("read", store="delta-kernel")
    assert (code, result.status, result.error) == (0, "verified", None)


def test_a_copy_with_other_rows_is_noticed(keep, fill):
    keep(lambda table: table.delete("id = 1000000003"))
    with pytest.raises(VerificationFailed):
        fill()


def test_a_copy_that_lost_an_object_is_an_error_with_its_place(keep, fill, kept, spec):
    keep()
    content = kept.content()
    name = next(name for name in content["keys"] if name.endswith(".parquet"))
    kept.client.delete_object(Bucket=spec.bucket, Key=content["prefix"] + name)
    with pytest.raises(StoreRefused, match=f"tables/{spec.target}"):
        fill()


def test_another_client_axis_option_or_code_has_another_copy(keep, kept, spec, monkeypatch):
    keep()
    assert kept.content()["rows"] == ROWS
    others = [
        replace(spec, client="tuned"),
        replace(spec, axes={"batch": "all"}),
        replace(spec, options={"executor_cores": "2"}),
        replace(spec, method_version=spec.method_version + 1),
    ]
    for other in others:
        assert KeptTable.of(other, kept.client).content() is None, other
    assert KeptTable.of(replace(spec, target="another"), kept.client).content() == kept.content()
    monkeypatch.setattr(filled_tables, "code_version", lambda: "0.1.0+gffffffffffff")
    assert KeptTable.of(spec, kept.client).content() is None


def test_new_code_removes_the_copies_of_old_code(keep, kept, spec, monkeypatch):
    keep()
    monkeypatch.setattr(filled_tables, "code_version", lambda: "0.1.0+gffffffffffff")
    KeptTable.of(spec, kept.client).keep("tables/no_table", "cell", 0, WRITER)
    monkeypatch.undo()
    assert kept.content() is None


def test_only_a_write_for_another_store_is_a_fill(spec):
    assert filled_tables.fills_another(spec)
    assert not filled_tables.fills_another(replace(spec, operation="drop"))
    own = cell_at("delta-spark", SEED, ROWS, batch="500", executors="1")
    assert not filled_tables.fills_another(replace(spec, cell_key=own.key))
