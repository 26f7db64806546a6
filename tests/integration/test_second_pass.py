"""A read is verified by a second pass of the very call that was timed: a client that gives back one wrong value fails."""

import csv

import pyarrow as pa
import pymongo.collection
import pytest
from bson import encode
from bson.raw_bson import RawBSONDocument
from deltalake import DeltaTable
from elasticsearch import Elasticsearch

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection, variable
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.errors import VerificationFailed
from storebench.s3 import client_for
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.bulk_write_read.verify import verify
from tests.bulk import bulk_study
from tests.integration.conftest import ROWS, SEED, required

FIELD, WRONG_ID = "city", "1000000003"
CASES = [
    ("mongodb", "reference", "a second pass of pymongo find()"),
    ("mongodb", "tuned", "a second pass of pymongo find() of raw BSON, decoded"),
    ("elasticsearch", "reference", "a second pass of search_after over a point in time"),
    ("elasticsearch", "tuned", "a second pass of search_after over slices of a point in time"),
    ("delta-rs", "reference", "a second pass of delta-rs DeltaTable.to_pyarrow_table()"),
    ("delta-rs", "tuned", "a second pass of delta-rs DeltaTable.scan()"),
    ("null", "reference", "a second pass of csv.DictReader over the source"),
]


class Library:
    """A client library whose answers a test looks into: each call's arguments, and one wrong value where it is asked for."""

    def __init__(self, monkeypatch, store, client):
        self.calls, self.spoil = [], False
        owner, name, change = {
            ("mongodb", "reference"): (pymongo.collection.Collection, "find", self.documents),
            ("mongodb", "tuned"): (pymongo.collection.Collection, "find", self.raw_documents),
            ("elasticsearch", "reference"): (Elasticsearch, "search", self.page),
            ("elasticsearch", "tuned"): (Elasticsearch, "search", self.page),
            ("delta-rs", "reference"): (DeltaTable, "to_pyarrow_table", self.table),
            ("delta-rs", "tuned"): (DeltaTable, "scan", self.batches),
            ("null", "reference"): (csv, "DictReader", self.documents),
        }[store, client]
        real = getattr(owner, name)

        def call(*positional, **named):
            self.calls.append(shape(named))
            answer = real(*positional, **named)
            return change(answer) if self.spoil else answer

        monkeypatch.setattr(owner, name, call)

    def documents(self, found):
        return map(spoilt, found)

    def raw_documents(self, found):
        return (RawBSONDocument(encode(spoilt(dict(document)))) for document in found)

    def page(self, answer):
        for hit in answer["hits"]["hits"]:
            hit["_source"] = spoilt(hit["_source"])
        return answer

    def table(self, table):
        rows = [spoilt(row) for row in table.to_pylist()]
        return pa.Table.from_pylist(rows, table.schema)

    def batches(self, reader):
        return iter(self.table(pa.table(reader)).to_batches())


def spoilt(row):
    """Return the row, with a wrong value in FIELD if its id is WRONG_ID."""
    return {**row, FIELD: "Nowhere"} if str(row["id"]) == WRONG_ID else row


def shape(arguments):
    """Return the arguments of a call without the arguments that differ between pages."""
    changing = ("pit", "search_after", "slice")
    return {name: name if name in changing else value for name, value in arguments.items()}


@pytest.fixture
def library(monkeypatch):
    return lambda store, client: Library(monkeypatch, store, client)


@pytest.fixture
def opened(attempt, connections, monkeypatch, bucket, target):
    """Yield a store's client on the data that an attempt has written, and the manifest."""
    open_stores = []
    monkeypatch.setenv(variable("elasticsearch"), required("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH"))

    def open_store(name, client):
        code, result = attempt("write", store=name, client=client)
        assert (code, result.status) == (0, "verified")
        kind = bulk_study().store(name)
        s3 = client_for(connections["s3"])
        store = kind(
            client=client,
            target=target,
            connection=Connection.from_environment(kind.connection) if kind.connection else None,
            source=Source(s3, bucket, dataset_key(ROWS, SEED)),
            operation="read",
        )
        store.source.manifest()
        open_stores.append(store)
        store.connect()
        return store, Manifest.load(s3, bucket, manifest_key(ROWS, SEED))

    yield open_store
    for store in open_stores:
        store.close()


@pytest.mark.parametrize(("store", "client", "how"), CASES)
def test_the_second_pass_is_the_timed_call(library, opened, store, client, how):
    opened, manifest = opened(store, client)
    called = library(store, client)
    assert opened.read(OperationClock()) == ROWS
    timed, called.calls = called.calls, []
    said = verify(opened, ROWS, manifest)
    counted = 1 if store == "null" else 0  # it counts in the same way
    assert sorted(map(str, called.calls[counted:])) == sorted(map(str, timed))
    assert said == f"2,000 rows handled and counted; all 50 fields by {how}"


@pytest.mark.parametrize(("store", "client"), [case[:2] for case in CASES])
def test_one_wrong_value_of_the_client_is_noticed(library, opened, store, client):
    opened, manifest = opened(store, client)
    planted = library(store, client)
    planted.spoil = True
    rows = opened.read(OperationClock())
    assert rows == ROWS, "the number of rows does not tell"
    with pytest.raises(VerificationFailed, match=f"field {FIELD}: checksum differs$"):
        verify(opened, rows, manifest)
