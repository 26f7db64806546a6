"""The topologies as kustomize reads them, with the kubectl of the embedded stack."""

import subprocess

import pytest
import yaml

from storebench.servers.topology import CHECKOUT_SERVERS, find
from tests.integration.watched import HOME

NAMESPACE = "storebench"


def by_name(objects):
    return {(manifest["kind"], manifest["metadata"]["name"]): manifest for manifest in objects}


@pytest.mark.parametrize(
    "path",
    sorted(path.parent for path in CHECKOUT_SERVERS.glob("*/*/kustomization.yaml")),
    ids=lambda path: f"{path.parent.name}/{path.name}",
)
def test_kustomize_reads_the_same_objects_from_a_topology(path):
    command = [HOME / "bin" / "kubectl", "kustomize", path]
    built = yaml.safe_load_all(subprocess.check_output(command, text=True))
    topology = by_name(find(path.parent.name, path.name).objects)
    for manifest in topology.values():
        manifest["metadata"]["namespace"] = NAMESPACE
    assert by_name(built) == topology
