"""Suggestions of the command line after a run."""

import shlex

import pytest

from storebench.cli.next_steps import BY_MAKE, by_of, next_lines
from storebench.planning.params import run_values
from storebench.study.studies import find
from tests.unit.example import cell

STUDY = find("bulk_write_read")
PARAMS = run_values(STUDY, {"rows": 20000, "pod_memory": "2Gi", "executor_memory": "2g", "keep_data": True})
CELLS = [
    cell("null", batch="all", rows=20000),
    cell("mongodb", batch="all", rows=20000),
    cell("mongodb", batch="10", rows=20000),
    cell("elasticsearch", batch="10", rows=20000),
]
RUN = {"airflow_run_id": "manual__1", "study": STUDY.name, "params": PARAMS}


def rows_of(cells, repeats, status="verified"):
    return [
        {"cell_key": one.key, "operation": name, "status": status, "repeat": repeat}
        for one in cells
        for name in ("write", "read")
        for repeat in range(1, repeats + 1)
    ]


@pytest.fixture
def typed(monkeypatch, tmp_path):
    """Return the suggested commands after a run of these cells with these repeats, without comments."""
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))
    monkeypatch.setattr("storebench.cli.environment.shutil.which", lambda name: f"/bin/{name}")
    monkeypatch.delenv(BY_MAKE, raising=False)

    def lines(cells, repeats, study=STUDY, name="latest", **others):
        first, *found = next_lines(RUN, rows_of(cells, repeats, **others), study, "http://airflow", name)
        assert first == "Next:"
        return [" ".join(shlex.split(line, comments=True)) for line in found]

    return lines


PAGE = "http://airflow/plugin/storebench-run"


def test_after_one_repeat_more_repeats_come_first_and_then_the_comparison(typed):
    assert typed(CELLS, 1) == [
        "storebench results --run latest",
        "storebench report latest --out DIR",
        PAGE,
        "storebench replay latest --repeats 6 --follow",
        "storebench compare latest --by store=mongodb,elasticsearch",
    ]


def test_a_run_that_make_started_suggests_targets_of_make(typed, monkeypatch, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "env").touch()
    assert typed(CELLS, 1)[0] == f". {tmp_path}/run/env"
    monkeypatch.setenv(BY_MAKE, "1")
    assert typed(CELLS, 1) == [
        "make results",
        "make report OUT=DIR",
        PAGE,
        "make replay REPEATS=6",
        "make compare BY=store=mongodb,elasticsearch",
    ]
    assert typed(CELLS, 6)[3:] == [
        "make compare BY=store=mongodb,elasticsearch",
        "make replay",
        "make compare RUN=manual__1 WITH=latest",
    ]
    older = typed(CELLS, 1, name="manual__1")
    assert older[0] == "make results RUN=manual__1" and older[3] == "make replay RUN=manual__1 REPEATS=6"
    assert older[4] == "make compare BY=store=mongodb,elasticsearch", "the run that was then the newest"


@pytest.mark.parametrize("repeats", [6, 10])
def test_after_six_repeats_no_six_repeats_are_suggested(typed, repeats):
    assert typed(CELLS, repeats)[3:] == [
        "storebench compare latest --by store=mongodb,elasticsearch",
        "storebench replay latest --follow",
        "storebench compare manual__1 latest",
    ]


def test_what_never_worked_is_not_suggested_again(typed):
    assert len(typed(CELLS, 6, status="failed")) == 3
    assert not any("replay" in line for line in typed(CELLS, 1, study=None)), "its file is not here"


@pytest.mark.parametrize(
    ("cells", "by"),
    [
        (CELLS[:2], "store=mongodb,null"),
        (CELLS[1:3], "batch=all,10"),
        (CELLS[:1], None),
        ([cell("mongodb", client) for client in ("reference", "tuned")], "client=reference,tuned"),
        ([cell("mongodb", batch="10"), cell("delta-spark", batch="10", executors="1")], None),
    ],
)
def test_two_values_are_compared_that_cells_have_which_differ_in_nothing_else(cells, by):
    assert by_of(cells, STUDY) == by
