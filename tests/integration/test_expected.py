"""Estimates of a run's time from attempts in a real database."""

import uuid
from dataclasses import replace

from storebench.results.forecast.expected import Expected, expected
from storebench.study.order import Turn
from tests.bulk import bulk_study
from tests.integration.recorded import STUDY

PARAMS = {name: field.default for name, field in bulk_study().params.items()}


def test_a_run_is_expected_to_take_what_the_ones_before_took(queries, run, cells):
    client = (
        uuid.uuid4().hex
    )  # that no other test has: what others took with other rows would tell what grows
    cells = [replace(cell, client=client) for cell in cells]
    run(cells, repeats=3)
    rows = queries.durations(STUDY, ["mongodb"], ["read", "write"])
    known = {(row["cell_key"], row["operation"]): row for row in rows}
    for cell in cells:
        for operation in ("write", "read"):
            row = known[cell.key, operation]
            # of which the phases that may grow, the operation and its verification, are 3 s
            assert (row["store"], row["seconds"], row["growing_s"]) == ("mongodb", 10.0, 3.0)
    # Its pods took longer than the run itself, which was only recorded
    study = bulk_study()
    assert expected(queries, study, [Turn(cell, 1) for cell in cells], PARAMS) == Expected(4, 40.0)

    larger = [Turn(replace(cell, rows=7000), 1) for cell in cells]
    assert expected(queries, study, larger, PARAMS) == Expected(4, 4 * (7.0 + 7 * 3.0))
    far_larger = [Turn(replace(cell, rows=11_000), 1) for cell in cells]
    assert expected(queries, study, far_larger, PARAMS).typical == 4


def test_what_only_a_first_read_takes_does_not_grow(queries, run, cells):
    run(
        cells[:1],
        1,
        lambda *_: 6.0,
        phases={"connect": 3.0, "operation": 6.0, "verify": 2.0},
        figures=lambda cell, operation: {"delivers": "dicts" if operation == "read" else None},
    )
    rows = queries.durations(STUDY, ["mongodb"], ["read", "write"])
    growing = {row["operation"]: row["growing_s"] for row in rows if row["cell_key"] == cells[0].key}
    assert growing == {"write": 6.0 + 2.0, "read": 2.0 + 2.0}


def test_a_range_is_recorded_with_the_run(repository, cells):
    values = {"dag_id": "s", "airflow_run_id": cells[0].key, "params": {}, "turns": [], "order_seed": 1}
    for most_s in (600.0, None):  # its plan may run again
        repository.start_run(
            study=bulk_study(), skipped={}, expected_s=60.0, expected_most_s=most_s, **values
        )
        found = repository.run_named(cells[0].key)
        assert (found["expected_s"], found["expected_most_s"]) == (60.0, most_s)


def test_nothing_is_known_of_a_study_that_never_ran(queries):
    assert queries.durations("none", ["mongodb"], ["write"]) == []
    assert queries.seconds_between("none") is None
