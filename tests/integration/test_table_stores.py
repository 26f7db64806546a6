"""Attempts of stores of whole tables against the stack's real servers, as a pod runs them but for the pod."""

import psycopg
import pytest
from psycopg import sql

from storebench.s3 import client_for
from storebench.stores.postgresql_server import conninfo
from tests.bulk import RANKED_BY, bulk_study
from tests.integration.conftest import ROWS

STORES = ("parquet", "postgresql", "pyiceberg")
CASES = [(store, client) for store in STORES for client in ("reference", "tuned")]
DURABILITY = {"parquet": "s3", "postgresql": "disk", "pyiceberg": "s3"}


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


@pytest.fixture
def session(connections):
    """Connect to the database of the stack's store postgresql."""
    with psycopg.connect(conninfo(connections["postgresql"]), autocommit=True) as session:
        yield session


@pytest.mark.parametrize("client", ["reference", "tuned"])
@pytest.mark.parametrize("spoil", ["DELETE FROM {} WHERE priority::int = 1", "UPDATE {} SET comment = 'x'"])
def test_a_change_of_postgresql_is_noticed(attempt, session, target, client, spoil):
    assert attempt("write", store="postgresql", client=client)[0] == 0
    session.execute(sql.SQL(spoil).format(sql.Identifier(target)))
    code, result = attempt("read", store="postgresql", client=client)
    assert (code, result.error_kind) == (4, "verification_failed")


def test_a_drop_leaves_no_table_of_postgresql(attempt, session, target):
    for operation in ("write", "drop"):
        assert attempt(operation, store="postgresql")[0] == 0
    assert session.execute("SELECT to_regclass(quote_ident(%s))", [target]).fetchone() == (None,)


@pytest.mark.parametrize("store", ["postgresql", "pyiceberg"])
def test_a_wrong_password_is_a_refusal_that_does_not_repeat_it(attempt, change_connection, store):
    change_connection("postgresql", password="hunter2")
    code, result = attempt("write", store=store)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "refused the login" in result.error and "hunter2" not in result.error


@pytest.mark.parametrize("store", ["postgresql", "pyiceberg"])
def test_a_server_that_is_down_is_unreachable(attempt, change_connection, store):
    change_connection("postgresql", host="127.0.0.1", port=1)
    code, result = attempt("write", store=store)
    assert (code, result.error_kind) == (3, "unreachable")
    assert "127.0.0.1:1" in result.error


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_a_lost_commit_of_pyiceberg_is_noticed(attempt, session, target, client):
    """The catalog's row then names the snapshot before the last."""
    assert attempt("write", store="pyiceberg", client=client, batch="700")[0] == 0
    done = session.execute(
        "UPDATE iceberg_tables SET metadata_location = previous_metadata_location WHERE table_name = %s",
        [target],
    )
    assert done.rowcount == 1
    code, result = attempt("read", store="pyiceberg", client=client)
    assert (code, result.error_kind) == (4, "verification_failed")


def test_a_drop_leaves_no_table_in_the_catalog_of_pyiceberg(attempt, session, target):
    for operation in ("write", "drop"):
        assert attempt(operation, store="pyiceberg")[0] == 0
    assert session.execute("SELECT 1 FROM iceberg_tables WHERE table_name = %s", [target]).fetchone() is None
