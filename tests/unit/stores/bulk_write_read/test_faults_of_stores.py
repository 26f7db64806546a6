"""Test the guarantees of bulk stores under a fault, how a store sends a batch again, and which cells have a fault."""

from types import SimpleNamespace

import pytest
from pymongo.errors import BulkWriteError

from storebench.connection import Connection
from storebench.errors import SpecError, StoreRefused, StoreUnreachable
from storebench.planning.faults import check_faults
from storebench.planning.params import grid_of, run_values
from storebench.stores import elasticsearch_server, postgresql_server
from storebench.stores.base import Durability, Server
from storebench.stores.bulk_write_read.elasticsearch import Elasticsearch
from storebench.stores.bulk_write_read.mongodb import DUPLICATE, MongoDB
from tests.bulk import bulk_study

DISK, MEMORY = Durability("disk", "synced"), Durability("memory", "later")


def keys_and_operations(**asked):
    study = bulk_study()
    params = run_values(study, {"clients": ["reference"], "batch": ["1000"], **asked})
    cells = grid_of(study, params).cells
    check_faults(study, cells, params, lambda name: False, "own/agent:1")
    return [(cell.store, [one.name for one in study.operations_in(cell)]) for cell in cells]


def test_a_cell_with_a_fault_has_a_write_and_no_read():
    asked = {"stores": ["postgresql@one", "null"], "fault": ["none", "kill"]}
    assert keys_and_operations(**asked) == [
        ("postgresql@one", ["write", "read"]),
        ("postgresql@one", ["write"]),
        ("null", ["write", "read"]),
    ]
    kept = keys_and_operations(stores=["mongodb@one"], fault=["pause"], maintenance=["on"])
    assert kept == [("mongodb@one", ["write"])]


def test_the_restart_of_postgresql_is_refused():
    with pytest.raises(
        SpecError, match="postgresql@one has no fault 'restart': kill, pause, compact, backup"
    ):
        keys_and_operations(stores=["postgresql@one"], fault=["restart"])


def test_a_fault_needs_batches():
    values = {"batch": "all", "fault": "kill"}
    with pytest.raises(SpecError, match=r"no batches that could be sent again .* 'kill'"):
        MongoDB.least_s("write", values)
    assert MongoDB.least_s("write", {**values, "fault": "none"}) == 0
    assert MongoDB.least_s("write", {**values, "batch": "10"}) == 0


@pytest.mark.parametrize("server", [elasticsearch_server, postgresql_server])
def test_a_synced_write_is_guaranteed_and_a_later_sync_only_while_the_server_runs(server):
    faults = Elasticsearch.faults
    assert {fault for fault in faults if server.promise(fault, DISK)} == {*faults}
    assert {fault for fault in faults if server.promise(fault, MEMORY)} == {"pause", "partition", "compact"}
    assert "(synced)" in server.promise("kill", DISK)


@pytest.mark.parametrize(
    ("concern", "hello", "kept"),
    [
        ({"j": True}, {}, {*MongoDB.faults}),
        ({"j": False}, {}, {*MongoDB.faults} - {"kill"}),
        ({"w": 0}, {}, set()),
        ({"j": True}, {"setName": "rs"}, set()),
        ({"w": "majority", "j": True}, {"setName": "rs"}, {*MongoDB.faults}),
    ],
)
def test_mongodb_guarantees_what_its_write_concern_says(monkeypatch, concern, hello, kept):
    store = mongodb()
    store._client = SimpleNamespace(admin=SimpleNamespace(command=lambda name: hello))
    store._collection = SimpleNamespace(write_concern=SimpleNamespace(document=concern))
    monkeypatch.setattr(store, "describe", lambda: Server("MongoDB", "8.0", {"storage_engine": "wiredTiger"}))
    assert {fault for fault in MongoDB.faults if store.promise(fault)} == kept


def mongodb():
    return MongoDB(client="reference", target="t", connection=Connection("mongodb", host="h"), source=None)


@pytest.mark.parametrize(
    ("codes", "concern_errors", "fails"),
    [((), [], False), ((DUPLICATE, DUPLICATE), [], False), ((DUPLICATE, 8000), [], True), ((), [{}], True)],
)
def test_rows_that_mongodb_has_already_are_not_written_again(codes, concern_errors, fails):
    sent = []

    def insert_many(batch, ordered=True):
        sent.append((list(batch), ordered))
        if not ordered and (codes or concern_errors):
            errors = [{"code": code, "errmsg": "no"} for code in codes]
            raise BulkWriteError({"writeErrors": errors, "writeConcernErrors": concern_errors})

    store, batch = mongodb(), [{"n": "1"}, {"n": "2"}]
    store._collection = SimpleNamespace(insert_many=insert_many)
    store.send(batch, again=False)
    if fails:
        with pytest.raises(StoreRefused):
            store.send(batch, again=True)
    else:
        store.send(batch, again=True)
    assert sent == [(batch, True), (batch, False)]


@pytest.mark.parametrize("timed_out", [True, False])
def test_an_index_without_a_primary_does_not_answer(timed_out):
    health = SimpleNamespace(health=lambda **asked: {"timed_out": timed_out})
    store = Elasticsearch(
        client="reference", target="t", connection=Connection("elasticsearch", host="h"), source=None
    )
    store._client = SimpleNamespace(options=lambda **asked: SimpleNamespace(cluster=health))
    if timed_out:
        with pytest.raises(StoreUnreachable, match="no primary"):
            store.answers()
    else:
        store.answers()
