"""The study column_scan through Airflow and Kubernetes: a volume from pod to pod, a server of the run, and proofs of cold sums.

All its stores: drills/test_column_scan.py.
"""

import pytest

from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, run

STORES = {"numpy-memmap": "NumPy", "mariadb@one": "MariaDB", "wendelin-numpy@one": "ZEO"}


@pytest.mark.timeout(1200)
def test_sums_are_cold_and_hot_and_nothing_stays(cluster):
    chosen = ("--stores", ",".join(STORES), "--axis", "block_format=ZBlk0", "--rows", "20000")
    code, text, rows = run("--study", "column_scan", *chosen)
    assert (code, len(rows)) == (0, 9), text
    for row in rows:
        assert (row["status"], row["server_name"]) == ("verified", STORES[row["store"]]), row["error"]
        if row["operation"] == "cold_sum":
            metrics = row["metrics"]
            assert metrics["disk_read_bytes"] >= metrics["needed_bytes"] > 0
    assert cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items == []
    assert cluster.list_namespaced_persistent_volume_claim(NAMESPACE).items == []
