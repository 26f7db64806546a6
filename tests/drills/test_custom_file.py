"""A user's file in every store of the bulk study, with each client."""

import pytest

from tests import example_file
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
