"""Attempts of stores of whole tables against the stack's real servers, as a pod runs them but for the pod."""

import pytest

from storebench.s3 import client_for
from tests.bulk import RANKED_BY, bulk_study
from tests.integration.conftest import ROWS

STORES = ("parquet",)
CASES = [(store, client) for store in STORES for client in ("reference", "tuned")]
DURABILITY = {"parquet": "s3"}


@pytest.mark.parametrize(("store", "client"), CASES)
@pytest.mark.parametrize("batch", ["700", "all"])
def test_it_is_written_and_read_and_both_are_verified(attempt, store, client, batch):
    for operation in ("write", "read"):
        code, result = attempt(operation, store=store, batch=batch, client=client)
        assert (code, result.status, result.error) == (0, "verified", None)
        figure = result.metrics[RANKED_BY[operation]]
        assert result.metrics["rows_per_s"] == pytest.approx(ROWS / figure, rel=1e-3)
        assert (result.metrics["source_s"] > 0) == (operation == "write")
        assert ((result.data_bytes or 0) > 0) == (operation == "write")
        assert result.durability == (DURABILITY[store] if operation == "write" else None)
        assert result.environment["server_version"] != "unknown"
        delivers = dict(
            zip(bulk_study().store(store).clients, bulk_study().store(store).delivers, strict=True)
        )
        assert result.delivers == (delivers[client] if operation == "read" else None)


@pytest.mark.parametrize("store", STORES)
def test_a_second_write_replaces_the_rows_of_the_first(attempt, store):
    for _ in range(2):
        code, result = attempt("write", store=store, batch="700")
        assert (code, result.error) == (0, None)


@pytest.mark.parametrize("store", STORES)
def test_a_read_without_a_write_says_so(attempt, store):
    code, result = attempt("read", store=store)
    assert (code, result.error_kind) == (5, "store_failed")


@pytest.mark.parametrize("store", STORES)
def test_a_drop_leaves_nothing(attempt, store, connections, bucket, target):
    assert attempt("write", store=store)[0] == 0
    assert attempt("drop", store=store)[0] == 0
    left = client_for(connections["s3"]).list_objects_v2(Bucket=bucket, Prefix=f"tables/{target}/")
    assert left["KeyCount"] == 0
    assert attempt("read", store=store)[0] == 5


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_a_lost_file_of_parquet_is_noticed(attempt, connections, bucket, target, client):
    assert attempt("write", store="parquet", client=client)[0] == 0
    s3 = client_for(connections["s3"])
    found = s3.list_objects_v2(Bucket=bucket, Prefix=f"tables/{target}/")["Contents"]
    s3.delete_object(Bucket=bucket, Key=found[0]["Key"])
    code, result = attempt("read", store="parquet", client=client)
    assert (code, result.error_kind) == (4, "verification_failed")
