"""The study parquet_copy through Airflow and Kubernetes: a volume, and HDFS provisioned by the run.

drills/test_parquet_copy.py tests all its file systems.
"""

import pytest

from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, run


@pytest.mark.timeout(1200)
def test_files_are_generated_and_copied_and_nothing_stays(cluster):
    chosen = (
        "--stores",
        "local,hdfs@one",
        "--rows",
        "2000",
        "--axis",
        "iterations=2",
        "--axis",
        "checksum=on",
    )
    code, text, rows = run("--study", "parquet_copy", *chosen)
    assert (code, len(rows)) == (0, 4), text
    for row in rows:
        assert row["status"] == "verified", row["error"]
        assert row["metrics"]["time_s"] > 0
    for row in (row for row in rows if row["store"] == "hdfs@one"):
        assert (row["server_name"], row["figures_cover"]) == ("HDFS", "engine")
    sums = {row["verification"].rpartition("checksum ")[2] for row in rows}
    assert len(sums) == 1, "each file system has the same rows"
    assert cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items == []
    assert cluster.list_namespaced_persistent_volume_claim(NAMESPACE).items == []
