import dataclasses
import re
import time

import pytest

from storebench.errors import SpecError
from storebench.study.cell import Cell
from storebench.study.grid import grid as grid_of
from storebench.study.grid import operation_count
from storebench.study.model import Axis
from tests.unit.example import STUDY


def with_stores(*names):
    axes = tuple(axis for axis in STUDY.axes if set(axis.where.get("store", ())) <= set(names))
    return dataclasses.replace(STUDY, stores=names, axes=axes)


FEW = with_stores("mongodb", "null")


def grid(study=FEW, rows=1000, seed=42, **changes):
    asked = {"stores": ["mongodb"], "clients": ["reference"], "axes": {}}
    return grid_of(study, rows=rows, seed=seed, **{**asked, **changes})


def test_the_default_grid_has_the_defaults_of_the_axes_in_order():
    assert [cell.key for cell in grid(rows=1_000_000).cells] == [
        "bulk_write_read/mongodb/reference/batch=10000/rows=1000000/seed=42",
        "bulk_write_read/mongodb/reference/batch=100000/rows=1000000/seed=42",
        "bulk_write_read/mongodb/reference/batch=all/rows=1000000/seed=42",
    ]


def test_a_grid_of_too_many_combinations_is_refused_before_it_is_made():
    many = [str(number) for number in range(1, 60_001)]
    began = time.monotonic()
    with pytest.raises(SpecError, match="120,000 combinations, and a grid has 50,000 at most"):
        grid(stores=["mongodb", "null"], axes={"batch": many}, rows=1_000_000)
    assert time.monotonic() - began < 2
    assert len(grid(axes={"batch": many[:9]}, stores=["mongodb"] * 100_000, rows=1_000_000).cells) == 9


def test_combinations_that_mean_nothing_are_dropped_and_counted():
    found = grid(with_stores("mongodb", "delta-spark"), axes={"batch": ["all"], "executors": ["1", "2", "4"]})
    assert [cell.axes for cell in found.cells] == [(("batch", "all"),)]
    assert found.dropped == 2
    assert found.dropped_because == "mongodb has no executors"


@pytest.mark.parametrize(
    ("asked", "left", "kept"),
    [
        (["1000", "10000", "100000", "all"], ["1000", "all"], "all"),
        (["5000", "all"], ["all"], "all"),
        (["1000", "10000", "100000"], ["1000", "10000"], "10000"),
        (["10000"], ["10000"], None),
    ],
)
def test_a_batch_as_large_as_the_dataset_is_no_cell_beside_all_at_once(asked, left, kept):
    found = grid(rows=5000, axes={"batch": asked})
    assert [cell.value("batch") for cell in found.cells] == left
    assert found.dropped == len(asked) - len(left)
    dropped = [value for value in asked if value not in left]
    reasons = [
        f"batch={value} is the same as batch={kept}, as the dataset has 5,000 rows" for value in dropped
    ]
    assert found.dropped_because == "; ".join(sorted(reasons))


OF_COPIES = dataclasses.replace(
    STUDY,
    stores=("mongodb", "null"),
    axes=tuple(
        Axis(name, name, "", "[a-z]+", "a word", (values[0],), values, values, of_copies=name == "answers")
        for name, values in (("answers", ("one", "most")), ("load", ("low", "high")))
    ),
    dataset=None,
    charts=(),
)
COPIES = {"mongodb@one": 1, "mongodb@three": 3}


def of_copies(*answers, full=True, stores=("mongodb", "mongodb@one", "mongodb@three")):
    asked = {"answers": answers, "load": ["low", "high"]}
    return grid(
        OF_COPIES, stores=stores, axes=asked, full=full, copies_of=lambda store, axes: COPIES.get(store)
    )


@pytest.mark.parametrize("answers", [("one", "most"), ("most", "one")])
def test_where_there_is_one_copy_values_that_count_copies_are_one(answers):
    found = of_copies(*answers)
    places = [(cell.value("answers"), cell.value("load")) for cell in found.cells if "@one" in cell.store]
    assert places == [("one", "low"), ("one", "high")]
    for several in ("mongodb", "mongodb@three"):  # not known how many, and three
        assert len([cell for cell in found.cells if cell.store == several]) == 4
    assert found.dropped == 2
    assert (
        found.dropped_because
        == "mongodb@one has one copy of the data, so answers=most is the same as answers=one"
    )


def test_where_there_is_one_copy_the_only_value_that_is_asked_for_stays():
    found = of_copies("most", stores=["mongodb@one"])
    assert [cell.value("answers") for cell in found.cells] == ["most", "most"] and found.dropped == 0


@pytest.mark.parametrize("answers", [("one", "most"), ("most", "one")])
def test_where_there_is_one_copy_one_thing_at_a_time_still_varies_the_other_axes(answers):
    found = of_copies(*answers, full=False, stores=["mongodb@one"])
    assert [(cell.value("answers"), cell.value("load")) for cell in found.cells] == [
        ("one", "low"),
        ("one", "high"),
    ]


def test_one_thing_at_a_time_begins_with_the_first_value_that_is_left():
    found = grid(rows=5000, axes={"batch": ["10000", "100", "all"]}, full=False)
    assert [cell.value("batch") for cell in found.cells] == ["100", "all"]


def test_one_thing_at_a_time_shows_each_client_and_value_once():
    found = grid(
        with_stores("null", "mongodb", "delta-spark"),
        stores=["null", "mongodb", "delta-spark"],
        clients=["reference", "tuned"],
        axes={"batch": ["10", "all"], "executors": ["1", "2"]},
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
    (cell,) = grid(stores=["null"], clients=["tuned", "reference"], axes={"batch": ["10"]}, full=False).cells
    assert cell.client == "reference"


def test_a_value_given_twice_is_one_cell():
    assert len(grid(axes={"batch": ["10", "10"]}).cells) == 1


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
        ({"axes": {"batch": ["0"]}}, "Batch: '0' is not a number of rows from 1, or 'all'"),
        ({"axes": {"batch": []}}, "Batch: give at least one value"),
        ({"rows": 0}, "rows must be a whole number from 1 to 1,000,000,000, not 0"),
        ({"rows": True}, "rows must be a whole number from 1"),
        ({"seed": -1}, "seed must be a whole number from 0"),
    ],
)
def test_bad_input_is_refused_with_a_message_that_names_it(changes, message):
    with pytest.raises(SpecError, match="^" + re.escape(message)):
        grid(**changes)


def test_one_store_on_two_servers_is_two_cells():
    found = grid(stores=["mongodb@v7", "mongodb@v8"], axes={"batch": ["10"]}).cells
    assert [cell.label for cell in found] == [
        "mongodb@v7 reference batch=10",
        "mongodb@v8 reference batch=10",
    ]
    assert Cell.from_key(found[0].key) == found[0]
    assert found[0].target("r", 1).startswith("storebench_mongodb_v7_")


def test_a_key_names_its_cell():
    for cell in grid(axes={"batch": ["10", "all"]}).cells:
        assert Cell.from_key(cell.key) == cell


def test_a_key_may_have_no_axes():
    key = "s/mongodb/reference/rows=1/seed=2"
    assert Cell.from_key(key) == Cell("s", "mongodb", "reference", (), 1, 2)
    assert Cell.from_key(key).key == key


@pytest.mark.parametrize(
    "key",
    [
        "s/m/r/batch=1",
        "s/m/r/seed=1/rows=2",
        "s/m/r/rows=many/seed=2",
        "",
        "//",
        "a/b",
        "a/b/c/d/e",
        "s/m/r/batch/rows=1/seed=2",
        "s/m/batch=1",
        "s//r/batch=1",
        "dag/manual__1,dag/manual__2",
        "manual__1,dag/manual__2,dag/manual__3",
    ],
)
def test_a_text_that_is_no_key_is_refused(key):
    with pytest.raises(SpecError, match="is not a cell's key"):
        Cell.from_key(key)


def test_targets_differ_by_run_cell_and_repeat_and_fit_every_store():
    one, two = grid(axes={"batch": ["10", "all"]}).cells
    names = {one.target("r1", 1), one.target("r1", 2), one.target("r2", 1), two.target("r1", 1)}
    assert len(names) == 4
    assert all(name.startswith("storebench_mongodb_") and len(name) <= 63 for name in names)
    assert one.target("r1", 1) == one.target("r1", 1)


def test_a_value_is_that_of_an_axis_and_none_where_it_means_nothing():
    (cell,) = grid(axes={"batch": ["10"]}).cells
    assert (cell.value("batch"), cell.value("executors")) == ("10", None)


def test_the_operations_of_cells_are_those_that_their_stores_have():
    cells = grid(
        with_stores("mongodb", "delta-kernel"),
        stores=["mongodb", "delta-kernel"],
        axes={"batch": ["10", "all"]},
    ).cells
    assert operation_count(STUDY, cells) == 2 * 2 + 2 * 1, "delta-kernel only reads"


def test_a_study_without_axes_has_one_cell_for_each_store_and_client():
    found = grid(dataclasses.replace(FEW, axes=(), charts=()), clients=["reference", "tuned"])
    assert [cell.key for cell in found.cells] == [
        "bulk_write_read/mongodb/reference/rows=1000/seed=42",
        "bulk_write_read/mongodb/tuned/rows=1000/seed=42",
    ]
