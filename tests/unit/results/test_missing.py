from datetime import datetime

import pytest

from storebench.grid import Cell
from storebench.results.missing import GridCell


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
    cell = Cell("s", "null", "reference", (), 1000, 42)
    assert GridCell(cell, "null", datetime(2001, 1, 1), verified, failed, disturbed, 3).state == state
