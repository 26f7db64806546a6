from types import SimpleNamespace

import pytest
from elastic_transport import ApiResponseMeta, HttpHeaders, NodeConfig
from elasticsearch import ApiError, UnsupportedProductError

from storebench.connection import Connection
from storebench.dataset.schema import FIELDS
from storebench.errors import SpecError, StoreRefused
from storebench.stores.bulk_write_read.elasticsearch import Elasticsearch, chunk_rows
from storebench.stores.bulk_write_read.elasticsearch_index import index_of
from storebench.stores.elasticsearch_server import (
    advise,
    durability_of,
    identify,
    options,
    refusal,
)

SERVER = Connection("elasticsearch", host="es", port=9200, login="me", password="hunter2")


def answer(status, error, kind=ApiError):
    meta = ApiResponseMeta(status, "1.1", HttpHeaders(), 0.1, NodeConfig("http", "es", 9200))
    return kind("failed", meta, error)


def test_the_server_that_answered_is_named():
    info = {"version": {"number": "9.5.3", "build_flavor": "default", "lucene_version": "10.5.1"}}
    node = {"jvm": {"version": "25", "mem": {"heap_max_in_bytes": 5}}, "os": {"allocated_processors": 2}}
    server = identify(info, {"a": node, "b": node})
    assert (server.name, server.version) == ("Elasticsearch", "9.5.3")
    assert server.settings == {
        "flavor": "default",
        "lucene": "10.5.1",
        "nodes": 2,
        "jvm": "25",
        "heap_bytes": 10,
        "processors": 4,
    }
    assert identify({"version": {"number": "2.19", "distribution": "opensearch"}}, {}).name == "opensearch"


def test_a_server_that_is_something_else_is_refused_by_its_own_name():
    body = {"version": {"distribution": "opensearch", "number": "2.19.0"}}
    text = refusal("es:9200", SERVER, answer(200, body, UnsupportedProductError))
    assert text == "The server at es:9200 is not Elasticsearch: it calls itself opensearch 2.19.0"


def test_login_scheme_and_certificates_come_from_the_connection():
    assert options(SERVER) == {"hosts": ["http://es:9200"], "basic_auth": ("me", "hunter2")}
    server = Connection(
        "elasticsearch", host="es", extra={"scheme": "https", "api_key": "k", "verify_certs": False}
    )
    assert options(server) == {
        "hosts": ["https://es:9200"],
        "api_key": "k",
        "verify_certs": False,
        "ssl_show_warn": False,
    }


@pytest.mark.parametrize(
    ("host", "extra", "words"),
    [
        ("", {}, "host: is empty"),
        ("es", {"scheme": "ftp"}, "http or https"),
        ("es", {"scheme": "https", "ca_certs": "/no/such/file"}, "ca_certs"),
        ("es", {"scheme": "https", "ca_certs": "-----BEGIN CERTIFICATE-----"}, "ca_certs"),
    ],
)
def test_a_connection_that_cannot_work_is_refused(host, extra, words):
    with pytest.raises(SpecError, match=words):
        options(Connection("elasticsearch", host=host, extra=extra))


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (401, {"type": "security_exception", "reason": "unable to authenticate"}, "the login of user 'me'"),
        (
            403,
            {"type": "security_exception", "reason": "action is unauthorized"},
            "does not give user 'me' enough rights",
        ),
        (403, {"type": "cluster_block_exception", "reason": "index [x] blocked"}, "disk is nearly full"),
        (429, {"type": "es_rejected_execution_exception", "reason": "rejected"}, "queue is full"),
        (413, "Request Entity Too Large", "refused: Request Entity Too Large"),
    ],
)
def test_a_refusal_says_in_one_line_why_and_what_to_do(status, error, words):
    text = refusal("es:9200", SERVER, answer(status, {"error": error, "status": status}))
    assert words in text and "\n" not in text and "hunter2" not in text


def test_the_cause_of_an_error_is_told_with_it():
    cause = {"type": "search_context_missing_exception", "reason": "No search context found for id [1]"}
    error = {"type": "search_phase_execution_exception", "reason": "all shards failed", "root_cause": [cause]}
    assert advise(error).startswith("all shards failed: No search context found for id [1]. It was restarted")
    error = {
        "type": "document_parsing_exception",
        "reason": "failed to parse",
        "caused_by": {"reason": "no date"},
    }
    assert advise(error) == "failed to parse: no date"


def test_the_reference_index_is_told_only_what_its_first_row_could_hide():
    mappings, settings = index_of("reference", FIELDS)
    assert mappings == {"properties": {"due_date": {"type": "date", "ignore_malformed": True}}}
    assert settings == {}


def test_the_tuned_index_maps_each_field_once_and_is_not_refreshed():
    mappings, settings = index_of("tuned", FIELDS)
    assert list(mappings["properties"]) == [field.name for field in FIELDS]
    assert mappings["dynamic"] == "strict" and settings == {"refresh_interval": "-1"}
    assert mappings["properties"]["is_verified"] == {"type": "keyword"}, "a null is not false"


@pytest.mark.parametrize(
    ("rows", "workers", "request_bytes", "expected"),
    [
        (10_000, 4, 10**9, 2_500),  # a share for each worker
        (10_001, 4, 10**9, 2_501),
        (10_000, 4, 110_000, 1_000),  # as many as make the bytes
        (10_000, 4, 1, 1),
        (3, 4, 10**9, 1),
    ],
)
def test_a_request_is_as_large_as_it_may_be_but_leaves_rows_for_each_worker(
    rows, workers, request_bytes, expected
):
    row = {"a": "x" * 102}  # 110 bytes as JSON
    assert chunk_rows([row] * rows, workers, request_bytes) == expected


@pytest.mark.parametrize(
    ("defaults", "settings", "kind", "stated"),
    [
        ({"durability": "REQUEST", "sync_interval": "5s"}, {}, "disk", "index.translog.durability=request"),
        (
            {"sync_interval": "5s"},
            {"durability": "async"},
            "memory",
            "index.translog.durability=async, sync_interval=5s",
        ),
        (
            {},
            {"durability": "async", "sync_interval": "60s"},
            "memory",
            "index.translog.durability=async, sync_interval=60s",
        ),
        ({}, {}, "unknown", "the index's settings cannot be seen"),
    ],
)
def test_the_index_says_what_an_acknowledged_write_promises(defaults, settings, kind, stated):
    parts = {"defaults": defaults, "settings": settings}
    found = durability_of({name: {"index": {"translog": part}} for name, part in parts.items()})
    assert (found.kind, found.stated) == (kind, stated)


SEGMENTS = {"segments": {"_0": {"size_in_bytes": 1024}, "_1": {"size_in_bytes": 2048}}}


@pytest.mark.parametrize(
    ("told", "size"),
    [
        ({"indices": {"t": {"shards": {"0": [SEGMENTS, SEGMENTS], "1": [SEGMENTS]}}}}, 3 * 3072),
        ({"indices": {}}, None),
        (answer(403, "security_exception"), None),
    ],
)
def test_an_index_has_a_size_where_the_server_tells_it(told, size):
    def segments(index):
        assert index == "t"
        if isinstance(told, Exception):
            raise told
        return told

    store = Elasticsearch(client="reference", target="t", connection=None, source=None)
    store._client = SimpleNamespace(indices=SimpleNamespace(segments=segments))
    assert store.size_bytes() == size


class Cluster:
    """A client whose server tells the health of an index, the next time the last one that is left."""

    def __init__(self, *healths, usage=None):
        self.healths, self.usage, self.asked = list(healths), usage, []
        self.cluster = self.indices = self

    def options(self, **options):
        return self

    def health(self, index, **asked):
        self.asked.append(asked)
        found = self.healths.pop(0)
        return {"status": found, "timed_out": asked.get("wait_for_status", found) != found}

    def disk_usage(self, index, run_expensive_tasks):
        assert (index, run_expensive_tasks) == ("t", True)
        return {"t": self.usage}


def at(client):
    store = Elasticsearch(client="reference", target="t", connection=SERVER, source=None)
    store._client, store.steps = client, []
    store.close, store.connect = lambda: store.steps.append("closed"), lambda: store.steps.append("connected")
    return store


def test_a_cold_read_needs_the_documents():
    assert at(Cluster(usage={"all_fields": {"stored_fields_in_bytes": 4096}})).needed_bytes() == 4096
    with pytest.raises(StoreRefused, match="no read can be proven cold"):
        at(Cluster(usage={"all_fields": {}})).needed_bytes()


@pytest.mark.parametrize("had", ["green", "yellow"])
def test_after_a_new_start_the_index_has_the_copies_that_it_had(had):
    client = Cluster(had, had)
    store = at(client)
    with store.away():
        assert store.steps == ["closed"]
    assert store.steps == ["closed", "connected"] and client.asked[1]["wait_for_status"] == had


def test_an_index_that_does_not_come_back_is_said():
    store = at(Cluster("green", "red"))
    said = "was green before Elasticsearch was started again, and is red"
    with pytest.raises(StoreRefused, match=said), store.away():
        pass
