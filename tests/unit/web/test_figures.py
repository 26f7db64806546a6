import uuid
from datetime import UTC, datetime

import pytest

from storebench.web.figures import figures_of, phases_of, typical_of
from storebench.web.models import Attempt


def row(operation="write", repeat=1, status="verified", **figures):
    found = dict.fromkeys(Attempt.model_fields)
    return {
        **found,
        "cell_key": "s/null/reference/batch=10/rows=1/seed=1",
        "store": "null",
        "client": "reference",
        "attempt_id": uuid.uuid4(),
        "run_id": "s/r",
        "run": "r",
        "operation": operation,
        "repeat": repeat,
        "try_number": 1,
        "warm_up": False,
        "status": status,
        "only_s": float(repeat),
        "rows": 1000,
        "seed": 42,
        "rows_per_s": 1000.0 * repeat,
        "superseded": False,
        "total_s": 10.0 * repeat,
        "all_memory_working_set_peak_bytes": 100,
        "recorded_at": datetime(2026, 1, 1, tzinfo=UTC),
        **figures,
    }


def test_medians_and_intervals_are_of_verified_attempts_alone():
    rows = [row(repeat=number) for number in range(1, 7)] + [row(repeat=7, status="failed")]
    (found,) = figures_of(rows)
    assert [attempt.repeat for attempt in found.attempts] == [1, 2, 3, 4, 5, 6, 7]
    assert (found.only_s.n, found.only_s.median, found.only_s.low, found.only_s.high) == (6, 3.5, 1, 6)
    assert found.only_s.coverage == 0.96875
    assert (found.total_s.median, found.memory_bytes.median) == (35, 100)
    assert (found.rows, found.seed, found.rows_per_s.n, found.rows_per_s.median) == (1000, 42, 6, 3500)


def test_a_disturbed_attempt_is_shown_and_in_no_figure():
    disturbed = row(repeat=9, disturbed="lost 1 of 2 executors")
    (found,) = figures_of([row(repeat=1), row(repeat=2), disturbed])
    assert (found.only_s.n, found.only_s.median, found.total_s.median) == (2, 1.5, 15)
    assert found.attempts[-1].disturbed == "lost 1 of 2 executors"
    assert [each["repeat"] for each in typical_of([disturbed, row(repeat=1)])] == [1]


def test_five_repeats_have_no_interval():
    (found,) = figures_of([row(repeat=number) for number in range(1, 6)])
    assert found.only_s.model_dump() == {"n": 5, "median": 3, "low": None, "high": None, "coverage": None}


def test_a_cell_without_a_verified_attempt_has_no_median():
    (found,) = figures_of([row(status="failed", only_s=None, total_s=None)])
    assert (found.only_s, found.total_s, found.memory_bytes) == (None, None, None)
    assert len(found.attempts) == 1


def test_writes_and_reads_are_apart():
    assert [cell.operation for cell in figures_of([row(), row("read")])] == ["write", "read"]


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
    (found,) = phases_of(typical, phases)
    assert list(found.phases) == ["connect", "operation", "barrier"]
