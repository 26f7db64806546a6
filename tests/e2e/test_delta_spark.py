"""Spark drivers with executor pods: what they use, and what is noticed. What happens when one dies, drills/test_spark.py shows."""

import os

import pytest
from deltalake import DeltaTable, write_deltalake

from storebench.connection import Connection
from storebench.dataset.manifest import dataset_key
from storebench.errors import VerificationFailed
from storebench.s3 import client_for
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.bulk_write_read.verify import verify
from storebench.study.cell import Cell
from tests.e2e.harness import (
    BUCKET,
    EXECUTORS,
    ROWS,
    SEED,
    growth_of,
    pods,
    run,
    soon,
)

OPTIONS = {
    "executor_cores": "1",
    "executor_cpu": "100m",
    "executor_memory": "1g",
    "executor_memory_overhead": "768m",
    "cpu_limit": "False",
    "executor_encryption": "False",  # its pod is not the DAG's, which has the key
    "driver_memory": "1g",
    "startup_timeout_s": "120",
}


@pytest.fixture(scope="module")
def storage():
    """Return the options of deltalake for the stack's S3."""
    return storage_options(Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"]))


@pytest.fixture(scope="module")
def kept(storage):
    """Yield the rows of a run that kept its table. test_secrets.py runs the tuned client."""
    code, text, rows = run(
        *("--stores", "delta-spark", "--clients", "reference"),
        *("--axis", "batch=all", "--axis", "executors=2"),
        "--keep-data",
    )
    yield code, text, rows
    for cell_key, target in {(row["cell_key"], row["target"]) for row in rows if row["target"]}:
        table(cell_key, target).drop()


def table(cell_key, target):
    s3 = Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
    source = Source(client_for(s3), BUCKET, dataset_key(ROWS, SEED))
    return DeltaSpark(client=Cell.from_key(cell_key).client, target=target, connection=s3, source=source)


def test_a_run_is_verified_and_each_executor_is_recorded(cluster, kept):
    code, text, rows = kept
    assert code == 0, text
    assert [row["status"] for row in rows] == ["verified"] * 2
    assert {row["operation"]: row["verification"] for row in rows} == {
        operation: f"2,000 rows handled and counted; all 50 fields by {how}"
        for operation, how in (
            ("write", "reading back with pyarrow ParquetFile.iter_batches()"),
            ("read", "a second pass of Spark's foreach() in the executors"),
        )
    }
    for row in rows:
        assert int(row["axes"]["executors"]) == row["executor_pods"] == 2
        assert row["all_memory_peak_bytes"] > row["executors_memory_peak_bytes"] > 2 * 10**8
        assert row["all_cpu_s"] > row["executors_cpu_s"] > 0
        assert row["server_name"] == "Delta Lake" and "on Spark 4" in row["server_version"]
    grown = growth_of(rows)
    assert (
        grown["delta-spark", "write", "data_files"] > 0 and grown["delta-spark", "write", "output_bytes"] > 0
    )
    assert grown["delta-spark", "read", "tasks"] > 0 and grown["delta-spark", "read", "input_bytes"] > 0
    assert grown["delta-spark", "read", "data_files"] == 0
    soon(lambda: not pods(cluster, EXECUTORS))


def test_executors_that_no_node_can_take_are_the_reason():
    code, text, rows = run(
        *("--stores", "delta-spark", "--axis", "batch=all", "--axis", "executors=1"),
        *("--param", 'executor_cpu="900"', "--param", "startup_timeout_s=10"),
    )
    assert code == 1, text
    assert [row["error_kind"] for row in rows] == ["no_executors", "not_run"]
    assert "0 of 1 executors came within 10 s" in rows[0]["error"] and "Insufficient cpu" in rows[0]["error"]


# Whatever Spark loads has one wrong value; the table in S3 has none, and its rows are as many.
SPOILT = """
from pyspark.sql.functions import col, lit, when
from pyspark.sql.readwriter import DataFrameReader
from storebench.cli import main

load = DataFrameReader.load

def spoilt(reader, path):
    city = when(col("id") == 1000000003, lit("Nowhere")).otherwise(col("city"))
    return load(reader, path).withColumn("city", city)

DataFrameReader.load = spoilt
main(["attempt"])
"""


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_one_wrong_value_of_spark_is_noticed_though_the_table_is_right(attempt_in_pod, kept, client):
    """Read the kept table with each client. Driver and executors run as a user without a name, as on OpenShift."""
    _, _, rows = kept
    key, target = rows[0]["cell_key"].replace("/reference/", f"/{client}/"), rows[0]["target"]
    code, result = attempt_in_pod("read", key, target, program=SPOILT, user=1_000_620_000, **OPTIONS)
    assert (code, result.error_kind) == (4, "verification_failed"), vars(result)
    assert result.error == "The data differs from the dataset: field city: checksum differs"
    assert result.metrics["only_s"] > 0 and result.verification is None


def spoil(uri, storage, how):
    table = DeltaTable(uri, storage_options=storage)
    data = table.to_pyarrow_table()
    first = data.slice(0, 1)
    row_id = first["id"][0].as_py()
    quoted = f"'{row_id}'" if isinstance(row_id, str) else str(row_id)
    if how == "a row deleted":
        table.delete(f"id = {quoted}")
    elif how == "a row doubled":
        write_deltalake(uri, first, mode="append", storage_options=storage)
    elif how == "a field changed":
        table.update(updates={"comment": "'other'"}, predicate=f"id = {quoted}")


def test_verification_notices(storage, kept):
    """The verification needs no Spark."""
    _, _, rows = kept
    key, target = rows[0]["cell_key"], rows[0]["target"]
    store, uri = table(key, target), f"s3://{BUCKET}/tables/{target}"
    manifest = store.source.manifest()
    written = DeltaTable(uri, storage_options=storage).version()
    for how in ("a row doubled", "a field changed", "a row deleted"):
        verify(store, ROWS, manifest)
        spoil(uri, storage, how)
        with pytest.raises(VerificationFailed):
            verify(store, ROWS, manifest)
        DeltaTable(uri, storage_options=storage).restore(written)
    verify(store, ROWS, manifest)
    store.drop()
    listed = store.source.s3_client.list_objects_v2(Bucket=BUCKET, Prefix=f"tables/{target}")
    assert not listed.get("KeyCount")
