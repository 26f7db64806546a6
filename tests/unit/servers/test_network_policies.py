"""Test the connections between pods under the policies of deploy/kubernetes and of runs, as Kubernetes' API defines them."""

import json
from pathlib import Path

import pytest
import yaml

from storebench.airflow.kubernetes.placement import Placement
from storebench.servers.agent import PORT
from storebench.servers.render import Place, policy_of, rendered, set_id
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, find

DEPLOY = Path(__file__).parents[3] / "deploy"
OWN, OTHER = set_id("d/r", "mongodb@rest"), set_id("d/other", "mongodb@rest")


@pytest.fixture(autouse=True)
def shipped(monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)


def documents(name):
    return [one for one in yaml.safe_load_all((DEPLOY / name).read_text()) if one]


def chosen(selector, labels):
    """Return whether a label selector of Kubernetes selects a pod with these labels."""
    assert selector.keys() <= {"matchLabels", "matchExpressions"}
    exact = selector.get("matchLabels", {}).items() <= labels.items()
    there = {"Exists": True, "DoesNotExist": False}
    rest = selector.get("matchExpressions", [])
    return exact and all((one["key"] in labels) is there[one["operator"]] for one in rest)


def reaches(policies, client, server, port):
    """Return whether a pod with the labels `client` reaches the port of a pod with the labels `server` in the policies' namespace.

    Policies add up, and a pod that no policy selects is open.
    """
    specs = [one["spec"] for one in policies]
    found = [one for one in specs if "Ingress" in one["policyTypes"] and chosen(one["podSelector"], server)]
    rules = [rule for one in found for rule in one.get("ingress", [])]
    return not found or any(
        chosen(peer["podSelector"], client)
        and port in [p["port"] for p in rule.get("ports", [{"port": port}])]
        for rule in rules
        for peer in rule["from"]
    )


def servers_of(own):
    """Yield the labels of a set's pods, and their ports with the agent's."""
    objects = rendered(find("mongodb", "rest"), own, Sizes(), Place(agent="agent:1"))
    for one in objects:
        if one["kind"] == "StatefulSet":
            template = one["spec"]["template"]
            ports = [p["containerPort"] for c in template["spec"]["containers"] for p in c["ports"]]
            yield template["metadata"]["labels"], ports


def client_of(own):
    return Placement().template("a", "base", own)["metadata"]["labels"]


@pytest.fixture
def policies():
    return [*documents("kubernetes/network.yaml"), policy_of(OWN), policy_of(OTHER)]


def test_only_the_pods_of_the_run_reach_its_servers_and_their_agents(policies):
    there = list(servers_of(OWN))
    assert len(there) == 3
    for labels, ports in there:
        assert PORT in ports and len(ports) == 2
        for port in ports:
            assert reaches(policies, client_of(OWN), labels, port)
            assert all(reaches(policies, member, labels, port) for member, _ in there), "the API's database"
            assert not reaches(policies, client_of(OTHER), labels, port), "an attempt of another run"
            assert not reaches(policies, next(servers_of(OTHER))[0], labels, port), "servers of another run"
            assert not reaches(policies, client_of(None), labels, port), "at a store of a connection"
            assert not reaches(policies, {}, labels, port)


def test_servers_without_the_policy_of_their_run_admit_nobody():
    labels, _ = next(servers_of(OWN))
    assert not reaches(documents("kubernetes/network.yaml"), client_of(OWN), labels, 27017)


def test_other_pods_of_the_namespace_reach_each_other_and_the_servers_that_somebody_made_by_hand(policies):
    driver, executor = client_of(None), client_of(OWN)
    assert reaches(policies, executor, driver, 7078) and reaches(policies, driver, executor, 7079)
    assert reaches(policies, driver, {"app": "mongodb"}, 27017)


def test_all_pods_have_the_rules_for_what_they_reach():
    egress = [one["spec"] for one in documents("kubernetes/network.yaml") if "egress" in one["spec"]]
    assert all(one["podSelector"] == {} and one["policyTypes"] == ["Egress"] for one in egress)
    targets = json.dumps([rule for one in egress for rule in one["egress"]])
    assert "169.254.0.0/16" in targets and '"port": 53' in targets and '{"podSelector": {}}' in targets


def test_airflow_may_make_and_remove_policies_and_do_nothing_else_with_them():
    roles = [one for one in documents("kubernetes/airflow.yaml") if one["kind"].endswith("Role")]
    found = [rule for role in roles for rule in role["rules"] if "networkpolicies" in rule["resources"]]
    assert found == [
        {"apiGroups": ["networking.k8s.io"], "resources": ["networkpolicies"], "verbs": ["create", "delete"]}
    ]
    (binding,) = (one for one in documents("helm/access.yaml") if one["kind"] == "RoleBinding")
    assert binding["roleRef"]["name"] == "airflow", "Helm's account has the same rights"
