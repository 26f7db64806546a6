"""Test whether this cluster enforces network policies, and which connections they refuse, with the permissions of Airflow's account."""

import os
from pathlib import Path

import pytest
from kubernetes import client

from storebench.servers.agent import PORT
from storebench.servers.render import LABEL, policy_of
from tests.e2e.harness import NAMESPACE, PLACEMENT, delete, soon

SECURITY = Path(__file__).parents[2] / "SECURITY.md"
NOT_ENFORCED = (
    "NetworkPolicies need a network plugin that enforces them. The embedded cluster's plugin does not."
)
LISTEN = f"""
import socket
server = socket.create_server(("", {PORT}))
while True:
    server.accept()[0].close()
"""
# usage: ADDRESS SECONDS. Ends well as soon as the address answers, and else after so many seconds with an error.
CONNECT = f"""
import socket, sys, time
end_s = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end_s:
    try:
        socket.create_connection((sys.argv[1], {PORT}), 3).close()
        sys.exit(0)
    except OSError:
        time.sleep(0.5)
sys.exit(1)
"""
DENY_ALL = {
    "metadata": {"name": "probe-deny-all"},
    "spec": {"podSelector": {"matchLabels": {LABEL: "probe-closed"}}, "policyTypes": ["Ingress"]},
}


@pytest.fixture
def network(cluster):
    """Starts servers and tries to reach them, each in a pod, under policies. All is gone afterwards."""
    policies, pods, made = client.NetworkingV1Api(cluster.api_client), [], []

    def start(name, program, *arguments, servers=None, labels=()):
        pod = PLACEMENT.template("policies", "base", servers)  # one attempt: its pods may share a node
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] |= dict(labels)
        pod["spec"] |= {"restartPolicy": "Never", "terminationGracePeriodSeconds": 0}
        pod["spec"]["containers"][0] |= {
            "image": os.environ["STOREBENCH_IMAGE_PYTHON"],
            "imagePullPolicy": "IfNotPresent",
            "command": ["python", "-c", program, *arguments],
        }
        pods.append(name)
        cluster.create_namespaced_pod(NAMESPACE, pod)

    def phase(name, *wanted):
        status = cluster.read_namespaced_pod(name, NAMESPACE).status
        return status if status.phase in wanted else None

    class Network:
        def server(self, servers, policy):
            """Start a server of this set under only this policy. Return its address."""
            made.append(policy["metadata"]["name"])
            policies.create_namespaced_network_policy(NAMESPACE, policy)
            name = f"probe-server-{len(pods)}"
            start(name, LISTEN, labels={LABEL: servers})
            return soon(lambda: phase(name, "Running")).pod_ip

        def reaches(self, address, *, of=None, seconds=10):
            """Return whether the pod of an attempt at the servers `of` (None: without servers) reaches the address within `seconds`."""
            name = f"probe-client-{len(pods)}"
            start(name, CONNECT, address, str(seconds), servers=of)
            return soon(lambda: phase(name, "Succeeded", "Failed")).phase == "Succeeded"

    yield Network()
    for name in pods:
        delete(cluster, name)
    for name in made:
        policies.delete_namespaced_network_policy(name, NAMESPACE)


def test_a_foreign_pod_is_refused_where_the_cluster_enforces_policies(network):
    embedded = "kubernetes" in os.environ["STOREBENCH_EMBEDDED"].split()
    own = network.server("probe", policy_of("probe"))
    assert network.reaches(own, of="probe", seconds=60), "the run's own pod, on every cluster"
    enforced = not network.reaches(network.server("probe-closed", DENY_ALL))
    if embedded:
        said = " ".join(SECURITY.read_text().split())
        assert (NOT_ENFORCED in said) is not enforced, "SECURITY.md says whether the embedded cluster does"
    if not enforced:
        if not embedded:
            pytest.skip("a pod reaches a server that a policy closes: this cluster enforces no policies")
        return
    assert not network.reaches(own, of="probe-other"), "an attempt of another run"
    assert not network.reaches(own), "an attempt at no server of the run"
