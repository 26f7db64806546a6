"""The plan refuses a fault that nothing can make, before any work."""

import pytest

from storebench.errors import SpecError
from storebench.planning.faults import check_faults
from storebench.planning.params import grid_of, run_values
from storebench.study.record import StudyRecord
from storebench.study.studies import find

STUDY = find("point_operations")


def check(study=STUDY, agent="own/agent:1", **asked):
    params = run_values(
        study, {"stores": ["cassandra@three"], "clients": ["direct"], "fault": "kill", **asked}
    )
    check_faults(study, grid_of(study, params).cells, params, lambda name: name == "mongodb", agent)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"fault_server": "cassandra-2"},
        {"stores": ["cassandra@rest"], "fault_server": "cassandra-api-0"},
        {"stores": ["cassandra@three"], "server_copies": 5, "fault_server": "cassandra-4"},
        {"stores": ["mongodb"], "fault": "none"},
        {"stores": ["mongodb"], "fault_url": "http://192.0.2.7/fault"},
        {"pods": "2", "fault": "none"},
        {"fault": "repair", "fault_server": "cassandra-2"},
        {"stores": ["cassandra@rest"], "fault": ["compact", "backup"]},
        {"stores": ["mongodb@one"], "fault": ["compact", "backup"]},
        {"stores": ["mongodb"], "fault": "compact", "fault_url": "http://192.0.2.7/fault"},
    ],
)
def test_a_fault_that_an_agent_or_a_webhook_can_make_is_planned(asked):
    check(**asked)
    check(StudyRecord.of(STUDY), **asked)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"stores": ["mongodb"]},
            "it provisions none for mongodb. Ask for mongodb@one or .* or name by fault_url",
        ),
        ({"fault_server": "cassandra-3"}, "has no such server, but cassandra-0, cassandra-1, cassandra-2"),
        ({"pods": "2"}, "has one pod, and this run asks for pods=2 with fault=kill"),
        ({"agent": None}, "no image of the agent is known"),
        (
            {"stores": ["cassandra@one"], "fault": "repair"},
            "cassandra/one declares no command for it at cassandra-0, but compact, backup.*the annotation storebench/repair",
        ),
        (
            {"stores": ["cassandra@rest"], "fault": "compact", "fault_server": "cassandra-api-0"},
            "declares no command for it at cassandra-api-0, but none for any maintenance",
        ),
        ({"stores": ["mongodb@one"], "fault": "repair"}, "mongodb@one has no fault 'repair': .*backup"),
    ],
)
def test_a_fault_that_nothing_can_make_is_refused(asked, says):
    for study in (STUDY, StudyRecord.of(STUDY)):
        with pytest.raises(SpecError, match=says):
            check(study, **asked)


def test_a_fault_that_the_store_does_not_list_is_refused(monkeypatch):
    monkeypatch.setattr(STUDY.store("cassandra"), "faults", ("pause",))
    with pytest.raises(SpecError, match="cassandra@three has no fault 'kill': pause"):
        check()
