"""The results page's API about attempts whose operation several pods did, on the real database."""

import uuid

import pytest

from storebench.results.database.repository import run_id_of
from tests.bulk import cell_at
from tests.integration.recorded import POD, ROWS, STUDY
from tests.integration.test_page import client, get, stranger

__all__ = ["client", "stranger"]

SERVER = {"role": "server", "name": "mongodb-0", "cpu_s": 3.0}


def part(number, **changes):
    figures = {"cpu_s": 0.5, "client_cpu_share": 0.5, "client_cores_usable": 1.0, "start_delay_s": 0.01}
    figures |= {"memory_working_set_peak_bytes": 40, "waited_s": 0.25}
    return {
        "role": "client",
        "name": f"p-{number}",
        "part": number,
        "node": f"n{number}",
        **figures,
        **changes,
    }


@pytest.fixture
def divided(run):
    """Record a run of a cell of one pod, of the same cell of three pods, and of a store that cannot divide; return the run's name."""
    seed = uuid.uuid4().int % 2**40
    one, three = (cell_at("mongodb", seed, ROWS, batch="10", **pods) for pods in ({}, {"pods": "3"}))
    whole = cell_at("delta-spark", seed, ROWS, batch="10", executors="1")
    usage = [SERVER, part(2, client_cpu_share=0.95, waited_s=0.0), part(1)]
    own = {"memory_working_set_peak_bytes": 50, "cpu_s": 1.0, "start_skew_s": 0.002}
    own |= {"client_cpu_share": 0.25, "client_cores_usable": 1.0, "figures_cover": "client"}

    def figures(cell, operation):
        return {**own, "usage": usage} if cell == three and operation == "write" else {}

    return run([three, one, whole], 1, figures=figures)


def attempt_of(client, name, pods):
    items = get(client, "attempts", run=name, operation="write", axis=f"pods={pods}")["items"]
    (attempt,) = items
    return attempt


def test_the_pods_of_an_attempt_are_its_own_pod_the_other_parts_and_servers(client, divided):
    attempt = attempt_of(client, divided, 3)
    assert (attempt["client_pods"], attempt["start_skew_s"], attempt["client_bound"]) == (3, 0.002, True)
    pods = get(client, "pods", run=divided, attempt=attempt["attempt_id"])["items"]
    assert [(pod["role"], pod["part"], pod["name"], pod["node"]) for pod in pods] == [
        ("client", 0, POD.pod, POD.node),
        ("client", 1, "p-1", "n1"),
        ("client", 2, "p-2", "n2"),
        ("server", None, "mongodb-0", None),
    ]
    assert [(pod["cpu_s"], pod["client_bound"]) for pod in pods] == [
        (1.0, False),
        (0.5, False),
        (0.5, True),
        (3.0, None),
    ]
    assert [(pod["start_delay_s"], pod["waited_s"]) for pod in pods[:3]] == [
        (None, None),
        (0.01, 0.25),
        (0.01, 0.0),
    ]
    assert [pod["memory_working_set_peak_bytes"] for pod in pods[:3]] == [50, 40, 40]

    page = get(client, "pods", run=divided, attempt=attempt["attempt_id"], limit=2, offset=1)
    assert ([pod["name"] for pod in page["items"]], page["more"]) == (["p-1", "p-2"], True)


def test_the_only_pod_of_an_attempt_is_listed_alone_and_only_in_its_run(client, divided, run):
    attempt = attempt_of(client, divided, 1)
    assert attempt["client_pods"] == 1 and attempt["start_skew_s"] is None
    (pod,) = get(client, "pods", run=divided, attempt=attempt["attempt_id"])["items"]
    assert (pod["name"], pod["client_bound"]) == (POD.pod, None)
    other = run([cell_at("mongodb", uuid.uuid4().int % 2**40, ROWS, batch="10")], 1)
    assert get(client, "pods", run=other, attempt=attempt["attempt_id"])["items"] == []
    get(client, "pods", run=divided, attempt="no-id", answers=422)


def test_nobody_sees_the_pods_of_a_run_whose_dag_they_may_not_read(stranger, divided):
    get(stranger, "pods", run=run_id_of(STUDY, divided), attempt=str(uuid.uuid4()), answers=404)


def test_attempts_of_cells_that_name_no_pods_are_sorted_by_their_one_pod(client, divided):
    for descending, pods in ((False, ["1", "3", None]), (True, ["3", "1", None])):
        items = get(
            client, "attempts", run=divided, operation="write", sort="axis:pods", descending=descending
        )["items"]
        assert [item["axes"].get("pods") for item in items] == pods, "a store without the axis comes last"
