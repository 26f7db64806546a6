"""Suggestions of the command line after a run."""

import shlex

import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.cli.next_steps import again_of, by_of, next_lines
from storebench.planning.conf import axis_values_of, conf_of
from storebench.planning.params import grid_of, run_values
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
    """Return the commands suggested after a run of these cells with these repeats."""
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))

    def lines(cells, repeats, study=STUDY, **others):
        first, *found = next_lines(RUN, rows_of(cells, repeats, **others), study, "http://airflow")
        assert first == "Next:"
        words = [shlex.split(line, comments=True)[1:] for line in found]
        return [one for one in words if one]  # the page's address is no command

    return lines


def test_the_suggested_run_measures_the_same_cells_with_the_same_parameters(typed, monkeypatch):
    (again,) = [words for words in typed(CELLS, 1) if words[:1] == ["run"]]
    asked = []
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://127.0.0.1:1/none")
    for name in ("URL", "USER", "PASSWORD"):
        monkeypatch.setenv(f"STOREBENCH_AIRFLOW_{name}", "http://127.0.0.1:1")
    monkeypatch.setattr(
        "storebench.cli.airflow_api.Airflow.trigger",
        lambda self, dag, conf: asked.append((dag, conf)) or "manual__2",
    )

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("storebench.cli.follow.follow", interrupted)
    assert CliRunner().invoke(main, again).exit_code == 130
    ((dag, conf),) = asked
    meant = run_values(STUDY, conf)
    assert dag == STUDY.name and meant.pop("repeats") == 6
    assert {(one.store, one.value("batch")) for one in grid_of(STUDY, meant).cells} >= {
        (one.store, one.value("batch")) for one in CELLS
    }
    places = {
        "stores": ["mongodb", "elasticsearch", "null"],
        "clients": ["reference"],
        "batch": ["10", "all"],
    }
    assert {name: sorted(meant[name]) for name in places} == {
        name: sorted(values) for name, values in places.items()
    }
    others = {name for name in PARAMS if name not in (*places, "repeats", "order_seed")}
    assert {name: meant[name] for name in others} == {name: PARAMS[name] for name in others}


def test_a_file_of_ones_own_is_named_and_not_its_number_of_rows():
    params = {**PARAMS, "dataset": "s3://b/k.csv", "rows": 7, "seed": 123}
    found = again_of(STUDY, params, CELLS)
    assert "s3://b/k.csv" in found and "--rows" not in found and "--seed" not in found


def test_after_one_repeat_more_repeats_come_first_and_then_the_comparison(typed):
    found = typed(CELLS, 1)
    assert [words[0] for words in found] == ["results", "report", "run", "compare"]
    assert found[-1] == ["compare", "latest", "--study", STUDY.name, "--by", "store=mongodb,elasticsearch"]


@pytest.mark.parametrize("repeats", [6, 10])
def test_after_six_repeats_no_six_repeats_are_suggested(typed, repeats):
    found = typed(CELLS, repeats)
    assert not any(words[:1] == ["run"] for words in found)
    assert ["compare", "manual__1", "--study", STUDY.name, "--by", "store=mongodb,elasticsearch"] in found
    assert ["replay", "manual__1", "--study", STUDY.name, "--trigger"] in found
    assert found[-1] == ["compare", "manual__1", "latest", "--study", STUDY.name]


def test_what_never_worked_is_not_suggested_again(typed):
    assert [words[0] for words in typed(CELLS, 6, status="failed")] == ["results", "report"]
    assert not any(words[:1] == ["run"] for words in typed(CELLS, 1, study=None)), "its file is not here"


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


def test_a_run_that_is_suggested_can_be_parsed():
    again = again_of(STUDY, PARAMS, CELLS)
    axes = [again[place + 1] for place, word in enumerate(again) if word == "--axis"]
    assert axis_values_of(" ".join(axes), STUDY) == {"batch": ["all", "10"]}
    params = [again[place + 1] for place, word in enumerate(again) if word == "--param"]
    assert conf_of(None, {}, tuple(params)) == {"executor_memory": "2g"}
