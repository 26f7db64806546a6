"""The connections of pods under the NetworkPolicies of deploy/kubernetes. tests/e2e/test_deploy.py tests the accounts on a cluster."""

import ipaddress
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
POLICIES = list(yaml.safe_load_all((ROOT / "deploy" / "kubernetes" / "network.yaml").read_text()))
DNS = 53
# Where clouds have their metadata services.
METADATA = [
    "169.254.169.254",
    "169.254.170.2",  # tasks of ECS
    "169.254.170.23",  # pods of EKS
    "168.63.129.16",  # Azure
    "100.100.100.200",  # Alibaba
    "fd00:ec2::254",  # AWS
    "fd00:ec2::23",
    "fd20:ce::254",  # Google
    "fe80::a9fe:a9fe",  # OpenStack
]


def holds(peer, address):
    """Return whether a rule's peer is this address. Pods of the cluster are ignored."""
    if "ipBlock" not in peer:
        return False
    block = peer["ipBlock"]
    networks = [ipaddress.ip_network(one) for one in (block["cidr"], *block.get("except", ()))]
    return address in networks[0] and not any(address in one for one in networks[1:])


def reached(address, port):
    """Return whether a pod reaches the address at this TCP port: a single rule of a policy is enough."""
    address = ipaddress.ip_address(address)
    return any(
        (not rule.get("to") or any(holds(peer, address) for peer in rule["to"]))
        and (not rule.get("ports") or port in [one["port"] for one in rule["ports"]])
        for policy in POLICIES
        for rule in policy["spec"].get("egress", ())
    )


def test_each_pod_has_the_policies():
    """Egress policies select all pods. Of the two ingress policies, one selects servers, the other all other pods."""
    selectors = {kind: [] for kind in ("Ingress", "Egress")}
    for policy in POLICIES:
        assert policy["kind"] == "NetworkPolicy"
        (kind,) = policy["spec"]["policyTypes"]
        selectors[kind].append(policy["spec"]["podSelector"])
    assert selectors["Egress"] == [{}, {}]
    assert selectors["Ingress"] == [
        {"matchExpressions": [{"key": "storebench/servers", "operator": operator}]}
        for operator in ("DoesNotExist", "Exists")
    ]


@pytest.mark.parametrize("address", METADATA)
def test_no_pod_reaches_a_clouds_metadata(address):
    assert not any(reached(address, port) for port in (80, 443, 8080, 32526))
    assert reached(address, DNS), "DNS may be at any address"


@pytest.mark.parametrize(
    "address", ["10.0.0.7", "192.168.1.20", "100.64.1.1", "168.63.129.17", "93.184.216.34"]
)
def test_pods_reach_stores(address):
    assert all(reached(address, port) for port in (443, 9000, 27017))


@pytest.mark.parametrize("address", ["169.254.0.0/16", *METADATA[3:6], "fd20:ce::254"])
def test_what_is_said_of_metadata_is_the_policy(address):
    assert address in (ROOT / "SECURITY.md").read_text()
    assert address in (ROOT / "deploy/kubernetes/network.yaml").read_text()


@pytest.mark.parametrize("executor", ["kubernetes", "celery"])
def test_the_tasks_of_each_executor_run_as_the_account_with_their_rights_and_the_scheduler_does_not(executor):
    helm = ROOT / "deploy" / "helm"
    values = yaml.safe_load((helm / "values.yaml").read_text())
    changed = yaml.safe_load((helm / f"{executor}-executor.yaml").read_text())
    (tasks,) = {
        subject["name"]
        for document in yaml.safe_load_all((helm / "access.yaml").read_text())
        for subject in document["subjects"]
    }
    assert values["scheduler"]["serviceAccount"]["name"] == tasks, "where tasks run without these values"
    assert changed["workers"]["serviceAccount"]["name"] == tasks
    scheduler = changed["scheduler"]["serviceAccount"]["name"]
    assert scheduler != tasks
    if executor == "kubernetes":
        role, binding = yaml.safe_load_all((helm / "kubernetes-executor-access.yaml").read_text())
        assert [subject["name"] for subject in binding["subjects"]] == [scheduler]
        assert (
            role["metadata"]["namespace"] == "airflow"
            and binding["roleRef"]["name"] == role["metadata"]["name"]
        )
        assert not {rule for one in role["rules"] for rule in one["resources"]} & {"secrets", "pods/exec"}
