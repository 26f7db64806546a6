"""What a run is expected to take, by the attempts in a real database."""

from storebench.order import Turn
from storebench.results.expected import Expected, expected


def test_a_run_is_expected_to_take_what_the_ones_before_took(queries, run, cells):
    run(cells, repeats=3)
    rows = queries.durations("s", ["mongodb"], ["read", "write"])
    known = {(row["cell_key"], row["operation"]): row for row in rows}
    for cell in cells:
        for operation in ("write", "read"):
            row = known[cell.key, operation]
            assert (row["store"], row["client"], row["rows"], row["seconds"]) == (
                "mongodb",
                "reference",
                1000,
                10.0,
            )
    # Its pods took longer than the run itself, which was only recorded
    assert expected(queries, "s", [Turn(cell, 1) for cell in cells]) == Expected(4, 40.0, 0)


def test_nothing_is_known_of_a_study_that_never_ran(queries):
    assert queries.durations("none", ["mongodb"], ["write"]) == []
    assert queries.seconds_between("none") is None
