"""How many copies of the data the servers of a run hold, and the cells that measure the same where they hold one."""

import pytest

from storebench.airflow import connections
from storebench.planning.params import grid_of, run_values
from storebench.planning.topologies import copies_of
from storebench.servers.sizes import Sizes
from storebench.servers.topology import CHECKOUT_SERVERS, FOLDER, find
from storebench.study.studies import CHECKOUT_DAGS
from storebench.study.studies import find as study_of


@pytest.fixture
def study(monkeypatch):
    """Return a study with an axis of copies. Connections exist to the stores themselves, but to no topology."""
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(CHECKOUT_DAGS))
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setattr(connections, "exists", lambda name: "_" not in name)
    return study_of("point_operations")


def places(study, *stores, **params):
    values = run_values(
        study, {"stores": stores, "clients": ["direct"], "consistency": "one,quorum", **params}
    )
    found = grid_of(study, values, copies_of=copies_of(study, values, connections.exists))
    return [(cell.store, cell.value("consistency")) for cell in found.cells], found.dropped_because


def test_a_quorum_of_one_copy_is_no_cell_beside_one_copy(study):
    found, why = places(study, "cassandra@one", "mongodb@rest", "cassandra@three", "mongodb")
    assert found == [
        ("cassandra@one", "one"),
        ("mongodb@rest", "one"),
        ("cassandra@three", "one"),
        ("cassandra@three", "quorum"),
        ("mongodb", "one"),  # a server of one's own, whose copies nobody declares
        ("mongodb", "quorum"),
    ]
    assert (
        "cassandra@one has one copy of the data, so consistency=quorum is the same as consistency=one" in why
    )


def test_the_copies_that_a_run_asks_for_count(study):
    assert places(study, "mongodb@sharded")[0] == [("mongodb@sharded", "one")]
    assert len(places(study, "mongodb@sharded", server_copies=3)[0]) == 2
    assert places(study, "cassandra@three", server_copies=1)[0] == [("cassandra@three", "one")]


def test_a_connection_takes_precedence_over_a_topology(study, monkeypatch):
    monkeypatch.setattr(connections, "exists", lambda name: True)
    assert len(places(study, "cassandra@one")[0]) == 2


@pytest.mark.parametrize(
    "path", sorted(CHECKOUT_SERVERS.glob("*/*/kustomization.yaml")), ids=lambda p: str(p.parent)
)
def test_each_topology_declares_its_copies(path, monkeypatch):
    """The copies are the replicas of the servers that hold data."""
    monkeypatch.delenv(FOLDER, raising=False)
    server, name = path.parent.parts[-2:]
    held = [one for one in find(server, name).sets if "storebench/sized" in one["metadata"].get("labels", {})]
    assert Sizes().copies_in(find(server, name)) == max(one["spec"]["replicas"] for one in held) >= 1
