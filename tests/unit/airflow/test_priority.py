from types import SimpleNamespace

import pytest

from storebench.airflow.compat.priority import LAST, MOST_STEPS, RANKS, TASKS, CellByCell


def weights(run_id, steps=3):
    """Return the weights of three cells' tasks, in their starting order."""
    return [
        CellByCell().get_weight(
            SimpleNamespace(run_id=run_id, task=SimpleNamespace(priority_weight=place), map_index=index)
        )
        for index in range(3)
        for place in range(steps)
    ]


@pytest.mark.parametrize("steps", [2, 3, 5, MOST_STEPS])
def test_a_cell_is_finished_before_the_next_one_starts(steps):
    found = weights("manual__1", steps)
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == len(found)


def test_of_two_runs_one_goes_first_with_all_its_cells():
    one, other = sorted(weights(name) for name in ("manual__1", "backfill__2"))
    assert one[-1] < other[0]


def test_cleaning_lets_all_cells_go_first():
    assert min(*weights("manual__1"), *weights("backfill__2")) > LAST


def test_a_weight_fits_into_airflows_database():
    assert RANKS * TASKS < 2**31
