"""A metric over the size of servers, from runs of the real database, by the page's API."""

import pytest
from fastapi.testclient import TestClient

from storebench.airflow.compat.api_server import get_user
from storebench.web.access import reading
from storebench.web.api import app
from storebench.web.reading import Reading
from tests.bulk import cell_at
from tests.integration.recorded import PARAMS, STUDY

ENVIRONMENT = {"image": "i", "kernel": "6.1", "server_name": "FerretDB", "servers": {"images": ["s"]}}


@pytest.fixture
def ask(database):
    """Return a function that asks the API as a user who may read the DAGs, by default the DAG of the tests' runs."""
    app.dependency_overrides = {get_user: lambda: None}
    client = TestClient(app)

    def asked(code=200, dags=(STUDY,), **query):
        app.dependency_overrides[reading] = lambda: Reading(database, list(dags))
        answer = client.get("/api/server-sizes", params={"study": STUDY, "operation": "write", **query})
        assert answer.status_code == code, answer.text
        return answer.json()

    yield asked
    app.dependency_overrides = {}


@pytest.fixture
def sized(run, cells):
    """Record runs of one cell with servers of a size, each with a server's CPU seconds and memory, and return their ids."""
    cell = cell_at("mongodb@one", cells[0].seed, batch="10")

    def make(server_cpu, took_s, repeats=6, cell=cell, **params):
        def figures(_cell, operation):
            server = {"role": "server", "name": "mongodb-0", "cpu_s": 0.5, "data_bytes": 1}
            return {
                "usage": [{**server, "memory_working_set_peak_bytes": 3 * 2**30}],
                "durability": "disk" if operation == "write" else None,
            }

        name = run(
            [cell],
            repeats,
            seconds=lambda _cell, turn: took_s + turn.repeat / 1000,
            environment=ENVIRONMENT,
            params={**PARAMS, "server_cpu": server_cpu, "server_memory": None, **params},
            figures=figures,
        )
        return f"{STUDY}/{name}"

    return make


def test_runs_that_differ_only_in_the_size_of_servers_are_a_line(ask, sized):
    large, small = sized("1", 1.0), sized("500m", 2.0)
    other, unset = sized("2", 0.5, pod_memory="4Gi"), sized(None, 0.4)
    found = ask(run=[large, small, other, unset])
    assert (found["metric"], found["single"]) == ("rows_per_s", None)
    first, second = found["points"]
    assert (first["cores"], first["runs"], second["cores"], second["runs"]) == (0.5, [small], 1, [large])
    assert first["line"] == second["line"] and first["memory_bytes"] is None
    assert first["spread"]["n"] == len(first["attempts"]) == 6
    assert first["spread"]["interval_low"] < first["spread"]["median"] < first["spread"]["interval_high"]
    assert second["spread"]["median"] > 1.9 * first["spread"]["median"]
    # the phase took 1 s
    assert (first["used_cores"], first["used_memory_bytes"], first["server_pods"]) == (0.5, 3 * 2**30, 1)
    assert {(excluded["reason"], *excluded["runs"]) for excluded in found["excluded"]} == {
        ("pod_memory 4Gi, not 8Gi", other),
        ("server_cpu is not set, so the servers could use all CPUs of their nodes", unset),
    }


def test_without_names_the_runs_with_the_most_sizes_are_used(ask, sized):
    runs = [sized(cores, 1.0, repeats=1) for cores in ("1", "2", "3")]
    assert [point["runs"] for point in ask()["points"]] == [[run] for run in runs]
    assert "study" in ask(404, dags=())["detail"]


def test_a_single_size_names_the_run_to_repeat(ask, sized):
    first = sized("500m", 2.0, repeats=1)
    assert ask(run=first)["single"] == first
    unset = sized(None, 2.0, repeats=1)
    found = ask(run=unset)
    assert (found["points"], found["single"]) == ([], unset)


def test_only_metrics_of_which_higher_is_better_are_offered(ask, sized):
    run = sized("500m", 2.0, repeats=1)
    assert {metric["name"] for metric in ask(run=run)["offered"]["write"]} >= {"rows_per_s"}
    assert "rows_per_s" in ask(404, run=run, metric="only_s")["detail"]
