"""Attempts against the real Elasticsearch, with both clients."""

import fcntl
import json
import socket
import threading
from contextlib import suppress

import httpx
import pytest

from storebench.connection import variable
from storebench.dataset.manifest import dataset_key
from storebench.s3 import client_for
from storebench.stores.bulk_write_read import tuning
from storebench.stores.bulk_write_read.elasticsearch import Elasticsearch
from storebench.stores.bulk_write_read.source import Source
from tests.bulk import RANKED_BY
from tests.integration.conftest import ROWS, SEED, required

CLIENTS = ["reference", "tuned"]
HALF_BYTES = ROWS * 600  # about half of what a write sends, or a read gets


@pytest.fixture
def connection(connections):
    """Return the connection as a pod gets it."""
    return connections["elasticsearch"]


@pytest.fixture
def server(connection):
    """Yield the server through another client than the tested client."""
    with httpx.Client(base_url=f"http://{connection.host}:{connection.port}", timeout=30) as client:
        yield client


@pytest.fixture
def run(connection, attempt):
    """Run an attempt at this store."""

    def run(operation, client, batch="500"):
        return attempt(operation, store="elasticsearch", client=client, batch=batch)

    return run


def hang_up_on(*ends):
    """Close sockets that other threads may be waiting at: without the shutdown they would stay open as long as those wait."""
    for end in ends:
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
        end.close()


@pytest.fixture
def interrupted(connection, monkeypatch):
    """Lead attempts through a relay that calls a function after a number of bytes, and then continues or hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_sockets = [listener]
    state = {"bytes": 0, "action": None}
    lock = threading.Lock()

    def pass_on(origin, destination):
        try:
            while data := origin.recv(65536):
                with lock:
                    state["bytes"] += len(data)
                    if state["bytes"] > HALF_BYTES and (action := state["action"]):
                        state["action"] = None
                        action()
                destination.sendall(data)
        except OSError:  # the other side, or the test, has closed it
            pass
        hang_up_on(origin, destination)

    def accept():
        while True:
            try:
                client, _ = listener.accept()
                server = socket.create_connection((connection.host, connection.port))
            except OSError:
                return
            open_sockets.extend((client, server))
            for ends in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=ends, daemon=True).start()

    def hang_up():
        hang_up_on(*open_sockets)

    def start(action=hang_up):
        state["action"] = action
        address = {"host": "127.0.0.1", "port": listener.getsockname()[1]}
        monkeypatch.setenv(variable("elasticsearch"), json.dumps(address))
        threading.Thread(target=accept, daemon=True).start()

    yield start
    monkeypatch.setenv(variable("elasticsearch"), required("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH"))
    hang_up_on(*open_sockets)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("batch", ["500", "700", "all"])
def test_it_is_written_and_read_and_both_are_verified(run, client, batch):
    for operation in ("write", "read"):
        code, result = run(operation, client, batch)
        assert (code, result.status, result.error) == (0, "verified", None)
        assert result.metrics["rows_per_s"] == pytest.approx(
            ROWS / result.metrics[RANKED_BY[operation]], rel=1e-3
        )
        assert 0 < result.metrics["only_s"] < result.total_s
        assert (result.metrics["source_s"] > 0) == (operation == "write")
        assert (result.metrics["barrier_s"] > 0) == (operation == "write")
        assert ((result.data_bytes or 0) > 0) == (operation == "write")
        assert (result.figures_cover, result.client_cores_usable) == ("client", 1)
        assert result.durability == ("disk" if operation == "write" else None)
        assert sum(result.phases.values()) <= result.total_s
        assert result.environment["server_name"] == "Elasticsearch"
        assert result.environment["server_settings"]["heap_bytes"] > 0
        tuning = (
            {"workers", "window_rows", "request_bytes", "replicas_while_loading"}
            if client == "tuned"
            else set()
        )
        assert result.environment["client_settings"].keys() == tuning


def spoil(server, target, how):
    path = f"/{target}/_doc"
    hits = server.get(f"/{target}/_search", params={"size": 2}).json()["hits"]["hits"]
    (first, row), (_, other) = ((hit["_id"], hit["_source"]) for hit in hits)
    done = {"params": {"refresh": "true"}}
    if how == "a row deleted":
        answer = server.delete(f"{path}/{first}", **done)
    elif how == "a row doubled":
        answer = server.post(path, json=row, **done)
    elif how == "a row replaced by another":
        answer = server.put(f"{path}/{first}", json=other, **done)
    elif how == "a field changed":
        answer = server.put(f"{path}/{first}", json=row | {"city": "Nowhere"}, **done)
    elif how == "a field removed":
        answer = server.put(
            f"{path}/{first}", json={name: row[name] for name in row if name != "city"}, **done
        )
    elif how == "a value of another type":
        answer = server.put(f"{path}/{first}", json=row | {"quantity": int(row["quantity"])}, **done)
    answer.raise_for_status()


@pytest.mark.parametrize(
    "how",
    [
        "a row deleted",
        "a row doubled",
        "a row replaced by another",
        "a field changed",
        "a field removed",
        "a value of another type",
    ],
)
def test_verification_of_a_read_notices(run, server, target, how):
    assert run("write", "reference")[0] == 0
    spoil(server, target, how)
    code, result = run("read", "reference")
    assert (code, result.status, result.error_kind) == (4, "failed", "verification_failed")
    assert result.metrics["only_s"] > 0, "the figures of an attempt that is not verified are kept"


@pytest.fixture
def template(server, target):
    """Create an index template that matches this test's index."""

    def put(**template):
        body = {"index_patterns": [target], "priority": 500, **template}
        server.put(f"/_index_template/{target}", json=body).raise_for_status()

    yield put
    server.delete(f"/_index_template/{target}")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_template_that_makes_the_translog_asynchronous_is_told(run, template, client):
    template(template={"settings": {"index.translog.durability": "async"}})
    code, result = run("write", client)
    assert (code, result.durability) == (0, "memory")
    assert result.durability_stated == "index.translog.durability=async, sync_interval=5s"


@pytest.mark.parametrize("client", CLIENTS)
def test_verification_of_a_write_notices_what_the_server_excludes(run, template, client):
    template(template={"mappings": {"_source": {"excludes": ["city"]}}})
    code, result = run("write", client)
    assert (code, result.error_kind) == (4, "verification_failed")
    assert "does not have the dataset's fields" in result.error


@pytest.mark.parametrize("client", CLIENTS)
def test_a_name_that_a_template_keeps_for_data_streams_is_refused(run, template, client):
    template(data_stream={})
    code, result = run("write", client)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "data stream" in result.error


@pytest.mark.parametrize("client", CLIENTS)
def test_an_index_that_an_earlier_attempt_left_is_replaced(run, server, target, client):
    server.put(f"/{target}/_doc/1", json={"due_date": "2024-05-06", "left": "over"}).raise_for_status()
    assert run("write", client)[0] == 0


def test_an_alias_of_that_name_is_refused_and_what_it_leads_to_stays(run, server, target):
    other = f"{target}_other"
    server.put(f"/{other}", json={"aliases": {target: {}}}).raise_for_status()
    try:
        code, result = run("write", "reference")
        assert (code, result.error_kind) == (5, "store_failed")
        assert "alias" in result.error
        assert server.head(f"/{other}").status_code == 200
    finally:
        server.delete(f"/{other}")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_read_only_block_in_the_middle_of_a_write_is_named(run, server, target, interrupted, client):
    def block():
        setting = {"index.blocks.read_only_allow_delete": True}
        server.put(f"/{target}/_settings", json=setting).raise_for_status()

    interrupted(block)
    code, result = run("write", client)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "read-only" in result.error and "disk is nearly full" in result.error


@pytest.fixture
def busy(server, together):
    """Let the server think that its heap is nearly full: it answers 429 then, whoever asks."""
    fcntl.flock(together, fcntl.LOCK_EX)

    def limit(size):
        setting = {"transient": {"indices.breaker.total.limit": size}}
        server.put("/_cluster/settings", json=setting).raise_for_status()

    yield lambda: limit("1%")
    limit(None)


@pytest.mark.parametrize("client", CLIENTS)
def test_too_many_requests_in_the_middle_of_a_write_are_named(run, busy, interrupted, client):
    interrupted(busy)
    code, result = run("write", client)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "Data too large" in result.error and "too little heap" in result.error


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("operation", ["write", "read"])
def test_a_server_that_goes_away_is_unreachable(run, interrupted, operation, client):
    if operation == "read":
        assert run("write", client)[0] == 0
    interrupted()
    code, result = run(operation, client)
    assert (code, result.error_kind) == (3, "unreachable")
    assert "does not answer" in result.error


def test_a_server_that_is_down_is_unreachable(run, monkeypatch):
    monkeypatch.setenv(variable("elasticsearch"), json.dumps({"host": "127.0.0.1", "port": 1}))
    code, result = run("write", "reference")
    assert (code, result.error_kind) == (3, "unreachable")
    assert "127.0.0.1:1 does not answer" in result.error
    monkeypatch.setenv(variable("elasticsearch"), required("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH"))


def test_an_api_that_is_not_elasticsearchs_is_refused(run, connection, connections, monkeypatch):
    endpoint = httpx.URL(connections["s3"].extra["endpoint_url"])
    monkeypatch.setenv(variable("elasticsearch"), json.dumps({"host": endpoint.host, "port": endpoint.port}))
    code, result = run("write", "reference")
    assert (code, result.error_kind) == (5, "store_failed")
    monkeypatch.setenv(variable("elasticsearch"), required("AIRFLOW_CONN_STOREBENCH_ELASTICSEARCH"))


@pytest.fixture
def tuned(connection, connections, bucket, target):
    """Yield a connected tuned client, and drop its target afterwards."""
    source = Source(client_for(connections["s3"]), bucket, dataset_key(ROWS, SEED))
    source.manifest()
    store = Elasticsearch(client="tuned", target=target, connection=connection, source=source)
    store.connect()
    yield store
    store.drop()
    store.close()


@pytest.mark.parametrize(
    ("own", "shown"),
    [
        ({}, {"number_of_replicas": "1"}),
        ({"number_of_replicas": 2}, {"number_of_replicas": "2"}),
        ({"number_of_replicas": 0}, {"number_of_replicas": "0"}),
        ({"auto_expand_replicas": "0-all"}, {"auto_expand_replicas": "0-all", "number_of_replicas": "0"}),
    ],
    ids=["the server's", "a template's", "none", "as many as nodes"],
)
def test_the_tuned_index_has_no_replica_while_it_is_loaded_and_its_own_number_after_the_barrier(
    tuned, server, template, target, own, shown
):
    def replicas():
        """Return the index's settings of replicas, and its numbers of assigned and waiting shards."""
        settings = server.get(f"/{target}/_settings").json()[target]["settings"]["index"]
        health = server.get(f"/_cluster/health/{target}").json()
        names = ("number_of_replicas", "auto_expand_replicas")
        found = {name: settings[name] for name in names if name in settings}
        return found, health["active_shards"] + health["unassigned_shards"] - health["active_primary_shards"]

    template(template={"settings": {"index": own}})
    tuned.prepare()
    found, number = replicas()
    assert (found["number_of_replicas"], number) == ("0", 0)
    assert found.get("auto_expand_replicas", "false") == "false"
    tuned.barrier()
    assert replicas() == (shown, int(shown["number_of_replicas"]))


def test_without_the_right_to_see_the_nodes_the_index_keeps_its_replicas(tuned, server, target):
    tuned._tuning = tuning.for_elasticsearch({})
    tuned.prepare()
    settings = server.get(f"/{target}/_settings").json()[target]["settings"]["index"]
    assert settings["number_of_replicas"] == "1"


def test_all_rows_of_a_batch_are_acknowledged_before_the_next_is_read(
    connection, connections, bucket, target
):
    """The tuned client's threads do not reach over the border of a batch."""
    source = Source(client_for(connections["s3"]), bucket, dataset_key(ROWS, SEED))
    source.manifest()
    store = Elasticsearch(client="tuned", target=target, connection=connection, source=source)
    store.connect()
    counts = []

    def batches(rows):
        for batch in Source.batches(source, rows):
            store.barrier()
            counts.append(store.count())
            yield batch

    source.batches = batches
    from storebench.attempt.clock import OperationClock

    try:
        store.prepare()
        assert store.write(700, OperationClock()) == ROWS
    finally:
        store.drop()
        store.close()
    assert counts == [0, 700, 1400]


def test_the_servers_nodes_are_the_same_as_long_as_none_is_restarted(connection, connections, target):
    store = Elasticsearch(client="reference", target=target, connection=connection, source=None)
    store.connect()
    try:
        first, second = store.server_processes(), store.server_processes()
    finally:
        store.close()
    assert first and all(started_s > 0 for started_s in first.values())
    assert first == second
