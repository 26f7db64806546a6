"""The study point_operations through Airflow and Kubernetes: a provisioned server, and an existing server.

drills/test_point_operations.py tests all its clients.
"""

import pytest

from tests.e2e.harness import growth_of, run

FEW = ("users=5", "spawn_rate=10", "warmup_s=2", "duration_s=5")


@pytest.mark.timeout(1200)
def test_entities_are_written_and_read_in_mongodb_and_in_cassandra():
    params = [part for one in FEW for part in ("--param", one)]
    chosen = ("--stores", "mongodb,cassandra@one", "--axis", "consistency=one", "--rows", "1000", *params)
    several = ("--axis", "pods=1,2", "--param", 'pod_memory="1Gi"')  # by one pod, and by two pods together
    code, text, rows = run("--study", "point_operations", "--clients", "direct", *chosen, *several)
    assert (code, len(rows)) == (0, 12), text
    for row in rows:
        assert row["client_pods"] == (2 if "pods=2" in row["cell_key"] else 1)
        assert row["status"] == "verified", row["error"]
        metrics = row["metrics"]
        if row["operation"] != "fill":
            assert metrics["operations_per_s"] > 0 and metrics["error_share"] == 0
            assert 0 < metrics["p50_s"] <= metrics["p99_s"] <= metrics["p100_s"]
        assert row["server_name"] == {"cassandra@one": "Cassandra"}.get(row["store"], row["server_name"])
    grown = growth_of(rows)
    # the other part's writes too; a node has as many copies of a row as there are nodes
    assert grown["cassandra@one", "fill", "local_writes"] == 1000
    assert grown["cassandra@one", "write", "local_writes"] > 0
    assert grown["mongodb", "fill", "inserts"] > 0
