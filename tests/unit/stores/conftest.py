"""What the tests of all studies' stores share."""

import pytest

from storebench.stores import caches


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """There is no Kubernetes that would have to notice a server."""
    monkeypatch.setattr(caches, "SETTLE_S", 0)
