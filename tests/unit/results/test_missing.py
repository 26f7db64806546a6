from datetime import UTC, datetime

from storebench.grid import Cell
from storebench.results.missing import GridCell, backfill_command

CELL = GridCell(
    Cell("s", "null", "reference", (), 1000, 42), "null", datetime(2001, 1, 1, tzinfo=UTC), 0, 0, 1
)


def test_a_backfill_asks_for_the_parameters_that_the_grid_was_looked_at_with():
    assert '"repeats": 1}' in backfill_command("s", [CELL], 1)
    assert '"repeats": 1, "pod_memory": "12Gi"}' in backfill_command("s", [CELL], 1, {"pod_memory": "12Gi"})
