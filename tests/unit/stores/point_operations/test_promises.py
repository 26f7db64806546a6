"""Test the guarantees of MongoDB and Cassandra for acknowledged writes under a fault, at each consistency."""

from types import SimpleNamespace

import pytest

from storebench.connection import Connection
from storebench.servers.fault import KEEPS_MEMORY, MAINTENANCE
from storebench.stores.base import Durability, Server
from storebench.stores.point_operations.cassandra import Cassandra
from storebench.stores.point_operations.mongodb import MongoDB

DISK, MEMORY = Durability("disk", "w=1, j=true"), Durability("memory", "w=1, j=false")
MONGOD = Server("MongoDB", "8.0.16", {"storage_engine": "wiredTiger"})
MEMBER, ROUTER = {"setName": "rs0"}, {"msg": "isdbgrid"}
FAULTS = ("kill", "pause", "restart", "partition")


def mongodb(monkeypatch, consistency, durability, hello, server=MONGOD):
    """Return the faults under which a server with these answers guarantees something."""
    store = MongoDB(
        client="direct",
        target="t",
        connection=Connection("mongodb", host="h"),
        values={"consistency": consistency},
    )
    store._client = SimpleNamespace(admin=SimpleNamespace(command=lambda name: hello))
    monkeypatch.setattr(store, "describe", lambda: server)
    monkeypatch.setattr(store, "durability", lambda: durability)
    found = {fault for fault in MongoDB.faults if store.promise(fault)}
    assert found & {*MAINTENANCE} == ({"compact", "backup"} if "pause" in found else set())
    return found - {*MAINTENANCE}


@pytest.mark.parametrize(
    ("consistency", "durability", "hello", "kept"),
    [
        ("one", DISK, {}, {*FAULTS}),
        ("one", MEMORY, {}, {*FAULTS} - {"kill"}),
        ("quorum", MEMORY, {}, {*FAULTS} - {"kill"}),
        ("one", DISK, MEMBER, set()),  # another primary may lack the write
        ("one", DISK, ROUTER, set()),
        ("quorum", DISK, MEMBER, {*FAULTS}),
        ("quorum", DISK, ROUTER, {*FAULTS}),
        ("quorum", MEMORY, MEMBER, set()),
        ("one", Durability("unknown", "nothing"), {}, {*FAULTS} - {"kill"}),
    ],
)
def test_mongodb_guarantees_what_its_journal_and_its_copies_keep(
    monkeypatch, consistency, durability, hello, kept
):
    assert mongodb(monkeypatch, consistency, durability, hello) == kept


def test_a_mongod_whose_engine_is_in_memory_guarantees_only_what_keeps_its_memory(monkeypatch):
    server = Server("MongoDB", "8.0.16", {"storage_engine": "inMemory"})
    assert mongodb(monkeypatch, "one", MEMORY, {}, server) == {*KEEPS_MEMORY}


@pytest.mark.parametrize(
    ("consistency", "copies", "sync", "kept"),
    [
        ("one", 1, "periodic", {*FAULTS} - {"kill"}),
        ("one", 3, "periodic", {*FAULTS} - {"kill"}),
        ("one", 1, "batch", {*FAULTS}),
        ("one", 1, "group", {*FAULTS}),
        ("one", 1, None, {*FAULTS} - {"kill"}),
        (
            "quorum",
            1,
            "periodic",
            {*FAULTS} - {"kill"},
        ),  # a quorum of one copy, or of two, has no copy to spare
        ("quorum", 2, "periodic", {*FAULTS} - {"kill"}),
        ("quorum", 3, "periodic", {*FAULTS}),
    ],
)
def test_cassandra_guarantees_what_its_commit_log_and_its_copies_keep(
    monkeypatch, consistency, copies, sync, kept
):
    store = Cassandra(client="direct", target="t", connection=None, values={"consistency": consistency})
    settings = {"copies": copies, **({"commitlog_sync": sync} if sync else {})}
    monkeypatch.setattr(store, "describe", lambda: Server("Cassandra", "5.0.9", settings))
    assert {fault for fault in Cassandra.faults if store.promise(fault)} == {*kept, *MAINTENANCE}
