"""The whole study point_operations through Airflow and Kubernetes, and the death of a Cassandra node."""

import os
import signal
import time

import psutil
import pytest

from storebench.servers.render import LABEL
from tests.e2e.harness import NAMESPACE, run

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
            "--clients",
            "direct",
            "--axis",
            "consistency=one,quorum",
        ),
        *("--rows", "1000", *params),
    )
    # A quorum of cassandra@one's one copy is no cell; how many copies the connection's server holds, nobody declares.
    assert (code, len(rows)) == (0, 9)
    for row in rows:
        assert row["status"] == "verified", row["error"]
        metrics = row["metrics"]
        if row["operation"] != "fill":
            assert metrics["operations_per_s"] > 0 and metrics["error_share"] == 0
            assert 0 < metrics["p50_s"] <= metrics["p99_s"] <= metrics["p100_s"]
        assert row["server_name"] == {"cassandra@one": "Cassandra"}.get(row["store"], row["server_name"])


@pytest.mark.timeout(2400)
def test_three_nodes_with_a_cpu_limit_behind_a_service(say):
    """Every node is throttled, as asked for, and the row tells how busy the service in front of them was."""
    params = (*FEW, 'server_cpu="300m"', "server_start_s=1200")
    code, text, rows = run(
        *("--study", "point_operations", "--stores", "cassandra@rest_three", "--clients", "rest"),
        *(
            "--axis",
            "consistency=one",
            "--rows",
            "1000",
            *(part for one in params for part in ("--param", one)),
        ),
    )
    assert (code, len(rows)) == (0, 3), text
    for row in rows:
        assert (row["status"], row["server_name"], row["server_pods"]) == ("verified", "Cassandra", 5), row
        assert row["parameters"]["server_cpu"] == "300m"
        assert "was throttled" not in (row["disturbed"] or ""), "the run has asked for the limit"
        assert row["service_cores_usable"] == 1, "the service in Python"
        assert row["service_bound"] is (row["service_cpu_share"] >= 0.9)
    shares = {row["operation"]: row["service_cpu_share"] for row in rows}
    assert shares["fill"] < 0.5, "fill goes to the database itself"
    assert min(shares["read"], shares["write"]) > shares["fill"]
    assert sum(row["servers_throttled_s"] for row in rows) > 0
    say(
        f"three nodes of Cassandra with 0.3 cores each: the service in front of them kept {shares} cores busy"
    )


WRITES = {
    "rows": 2000,
    "clients": ["direct"],
    "consistency": ["quorum"],
    "users": 10,
    "spawn_rate": 10,
    "warmup_s": 3,
    "duration_s": 40,
    "request_timeout_s": 5,
    "max_error_share": 0.5,  # of closed users, some of whom wait for the dead node
}


@pytest.mark.timeout(1800)
def test_a_node_of_three_is_killed_during_writes_at_quorum(drill, say):
    run = drill("cassandra@three", study="point_operations", **WRITES)
    # three nodes have come one after the other, and reads before the writes
    run.measured("write", 1200)
    time.sleep(5)
    nodes = run.cluster.list_namespaced_pod(NAMESPACE, label_selector=LABEL).items
    node = sorted(one.metadata.name for one in nodes)[2]  # not the one that the others began with
    os.kill(cassandra_of(node), signal.SIGKILL)
    assert run.end() == "success", run.rows()
    assert [(row["operation"], row["status"]) for row in run.rows()] == [
        (operation, "verified") for operation in ("fill", "read", "write")
    ]
    write = run.rows()[-1]
    kept, _, said = write["verification"].partition(" ")
    assert said.startswith("acknowledged entities are there once, with all their fields")
    metrics = write["metrics"]
    measured = round(metrics["operations_per_s"] * WRITES["duration_s"])
    assert int(kept.replace(",", "")) >= WRITES["rows"] + measured > WRITES["rows"]
    assert node in write["disturbed"]
    say(
        f"kill -9 of one of three nodes of Cassandra during writes at QUORUM: {write['verification']};"
        f" {metrics['error_share']:.2%} of the requests have failed"
    )


def cassandra_of(pod):
    """Return the process of a pod's Cassandra node on this machine."""
    found = [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if "org.apache.cassandra.service.CassandraDaemon" in (process.info["cmdline"] or [])
        and process.environ().get("HOSTNAME") == pod
    ]
    (pid,) = found
    return pid
