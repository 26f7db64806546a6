"""Records of the servers that runs started."""

import pytest

from storebench.results.leftovers.servers import ServerUse
from storebench.results.leftovers.stopped import RunStates
from storebench.results.leftovers.tracking import Left
from storebench.results.leftovers.unneeded import servers_of_runs_over
from tests.bulk import cell_at

ONE, SIZED = "elasticsearch@one", "elasticsearch@one server_memory=4Gi"


@pytest.fixture
def left(database):
    found = Left(database)
    yield found
    for run in ("d/r", "d/other"):
        for use in found.servers_of(run):
            found.servers_removed(run, use.servers)


def test_servers_are_there_from_before_they_are_made_until_they_are_removed(left):
    left.provision_servers("d/r", ONE, ONE)
    assert left.servers_of("d/r") == [ServerUse(ONE, ONE)]
    left.servers_ready("d/r", ONE, {"pod": ["uid", 0]})
    assert left.servers_of("d/r") == [ServerUse(ONE, ONE, {"pod": ["uid", 0]})]
    left.provision_servers("d/r", ONE, ONE)
    assert left.servers_of("d/r") == [ServerUse(ONE, ONE)], "made anew, they are not ready"
    left.servers_removed("d/r", ONE)
    left.servers_removed("d/r", ONE)
    assert left.servers_of("d/r") == []


def test_what_could_not_be_provisioned_keeps_its_reason(left):
    left.provision_servers("d/r", SIZED, ONE)
    left.servers_ready("d/r", SIZED, {"pod": ["uid", 0]})
    left.servers_failed("d/r", SIZED, "no image")
    assert left.servers_of("d/r") == [ServerUse(SIZED, ONE, failed="no image")]


def test_runs_that_are_over_are_listed_with_what_may_be_there(left):
    left.provision_servers("d/r", ONE, ONE)
    left.provision_servers("d/r", SIZED, ONE)
    left.servers_failed("d/r", SIZED, "no image")
    left.provision_servers("d/other", ONE, ONE)
    states = RunStates(lambda dag, run: {"r": "failed"}.get(run, "running"), lambda *_: None, lambda: "this")
    assert servers_of_runs_over(left, states) == [("d/r", [ONE])]


def test_the_data_of_a_runs_turns_goes_with_their_servers(left, run):
    at_one, elsewhere = cell_at(ONE, 31, batch="all"), cell_at("elasticsearch", 31, batch="all")
    run_id = f"bulk_write_read/{run([at_one, elsewhere], 1)}"
    for cell in (at_one, elsewhere):
        left.leaves(run_id, cell, 1)
    left.provision_servers(run_id, ONE, ONE)
    left.servers_removed(run_id, ONE)
    assert [one.cell for one in left.undropped() if one.run_id == run_id] == [elsewhere]
    left.dropped(run_id, elsewhere, 1)
