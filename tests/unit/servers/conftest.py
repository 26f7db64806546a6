import pytest

from storebench.servers import cluster as module
from storebench.servers.topology import FOLDER
from tests.unit.servers.kube import Kube


@pytest.fixture
def kube(monkeypatch):
    """Return a cluster in memory, in whose API ServerCluster works without waiting."""
    monkeypatch.delenv(FOLDER, raising=False)
    found = Kube()
    for api in ("AppsV1Api", "NetworkingV1Api"):
        monkeypatch.setattr(module.k8s_client, api, lambda api_client: found)
    monkeypatch.setattr(module, "POLL_INTERVAL_S", 0.001)
    return found
