from datetime import UTC, datetime

import pytest

from storebench.results.forecast.missing import GridCell, backfill_command
from tests.unit import example


def cell(verified=0, failed=0, disturbed=0, wanted=3):
    of = example.cell("null")
    return GridCell(of, "null", datetime(2001, 1, 1, tzinfo=UTC), verified, failed, disturbed, wanted)


def test_a_backfill_asks_for_the_parameters_that_the_grid_was_looked_at_with():
    plain = backfill_command("s", [cell()], 1)
    assert plain.startswith("1 of 1 cells are to be measured:\nairflow backfill create --dag-id s ")
    assert '{"rows": 1000, "seed": 42, "repeats": 1}' in plain
    larger = backfill_command("s", [cell()], 1, {"pod_memory": "12Gi"})
    assert '"repeats": 1, "pod_memory": "12Gi"}' in larger


def test_where_nothing_is_missing_there_is_no_backfill():
    assert (
        backfill_command("s", [cell(verified=3)], 3) == "All 1 cells are verified 3 times: nothing is missing"
    )


@pytest.mark.parametrize(
    ("verified", "failed", "disturbed", "state"),
    [
        (0, 0, 0, "missing"),
        (0, 2, 1, "failed"),
        (0, 0, 1, "disturbed"),
        (1, 1, 1, "verified once"),
        (3, 0, 0, "verified 3 times"),
    ],
)
def test_the_state_of_a_cell_says_why_it_is_to_be_measured(verified, failed, disturbed, state):
    assert cell(verified, failed, disturbed).state == state
