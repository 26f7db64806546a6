from dataclasses import replace

import pytest

from storebench.fields import Number
from storebench.results.forecast.expected import (
    BETWEEN_S,
    ROWS_PER_S,
    assumed_s,
    format_duration,
    range_of,
)
from storebench.results.forecast.expected import expected as expected_of
from storebench.study.order import Turn
from tests.unit import example
from tests.unit.example import STUDY

PARAMS = {name: field.default for name, field in STUDY.params.items()}


class Measured:
    """A study's measurements, as storebench.results.database.queries finds them."""

    def __init__(self, durations=(), between_s=None):
        self._durations, self._between_s = durations, between_s

    def durations(self, study, stores, operations):
        assert (study, list(operations)) == (STUDY.name, ["write", "read"])
        return [row for row in self._durations if row["cell_key"].split("/")[1] in stores]

    def seconds_between(self, study):
        return self._between_s


def expected(measured, study, turns, **params):
    return expected_of(measured, study, turns, {**PARAMS, **params})


def cell(store="mongodb", batch="10", rows=20_000, client="reference"):
    return example.cell(store, client, batch=batch, rows=rows)


def took(cell, operation, seconds, growing_s=None):
    return {
        "cell_key": cell.key,
        "store": cell.store,
        "operation": operation,
        "seconds": seconds,
        "growing_s": growing_s,
    }


def write_s(durations, rows, **of):
    """Return the expected bounds of a write's seconds by these durations. The read has no durations."""
    found = expected(Measured(durations, between_s=0.0), STUDY, [Turn(cell(rows=rows, **of), 1)])
    read_s = rows / ROWS_PER_S
    return pytest.approx((found.seconds - read_s, found.most_s - read_s))


def test_where_nothing_was_measured_it_is_a_guess_and_that_is_said():
    found = expected(Measured(), STUDY, [Turn(cell(), 1)])
    assert (found.operations, found.unknown) == (2, 2)
    assert found.seconds == 2 * (BETWEEN_S + 20_000 / ROWS_PER_S)
    assert str(found) == (
        "Operations: 2. They take about 1 min. That is a guess, of 5,000 rows a second: nothing like them was measured here before"
    )


def test_a_cell_that_was_measured_takes_as_long_again():
    measured = Measured([took(cell(), "write", 30.0), took(cell(), "read", 20.0)], between_s=5.0)
    found = expected(measured, STUDY, [Turn(cell(), 1), Turn(cell(), 2)])
    assert (found.operations, found.seconds, found.unknown) == (4, 2 * (30 + 20) + 4 * 5, 0)
    assert str(found) == "Operations: 4. They take about 2 min, as in earlier runs here"


def test_other_cells_of_the_same_client_tell_it_at_the_same_number_of_rows():
    durations = [
        took(cell(batch="all"), "write", 10.0),
        took(cell(batch="1"), "write", 30.0),
        took(cell(client="tuned"), "write", 1.0),
        took(cell("null"), "write", 1.0),
    ]
    assert write_s(durations, 20_000) == (20.0, 20.0)
    found = expected(Measured(durations), STUDY, [Turn(cell(), 1)])
    assert "For 1 of them, which are like none before, this is a guess" in str(found)


def test_two_numbers_of_rows_tell_the_fixed_part_from_the_one_that_grows():
    durations = [took(cell(rows=1000), "write", 25.5), took(cell(rows=20_000), "write", 35.0)]
    assert write_s(durations, 1_000_000) == (525.0, 525.0)
    assert write_s(durations, 10_000) == (30.0, 30.0)
    between = [*durations, took(cell(rows=1_000_000), "write", 1015.0)]
    assert write_s(between, 510_000) == (525.0, 525.0), "those around it count"
    assert write_s([*durations, took(cell(batch="all", rows=30_000), "write", 1.0)], 40_000) == (45.0, 45.0)
    steep = [took(cell(rows=1000), "write", 1.0), took(cell(rows=2000), "write", 4.0)]
    assert write_s(steep, 500) == (1.0, 1.0), "never less than nothing"


def test_one_number_of_rows_tells_a_range_in_which_only_what_may_grow_does():
    """A run of 1,000,000 rows follows a first run of 20,000, whose time was mostly the start of pod and session."""
    durations = [took(cell(), "write", 30.0, growing_s=6.0)]
    assert write_s(durations, 1_000_000) == (30.0, 24.0 + 300.0)
    assert write_s(durations, 2000) == (24.6, 30.0)
    assert write_s([took(cell(), "write", 30.0)], 40_000) == (30.0, 60.0), (
        "all may grow where no phase is known"
    )
    found = expected(Measured(durations, between_s=0.0), STUDY, [Turn(cell(rows=1_000_000), 1)])
    assert "They take about 4 min to 9 min, as in earlier runs here. It is a range where" in str(found)


def test_sizes_between_which_nothing_but_noise_grows_tell_a_range():
    durations = [took(cell(rows=1000), "write", 29.0, 5.0), took(cell(), "write", 30.0, 6.0)]
    assert write_s(durations, 1_000_000) == (30.0, 24.0 + 300.0)


def test_a_store_that_only_reads_has_one_operation():
    assert expected(Measured(), STUDY, [Turn(cell("delta-kernel"), 1)]).operations == 1


def test_pools_of_nodes_work_side_by_side():
    turns = [Turn(cell(), 1, None, pool) for pool in ("", "", "v8")]
    one = expected(Measured(), STUDY, turns[:1]).seconds
    assert one == assumed_s(STUDY, [cell()])
    assert expected(Measured(), STUDY, turns).seconds == 2 * one


def test_an_operation_that_lasts_for_a_time_that_is_asked_for_takes_no_less(monkeypatch):
    asked = []

    def least_s(cls, operation, values):
        asked.append((operation, values))
        return 100.0 if operation == "read" else 0.0

    monkeypatch.setattr(STUDY.store("mongodb"), "least_s", classmethod(least_s))
    durations = [took(cell(), "write", 30.0), took(cell(), "read", 20.0)]
    study = replace(
        STUDY,
        params={"pause_s": Number(title="Pause", text="Between.", default=5, maximum=10, examples=(5,))},
    )
    found = expected(Measured(durations, between_s=0.0), study, [Turn(cell(), 1)], pause_s=7)
    assert (found.seconds, found.most_s) == (130.0, 130.0)
    assert expected(Measured(between_s=0.0), study, [Turn(cell(), 1)], pause_s=7).seconds == 104.0
    assert asked[:2] == [(one, {"pause_s": "7", **dict(cell().axes)}) for one in ("write", "read")]


def test_a_run_of_nothing_takes_no_time():
    assert expected(Measured(), STUDY, []).seconds == 0.0


@pytest.mark.parametrize(("seconds", "words"), [(0, "1 min"), (61, "2 min"), (3600, "1 h 0 min")])
def test_a_duration_is_said_in_minutes(seconds, words):
    assert format_duration(seconds) == words


def test_a_range_whose_ends_read_the_same_is_one_duration():
    assert range_of(format_duration, 61, 119) == range_of(format_duration, 61, None) == "2 min"
    assert range_of(format_duration, 61, 3600) == "2 min to 1 h 0 min"
