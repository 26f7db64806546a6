"""The whole study parquet_copy through Airflow and Kubernetes."""

import itertools

import pytest

from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, run

BROUGHT = {"hdfs@one": "HDFS", "ozone@one": "Ozone"}


@pytest.mark.timeout(2700)
def test_files_are_generated_and_copied_with_checksums_and_without_and_nothing_stays(cluster):
    stores = ",".join(("disk", "local", "null", "s3", *BROUGHT))
    options = ["--rows", "2000", "--axis", "iterations=2"]
    code, text, rows = run("--study", "parquet_copy", "--stores", stores, *options, seconds=2300)
    assert (code, len(rows)) == (0, 17), text
    for row in rows:
        assert row["status"] == "verified", row["error"]
        assert row["metrics"]["time_s"] > 0
    by_cell = {(row["store"], row["axes"].get("checksum"), row["operation"]): row for row in rows}
    for store, checksum in itertools.product(BROUGHT, ("on", "off")):
        generated, copied = (by_cell[store, checksum, name] for name in ("generate", "copy"))
        assert generated["metrics"]["disk_bytes"] == generated["metrics"]["file_bytes"] >= 2 * 2000 * 1000
        assert copied["metrics"]["received_bytes"] >= 2 * 2000 * 1000
        assert (generated["server_name"], generated["figures_cover"]) == (BROUGHT[store], "engine")
    sums = {row["verification"].rpartition("checksum ")[2] for row in rows}
    assert len(sums) == 1, "each file system has the same rows"
    assert cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items == []
    left = cluster.list_namespaced_persistent_volume_claim(NAMESPACE).items
    assert [one.metadata.name for one in left] == []


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("store", BROUGHT)
def test_executor_pods_write_what_the_driver_alone_does(cluster, store):
    options = ["--rows", "2000", "--clients", "tuned", "--axis", "executors=local,1", "--axis", "checksum=on"]
    code, text, rows = run("--study", "parquet_copy", "--stores", store, *options, seconds=1100)
    assert (code, len(rows)) == (0, 4), text
    assert {row["status"] for row in rows} == {"verified"}, [row["error"] for row in rows]
    sums = {row["verification"].rpartition("checksum ")[2] for row in rows}
    assert len(sums) == 1
