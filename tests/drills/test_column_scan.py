"""The whole study column_scan through Airflow and Kubernetes."""

import pytest

from storebench.airflow.kubernetes.volumes import LABEL as LABEL_OF_VOLUMES
from storebench.servers.render import LABEL
from storebench.stores.caches import JUDGED_BYTES, TIMES_UNCACHED
from tests.drills.test_servers import nothing_is_left, servers
from tests.e2e import harness
from tests.e2e.harness import NAMESPACE, delete, soon

WENDELIN = ("wendelin-numpy@one", "wendelin-pandas@one")
FORMATS = ("ZBlk0", "ZBlk1")
FILES = ("numpy-memmap", "duckdb", "duckdb-parquet", "pyarrow-parquet")


def claims(cluster):
    return cluster.list_namespaced_persistent_volume_claim(NAMESPACE, label_selector=LABEL_OF_VOLUMES).items


def check_marked(row):
    """Check that a cold sum reports its rate from disk, and is marked if the disk has shown less than half of this rate."""
    metrics = row["metrics"]
    if metrics["disk_read_bytes"] < JUDGED_BYTES:
        return
    shown = metrics.get("uncached_mb_per_s")
    marked = "cold for this kernel only" in (row["perhaps_disturbed"] or "")
    assert metrics["cold_read_mb_per_s"] > 0
    assert marked == (shown is not None and metrics["cold_read_mb_per_s"] > TIMES_UNCACHED * shown), row


@pytest.mark.timeout(1200)
def test_sums_are_cold_and_hot_and_no_volume_stays(cluster):
    stores = ",".join([*FILES, "numpy-memory"])
    code, _, rows = harness.run("--study", "column_scan", "--stores", stores, "--rows", "50000")
    assert (code, len(rows)) == (0, 15)
    for row in rows:
        assert row["status"] == "verified", row["error"]
        if row["operation"] == "cold_sum" and row["store"] in FILES:
            metrics = row["metrics"]
            assert metrics["resident_before_bytes"] == 0
            assert metrics["disk_read_bytes"] >= metrics["needed_bytes"] > 0
            check_marked(row)
    # Kubernetes removes a claim once the pod that had it last is gone
    soon(lambda: not claims(cluster))


@pytest.mark.timeout(1200)
def test_wendelin_reads_cold_what_its_own_server_has_in_either_format(cluster):
    code, text, rows = harness.run(
        "--study", "column_scan", "--stores", ",".join(WENDELIN), "--rows", "20000"
    )
    assert (code, len(rows)) == (0, 12), text
    assert {(row["store"], row["axes"]["block_format"]) for row in rows} == {
        (store, block_format) for store in WENDELIN for block_format in FORMATS
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


@pytest.mark.timeout(1200)
def test_a_zeo_server_dies_in_a_write(drill, say):
    run = drill(
        WENDELIN[0],
        study="column_scan",
        rows=1_000_000,  # a write of some seconds
        block_format=["ZBlk1", "ZBlk0"],
        random_order=False,
    )
    run.working("write")
    (server,) = servers(run)
    delete(run.cluster, server.metadata.name)
    assert run.end() == "failed"
    by_format = {name: [row for row in run.rows() if row["axes"]["block_format"] == name] for name in FORMATS}
    write, *sums = by_format["ZBlk1"]
    assert (write["operation"], write["error_kind"]) == ("write", "server_died"), write
    assert server.metadata.name in write["error"]
    assert {row["status"] for row in sums} == {"not_run"}
    assert [row["status"] for row in by_format["ZBlk0"]] == ["verified"] * 3, "the next cell has a new server"
    nothing_is_left(run)
    say(f"a ZEO server that died in a write: its row says {write['error']!r}; the next cell was verified")
