import dataclasses
import re

import pytest

from storebench.errors import SpecError
from storebench.grid import BATCH_SIZE, EXECUTORS, Cell, Study

STUDY = Study(
    name="bulk_write_read",
    description="",
    stores=("mongodb", "null"),
    default_stores=("mongodb",),
    default_rows=1000,
    axes=(BATCH_SIZE, EXECUTORS),
)


def grid(**changes):
    asked = {"stores": ["mongodb"], "clients": ["reference"], "axes": {}, "rows": 1000, "seed": 42}
    return STUDY.grid(**{**asked, **changes})


def test_the_default_grid_is_the_batch_sizes_in_order():
    assert [cell.key for cell in grid().cells] == [
        "bulk_write_read/mongodb/reference/batch=10000/rows=1000/seed=42",
        "bulk_write_read/mongodb/reference/batch=100000/rows=1000/seed=42",
        "bulk_write_read/mongodb/reference/batch=all/rows=1000/seed=42",
    ]


def test_combinations_that_mean_nothing_are_dropped_and_counted():
    found = grid(axes={"batch_sizes": ["all"], "executors": ["1", "2", "4"]})
    assert [cell.axes for cell in found.cells] == [(("batch", "all"),)]
    assert found.dropped == 2
    assert found.dropped_because == "mongodb has no executors"


def test_one_thing_at_a_time_shows_each_client_and_value_once():
    study = dataclasses.replace(STUDY, stores=("null", "mongodb", "delta-spark"))
    found = study.grid(
        stores=["null", "mongodb", "delta-spark"],
        clients=["reference", "tuned"],
        axes={"batch_sizes": ["10", "all"], "executors": ["1", "2"]},
        rows=1000,
        seed=42,
        full=False,
    )
    assert [cell.label for cell in found.cells] == [
        "null reference batch=10",
        "null reference batch=all",
        "mongodb reference batch=10",
        "mongodb reference batch=all",
        "mongodb tuned batch=10",
        "delta-spark reference batch=10 executors=1",
        "delta-spark reference batch=10 executors=2",
        "delta-spark reference batch=all executors=1",
        "delta-spark tuned batch=10 executors=1",
    ]
    assert "one thing is varied at a time" in found.dropped_because


def test_the_first_client_is_the_first_that_a_store_has():
    (cell,) = (
        dataclasses.replace(STUDY, stores=("null", "mongodb"))
        .grid(
            stores=["null"],
            clients=["tuned", "reference"],
            axes={"batch_sizes": ["10"]},
            rows=1,
            seed=1,
            full=False,
        )
        .cells
    )
    assert cell.client == "reference"


def test_a_value_given_twice_is_one_cell():
    assert len(grid(axes={"batch_sizes": ["10", "10"]}).cells) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stores": ["oracle"]}, "Unknown store 'oracle'. There are mongodb, null"),
        ({"stores": ["oracle@v8"]}, "Unknown store 'oracle@v8'. There are mongodb, null"),
        ({"stores": ["mongodb@"]}, "'mongodb@': after the @ comes the name of a connection"),
        ({"stores": ["mongodb@V 8"]}, "'mongodb@V 8': after the @ comes the name of a connection"),
        ({"stores": ["mongo@v8"]}, "Unknown store 'mongo@v8'. Did you mean mongodb? There are mongodb, null"),
        ({"clients": ["tune"]}, "Unknown client 'tune'. Did you mean tuned? There are reference, tuned"),
        ({"stores": []}, "Choose at least one store: mongodb, null"),
        ({"clients": ["fast"]}, "Unknown client 'fast'. There are reference, tuned"),
        ({"axes": {"batch_sizes": ["0"]}}, "Batch sizes: '0' is not a number of rows from 1, or 'all'"),
        ({"axes": {"batch_sizes": []}}, "Batch sizes: give at least one value"),
        ({"axes": {"executors": ["none"]}}, "Executors: 'none' is not a number of executors from 1 to 999"),
        ({"rows": 0}, "rows must be a whole number from 1 to 1,000,000,000, not 0"),
        ({"rows": True}, "rows must be a whole number"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_names_it(changes, message):
    with pytest.raises(SpecError, match="^" + re.escape(message)):
        grid(**changes)


def test_one_store_on_two_servers_is_two_cells():
    found = grid(stores=["mongodb@v7", "mongodb@v8"], axes={"batch_sizes": ["10"]}).cells
    assert [cell.label for cell in found] == [
        "mongodb@v7 reference batch=10",
        "mongodb@v8 reference batch=10",
    ]
    assert Cell.from_key(found[0].key) == found[0]
    assert found[0].target("r", 1).startswith("storebench_mongodb_v7_")


def test_a_key_names_its_cell():
    for cell in grid(axes={"batch_sizes": ["10", "all"]}).cells:
        assert Cell.from_key(cell.key) == cell


@pytest.mark.parametrize("key", ["", "a/b", "a/b/c/d/e", "s/m/r/batch/rows=1/seed=2", "s/m/r/seed=1/rows=2"])
def test_a_text_that_is_no_key_is_refused(key):
    with pytest.raises(SpecError, match="is not a cell's key"):
        Cell.from_key(key)


def test_targets_differ_by_run_cell_and_repeat_and_fit_every_store():
    one, two = grid(axes={"batch_sizes": ["10", "all"]}).cells
    names = {one.target("r1", 1), one.target("r1", 2), one.target("r2", 1), two.target("r1", 1)}
    assert len(names) == 4
    assert all(name.startswith("storebench_mongodb_") and len(name) <= 63 for name in names)
    assert one.target("r1", 1) == one.target("r1", 1)
