import pytest

from storebench.grid import Cell
from storebench.order import Turn
from storebench.results.expected import BETWEEN_S, ROWS_PER_S, expected, in_words


class Measured:
    """What was measured of a study, as storebench.results.queries finds it."""

    def __init__(self, durations=(), between_s=None):
        self._durations, self._between_s = durations, between_s

    def durations(self, study, stores, operations):
        assert operations == sorted(set(operations))
        return [row for row in self._durations if row["store"] in stores and row["operation"] in operations]

    def seconds_between(self, study):
        return self._between_s


def cell(store="mongodb", batch="10", rows=20_000, client="reference"):
    return Cell("s", store, client, (("batch", batch),), rows, 42)


def took(cell, operation, seconds):
    return {
        "cell_key": cell.key,
        "store": cell.store,
        "client": cell.client,
        "rows": cell.rows,
        "operation": operation,
        "seconds": seconds,
    }


def test_where_nothing_was_measured_it_is_assumed_and_said():
    found = expected(Measured(), "s", [Turn(cell(), 1)])
    assert (found.operations, found.unknown) == (2, 2)
    assert found.seconds == 2 * (BETWEEN_S + 20_000 / ROWS_PER_S)
    assert (
        str(found)
        == "Operations: 2. They take about 1 min, at 5,000 rows a second: nothing like them was measured here before"
    )


def test_a_cell_that_was_measured_takes_as_long_again():
    measured = Measured([took(cell(), "write", 30.0), took(cell(), "read", 20.0)], between_s=5.0)
    found = expected(measured, "s", [Turn(cell(), 1), Turn(cell(), 2)])
    assert (found.operations, found.seconds, found.unknown) == (4, 2 * (30 + 20) + 4 * 5, 0)
    assert str(found) == "Operations: 4. They take about 2 min, as in earlier runs here"


def test_other_cells_of_the_same_client_tell_it_by_the_nearest_number_of_rows():
    durations = [
        took(cell(batch="all"), "write", 10.0),
        took(cell(batch="1"), "write", 30.0),
        took(cell(rows=1_000_000), "write", 300.0),
        took(cell(client="tuned"), "write", 1.0),
        took(cell("null"), "write", 1.0),
    ]
    measured = Measured(durations, between_s=0.0)
    for rows, seconds in ((20_000, 20.0), (40_000, 40.0), (2_000_000, 600.0)):
        found = expected(measured, "s", [Turn(cell(rows=rows), 1)])
        read_s = rows / ROWS_PER_S  # of which nothing is known
        assert found.seconds == pytest.approx(seconds + read_s)
        assert "For 1 of them, which are like none before, this assumes" in str(found)


def test_a_store_that_only_reads_has_one_operation():
    assert expected(Measured(), "s", [Turn(cell("delta-kernel"), 1)]).operations == 1


def test_pools_of_nodes_work_side_by_side():
    turns = [Turn(cell(), 1, None, pool) for pool in ("", "", "v8")]
    one = expected(Measured(), "s", turns[:1]).seconds
    assert expected(Measured(), "s", turns).seconds == 2 * one


def test_a_run_of_nothing_takes_no_time():
    assert expected(Measured(), "s", []).seconds == 0.0


@pytest.mark.parametrize(("seconds", "words"), [(0, "1 min"), (61, "2 min"), (3600, "1 h 0 min")])
def test_a_duration_is_said_in_minutes(seconds, words):
    assert in_words(seconds) == words
