"""Tables of Delta Lake where files can be: in S3, HDFS and Ozone."""

import pytest

from tests.e2e.harness import run
from tests.e2e.test_servers import left_over

# What a write there states of its acknowledgements.
PLACES = {
    "delta-spark": "each commit is an acknowledged PUT",
    "delta-spark@hdfs_one": "dfs.replication=1, dfs.datanode.synconclose=false",
    "delta-spark@ozone_one": "ozone.replication=1, hdds.container.chunk.write.sync=false",
}


@pytest.mark.timeout(2700)
def test_tables_are_written_read_and_verified_wherever_they_are(cluster):
    asked = ("--clients", "reference,tuned", "--axis", "batch=500,all", "--axis", "executors=1")
    code, text, rows = run("--stores", ",".join(PLACES), *asked, seconds=2300)
    assert (code, len(rows)) == (0, 24), text
    for row in rows:
        assert row["status"] == "verified", row["error"]
        if row["operation"] == "write":
            assert row["durability_stated"] == PLACES[row["store"]]
            assert "delta-rs" in row["verification"]
    assert left_over(cluster) == []


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("store", ["delta-spark@hdfs_one", "delta-spark@ozone_one"])
def test_a_read_of_such_a_table_is_cold(store):
    asked = ("--rows", "20000", "--axis", "batch=all", "--axis", "executors=1", "--param", 'cache="cold"')
    code, text, rows = run("--stores", store, *asked)
    assert code == 0, text
    read = next(row for row in rows if row["operation"] == "read")
    assert "cold: page cache emptied" in read["verification"]
    assert read["metrics"]["disk_read_bytes"] >= read["metrics"]["needed_bytes"] > 2**20
