"""The history of a cell's attempts over many runs."""

from datetime import UTC, datetime, timedelta

import pytest

from storebench.results.database.measurements import value_of
from storebench.results.database.queries import Queries
from storebench.results.runs.history import history
from storebench.study.record import StudyRecord
from tests.bulk import BULK, RANKED_BY, bulk_study, cell_at

CELL = cell_at("mongodb", 7, 1000, batch="10").key
BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
STEP = 36  # the run from which on it takes longer


def attempt(run, seconds, repeat=1, **changes):
    """Return a row of `results`."""
    return {
        "run_id": f"{BULK}/r{run}",
        "recorded_at": BEGUN + timedelta(hours=run, minutes=repeat),
        "status": "verified",
        "disturbed": None,
        "environment_hash": "e",
        "parameters_hash": "p",
        "method_version": 2,
        "metrics": {RANKED_BY["write"]: seconds, "rows_per_s": 1000 / seconds},
        "work_total_s": seconds + 1,
        "all_memory_working_set_peak_bytes": 1,
        "all_cpu_s": None,
        **changes,
    }


@pytest.fixture
def told(monkeypatch):
    """Return the history of these attempts with these baselines."""
    monkeypatch.setattr(Queries, "study", lambda self, name: StudyRecord.of(bulk_study()))

    def tell(rows, metric=None, operation="write", **baselines):
        monkeypatch.setattr(
            Queries,
            "compared_at",
            lambda self, keys, operation, metric: [
                {**row, "value": value_of(row, metric)} for row in rows[::-1]
            ],
        )
        monkeypatch.setattr(
            Queries, "baselines", lambda self: {name: f"{BULK}/r{run}" for name, run in baselines.items()}
        )
        return history(Queries(""), CELL, operation, metric)

    return tell


def planted(**changes):
    """Sixty runs of three repeats, the later ones slower by a quarter."""
    return [
        attempt(run, (1.25 if run >= STEP else 1.0) + (run * 7 % 11 + repeat) / 500, repeat, **changes)
        for run in range(60)
        for repeat in (1, 2, 3)
    ]


def test_a_planted_step_is_told_with_the_run_at_which_it_begins(told):
    found = told(planted(), nightly=3)
    assert (found.metric, found.unit, found.better) == (RANKED_BY["write"], "s", "lower")
    (series,) = found.series
    (change,) = series.changes
    assert change.after.first.run_id == f"{BULK}/r{STEP}"
    assert change.before.last.run_id == f"{BULK}/r{STEP - 1}"
    assert (series.runs, change.before.runs, change.after.runs) == (60, STEP, 60 - STEP)
    assert change.verdict == "worse" and change.ratio == pytest.approx(1.25, rel=0.02)
    assert series.levels == [change.before, change.after]
    assert change.after.first.at == BEGUN + timedelta(hours=STEP, minutes=1)
    baseline = series.baselines["nightly"]
    assert (baseline.run_id, baseline.attempts) == (f"{BULK}/r3", 3)
    assert baseline.median == pytest.approx(1 + (3 * 7 % 11 + 2) / 500)


def test_a_level_s_median_is_that_of_all_its_attempts_whatever_their_runs(told):
    rows = [attempt(0, 1.0), *(attempt(1, 3.0, repeat) for repeat in (1, 2, 3)), attempt(2, 2.0)]
    (level,) = told(rows).series[0].levels
    assert (level.runs, level.median) == (3, 3.0)


def test_more_a_second_is_better_and_of_what_is_neither_it_is_said_so(told):
    assert told(planted(), "rows_per_s").series[0].changes[0].verdict == "worse"
    no_way = [{**row, "metrics": {"source_s": row["metrics"][RANKED_BY["write"]]}} for row in planted()]
    assert told(no_way, "source_s").series[0].changes[0].verdict == "higher"


def test_a_change_to_or_from_nothing_has_no_ratio(told):
    rows = [attempt(run, 1, metrics={RANKED_BY["write"]: 0 if run < 20 else 2}) for run in range(40)]
    (change,) = told(rows).series[0].changes
    assert (change.ratio, change.verdict) == (None, "worse")


@pytest.mark.parametrize("name", ["environment_hash", "parameters_hash", "method_version"])
def test_another_machine_other_parameters_and_another_method_are_another_history(told, name):
    later = [{**row, name: 9} if int(row["run_id"].rpartition("r")[2]) >= STEP else row for row in planted()]
    found = told(later)
    assert [one.runs for one in found.series] == [STEP, 60 - STEP]
    assert [one.changes for one in found.series] == [[], []]


def test_what_does_not_count_is_in_no_history(told):
    bad = [
        attempt(run, 9, repeat=4, **changes)
        for run, changes in enumerate(
            [
                {"status": "failed"},
                {"disturbed": "throttled"},
                {"environment_hash": None},
                {"metrics": {}},
            ]
            * 10
        )
    ]
    assert told([*planted(), *bad]) == told(planted())
    assert told(bad).series == []


def test_an_operation_that_the_study_has_no_more_has_no_metric_but_what_one_asks_for(told):
    assert told(planted(), operation="sum").series == []
    assert told(planted(), "work_total_s", "sum").series[0].runs == 60
