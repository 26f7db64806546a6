"""A user's file as the dataset of a run: a store returns its rows, or is excluded with the reason before any measurement."""

from contextlib import ExitStack

import pytest

from tests import example_file, int96
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


def test_dates_that_a_store_does_not_keep_exclude_it_with_the_reason(file):
    """integration/test_delta_reader.py reads such dates with delta-kernel, drills/test_custom_file.py with Spark's reference client."""
    name = file(int96.as_parquet(valid_to=list(map(int96.moment, int96.END_OF_TIME))), "parquet")
    code, text, rows = run(
        *("--dataset", name, "--stores", "delta-spark,delta-standalone", "--clients", "reference,tuned"),
        *("--axis", "batch=all", "--axis", "executors=1"),
    )
    assert code == 0, text
    assert (
        "delta-standalone cannot hold this dataset: the column 'valid_to' has days before 1582-10-15" in text
    )
    assert "delta-spark cannot give this dataset back to its client reference: the column 'valid_to'" in text
    assert {(row["store"], row["client"]) for row in rows} == {("delta-spark", "tuned")}
    assert {(row["status"], row["error"]) for row in rows} == {("verified", None)}
    (read,) = (row for row in rows if row["operation"] == "read")
    assert "a second pass of Spark's mapInArrow()" in read["verification"]
