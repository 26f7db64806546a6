from storebench.airflow.pods import unfinished_cells


def states(*cells):
    names = ("write", "read", "drop")
    return {
        f"cell.{name}_{n}": state
        for n, cell in enumerate(cells)
        for name, state in zip(names, cell, strict=True)
    }


def test_a_cell_that_is_written_and_not_dropped_is_waited_for():
    found = states(("success", None, None), ("running", None, None), (None, None, None))
    assert unfinished_cells(found, "cell", 1) == [0]


def test_a_cell_whose_write_failed_is_waited_for_until_its_drop_has_ended():
    assert unfinished_cells(states(("failed", "upstream_failed", "queued"), (None,) * 3), "cell", 1) == [0]
    assert unfinished_cells(states(("failed", "upstream_failed", "success"), (None,) * 3), "cell", 1) == []


def test_cells_that_have_not_begun_or_are_done_are_not():
    found = states(
        ("success",) * 3, ("success", "success", "skipped"), ("running", None, None), (None, None, None)
    )
    assert unfinished_cells(found, "cell", 2) == []
