import uuid
from datetime import UTC, datetime

import pytest

from storebench.answers.attempts import Attempt
from storebench.answers.figures import figures_answer, named, phases_answer, typical_of


def row(operation="write", repeat=1, status="verified", **figures):
    found = dict.fromkeys(Attempt.model_fields)
    return {
        **found,
        **named("s/null/reference/batch=10/rows=1/seed=1"),
        "attempt_id": uuid.uuid4(),
        "run_id": "s/r",
        "run": "r",
        "operation": operation,
        "repeat": repeat,
        "try_number": 1,
        "warm_up": False,
        "status": status,
        "metric": "only_s",
        "value": float(repeat),
        "unit": "s",
        "metrics": {"only_s": float(repeat), "rows_per_s": 1000.0 * repeat},
        "superseded": False,
        "method_version": 2,
        "code_version": "1",
        "total_s": 10.0 * repeat,
        "work_total_s": 6.0 * repeat,
        "all_memory_working_set_peak_bytes": 100,
        "dataset_id": "v1/rows=1/seed=1",
        "dataset_bytes": 500_000_000,
        "recorded_at": datetime(2026, 1, 1, tzinfo=UTC),
        **figures,
    }


def test_medians_and_intervals_are_of_verified_attempts_alone():
    rows = [row(repeat=number) for number in range(1, 7)] + [row(repeat=7, status="failed")]
    (found,) = figures_answer(rows)
    assert [attempt.repeat for attempt in found.attempts] == [1, 2, 3, 4, 5, 6, 7]
    figures = found.figures
    assert list(figures) == ["only_s", "rows_per_s", "work_total_s", "all_memory_working_set_peak_bytes"]
    assert figures["only_s"].model_dump() == {
        "n": 6,
        "median": 3.5,
        "interval_low": 1,
        "interval_high": 6,
        "interval_coverage": 0.96875,
    }
    assert (figures["rows_per_s"].n, figures["rows_per_s"].median) == (6, 3500)
    assert (figures["work_total_s"].median, figures["all_memory_working_set_peak_bytes"].median) == (21, 100)
    assert (found.study, found.store, found.client) == ("s", "null", "reference")
    assert (found.axes, found.rows, found.seed) == ({"batch": "10"}, 1, 1)


def test_what_was_used_is_of_the_attempts_that_count_for_each_gb_of_the_dataset():
    used = {"work_total_s": 1800.0, "all_cpu_s": 3600.0, "all_memory_working_set_peak_bytes": 4 * 2**30}
    disturbed = row(repeat=3, disturbed="throttled", **{**used, "all_cpu_s": 9e9})
    (write, read) = figures_answer([row(**used), row(repeat=2, **used), disturbed, row("read")])
    assert write.used is not None
    assert write.used.model_dump() == {"n": 2, "cpu_hours": 2.0, "memory_gib_hours": 4.0}
    assert read.used is None, "its CPU was not measured"


def test_a_metric_that_only_some_attempts_have_is_of_these():
    with_latency = row(repeat=2, metrics={"only_s": 2.0, "latency_s": 0.5})
    (found,) = figures_answer([row(repeat=1), with_latency])
    assert (found.figures["only_s"].n, found.figures["latency_s"].n) == (2, 1)


def test_a_disturbed_attempt_is_shown_and_in_no_figure():
    disturbed = row(repeat=9, disturbed="lost 1 of 2 executors")
    (found,) = figures_answer([row(repeat=1), row(repeat=2), disturbed])
    assert (found.figures["only_s"].n, found.figures["only_s"].median) == (2, 1.5)
    assert found.figures["work_total_s"].median == 9
    assert found.attempts[-1].disturbed == "lost 1 of 2 executors"
    assert [each["repeat"] for each in typical_of([disturbed, row(repeat=1)])] == [1]


def test_five_repeats_have_no_interval():
    (found,) = figures_answer([row(repeat=number) for number in range(1, 6)])
    assert found.figures["only_s"].model_dump() == {
        "n": 5,
        "median": 3,
        "interval_low": None,
        "interval_high": None,
        "interval_coverage": None,
    }


def test_a_cell_without_a_verified_attempt_has_no_median():
    (found,) = figures_answer([row(status="failed", value=None, metrics={}, total_s=None)])
    assert found.figures == {}
    assert len(found.attempts) == 1


def test_operations_are_apart():
    assert [cell.operation for cell in figures_answer([row(), row("read")])] == ["write", "read"]


@pytest.mark.parametrize(("totals", "typical"), [((10, 20, 90), 20), ((10, 11, 30, 31), 11)])
def test_the_typical_attempt_is_nearest_to_the_median(totals, typical):
    rows = [row(repeat=number, total_s=float(total)) for number, total in enumerate(totals, 1)]
    (found,) = typical_of([*rows, row(repeat=9, status="failed", total_s=20.4)])
    assert found["total_s"] == typical


def test_where_none_is_verified_the_last_attempt_is_shown():
    rows = [row(repeat=number, status="failed", total_s=None) for number in (1, 2)]
    assert [found["repeat"] for found in typical_of(rows)] == [2]


def test_phases_are_the_typical_attempts_in_their_order():
    typical = [row()]
    phases = [
        {"attempt_id": typical[0]["attempt_id"], "name": name, "seconds": 1.0}
        for name in ("connect", "operation", "barrier")
    ]
    (found,) = phases_answer(typical, phases)
    assert list(found.phases) == ["connect", "operation", "barrier"]
