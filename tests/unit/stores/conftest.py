"""Fixtures of the tests of all studies' stores."""

import pytest

from storebench.stores import caches


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Skip the wait for Kubernetes: these tests have no Kubernetes."""
    monkeypatch.setattr(caches, "SETTLE_S", 0)
