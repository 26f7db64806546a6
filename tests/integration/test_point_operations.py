"""The study point_operations at the stack's server of MongoDB's protocol, with the load generators of real attempts."""

import json
import os
import subprocess
import sys
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from pymongo import MongoClient

from storebench import stores
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.errors import SpecError, StoreUnreachable, VerificationFailed
from storebench.stores.mongodb_server import uri
from storebench.study.cell import Cell
from tests.ports import free_port

ROWS, SEED = 500, 11
LOAD = {
    "users": "8",
    "spawn_rate": "16.0",
    "warmup_s": "0.5",
    "duration_s": "2.0",
    "request_timeout_s": "10.0",
    "max_error_share": "0.01",
    "load_processes": "1",
    "rate": "200",
    "first_rate": "100",
    "rate_factor": "3.0",
    "step_s": "1.0",
    "slo_ms": "1000.0",
    "read_share": "0",
    "capacity_tolerance": "0.2",
    "longest_step_s": "30.0",
}


@pytest.fixture
def attempt(connections, unique):
    """Run an operation in this process; returns its result. What it has kept is dropped at the end."""

    def attempt(operation, consistency="one", client="direct", load="closed", **options):
        axes = {"consistency": consistency, "key_distribution": "uniform", "load": load}
        cell = Cell("point_operations", "mongodb", client, tuple(axes.items()), ROWS, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=cell.store,
            client=cell.client,
            axes=axes,
            rows=ROWS,
            seed=SEED,
            target=unique,
            bucket="b",
            dataset=None,
            results="results/",
            options={**LOAD, **options},
        )
        tried = run.Attempt(spec, stores.load("point_operations", "mongodb"), PhaseClock())
        tried.run()
        return tried.result

    yield attempt
    attempt("drop")


@pytest.fixture
def unique(request):
    return f"storebench_point_operations_{abs(hash(request.node.name)) % 10**12:016}"


@pytest.mark.parametrize("consistency", ["one", "quorum"])
def test_a_table_is_filled_read_and_written(attempt, consistency):
    assert f"{ROWS} acknowledged entities are there once" in attempt("fill", consistency).verification
    read = attempt("read", consistency)
    assert read.status == "verified" and read.metrics["error_share"] == 0
    written = attempt("write", consistency)
    kept = int(written.verification.split()[0].replace(",", ""))
    assert kept >= ROWS + sum(written.histograms["successful_latency_s"]["counts"])
    concern = {"one": "w=1", "quorum": "w=majority"}[consistency]
    assert written.environment["client_settings"]["write_concern"] == concern
    assert written.durability_stated.startswith(f"{concern}, j=false")


def test_a_mix_is_verified_as_reads_and_as_writes(attempt):
    attempt("fill")
    found = attempt("write", read_share="0.5")
    assert found.status == "verified" and found.metrics["error_share"] == 0
    assert (
        "acknowledged entities are there once" in found.verification
        and "reads, each of which" in found.verification
    )
    of_kinds = sum(sum(found.histograms[f"{kind}_latency_s"]["counts"]) for kind in ("read", "write"))
    assert of_kinds == sum(found.histograms["latency_s"]["counts"])


def test_a_ramp_ends_before_the_server_s_limit_and_what_it_wrote_is_there(attempt):
    attempt("fill")
    found = attempt("write", load="ramp")
    metrics, rates = found.metrics, found.series["each_step_operations_per_s"]["values"]
    assert found.status == "verified" and "acknowledged entities are there once" in found.verification
    assert (
        rates == [100 * 3**step for step in range(len(rates))]
        and metrics["broken_operations_per_s"] == rates[-1]
    )
    assert 0.98 * rates[-2] <= metrics["operations_per_s"] <= rates[-2] and metrics["p99_s"] <= 1


def test_a_capacity_is_confirmed_and_what_its_search_wrote_is_there(attempt):
    attempt("fill")
    found = attempt("write", load="capacity", slo_ms="200", rate_factor="2.0")
    metrics, rates = found.metrics, found.series["each_step_operations_per_s"]["values"]
    assert found.status == "verified" and "acknowledged entities are there once" in found.verification
    assert rates[-2:] == pytest.approx([metrics["capacity_per_s"]] * 2)
    assert metrics["capacity_per_s"] < metrics["broken_operations_per_s"] <= 1.201 * metrics["capacity_per_s"]
    assert metrics["operations_per_s"] == pytest.approx(metrics["capacity_per_s"], rel=0.02)


def test_an_entity_that_is_gone_or_changed_is_found(attempt, connections, unique):
    attempt("fill")
    server = connections["mongodb"]
    with MongoClient(uri(server)) as client:
        collection = client[server.schema or "storebench"][unique]
        collection.update_many({}, {"$set": {"age": 1}})
        with pytest.raises(VerificationFailed, match="found other fields than their ids must have"):
            attempt("read")
        collection.delete_many({})
        with pytest.raises(VerificationFailed, match="found nothing and 0 found other fields"):
            attempt("read")
        with pytest.raises(VerificationFailed, match="acknowledged entities are not in the table"):
            attempt("write")


def test_a_server_that_is_not_there_is_said(attempt, change_connection):
    attempt("fill")
    change_connection("mongodb", port=1)
    with pytest.raises(StoreUnreachable, match=":1 does not answer"):
        attempt("read")
    change_connection("mongodb")


@pytest.fixture
def service(connections, tmp_path):
    """Start the service before the stack's server. Yield its address."""
    server, port = connections["mongodb"], free_port()
    program = tmp_path / "service.py"
    # The service takes no login, as servers that a run provisions have none; the stack's has one.
    program.write_text(
        "import os, uvicorn\n"
        "from storebench.connection import Connection\n"
        "from storebench.stores.point_operations import service\n"
        "service.Connection = lambda *_, **__: Connection.from_environment('mongodb')\n"
        f"uvicorn.run(service.app, port={port}, log_level='warning')\n"
    )
    environment = {**os.environ, "DATABASE_STORE": "MongoDB", "DATABASE_HOST": server.host}
    process = subprocess.Popen([sys.executable, program], env=environment)
    address = f"127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urlopen(f"http://{address}/health").close()
                break
            except OSError:
                assert process.poll() is None
                time.sleep(0.25)
        yield address
    finally:
        process.kill()
        process.wait()


def test_the_service_is_measured_and_what_went_through_it_is_in_the_database(
    attempt, change_connection, service
):
    change_connection("mongodb", extra={"services": {"rest": service}})
    attempt("fill")
    read = attempt("read", client="rest")
    assert read.status == "verified" and read.metrics["error_share"] == 0
    assert read.environment["client_settings"]["service"]["name"] == "fastapi"
    written = attempt("write", client="rest", load_processes="2")
    kept = int(written.verification.split()[0].replace(",", ""))
    assert kept >= ROWS + sum(written.histograms["latency_s"]["counts"])


GOOD = {
    "id": "00000000-0000-4000-8000-000000000000",
    "name": "Zoë",
    "age": 3,
    "description": "d",
    "address": "a",
    "phone": "p",
    "email": "e",
}


REFUSED = (
    (
        "/tables/storebench_x/entities/00000000-0000-4000-8000-000000000001",
        None,
        404,
        "There is no entity",
    ),
    ("/tables/storebench_x/entities/5", None, 422, "id: "),
    ("/tables/admin/entities/00000000-0000-4000-8000-000000000001", None, 404, "is no name of a table"),
    ("/tables/storebench_x/entities?consistency=all", GOOD, 422, "consistency"),
    ("/tables/storebench_x/entities", {**GOOD, "age": "3"}, 422, "body.age"),
    ("/tables/storebench_x/entities", {**GOOD, "more": 1}, 422, "body.more"),
    ("/tables/storebench_x/entities", {**GOOD, "name": "x" * 201}, 422, "body.name"),
    ("/tables", None, 404, "Not Found"),
)


def test_what_the_service_refuses_is_a_problem_in_json(service):
    for path, body, status, says in REFUSED:
        data = None if body is None else json.dumps(body).encode()
        with pytest.raises(HTTPError) as error:
            urlopen(Request(f"http://{service}{path}", data, {"Content-Type": "application/json"}))
        assert error.value.headers["Content-Type"] == "application/problem+json"
        problem = json.loads(error.value.read())
        assert (error.value.code, problem["status"]) == (status, status), path
        assert says in problem["detail"]


def test_a_client_of_a_service_that_is_not_there_says_which_servers_have_one(attempt, change_connection):
    attempt("fill")
    with pytest.raises(SpecError, match="Ask for a topology that has one, such as cassandra@rest"):
        attempt("read", client="rest")
    change_connection("mongodb", extra={"services": {"rest": "127.0.0.1:1"}})
    with pytest.raises(StoreUnreachable, match=r"The service at 127\.0\.0\.1:1 does not answer"):
        attempt("read", client="rest")
    change_connection("mongodb", extra={"services": {}})
