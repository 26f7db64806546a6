from dataclasses import replace
from datetime import UTC, datetime

import pytest

from storebench.errors import SpecError
from storebench.grid import BATCH_SIZE, EXECUTORS, Study
from storebench.partition import cell_of, partitions

BATCHES = replace(BATCH_SIZE, grid=("10", "20", "all"))
STUDY = Study(
    name="study",
    description="",
    stores=("mongodb", "null", "delta-spark"),
    default_stores=("mongodb",),
    default_rows=1000,
    axes=(BATCHES, replace(EXECUTORS, grid=("1", "2"))),
)


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


def test_growing_any_axis_moves_none():
    before = partitions(STUDY)
    batches = replace(BATCHES, grid=(*BATCHES.grid, "30"))
    grown = replace(STUDY, stores=(*STUDY.stores, "elasticsearch"), axes=(batches, EXECUTORS))
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
    }


def test_an_axis_with_too_many_values_is_refused():
    many = replace(BATCHES, grid=tuple(str(n) for n in range(1, 30)))
    with pytest.raises(SpecError, match="Batch sizes: at most 28 values"):
        partitions(replace(STUDY, axes=(many,)))


def test_a_key_is_a_cell_with_the_runs_rows_and_seed():
    cell = cell_of(STUDY, "delta-spark/tuned/batch=20/executors=2", 500, 7)
    assert cell.key == "study/delta-spark/tuned/batch=20/executors=2/rows=500/seed=7"
    with pytest.raises(SpecError, match="no cell of the grid of study"):
        cell_of(STUDY, "mongodb/reference/batch=11", 500, 7)
