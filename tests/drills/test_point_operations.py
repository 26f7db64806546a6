"""The whole study point_operations through Airflow and Kubernetes."""

import pytest

from tests.e2e.harness import run

FEW = ("users=5", "spawn_rate=10", "warmup_s=2", "duration_s=5")


@pytest.mark.timeout(1200)
def test_entities_are_written_and_read_in_mongodb_and_in_cassandra(cluster):
    params = [part for one in FEW for part in ("--param", one)]
    code, _, rows = run(
        *(
            "--study",
            "point_operations",
            "--stores",
            "mongodb,cassandra@one",
            "--axis",
            "consistency=one,quorum",
        ),
        *("--rows", "1000", *params),
    )
    assert (code, len(rows)) == (0, 12)
    for row in rows:
        assert row["status"] == "verified", row["error"]
        metrics = row["metrics"]
        if row["operation"] != "fill":
            assert metrics["operations_per_s"] > 0 and metrics["error_share"] == 0
            assert 0 < metrics["p50_s"] <= metrics["p99_s"] <= metrics["p100_s"]
        assert row["server_name"] == {"cassandra@one": "Cassandra"}.get(row["store"], row["server_name"])
