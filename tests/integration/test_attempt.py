"""Attempts against the real MongoDB-protocol server and the real S3, as a pod runs them but for the pod."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
from contextlib import suppress

import bson
import pytest

from storebench.attempt.disturbance import of_server
from storebench.dataset.manifest import dataset_key
from storebench.dataset.schema import FIELDS
from storebench.s3 import client_for
from storebench.stores.bulk_write_read.mongodb import MongoDB
from storebench.stores.bulk_write_read.source import Source
from tests.bulk import RANKED_BY
from tests.integration.conftest import ROWS, SEED

NAMES = [field.name for field in FIELDS]


@pytest.fixture
def collection(attempt, connections, target, client):
    """Yield the collection that the attempts of this test write to."""
    code, _ = attempt("write", client=client)
    assert code == 0
    from pymongo import MongoClient

    from storebench.stores.bulk_write_read.mongodb import DEFAULT_DATABASE, uri

    server = connections["mongodb"]
    with MongoClient(uri(server)) as server_client:
        yield server_client[server.schema or DEFAULT_DATABASE][target]


@pytest.mark.parametrize("client", MongoDB.clients)
@pytest.mark.parametrize("batch", ["500", "700", "1700", "all"])
def test_mongodb_is_written_and_read_and_both_are_verified(attempt, client, batch):
    for operation in ("write", "read"):
        code, result = attempt(operation, batch=batch, client=client)
        assert (code, result.status, result.error) == (0, "verified", None)
        assert result.metrics["rows_per_s"] == pytest.approx(
            ROWS / result.metrics[RANKED_BY[operation]], rel=1e-3
        )
        how = "a second pass of" if operation == "read" else "reading back with"
        assert result.verification.startswith(
            f"2,000 rows handled and counted; all 50 fields by {how} pymongo"
        )
        assert 0 < result.metrics["only_s"] < result.total_s
        assert (result.metrics["source_s"] > 0) == (operation == "write")
        assert result.environment["server_name"] in ("FerretDB", "MongoDB")
        assert sum(result.phases.values()) <= result.total_s
        assert result.client_cpu_share > 0
        assert (
            result.delivers
            == {"write": None, "read": "raw BSON" if client == "tuned" else "dicts"}[operation]
        )
        tuning = {"connections", "window_rows", "answer_rows"} if client == "tuned" else set()
        assert result.environment["client_settings"].keys() == tuning
        assert (result.figures_cover, result.client_cores_usable) == ("client", 1)
        assert result.node_others_cores is not None and result.node_cpu_some_share is not None
        assert result.durability == ("disk" if operation == "write" else None)
        assert ((result.data_bytes or 0) > 0) == (operation == "write")


@pytest.mark.parametrize("client", MongoDB.clients)
@pytest.mark.parametrize("options", ["", "w=majority", "journal=false"])
def test_the_write_concern_of_the_connection_is_taken_and_recorded(
    attempt, change_connection, client, options
):
    change_connection("mongodb", extra={"options": options})
    code, result = attempt("write", client=client)
    assert (code, result.error) == (0, None)
    asked = {"": "j=true", "w=majority": "w=majority, j=true", "journal=false": "j=false"}[options]
    assert result.durability_stated.split(";")[0] == asked


@pytest.mark.parametrize("client", MongoDB.clients)
def test_writes_without_an_acknowledgement_are_verified_or_refused_before_the_first(
    attempt, change_connection, client
):
    change_connection("mongodb", extra={"options": "w=0"})
    code, result = attempt("write", client=client)
    if result.environment["server_name"] == "FerretDB":
        assert (code, result.error_kind) == (5, "store_failed") and "operation" not in result.phases
        assert "take w=0 out of the connection's options" in result.error
    else:
        assert (code, result.durability, result.durability_stated) == (0, "none", "w=0")


def test_null_drops_everything_and_is_verified(attempt):
    for operation in ("write", "read"):
        code, result = attempt(operation, store="null", batch="all")
        assert (code, result.status) == (0, "verified")
        assert (result.figures_cover, result.client_cores_usable) == ("engine", None)
        assert result.durability == ("none" if operation == "write" else None)


def spoil(collection, how):
    document = collection.find_one()
    if how == "a row deleted":
        collection.delete_one({"_id": document["_id"]})
    elif how == "a row doubled":
        collection.insert_one({key: value for key, value in document.items() if key != "_id"})
    elif how == "a row replaced by another":
        other = collection.find_one({"_id": {"$ne": document["_id"]}})
        collection.delete_one({"_id": document["_id"]})
        collection.insert_one({key: value for key, value in other.items() if key != "_id"})
    elif how == "a field changed":
        name = NAMES[3]
        collection.update_one({"_id": document["_id"]}, {"$set": {name: document[name] + "x"}})
    elif how == "a field removed":
        collection.update_one({"_id": document["_id"]}, {"$unset": {NAMES[5]: ""}})
    elif how == "a field added":
        collection.update_one({"_id": document["_id"]}, {"$set": {"more": "x"}})
    elif how == "values of two rows swapped":
        name = NAMES[0]
        other = collection.find_one({"_id": {"$ne": document["_id"]}})
        collection.update_one({"_id": document["_id"]}, {"$set": {name: other[name]}})
        collection.update_one({"_id": other["_id"]}, {"$set": {name: document[name]}})
    elif how == "a value of another type":
        collection.update_one({"_id": document["_id"]}, {"$set": {NAMES[0]: 1}})


@pytest.mark.parametrize("client", MongoDB.clients)
@pytest.mark.parametrize(
    "how",
    [
        "a row deleted",
        "a row doubled",
        "a row replaced by another",
        "a field changed",
        "a field removed",
        "a field added",
        "values of two rows swapped",
        "a value of another type",
    ],
)
def test_verification_notices(attempt, collection, client, how):
    spoil(collection, how)
    code, result = attempt("read", client=client)
    assert (code, result.status, result.error_kind) == (4, "failed", "verification_failed")
    assert result.metrics["only_s"] > 0, "the figures of an attempt that is not verified are kept"
    assert result.verification is None


@pytest.mark.parametrize("client", MongoDB.clients)
def test_a_store_that_is_down_is_unreachable(attempt, change_connection, client):
    change_connection("mongodb", host="127.0.0.1", port=1)
    code, result = attempt("write", client=client)
    assert (code, result.error_kind) == (3, "unreachable")
    assert "127.0.0.1:1 does not answer" in result.error


def test_a_wrong_password_is_a_refusal_that_does_not_repeat_it(attempt, connections, change_connection):
    if not connections["mongodb"].login:
        pytest.fail("the stack's MongoDB server takes no login")
    change_connection("mongodb", password="hunter2")
    code, result = attempt("write")
    assert (code, result.error_kind) == (5, "store_failed")
    assert "hunter2" not in json.dumps(vars(result))


@pytest.fixture
def without_rights(connections, change_connection):
    """Lead attempts by a relay that answers some commands itself, as a mongod does to a user without the right.

    FerretDB 2 gives every user all rights, so that a login of its own would not do.
    """
    server = connections["mongodb"]
    listener = socket.create_server(("127.0.0.1", 0))
    ends = [listener]
    refused = []

    def refusal(request, request_id):
        """Return an OP_MSG with the error, in answer to the message of this id."""
        command = next(iter(request))
        refused.append(command)
        error = {"ok": 0.0, "code": 13, "codeName": "Unauthorized", "errmsg": f"not authorized to {command}"}
        body = struct.pack("<IB", 0, 0) + bson.encode(error)
        return struct.pack("<iiii", 16 + len(body), 0, request_id, 2013) + body

    def requests(client, upstream, commands):
        stream = client.makefile("rb")
        while header := stream.read(16):
            length, request_id, _, code = struct.unpack("<iiii", header)
            body = stream.read(length - 16)
            request = bson.decode(body[5:]) if code == 2013 and body[4] == 0 and length < 1_000 else {}
            if commands & request.keys():
                client.sendall(refusal(request, request_id))
            else:
                upstream.sendall(header + body)

    def answers(upstream, client):
        while data := upstream.recv(65536):
            client.sendall(data)

    def quietly(work, *arguments):
        with suppress(OSError):  # one of the sides, or the test, has closed it
            work(*arguments)
        for end in arguments[:2]:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def accept(commands):
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                upstream = socket.create_connection((server.host, server.port))
                ends.extend((client, upstream))
                for work in ((requests, client, upstream, commands), (answers, upstream, client)):
                    threading.Thread(target=quietly, args=work, daemon=True).start()

    def start(*commands):
        change_connection("mongodb", host="127.0.0.1", port=listener.getsockname()[1])
        threading.Thread(target=accept, args=(set(commands),), daemon=True).start()
        return refused

    yield start
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@pytest.mark.parametrize("client", MongoDB.clients)
def test_a_user_of_one_database_is_enough_and_what_is_then_unknown_is_said(attempt, without_rights, client):
    refused = without_rights("serverStatus", "hostInfo")
    for operation in ("write", "read"):
        code, result = attempt(operation, client=client)
        assert (code, result.status, result.error) == (0, "verified", None)
        settings = result.environment["server_settings"]
        assert {"serverStatus": "not permitted", "hostInfo": "not permitted"}.items() <= settings.items()
        assert result.environment["client_settings"].get("connections") == (2 if client == "tuned" else None)
    assert set(refused) == {"serverStatus", "hostInfo"}


def test_a_wrong_s3_key_is_named(attempt, change_connection):
    change_connection("s3", password="hunter2")
    code, result = attempt("write")
    assert code in (3, 5) and "S3" in result.error and "hunter2" not in result.error


def test_a_dataset_that_is_missing_is_named(attempt):
    code, result = attempt("write", rows=1234)
    assert code != 0 and "rows=1234" in result.error


def test_a_malformed_specification_ends_with_code_2(tmp_path):
    process = subprocess.run(
        [sys.executable, "-m", "storebench.cli", "attempt"],
        env={**os.environ, "STOREBENCH_ATTEMPT": "{"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2
    assert "STOREBENCH_ATTEMPT is not a valid attempt" in process.stderr


def test_mongodb_describes_the_server_that_answered(connections, bucket):
    store = MongoDB(
        client="reference",
        target="storebench_test",
        connection=connections["mongodb"],
        source=Source(client_for(connections["s3"]), bucket, dataset_key(ROWS, SEED)),
    )
    store.connect()
    try:
        server = store.describe()
        processes = [store.server_processes() for _ in range(2)]
    finally:
        store.close()
    assert server.name in ("FerretDB", "MongoDB") and server.version
    assert processes[0] and of_server(*processes) == [], "the same process was seen twice"
