"""The maintenance of tables at the stack's real servers, as a pod runs it but for the pod."""

import psycopg
import pytest

from storebench.stores.postgresql_server import conninfo
from tests.bulk import bulk_study
from tests.integration.conftest import ROWS

OPERATION = "maintain"
CASES = [
    ("delta-rs", "reference"),
    ("elasticsearch", "reference"),
    ("elasticsearch", "tuned"),
    ("mongodb", "reference"),
    ("postgresql", "tuned"),
]


@pytest.mark.parametrize(("store", "client"), CASES)
def test_a_maintained_table_is_verified_and_read(attempt, store, client):
    assert attempt("write", store=store, client=client)[0] == 0
    code, result = attempt(OPERATION, store=store, client=client)
    assert (code, result.status, result.error) == (0, "verified", None)
    lacks = set(bulk_study().store(store).lacks)
    assert result.metrics.keys() == set(bulk_study().operation(OPERATION).metrics) - lacks
    assert 0 < result.metrics["maintain_s"] < result.total_s
    if not lacks:
        assert result.metrics["files_before"] >= result.metrics["files_after"] == 1
    assert result.data_bytes > 0
    assert (result.durability, result.delivers) == (None, None)
    code, result = attempt("read", store=store, client=client)
    assert (code, result.status, result.error) == (0, "verified", None)


def test_postgresql_has_vacuumed_and_counted_the_rows(attempt, connections, target):
    """How many pages are then visible to all also depends on other transactions at the server."""
    assert attempt("write", store="postgresql")[0] == 0
    assert attempt(OPERATION, store="postgresql")[0] == 0
    with psycopg.connect(conninfo(connections["postgresql"])) as session:
        found = session.execute(
            "SELECT s.vacuum_count, s.analyze_count, c.reltuples FROM pg_stat_user_tables AS s JOIN pg_class AS c ON c.oid = s.relid"
            " WHERE s.relname = %s",
            [target],
        ).fetchone()
    assert found == (1, 1, ROWS)


@pytest.mark.parametrize("store", sorted({store for store, _ in CASES}))
def test_maintenance_without_a_write_says_so(attempt, store):
    code, result = attempt(OPERATION, store=store)
    assert (code, result.error_kind) == (5, "store_failed")
