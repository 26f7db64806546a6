from dataclasses import replace
from datetime import UTC, datetime

import pytest

from storebench.errors import SpecError
from storebench.study.partition import cell_of, partitions, repeated
from tests.unit import example
from tests.unit.example import BATCH, EXECUTORS

FIRST = ("mongodb", "null", "delta-spark")
STUDY = replace(example.STUDY, stores=FIRST)


def test_there_is_one_for_each_valid_cell_and_none_for_what_means_nothing():
    found = partitions(STUDY)
    assert list(found)[:3] == [f"mongodb/reference/batch={value}" for value in ("10", "20", "all")]
    assert sum(key.startswith("null/") for key in found) == 3, "null has no tuned client and no executors"
    assert sum(key.startswith("delta-spark/") for key in found) == 2 * 3 * 2


def test_a_place_in_an_axis_is_a_part_of_the_date():
    date = partitions(STUDY)["delta-spark/tuned/batch=20/executors=2"]
    assert date == datetime(2003, 2, 2, 1, tzinfo=UTC)


def test_no_two_have_the_same_date_and_they_are_in_its_order():
    dates = list(partitions(STUDY).values())
    assert len(set(dates)) == len(dates) and dates == sorted(dates)


def test_batches_as_large_as_the_dataset_are_the_partition_of_all_at_once():
    found = repeated(STUDY, partitions(STUDY), 15)
    assert set(found) == {key for key in partitions(STUDY) if "/batch=20" in key}
    reason = "batch=20 is the same as batch=all, as the dataset has 15 rows"
    assert found["delta-spark/tuned/batch=20/executors=2"] == reason
    assert repeated(STUDY, partitions(STUDY), 21) == {}


def test_growing_any_axis_moves_none():
    before = partitions(STUDY)
    axes = tuple(replace(axis, grid=(*axis.grid, "30")) for axis in STUDY.axes)
    grown = replace(STUDY, stores=(*FIRST, "elasticsearch"), axes=axes)
    after = partitions(grown)
    assert len(after) > len(before)
    assert {key: after[key] for key in before} == before


def test_the_dates_of_the_study_are_those_that_backfills_have_used():
    from dags.bulk_write_read import BULK_WRITE_READ

    found = partitions(BULK_WRITE_READ)
    assert found["delta-spark/tuned/batch=all/executors=4"] == datetime(2004, 2, 3, 2, tzinfo=UTC)
    assert {"/".join(key.split("/")[:2]): f"{date:%Y-%m}" for key, date in found.items()} == {
        "mongodb/reference": "2001-01",
        "mongodb/tuned": "2001-02",
        "elasticsearch/reference": "2002-01",
        "elasticsearch/tuned": "2002-02",
        "delta-rs/reference": "2003-01",
        "delta-rs/tuned": "2003-02",
        "delta-spark/reference": "2004-01",
        "delta-spark/tuned": "2004-02",
        "delta-standalone/reference": "2005-01",
        "delta-kernel/reference": "2006-01",
        "delta-kernel/tuned": "2006-02",
        "null/reference": "2007-01",
        "parquet/reference": "2008-01",
        "parquet/tuned": "2008-02",
        "duckdb/reference": "2009-01",
        "duckdb/tuned": "2009-02",
        "postgresql/reference": "2010-01",
        "postgresql/tuned": "2010-02",
        "pyiceberg/reference": "2011-01",
        "pyiceberg/tuned": "2011-02",
        "chdb/reference": "2012-01",
        "chdb/tuned": "2012-02",
        "iceberg-spark/reference": "2013-01",
        "iceberg-spark/tuned": "2013-02",
    }


def test_an_axis_that_depends_on_another_gives_no_cell_twice():
    depth = replace(BATCH, name="depth", grid=("1", "2"), where={"batch": ("all",)})
    found = partitions(replace(STUDY, stores=("null",), axes=(BATCH, depth), charts=()))
    assert {key: f"{date:%d %H}" for key, date in found.items()} == {
        "null/reference/batch=10": "01 00",
        "null/reference/batch=20": "02 00",
        "null/reference/batch=all/depth=1": "03 00",
        "null/reference/batch=all/depth=2": "03 01",
    }


def test_an_axis_with_too_many_values_is_refused():
    many = replace(BATCH, grid=tuple(str(n) for n in range(1, 30)))
    with pytest.raises(SpecError, match="Batch: at most 28 values, one for each day, not 29"):
        partitions(replace(STUDY, axes=(many,)))


def test_more_axes_than_a_date_has_parts_are_refused():
    six = tuple(replace(EXECUTORS, name=f"axis_{n}") for n in range(6))
    with pytest.raises(SpecError, match="a backfill supports at most 5 axes, not 6"):
        partitions(replace(STUDY, axes=six, charts=()))


def test_a_key_is_a_cell_with_the_runs_dataset():
    cell = cell_of(STUDY, "delta-spark/tuned/batch=20/executors=2", 500, 7)
    assert cell.key == "bulk_write_read/delta-spark/tuned/batch=20/executors=2/rows=500/seed=7"
    with pytest.raises(SpecError, match="no cell of the grid of bulk_write_read:"):
        cell_of(STUDY, "mongodb/reference/batch=11", 500, 7)
