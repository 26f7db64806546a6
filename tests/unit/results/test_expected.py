import time
from dataclasses import replace

import pytest

from storebench.fields import Number
from storebench.results.forecast import calibration
from storebench.results.forecast import expected as forecast
from storebench.results.forecast.expected import BETWEEN_S, ROWS_PER_S, assumed_s, duration_text
from storebench.results.forecast.expected import expected as expected_of
from storebench.stores.base import TypicalTime
from storebench.study import studies
from storebench.study.order import Turn
from tests.unit import example
from tests.unit.example import STUDY

PARAMS = {name: field.default for name, field in STUDY.params.items()}


@pytest.fixture(autouse=True)
def usual_machine(monkeypatch):
    """Make this machine as fast as the usual machine."""
    monkeypatch.setattr(forecast, "slowness", lambda: 1.0)


@pytest.fixture
def untyped(monkeypatch):
    """Remove the typical times of the stores' operations."""
    for name in STUDY.stores:
        monkeypatch.setattr(STUDY.store(name), "typical", ())


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
    """Return the expected seconds of a write by these durations. The read was measured in 0 s."""
    read = took(cell(rows=rows, **of), "read", 0.0)
    found = expected(Measured([*durations, read], between_s=0.0), STUDY, [Turn(cell(rows=rows, **of), 1)])
    assert found.unknown == 0
    return pytest.approx(found.seconds)


def test_without_measurements_and_typical_times_the_estimate_is_a_guess(untyped):
    found = expected(Measured(), STUDY, [Turn(cell(), 1)])
    assert (found.operations, found.typical, found.unknown) == (2, 0, 2)
    assert found.seconds == 2 * (BETWEEN_S + 20_000 / ROWS_PER_S)
    assert str(found) == "Operations: 2. They take about 20 s, by a guess of 5,000 rows per second"


def test_a_first_run_takes_the_typical_times_of_its_stores(monkeypatch):
    times = (
        TypicalTime("write", 10.0, 100.0),
        TypicalTime("read", 4.0),
        TypicalTime("read", 3.0, 50.0, client="tuned"),
    )
    monkeypatch.setattr(STUDY.store("mongodb"), "typical", times)
    found = expected(Measured(), STUDY, [Turn(cell(), 1)])
    assert (found.seconds, found.typical, found.unknown) == (10.0 + 2.0 + 4.0, 2, 0)
    assert str(found) == "Operations: 2. They take about 20 s, by the typical times of their stores"
    tuned = expected(Measured(between_s=99.0), STUDY, [Turn(cell(client="tuned"), 1)])
    assert tuned.seconds == 10.0 + 2.0 + 3.0 + 1.0, "the fixed part includes the time between pods"
    assert assumed_s(STUDY, [cell()]) == 16.0
    monkeypatch.setattr(forecast, "slowness", lambda: 2.0)
    assert expected(Measured(), STUDY, [Turn(cell(), 1)]).seconds == 32.0
    assert assumed_s(STUDY, [cell()]) == 16.0, "the form is the same on all machines"


def test_the_rows_of_a_typical_time_are_multiplied_by_axes():
    usual = TypicalTime("write", 1.0, 10.0, times=("copies", "bytes"))
    assert usual.growing_s(1000, {"copies": "3", "bytes": "1000"}) == 30.0
    assert usual.growing_s(1000, {"copies": "all"}) == 0.01


def test_measurements_take_precedence_over_typical_times(monkeypatch):
    monkeypatch.setattr(
        STUDY.store("mongodb"), "typical", (TypicalTime("write", 1.0), TypicalTime("read", 2.0))
    )
    found = expected(Measured([took(cell(), "write", 30.0)], between_s=5.0), STUDY, [Turn(cell(), 1)])
    assert (found.seconds, found.typical, found.unknown) == (35.0 + 2.0, 1, 0)
    assert str(found) == (
        "Operations: 2. They take about 40 s; 1 of them as in earlier runs here; 1 of them by the typical times of their stores"
    )


def test_runs_with_less_than_a_tenth_of_the_rows_estimate_nothing(monkeypatch):
    """A run of 8 rows once made an estimate of 3 to 1,268 hours for 100,000 rows."""
    monkeypatch.setattr(
        STUDY.store("mongodb"), "typical", (TypicalTime("write", 8.0), TypicalTime("read", 4.0))
    )
    small = [took(cell(rows=8), operation, 3.0, growing_s=2.0) for operation in ("write", "read")]
    found = expected(Measured(small, between_s=3.0), STUDY, [Turn(cell(rows=100_000), 1)])
    assert (found.seconds, found.typical) == (12.0, 2)
    small = [took(cell(rows=rows), "write", 3.0 + rows, growing_s=rows) for rows in (8, 1_999)]
    assert expected(Measured(small), STUDY, [Turn(cell(), 1)]).typical == 2, "nor do two of them"
    tenth = [took(cell(rows=2_000), "write", 5.0, growing_s=2.0)]
    assert write_s(tenth, 20_000) == 3.0 + 20.0


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
    assert write_s(durations, 20_000) == 20.0


def test_two_numbers_of_rows_tell_the_fixed_part_from_the_one_that_grows():
    durations = [took(cell(rows=1000), "write", 25.5), took(cell(rows=20_000), "write", 35.0)]
    assert write_s(durations, 10_000) == 30.0
    between = [*durations, took(cell(rows=1_000_000), "write", 1015.0)]
    assert write_s(between, 510_000) == pytest.approx(1015.0 * 0.51), "20,000 rows are less than a tenth"
    assert write_s([*durations, took(cell(batch="all", rows=30_000), "write", 1.0)], 5_000) == 27.5
    steep = [took(cell(rows=1000), "write", 1.0), took(cell(rows=2000), "write", 4.0)]
    assert write_s(steep, 500) == 1.0, "never less than nothing"


def test_with_one_number_of_rows_the_phases_grow_that_may_grow():
    durations = [took(cell(), "write", 30.0, growing_s=6.0)]
    assert write_s(durations, 200_000) == 24.0 + 60.0
    assert write_s(durations, 2000) == 24.6
    assert write_s([took(cell(), "write", 30.0)], 40_000) == 60.0, "all may grow where no phase is known"


def test_sizes_between_which_nothing_but_noise_grows_are_no_fit():
    durations = [took(cell(rows=10_000), "write", 29.0, 5.0), took(cell(), "write", 30.0, 6.0)]
    assert write_s(durations, 40_000) == 24.0 + 12.0


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
    assert found.seconds == 130.0
    monkeypatch.setattr(STUDY.store("mongodb"), "typical", (TypicalTime("read", 8.0, 50.0),))
    assert expected(Measured(between_s=0.0), study, [Turn(cell(), 1)], pause_s=7).seconds == 4.0 + 8.0 + 100.0
    assert asked[:2] == [(one, {"pause_s": "7", **dict(cell().axes)}) for one in ("write", "read")]


def test_a_run_of_nothing_takes_no_time():
    assert expected(Measured(), STUDY, []).seconds == 0.0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((0, "10 s"), (33, "30 s"), (54, "50 s"), (55, "1 min"), (95, "2 min"), (829, "14 min")),
        *(
            (3600, "1 h"),
            (3950, "1 h 5 min"),
            (7180, "2 h"),
            (35_900, "10 h"),
            (45_000, "12 h"),
            (4_564_800, "1,268 h"),
        ),
    ],
)
def test_an_estimate_is_one_rounded_number(seconds, words):
    assert duration_text(seconds, rounded=True) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (3.2, "3 s"), (59.6, "1 min"), (185, "3 min 5 s"), (3599.7, "1 h"), (7830, "2 h 10 min")],
)
def test_a_measured_duration_is_exact(seconds, words):
    assert duration_text(seconds) == words


def test_the_calibration_compares_this_machine_with_the_usual_machine_in_less_than_a_second(monkeypatch):
    calibration.slowness.cache_clear()
    began = time.monotonic()
    slow = calibration.slowness()
    assert time.monotonic() - began < 1
    assert 1 / calibration.MOST <= slow <= calibration.MOST
    for usual_s, limit in ((1e-9, calibration.MOST), (1e9, 1 / calibration.MOST)):
        monkeypatch.setattr(calibration, "USUAL_S", usual_s)
        calibration.slowness.cache_clear()
        assert calibration.slowness() == limit, "an odd clock must not make an estimate of years"
    calibration.slowness.cache_clear()


@pytest.mark.parametrize("name", studies.names())
def test_every_store_of_a_shipped_study_declares_typical_times(name):
    study = studies.find(name)
    for store in study.stores:
        for operation in study.operations_of(store):
            for client in study.store(store).clients:
                usual = study.typical_of(store, operation.name, client)
                assert usual and usual.fixed_s > 0, (store, operation.name, client)
