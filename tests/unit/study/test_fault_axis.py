"""The axis `fault`: what is done to a server on purpose. A cell without a fault has the key that it had before the axis."""

from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.servers.fault import PARAMS, Fault
from storebench.study import grid as grids
from storebench.study.faults import ALWAYS, axis_of_faults, metrics_of_faults, problems_of_faults
from storebench.study.model import Axis
from tests.unit.example import BATCH, EXECUTORS, STUDY

FAULTED = replace(
    STUDY,
    axes=(BATCH, EXECUTORS, axis_of_faults("mongodb", kinds=("kill", "pause"))),
    metrics=(*STUDY.metrics, *metrics_of_faults()),
    params={**STUDY.params, **PARAMS},
)


@pytest.fixture
def faulted(monkeypatch):
    """Give mongodb two faults, and no other store any."""
    for name in STUDY.stores:
        monkeypatch.setattr(STUDY.store(name), "faults", ("kill", "pause") if name == "mongodb" else ())


def test_a_cell_without_a_fault_has_the_key_that_it_had_before_the_axis():
    axes = {"batch": ["10"], "executors": ["1"], "fault": ("none", "kill")}
    asked = {"clients": ["reference"], "axes": axes, "rows": 1000, "seed": 42}
    found = [cell.key for cell in grids.grid(FAULTED, stores=["mongodb", "null"], **asked).cells]
    assert found == [
        "bulk_write_read/mongodb/reference/batch=10/rows=1000/seed=42",
        "bulk_write_read/mongodb/reference/batch=10/fault=kill/rows=1000/seed=42",
        "bulk_write_read/null/reference/batch=10/rows=1000/seed=42",
    ]


def test_a_fault_has_the_parameters_of_its_run():
    assert Fault.of({}) is None and Fault.of({"fault": "none", "fault_for_s": "9"}) is None
    assert Fault.of({"fault": "kill"}) == Fault("kill", "", 1.0, 5.0, "")
    asked = {
        "fault_server": "cassandra-1",
        "fault_after_s": "2",
        "fault_for_s": "3",
        "fault_url": "http://x/f",
    }
    found = Fault.of({"fault": "pause", **asked})
    assert found == Fault("pause", "cassandra-1", 2.0, 3.0, "http://x/f") and found.least_s == 15
    assert not found.is_maintenance


def test_a_maintenance_lasts_as_long_as_its_command():
    found = Fault.of({"fault": "compact", "fault_after_s": "2", "fault_for_s": "30"})
    assert found.is_maintenance and (found.for_s, found.least_s) == (0, 12)


@pytest.mark.parametrize(
    ("param", "value"),
    [
        ("fault_server", "cassandra"),
        ("fault_after_s", "0"),
        ("fault_for_s", "3601"),
        ("fault_url", "ftp://x"),
    ],
)
def test_a_parameter_that_makes_no_fault_is_refused(param, value):
    with pytest.raises(SpecError, match=PARAMS[param].title):
        Fault.of({"fault": "kill", param: value})


def test_a_study_whose_stores_metrics_and_parameters_fit_has_no_mistake(faulted):
    assert list(problems_of_faults(FAULTED)) == [] == list(problems_of_faults(STUDY))


def test_a_study_that_lacks_a_part_of_the_axis_is_refused(faulted, monkeypatch):
    def problems(**changes):
        return list(problems_of_faults(replace(FAULTED, **changes)))

    own = Axis("fault", "Fault", "", "none|kill", "none or kill", ("none",), ("none", "kill"), ("none",))
    assert "is not made by axis_of_faults" in problems(axes=(BATCH, EXECUTORS, own))[0]
    for axis in (axis_of_faults("null", kinds=("kill", "pause")), axis_of_faults("mongodb", kinds=("kill",))):
        assert (
            "must name the stores with faults, ('mongodb',), and their faults, ('kill', 'pause')"
            in (problems(axes=(BATCH, EXECUTORS, axis))[0])
        )
    assert len(problems(params={})) == len(PARAMS) and len(problems(metrics=STUDY.metrics)) == len(ALWAYS)
    monkeypatch.setattr(STUDY.store("mongodb"), "faults", ("kill", "pause", "burn"))
    assert "the store 'mongodb': faults has 'burn'" in problems()[0]
