"""Runs that the page starts, on the real database: plans, measurements that decide a comparison, and links to results."""

import json
import uuid

import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.planning.params import run_values
from storebench.results.database.repository import run_id_of
from storebench.study.record import StudyRecord
from storebench.version import code_version
from storebench.web.access import GridDag, grid_dag
from storebench.web.api import app
from storebench.web.reading import Reading
from tests.bulk import bulk_study
from tests.integration.recorded import PARAMS, ROWS, STUDY
from tests.integration.test_page import client, get

__all__ = ["client"]

NOISY = (1.0, 1.05, 0.96, 1.02, 1.0, 1.07, 0.94)


@pytest.fixture
def study() -> StudyRecord:
    """Return the study as the API server has it: from its record, without its file."""
    return StudyRecord.read(json.loads(json.dumps(StudyRecord.of(bulk_study()).as_json())))


@pytest.fixture
def drafted(client, database, study):
    """Return the draft of a run with these parameters, as the page gets it."""

    def ask(**params):
        app.dependency_overrides[grid_dag] = lambda: GridDag(study, {}, True, Reading(database, [STUDY]))
        return get(client, "draft", dag=STUDY, params=json.dumps(params))

    return ask


@pytest.fixture
def noisy(run):
    """Record a run with noisy times, in which each cell is slower by its number."""

    def make(cells, repeats=7, slower=0.0, **changes):
        def seconds(cell, turn):
            return NOISY[(turn.repeat + cells.index(cell)) % 7] * (1 + slower)

        return run(cells, repeats, seconds, **changes)

    return make


def asked(cells, **changes):
    """Return the parameters of a run of the cells."""
    places = {"stores": ["mongodb"], "clients": ["reference"], "batch": ["10", "20"]}
    return run_values(bulk_study(), {**places, "rows": ROWS, "seed": cells[0].seed, **changes})


def test_a_draft_knows_how_long_it_took_before_and_what_is_done(drafted, run, cells):
    run(cells, 2)
    places = {"stores": ["mongodb"], "clients": "reference", "batch": "10, 20"}
    params = {**places, "rows": ROWS, "seed": cells[0].seed}
    found = drafted(**params, repeats=3)
    assert (found["mistakes"], found["cells_total"], found["operations"], found["unknown"]) == ([], 2, 12, 0)
    assert found["expected_s"] == found["expected_most_s"] > 12 * 9
    assert found["conf"]["batch"] == ["10", "20"] and found["may_start"] is True
    left = drafted(**params, repeats=3, skip_done=True)
    assert left["operations"] == 4
    done = drafted(**params, repeats=2, skip_done=True)
    assert (done["operations"], [one["repeats"] for one in done["cells"]]) == (0, [0, 0])
    assert "already verified 2 times" in done["cells"][0]["skipped"]


def test_two_runs_that_differ_in_a_parameter_are_decided_in_turns(client, drafted, noisy, cells):
    small = {"pod_memory": "2Gi"}
    before = noisy(cells, asked=asked(cells))
    after = noisy(cells, params={**PARAMS, **small}, asked=asked(cells, **small))
    found = get(client, "deciding", before=before, after=after)
    assert (found["refused"], found["pairs"], found["dag_id"]) == (None, 4, STUDY)
    assert [part["side"] for part in found["parts"]] == ["A", "B"]
    assert [part["params"]["pod_memory"] for part in found["parts"]] == ["8Gi", "2Gi"]
    assert 7 < found["turns"] <= found["most_turns"]
    for part in found["parts"]:
        once = drafted(**part["params"])
        assert (once["mistakes"], once["cells_total"], once["operations"]) == ([], 2, 4)


def test_what_runs_do_not_differ_in_cannot_be_decided(client, noisy, cells):
    name = noisy(cells, asked=asked(cells))
    found = get(client, "deciding", before=name, after=noisy(cells, asked=asked(cells)))
    assert found["parts"] == [] and "differ in nothing" in found["refused"]


def test_what_older_code_has_measured_cannot_be_measured_any_more(client, noisy, cells):
    old = noisy(cells, asked=asked(cells), figures=lambda cell, operation: {"code_version": "0.0.1"})
    found = get(client, "deciding", before=old, after=noisy(cells, asked=asked(cells)))
    assert found["parts"] == []
    assert found["refused"].endswith(
        f"only the present code, {code_version()}: so A cannot be measured any more"
    )


def test_two_values_of_a_run_are_compared_and_decided_in_its_rounds(client, drafted, noisy, cells):
    name = noisy(cells, asked=asked(cells))
    sides = {"before": name, "after": name, "by": "batch=10,20"}
    found = get(client, "compare", **sides)
    assert (found["units"], found["caution"]) == ("rounds", None)
    assert {(one["operation"], one["axes"]["batch"]) for one in found["verdicts"]} == {
        ("write", "10"),
        ("read", "10"),
    }
    assert all(one["origin_after"]["servers"] == ["FerretDB"] for one in found["verdicts"])
    decided = get(client, "deciding", **sides)
    (part,) = decided["parts"]
    assert (part["side"], part["params"]["repeats"]) == ("both", decided["turns"])
    assert drafted(**part["params"])["operations"] == 4 * decided["turns"]
    for wrong in ("batch=10", "batch=10,30", "size=1,2"):
        get(client, "compare", answers=404, **{**sides, "by": wrong})


def test_runs_in_turns_are_one_comparison_that_can_be_shared(client, database, monkeypatch, noisy, cells):
    made = uuid.uuid4().hex
    sides = {"before": f"turns:{made}:A", "after": f"turns:{made}:B"}
    get(client, "compare", answers=404, **sides)
    for turn in range(1, 6):
        for side, slower in (("A", 0.0), ("B", 0.5)):
            noisy(cells, 1, slower * (1 + turn / 100), name=f"turns__{made}__{turn:03}{side}")
    noisy(cells, 1, name=f"turns__{made}__006A")
    found = get(client, "compare", **sides)
    assert (found["units"], found["caution"]) == ("turns", None)
    assert {one["verdict"] for one in found["verdicts"]} == {"worse"}
    assert [one["airflow_run_id"] for one in found["after"]] == [
        f"turns__{made}__{n:03}B" for n in range(1, 6)
    ]
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    told = CliRunner().invoke(main, ["compare", *sides.values()])
    assert told.exit_code == 0 and "4 compared: 4 slower" in told.stdout, told.output
    named = CliRunner().invoke(main, ["compare", f"turns__{made}__001A", "--by", "batch=10,20"])
    assert named.exit_code == 0 and "2 compared" in named.stdout, named.output


def test_latest_is_no_run_in_turns_where_another_is_near_it(queries, noisy, cells):
    name = noisy(cells, 1)
    noisy(cells, 1, name=f"turns__{uuid.uuid4().hex}__001A")
    assert queries.run_named("latest")["id"] == run_id_of(STUDY, name)


def test_who_may_read_nothing_is_told_nothing(client, noisy, cells, database):
    from storebench.web.access import reading

    name = noisy(cells, 1)
    app.dependency_overrides[reading] = lambda: Reading(database, [])
    get(client, "deciding", before=name, after=name, answers=404)
