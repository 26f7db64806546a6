"""The counters of real servers, of attempts that write and read."""

import pytest

from storebench.stores import load
from tests.integration.conftest import ROWS

# For each store: its clients, the counter of a write that counts rows, and counters that grow in a write, and in a read.
STORES = {
    "elasticsearch": (("reference", "tuned"), "indexed", ("refreshes", "refresh_s"), ("queries",)),
    "postgresql": (("reference", "tuned"), "tuples_inserted", ("wal_bytes", "commits"), ("tuples_returned",)),
    "mongodb": (("reference",), None, ("inserts",), ("finds", "get_mores")),
}
RUNS = [(store, client) for store, (clients, *_) in STORES.items() for client in clients]


def growth(result):
    return {
        name: figure["after"] - figure["before"]
        for name, figure in result.counters.items()
        if figure["kind"] == "counter" and "before" in figure
    }


@pytest.mark.parametrize(("store", "client"), RUNS)
def test_a_server_reports_the_work_of_an_operation(attempt, store, client):
    _, rows, written, read = STORES[store]
    code, result = attempt("write", store=store, client=client)
    assert code == 0, result.error
    assert list(result.counters) == [counter.name for counter in load("bulk_write_read", store).counters]
    grown = growth(result)
    assert all(grown[name] > 0 for name in written), grown
    if rows:
        assert grown[rows] == ROWS
    assert 0 < result.phases["counters"] < 2

    code, result = attempt("read", store=store, client=client)
    assert code == 0, result.error
    grown = growth(result)
    assert all(grown[name] > 0 for name in read), grown
    assert not grown.get(rows), "a read writes no rows"


def test_a_table_in_s3_is_listed_before_and_after_a_write(attempt):
    code, result = attempt("write", store="delta-rs")
    assert code == 0, result.error
    files, versions = (result.counters[name] for name in ("data_files", "log_versions"))
    assert (files["before"], files["after"], versions["after"]) == (0, 4, 4), "a commit for each batch"
    assert result.counters["data_file_bytes"]["after"] > 0


def test_what_ferretdb_does_not_report_has_a_reason(attempt):
    _, result = attempt("write")
    assert result.counters["journal_bytes"] == {
        "unit": "bytes",
        "kind": "counter",
        "unknown": "the server does not report the counter",
    }
