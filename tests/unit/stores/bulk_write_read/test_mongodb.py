from datetime import datetime, timedelta
from types import SimpleNamespace

import pytest
from pymongo.errors import OperationFailure

from storebench.connection import Connection
from storebench.errors import SpecError, StoreRefused
from storebench.stores.base import Server
from storebench.stores.bulk_write_read.mongodb import (
    MongoDB,
    durability_of,
    durable,
    errors,
    identify,
    shard_key,
    uri,
)

FERRETDB = Server("FerretDB", "v2.7.0", {"postgresql": "18.1"})
MONGOD = Server("MongoDB", "8.0.4", {"storage_engine": "wiredTiger"})


@pytest.mark.parametrize(
    ("build", "status", "name", "version"),
    [
        (
            {
                "version": "7.0.77",
                "gitVersion": "b" * 40,
                "storageEngines": ["x"],
                "ferretdb": {"version": "v2.7.0"},
            },
            {"ferretdb": {"postgresql": "18.1", "documentdb": "1.0.0"}},
            "FerretDB",
            "v2.7.0",
        ),
        ({"version": "6.0.42", "ferretdbVersion": "v1.24.0"}, {}, "FerretDB", "v1.24.0"),
        (
            {
                "version": "8.0.4",
                "gitVersion": "bc35ab4305d9920d9d0491c1c9ef9b72383d31f9",
                "storageEngines": ["wt"],
            },
            {"storageEngine": {"name": "wiredTiger"}},
            "MongoDB",
            "8.0.4",
        ),
        ({"version": "5.0.0"}, {}, "unknown server of the MongoDB protocol", "5.0.0"),
    ],
)
def test_the_server_that_answered_is_named(build, status, name, version):
    server = identify(build, status, {"system": {"numCores": 4}})
    assert (server.name, server.version, server.settings["cores"]) == (name, version, 4)
    unknown = identify(build, "not permitted", "not permitted")
    assert (unknown.name, unknown.version) == (name, version)
    assert {"serverStatus": "not permitted", "hostInfo": "not permitted"}.items() <= unknown.settings.items()
    assert not {"cores", "storage_engine"} & unknown.settings.keys(), "what is unknown is not guessed"


def test_a_mongod_may_use_fewer_cores_than_its_machine_has():
    host = {"system": {"numCores": 64, "numCoresAvailableToProcess": 2}}
    assert identify({"version": "5"}, {}, host).settings == {"cores": 2}


def test_a_collection_is_sharded_where_the_connection_says_by_what():
    assert (shard_key("hashed"), shard_key("ranged")) == ({"_id": "hashed"}, {"_id": 1})
    with pytest.raises(
        SpecError, match="'shard_key' of the MongoDB connection must be one of hashed, ranged"
    ):
        shard_key("id")


@pytest.mark.parametrize(("extra", "sharded"), [({"shard_key": "hashed"}, True), ({}, False)])
def test_a_write_begins_with_an_empty_collection_that_is_sharded_if_asked_for(extra, sharded):
    store = MongoDB(
        client="reference", target="t", connection=Connection("mongodb", "db", extra=extra), source=None
    )
    calls = []
    store.drop = lambda: calls.append("drop")
    store._client = SimpleNamespace(
        admin=SimpleNamespace(command=lambda name, full, key: calls.append((name, full, key)))
    )
    store._collection = SimpleNamespace(
        full_name="storebench.t", write_concern=SimpleNamespace(acknowledged=True)
    )
    store.prepare()
    asked = [("shardCollection", "storebench.t", {"_id": "hashed"})]
    assert calls == ["drop", *(asked if sharded else [])]


def test_login_and_password_are_escaped_in_the_uri():
    server = Connection("mongodb", host="db", port=27018, login="a@b", password="p/w:d")
    assert uri(server) == "mongodb://a%40b:p%2Fw%3Ad@db:27018/?"


def test_options_and_scheme_come_from_the_connection():
    server = Connection("mongodb", host="db", extra={"scheme": "mongodb+srv", "options": "tls=true"})
    assert uri(server) == "mongodb+srv://db/?tls=true"


def concern(options):
    """Return PyMongo's write concern for a connection's options."""
    from pymongo import MongoClient

    server = Connection("mongodb", host="db", extra={"options": options})
    with MongoClient(uri(server), connect=False, **durable(server)) as client:
        return client.write_concern.document


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ("", {"j": True}),
        ("tls=true", {"j": True}),
        ("w=majority", {"w": "majority", "j": True}),
        ("w=0", {"w": 0}),
        ("journal=false&w=1", {"w": 1, "j": False}),
        ("Journal=false", {"j": False}),
        ("journal=true", {"j": True}),
        ("tls=true;w=0", {"w": 0}),
    ],
)
def test_a_durable_acknowledgement_is_asked_for_unless_the_connection_says_otherwise(options, asked):
    assert concern(options) == asked


@pytest.mark.parametrize(
    ("asked", "server", "kind", "stated"),
    [
        ({"j": True}, MONGOD, "disk", "j=true"),
        ({"w": "majority", "j": True}, MONGOD, "disk", "w=majority, j=true"),
        ({"w": 1, "j": False}, MONGOD, "memory", "w=1, j=false"),
        ({"w": 0}, MONGOD, "none", "w=0"),
        ({"fsync": True}, MONGOD, "unknown", "fsync=true"),
        (
            {"j": True},
            Server("MongoDB", "8.0.4", {"storage_engine": "inMemory"}),
            "memory",
            "j=true; the storage engine is inMemory",
        ),
        ({"w": 1, "j": False}, FERRETDB, "disk", "w=1, j=false; FerretDB commits to PostgreSQL"),
        ({"w": 0}, FERRETDB, "none", "w=0"),
        (
            {"j": True},
            Server("MongoDB", "8.0.4", {"serverStatus": "not permitted"}),
            "unknown",
            "j=true; which storage engine it has, the server does not say",
        ),
        (
            {"w": 1, "j": False},
            Server("MongoDB", "8.0.4", {"serverStatus": "not permitted"}),
            "memory",
            "w=1, j=false",
        ),
        (
            {"j": True},
            Server("FerretDB", "v1.24.0", {"serverStatus": "refused, code 13"}),
            "unknown",
            "j=true; which database FerretDB commits to, it does not say",
        ),
        ({"j": True}, Server("unknown server of the MongoDB protocol", "5"), "unknown", "j=true"),
    ],
)
def test_an_acknowledgement_promises_what_the_server_and_the_write_concern_say(asked, server, kind, stated):
    found = durability_of(asked, server)
    assert (found.kind, found.stated) == (kind, stated)


class Unacknowledging:
    """A client and its collection whose writes are not acknowledged, and arrive one by one."""

    write_concern = type("Concern", (), {"acknowledged": False})()

    def __init__(self):
        self.arrived = 0

    def count_documents(self, query):
        self.arrived += 1
        return self.arrived


def unacknowledging():
    store = MongoDB(client="reference", target="t", connection=Connection("mongodb", host="db"), source=None)
    store._client = store._collection = Unacknowledging()
    return store


def test_rows_that_are_not_acknowledged_are_waited_for_by_the_barrier(monkeypatch):
    monkeypatch.setattr("storebench.stores.bulk_write_read.mongodb.ARRIVAL_POLL_S", 0)
    store = unacknowledging()
    store.written = 5
    store.barrier()
    assert store._collection.arrived == 5


def test_rows_that_never_arrive_are_left_to_the_verification(monkeypatch):
    monkeypatch.setattr("storebench.stores.bulk_write_read.mongodb.ARRIVAL_TIMEOUT_S", 0)
    store = unacknowledging()
    store.written = 5
    store.barrier()
    assert store._collection.arrived == 1


def test_ferretdb_is_not_written_to_without_an_acknowledgement(monkeypatch):
    store = unacknowledging()
    monkeypatch.setattr(store, "describe", lambda: FERRETDB)
    with pytest.raises(StoreRefused, match="take w=0 out of the connection's options"):
        store.prepare()


class Answering:
    """A client whose server gives these answers to commands; none where it refuses."""

    def __init__(self, **answers):
        self.admin, self.answers = self, answers

    def command(self, name):
        from pymongo.errors import OperationFailure

        if name not in self.answers:
            raise OperationFailure("not authorized")
        return self.answers[name]


STARTED_AT = datetime(2026, 1, 1, 12)


@pytest.mark.parametrize(
    ("answers", "processes"),
    [
        ({"hello": {"topologyVersion": {"processId": "6745"}}}, {"6745": 0.0}),
        ({"hello": {"msg": "isdbgrid", "topologyVersion": {"processId": "6745"}}}, {}),
        (
            {
                "hello": {},
                "serverStatus": {
                    "host": "vm",
                    "pid": 7,
                    "uptimeMillis": 60_000,
                    "localTime": STARTED_AT + timedelta(minutes=1),
                },
            },
            {"vm 7": STARTED_AT.timestamp()},
        ),
        ({"hello": {}}, {}),
        ({"hello": {}, "serverStatus": {}}, {}),
        ({}, {}),
    ],
)
def test_the_servers_process_is_told_where_it_can_be_seen(answers, processes):
    store = MongoDB(client="reference", target="t", connection=None, source=None)
    store._client = Answering(**answers)
    assert store.server_processes() == processes


@pytest.mark.parametrize(
    ("server", "hello", "seconds"),
    [
        (MONGOD, {}, 2.5),
        (MONGOD, {"hosts": ["a"]}, 2.5),
        (MONGOD, {"hosts": ["a", "b"]}, None),
        (FERRETDB, {}, None),
    ],
)
def test_a_mongod_tells_how_busy_it_was_but_not_on_which_machine(server, hello, seconds):
    usage = {"user_time_us": 2_000_000, "system_time_us": 500_000}
    store = MongoDB(client="reference", target="t", connection=Connection("mongodb", host="db"), source=None)
    store._client, store._found = Answering(hello=hello, serverStatus={"extra_info": usage}), server
    assert store.cpu_of_servers_s() == (None if seconds is None else {"": seconds})
    for answers in ({"hello": hello, "serverStatus": {"extra_info": {}}}, {"hello": hello}, {}):
        store._client = Answering(**answers)
        assert store.cpu_of_servers_s() is None


@pytest.mark.parametrize(
    ("answer", "size"),
    [
        ({"size": 9, "storageSize": 4096, "totalIndexSize": 1024}, 5120),
        ({"size": 9}, None),
        (OperationFailure("not authorized", 13), None),
    ],
)
def test_a_collection_has_a_size_where_the_server_tells_it(answer, size):
    def command(name, target):
        assert (name, target) == ("collStats", "t")
        if isinstance(answer, Exception):
            raise answer
        return answer

    store = MongoDB(client="reference", target="t", connection=None, source=None)
    store._collection = SimpleNamespace(database=SimpleNamespace(command=command))
    assert store.size_bytes() == size


@pytest.mark.parametrize(
    ("stats", "needed"),
    [({"storageSize": 8192}, 8192), ({"storageSize": 8192, "freeStorageSize": 4096}, 4096)],
)
def test_a_cold_read_needs_the_blocks_of_the_collection_that_are_used(stats, needed):
    store = MongoDB(client="reference", target="t", connection=Connection("mongodb", host="db"), source=None)
    store._collection = SimpleNamespace(database=SimpleNamespace(command=lambda name, target: stats))
    assert store.needed_bytes() == needed


def test_a_server_that_does_not_tell_its_size_proves_nothing():
    store = MongoDB(client="reference", target="t", connection=Connection("mongodb", host="db"), source=None)
    store._collection = SimpleNamespace(database=SimpleNamespace(command=lambda name, target: {"size": 9}))
    with pytest.raises(StoreRefused, match="no read can be proven cold"):
        store.needed_bytes()


def test_a_server_that_was_started_again_is_tried_until_it_has_its_collection(monkeypatch):
    """A mongos answers before the shards have primaries."""
    store = MongoDB(client="reference", target="t", connection=Connection("mongodb", host="db"), source=None)
    steps = []

    def count():
        steps.append("counted")
        if steps.count("counted") < 2:
            raise OperationFailure("Could not find host matching read preference", 133)

    store._collection = SimpleNamespace(estimated_document_count=count)
    monkeypatch.setattr(store, "close", lambda: steps.append("closed"))
    monkeypatch.setattr(store, "connect", lambda: steps.append("connected"))
    with store.away():
        steps.append("stopped")
    assert steps == ["closed", "stopped", "connected", "counted", "closed", "connected", "counted"]


@pytest.mark.parametrize(
    ("extra", "names"), [({}, True), ({"authSource": "app"}, False), ({"options": "authsource=app"}, False)]
)
def test_a_refused_login_names_the_database_that_was_not_told(extra, names):
    """A user created in the database itself does not exist in `admin`, where the client looks."""
    server = Connection("mongodb", "db", login="me", password="hunter2", schema="app", extra=extra)
    with pytest.raises(StoreRefused, match="refused the login of user 'me'") as caught, errors(server):
        raise OperationFailure("Authentication failed", 18)
    assert ('{"authSource": "app"}' in str(caught.value)) == names
