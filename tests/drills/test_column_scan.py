"""The whole study column_scan through Airflow and Kubernetes."""

import pytest

from storebench.airflow.volumes import LABEL as LABEL_OF_VOLUMES
from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, run, soon

WENDELIN = ("wendelin-numpy@one", "wendelin-pandas@one")
FILES = ("numpy-memmap", "duckdb", "duckdb-parquet", "pyarrow-parquet")


def claims(cluster):
    return cluster.list_namespaced_persistent_volume_claim(NAMESPACE, label_selector=LABEL_OF_VOLUMES).items


@pytest.mark.timeout(1200)
def test_sums_are_cold_and_hot_and_no_volume_stays(cluster):
    stores = ",".join([*FILES, "numpy-memory"])
    code, _, rows = run("--study", "column_scan", "--stores", stores, "--rows", "50000")
    assert (code, len(rows)) == (0, 15)
    for row in rows:
        assert row["status"] == "verified", row["error"]
        if row["operation"] == "cold_sum" and row["store"] in FILES:
            metrics = row["metrics"]
            assert metrics["resident_before_bytes"] == 0
            assert metrics["disk_read_bytes"] >= metrics["needed_bytes"] > 0
    # Kubernetes removes a claim once the pod that had it last is gone
    soon(lambda: not claims(cluster))


@pytest.mark.timeout(1200)
def test_wendelin_reads_cold_what_its_own_server_has_in_either_format(cluster):
    code, text, rows = run("--study", "column_scan", "--stores", ",".join(WENDELIN), "--rows", "20000")
    assert (code, len(rows)) == (0, 12), text
    assert {(row["store"], row["axes"]["block_format"]) for row in rows} == {
        (store, block_format) for store in WENDELIN for block_format in ("ZBlk0", "ZBlk1")
    }
    for row in rows:
        assert (row["status"], row["server_name"]) == ("verified", "ZEO"), row["error"]
        metrics = row["metrics"]
        if row["operation"] == "cold_sum":
            assert metrics["resident_before_bytes"] == 0
            assert metrics["disk_read_bytes"] >= metrics["needed_bytes"] > 0.9 * 20_000 * 183
        if row["operation"] == "hot_sum":
            assert metrics["disk_read_bytes"] == 0
    pods = cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL)
    assert pods.items == []
