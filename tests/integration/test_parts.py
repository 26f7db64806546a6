"""Writes and reads of the bulk study that several parts do together, against the real servers. The parts are threads of this process."""

import httpx
import pytest
from deltalake import DeltaTable
from pymongo import MongoClient

from storebench.dataset.manifest import dataset_key
from storebench.errors import VerificationFailed
from storebench.s3 import client_for
from storebench.stores import load
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.mongodb import DEFAULT_DATABASE
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.mongodb_server import authority, uri
from tests.bulk import BULK, cell_at, spec_for
from tests.integration.conftest import ROWS, SEED
from tests.parts import run_parts

SERVERS = ("mongodb", "elasticsearch")
CLIENTS = ("reference", "tuned")
FIRST = "1000000000"  # the id of the first row


@pytest.fixture
def divided(connections, bucket, target):
    """Run an operation by parts; return the leader's result, the rows of each part, and the errors by the part's number."""
    used = set()

    def run(operation, store, parts, client="reference", batch="500"):
        used.add(store)
        spec = spec_for(operation, cell_at(store, SEED, ROWS, client=client, batch=batch), target, bucket)
        attempts, errors = run_parts(spec, load(BULK, store), parts)
        rows = [attempt.tally["rows"] for attempt in attempts if attempt.tally]
        return attempts[0].result, rows, errors

    yield run
    for store in used:
        assert run("drop", store, 1)[2] == {}, "what a test wrote is left"


@pytest.fixture
def collection(connections, target):
    server = connections["mongodb"]
    with MongoClient(uri(server), **authority(server)) as client:
        yield client[server.schema or DEFAULT_DATABASE][target]


@pytest.mark.parametrize("batch", ["500", "all"])
@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("store", SERVERS)
def test_the_parts_write_and_read_the_whole(divided, store, client, batch):
    parts = 3
    for operation in ("write", "read"):
        result, rows, errors = divided(operation, store, parts, client, batch)
        assert errors == {}
        assert result.status == "verified"
        assert result.verification.startswith(
            f"2,000 rows handled by {parts} pods and counted; all 50 fields by "
        )
        assert len(rows) == parts and sum(rows) == ROWS and min(rows) > ROWS / parts / 2
        assert result.metrics["rows_per_s"] > 0
        assert ((result.data_bytes or 0) > 0) == (operation == "write")


@pytest.mark.parametrize("batch", ["500", "all"])
@pytest.mark.parametrize("client", CLIENTS)
def test_the_files_of_a_delta_table_are_read_by_parts(divided, client, batch):
    assert divided("write", "delta-rs", 1, client, batch)[2] == {}
    result, rows, errors = divided("read", "delta-rs", 3, client, batch)
    assert errors == {}
    assert result.verification.startswith("2,000 rows handled by 3 pods and counted; all 50 fields by ")
    assert sorted(rows) == {"500": [500, 500, 1_000], "all": [0, 0, 2_000]}[batch]


@pytest.mark.parametrize("operation", ["write", "read"])
def test_the_floor_divides_the_source(divided, operation):
    result, rows, errors = divided(operation, "null", 3)
    assert errors == {}
    assert result.verification.startswith("2,000 rows handled by 3 pods and counted; ")
    assert sorted(rows) == [666, 667, 667]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("store", SERVERS)
def test_a_row_that_one_part_does_not_write_is_missed(divided, monkeypatch, store, client):
    take = Source.take

    def short(self, share, manifest):
        last = share is not None and share.stop == ROWS
        take(self, range(share.start, share.stop - 1) if last else share, manifest)

    monkeypatch.setattr(Source, "take", short)
    _, rows, errors = divided("write", store, 3, client)
    assert sum(rows) == ROWS - 1
    assert isinstance(errors[0], VerificationFailed) and "handled 1,999 rows of 2,000" in str(errors[0])


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("a row deleted", "handled 1,999 rows"),
        ("a row doubled", "handled 2,001 rows"),
        ("a field changed", "city"),
    ],
)
def test_mongodb_is_not_verified_where_a_part_sees_other_rows(divided, collection, client, how, words):
    assert divided("write", "mongodb", 3, client)[2] == {}
    if how == "a row deleted":
        assert collection.delete_one({"id": FIRST}).deleted_count == 1
    elif how == "a row doubled":
        collection.insert_one(collection.find_one({"id": FIRST}, {"_id": False}))
    else:
        assert collection.update_one({"id": FIRST}, {"$set": {"city": "Atlantis"}}).modified_count == 1
    _, _, errors = divided("read", "mongodb", 3, client)
    assert isinstance(errors[0], VerificationFailed) and words in str(errors[0])


@pytest.mark.parametrize("client", CLIENTS)
def test_elasticsearch_is_not_verified_where_a_part_sees_other_rows(divided, connections, target, client):
    server = connections["elasticsearch"]
    assert divided("write", "elasticsearch", 3, client)[2] == {}
    with httpx.Client(base_url=f"http://{server.host}:{server.port}", timeout=30) as http:
        (hit,) = http.post(f"/{target}/_search", json={"size": 1}).json()["hits"]["hits"]
        http.delete(f"/{target}/_doc/{hit['_id']}?refresh=true").raise_for_status()
    _, _, errors = divided("read", "elasticsearch", 3, client)
    assert isinstance(errors[0], VerificationFailed) and "handled 1,999 rows" in str(errors[0])


@pytest.mark.parametrize("client", CLIENTS)
def test_no_point_in_time_is_left_open(divided, connections, target, client):
    server = connections["elasticsearch"]
    assert divided("write", "elasticsearch", 3, client)[2] == {}

    assert divided("read", "elasticsearch", 3, client)[2] == {}
    with httpx.Client(base_url=f"http://{server.host}:{server.port}", timeout=30) as http:
        stats = http.get(f"/{target}/_stats/search").json()
    assert stats["_all"]["total"]["search"]["open_contexts"] == 0


@pytest.mark.parametrize("client", CLIENTS)
def test_delta_rs_is_not_verified_where_a_part_sees_other_rows(divided, connections, bucket, target, client):
    assert divided("write", "delta-rs", 1, client)[2] == {}
    table = DeltaTable(f"s3://{bucket}/tables/{target}", storage_options=storage_options(connections["s3"]))
    key = table.to_pyarrow_table(columns=["event_key"])["event_key"][0]
    table.delete(f"event_key = '{key}'")
    _, _, errors = divided("read", "delta-rs", 3, client)
    assert isinstance(errors[0], VerificationFailed) and "handled 1,999 rows" in str(errors[0])


def test_a_part_asks_s3_for_the_bytes_of_its_own_rows(connections, bucket):
    s3 = client_for(connections["s3"])
    asked = []
    s3.meta.events.register(
        "provide-client-params.s3.GetObject", lambda params, **_: asked.append(params.get("Range"))
    )
    source = Source(s3, bucket, dataset_key(ROWS, SEED))
    manifest = source.manifest()
    source.take(range(1_000, 1_500), manifest)
    rows = list(source.rows())
    assert [row["id"] for row in (rows[0], rows[-1])] == ["1000001000", "1000001499"] and len(rows) == 500
    assert asked == [None, f"bytes={manifest.bytes - 1_000 * 484}-"], "one request, from the first row on"
