"""Drills have the end-to-end tests' stack, and print a line for each fault."""

import pytest

from tests.drills.drill import STUDY, Drill
from tests.e2e.conftest import cluster, stack

__all__ = ["cluster", "stack"]


@pytest.fixture
def say(capsys):
    """Print a line in spite of pytest's capturing."""

    def out(line):
        with capsys.disabled():
            print(f"\n{line}")

    return out


@pytest.fixture
def drill(cluster, say):
    """Begin a run of a small grid, to be disturbed."""

    def begin(store="mongodb", *, study=STUDY, **conf):
        return Drill(cluster, say, store, conf, study).begin()

    return begin
