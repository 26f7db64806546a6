"""A user's file in every store of the bulk study, with each client."""

import pytest

from tests import example_file, int96
from tests.bulk import bulk_study
from tests.e2e.harness import BUCKET, run


@pytest.mark.timeout(1800)
def test_every_store_gives_it_back(say):
    stores = set(bulk_study().stores)
    unable = {"delta-standalone"}  # the file has a decimal of five digits
    with example_file.in_s3(BUCKET, example_file.as_parquet(), "parquet") as name:
        code, text, rows = run(
            *("--dataset", name, "--stores", ",".join(stores)),
            *("--clients", "reference,tuned", "--axis", "batch=all,700", "--axis", "executors=1"),
            seconds=1700,
        )
    assert code == 0, text
    assert {row["store"] for row in rows} == stores - unable
    assert "excluded: delta-standalone cannot hold this dataset: the column 'tax'" in text
    assert {row["status"] for row in rows} == {"verified"}
    assert {row["rows"] for row in rows} == {example_file.ROWS}
    assert all("all 12 fields by" in row["verification"] for row in rows)
    say(
        f"a Parquet file of {example_file.ROWS:,} rows and 12 columns: verified {len(rows)} times in {', '.join(sorted(stores - unable))}"
    )


def test_dates_at_the_ends_of_time_are_the_same_in_spark(say):
    """Spark writes the dates as INT96. integration/test_delta_reader.py reads such dates with the other libraries."""
    text = b"id,valid_to,until\n1,9999-12-31T23:59:59Z,9999-12-31\n2,1600-01-01T00:00:00Z,1600-01-01\n"
    with example_file.in_s3(BUCKET, text, "csv") as name:
        code, text, rows = run(
            *("--dataset", name, "--stores", "delta-spark", "--clients", "reference"),
            *("--axis", "batch=all", "--axis", "executors=1"),
        )
    assert code == 0, text
    assert [(row["status"], row["error"]) for row in rows] == [("verified", None)] * 2
    say("dates from 1600 to 9999, written and read by Spark's reference client: verified")


def test_dates_that_a_store_does_not_keep_exclude_it_with_the_reason(say):
    """integration/test_delta_reader.py reads such dates with delta-kernel."""
    data = int96.as_parquet(valid_to=list(map(int96.moment, int96.END_OF_TIME)))
    with example_file.in_s3(BUCKET, data, "parquet") as name:
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
    say(
        "INT96 dates at the ends of time: verified with Spark's tuned client, the other clients excluded with the reason"
    )
