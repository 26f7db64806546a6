"""Servers provisioned by a run on the embedded cluster: created, measured, removed."""

import json
import os
from itertools import pairwise

import pytest
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from storebench.results.leftovers.tracking import Left
from storebench.servers.render import LABEL, access_name, set_id
from tests.e2e.harness import NAMESPACE, run


@pytest.fixture(autouse=True)
def embedded():
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("brings the images that the stack has built")


def left_over(cluster):
    """Return the servers' objects in the namespace, by kind and name."""
    apps = client.AppsV1Api(cluster.api_client)
    lists = {
        "pod": cluster.list_namespaced_pod,
        "service": cluster.list_namespaced_service,
        "config map": cluster.list_namespaced_config_map,
        "volume claim": cluster.list_namespaced_persistent_volume_claim,
        "stateful set": apps.list_namespaced_stateful_set,
    }
    return [
        (kind, one.metadata.name)
        for kind, listed in lists.items()
        for one in listed(NAMESPACE, label_selector=LABEL).items
    ]


@pytest.mark.timeout(1200)
def test_a_run_provisions_its_servers_one_set_after_another_measures_them_and_leaves_none(cluster):
    """Reads are cold. Other cache states are in drills/test_caches.py, three nodes in drills/test_servers.py."""
    servers = {"elasticsearch@one": "Elasticsearch", "mongodb@one": "FerretDB"}
    asked = ("--rows", "20000", "--axis", "batch=1000", "--param", 'cache="cold"', *SIZE)
    code, text, rows = run("--stores", ",".join(servers), *asked)
    assert code == 0, text
    assert {row["store"]: row["server_name"] for row in rows} == servers, "a stand-in says what it is"
    assert {row["status"] for row in rows} == {"verified"}
    order = [row["store"] for row in rows]
    assert sum(one != other for one, other in pairwise(order)) == 1, order
    assert left_over(cluster) == []
    policies = client.NetworkingV1Api(
        cluster.api_client
    )  # Airflow's account may remove policies, and not list them
    for store in servers:
        with pytest.raises(ApiException) as gone:
            own = access_name(set_id(rows[0]["run_id"], store))
            policies.delete_namespaced_network_policy(own, NAMESPACE)
        assert gone.value.status == 404, store
    assert Left(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]).runs_with_servers() == []
    for row in rows:
        if row["store"] == "elasticsearch@one":
            check_figures(row, pods=1)
        if row["operation"] == "read":
            check_cold(row)


SIZE = ("--param", 'server_memory="1Gi"')


def check_figures(row, pods):
    """Assert that the row has the figures of servers of that size."""
    assert row["parameters"]["server_memory"] == "1Gi"
    assert row["server_pods"] == pods and row["figures_cover"] == "engine"
    assert row["servers_cpu_s"] > 0 and row["servers_data_bytes"] > 0 and row["servers_restarts"] == 0
    assert 100 * 2**20 < row["servers_memory_working_set_peak_bytes"] <= pods * 2**30
    assert row["all_cpu_s"] == pytest.approx(row["cpu_s"] + row["servers_cpu_s"])


def check_cold(row):
    """Check that the row has the proof of a cold read."""
    figures = row["metrics"]
    assert figures["resident_before_bytes"] == 0
    assert figures["disk_read_bytes"] >= figures["needed_bytes"] > 2**20
    assert "cold: page cache emptied" in row["verification"]
    assert row["servers_read_bytes"] >= figures["needed_bytes"], "the row of its server says the same"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("--stores", "elasticsearch@one", "--param", 'server_memory="900Gi"'),
            "do not fit on the cluster: there is no room",
        ),
        (
            ("--stores", "elasticsearch@one", "--param", 'server_storage_class="gold"'),
            "the cluster has no storage class 'gold'. It has local-path",
        ),
    ],
)
def test_what_the_cluster_cannot_hold_is_refused_before_anything_is_made(cluster, arguments, why):
    code, text, rows = run(*arguments, "--axis", "batch=1000")
    assert code != 0 and why in text and rows == []
    assert left_over(cluster) == []


def test_servers_that_do_not_become_ready_are_a_row_and_leave_nothing(cluster):
    arguments = ("--stores", "elasticsearch@one", "--axis", "batch=1000", "--param", "server_start_s=1")
    code, text, rows = run(*arguments)
    assert code != 0, text
    assert {row["status"] for row in rows} == {"not_run"}, json.dumps(rows, default=str)
    assert all("could not be provisioned: 0 of 1 servers are ready after 1 s" in row["error"] for row in rows)
    assert left_over(cluster) == []
