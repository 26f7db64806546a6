"""A user's file as the dataset of a run: a store returns its rows, or is excluded with the reason before any measurement."""

from contextlib import ExitStack

import pytest

from tests import example_file
from tests.e2e.harness import BUCKET, run


@pytest.fixture
def file():
    """Put a file into S3; returns its name."""
    with ExitStack() as stack:
        yield lambda data, kind: stack.enter_context(example_file.in_s3(BUCKET, data, kind))


def test_stores_give_it_back(file):
    name = file(example_file.as_parquet(), "parquet")
    code, text, rows = run(
        "--dataset", name, "--stores", "mongodb,delta-rs", "--axis", "batch=all", "--clients", "reference"
    )
    assert code == 0, text
    assert {(row["store"], row["status"]) for row in rows} == {
        ("mongodb", "verified"),
        ("delta-rs", "verified"),
    }
    assert {row["rows"] for row in rows} == {example_file.ROWS}
    assert all("all 12 fields by" in row["verification"] for row in rows)


def test_a_store_that_cannot_hold_it_is_excluded_with_the_reason(file):
    name = file(b"id,net price\n1,2.50\n", "csv")
    code, text, rows = run("--dataset", name, "--stores", "null,delta-rs", "--axis", "batch=all")
    assert code == 0, text
    assert {(row["store"], row["status"]) for row in rows} == {("null", "verified")}
    assert "excluded: delta-rs cannot hold this dataset: the column 'net price'" in text


def test_a_run_whose_only_store_cannot_hold_it_is_refused_with_the_reason(file):
    code, text, rows = run(
        "--dataset", file(b"net price\n1\n", "csv"), "--stores", "delta-rs", "--axis", "batch=all"
    )
    assert code == 1 and rows == []
    assert "delta-rs cannot hold this dataset: the column 'net price'" in text
