"""Published values that must stay the same: earlier results are found by them."""

import pytest

from storebench.planning.params import run_values
from storebench.results.database.attempts import AttemptKey, short_hash
from storebench.study.cell import Cell
from storebench.study.parameters import measured_with
from storebench.study.partition import partitions
from storebench.study.studies import find

CELL = Cell("bulk_write_read", "mongodb@v8", "tuned", (("batch", "10000"),), 20_000, 42)


@pytest.fixture(scope="module")
def study():
    return find("bulk_write_read")


def test_a_cells_key_its_target_and_its_attempts_id():
    assert CELL.key == "bulk_write_read/mongodb@v8/tuned/batch=10000/rows=20000/seed=42"
    assert CELL.target("r/1", 2) == "storebench_mongodb_v8_83141bd943ebb25e"
    assert str(AttemptKey("r/1", CELL.key, 2, "write", 1).id) == "53c64435-1012-5792-b2ec-23354115a466"


@pytest.mark.parametrize(
    ("store", "expected"),
    [
        ("mongodb", "8c40ec59dfb0ea7d"),
        ("delta-spark", "0b7ecbb42ccfed43"),
        ("delta-kernel", "0b7ecbb42ccfed43"),
    ],
)
def test_the_hash_of_the_parameters_that_count(study, store, expected):
    assert short_hash(measured_with(study, store, run_values(study, {}))) == expected


def test_the_dates_of_all_partitions(study):
    """Stores that are added have later years: the dates of the seven stores before them stay."""
    first = {key: str(date) for key, date in partitions(study).items() if date.year < 2008}
    assert short_hash(first) == "33a3cf5fe810f028"


def test_the_id_of_a_dataset(study):
    assert study.dataset_of(CELL) == "v1/rows=20000/seed=42"
