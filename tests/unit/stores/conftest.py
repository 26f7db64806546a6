"""Fixtures of the tests of all studies' stores."""

import pytest

from storebench.stores import caches


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Skip the wait for Kubernetes, which has no server to notice here."""
    monkeypatch.setattr(caches, "SETTLE_S", 0)
