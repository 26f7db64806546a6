"""The stack's CPU figures for pods, compared with the servers' own figures and a known load."""

import os
import threading
import time

import pytest

from local.stack import usage
from local.stack.settings import Settings
from storebench.attempt.usage import boot_id
from storebench.stores.bulk_write_read.elasticsearch import Elasticsearch
from storebench.stores.bulk_write_read.mongodb import MongoDB


@pytest.fixture(autouse=True)
def embedded():
    if not {"mongodb", "elasticsearch"} <= set(os.environ.get("STOREBENCH_EMBEDDED", "").split()):
        pytest.skip("the servers are the user's own")


def test_elasticsearch_says_of_itself_what_the_stack_sees(connections):
    store = Elasticsearch(
        client="reference", target="t", connection=connections["elasticsearch"], source=None
    )
    store.connect()
    try:
        said = store.server_cpu_s()
    finally:
        store.close()
    seen = usage.Parts(Settings()).usage("elasticsearch")
    assert said == pytest.approx(seen["cpu_s"], rel=0.1, abs=5)


def test_work_of_mongodb_is_seen_also_that_of_the_postgresql_behind_it(connections):
    store = MongoDB(client="reference", target="usage", connection=connections["mongodb"], source=None)
    store.connect()
    try:
        assert store.server_cpu_s() is None, "FerretDB does not say it"
        parts = usage.Parts(Settings())
        before = parts.usage("mongodb")
        end_s = time.monotonic() + 2
        while time.monotonic() < end_s:
            store._collection.insert_many([{"n": n, "text": "x" * 100} for n in range(5_000)])
        store.drop()
        after = parts.usage("mongodb")
    finally:
        store.close()
    assert after["boot_id"] == before["boot_id"] == boot_id()
    assert 0.2 < after["cpu_s"] - before["cpu_s"] < 60


@pytest.mark.parametrize("store", ["mongodb", "elasticsearch"])
def test_an_attempt_tells_strangers_from_its_server(attempt, change_connection, monkeypatch, store):
    monkeypatch.setattr(Settings, "address", lambda self, name: ("127.0.0.1", 0))
    server = usage.server(Settings())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        change_connection(store, extra={"usage_url": f"http://127.0.0.1:{server.server_port}/{store}"})
        code, result = attempt("write", store=store)
    finally:
        server.shutdown()
        server.server_close()
    assert (code, result.error, result.perhaps_disturbed) == (0, None, None)
    # Outside a pod, all of this machine is in the attempt's own cgroup: there may be no others.
    assert 0 <= result.node_strangers_cores <= result.node_others_cores
