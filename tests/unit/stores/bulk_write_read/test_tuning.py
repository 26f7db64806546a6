"""The rules that adapt tuned clients to a server."""

import pytest

from storebench.stores.base import Server
from storebench.stores.bulk_write_read import tuning

GIB = 2**30


@pytest.fixture(autouse=True)
def pod(monkeypatch):
    """Limit the pod to a number of the node's 16 cores."""

    def has(cores):
        monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(16))
        monkeypatch.setattr("storebench.attempt.cgroup.Cgroup.cpu_limit_cores", lambda self: cores)

    has(None)
    return has


def node(processors, heap=GIB, roles=("data", "master")):
    return {
        "roles": list(roles),
        "os": {"allocated_processors": processors},
        "jvm": {"mem": {"heap_max_in_bytes": heap}},
    }


@pytest.mark.parametrize(("cores", "connections"), [(None, 2), (1, 2), (2, 2), (6, 6), (64, 64), (200, 64)])
def test_mongodb_gets_a_connection_for_each_core_of_its_server(cores, connections):
    settings = {} if cores is None else {"cores": cores}
    assert tuning.for_mongodb(Server("MongoDB", "8", settings))["connections"] == connections


def test_a_small_pod_has_no_more_requests_under_way_than_it_can_feed(pod):
    pod(1.2)
    assert tuning.for_mongodb(Server("MongoDB", "8", {"cores": 32}))["window_rows"] == 20_000
    assert tuning.for_mongodb(Server("MongoDB", "8", {"cores": 32}))["connections"] == 4
    assert tuning.for_elasticsearch({"a": node(32)})["workers"] == 4


@pytest.mark.parametrize(("name", "rows"), [("MongoDB", 100_000), ("FerretDB", 1_000), ("another", 1_000)])
def test_answers_are_as_long_as_the_server_gives_well(name, rows):
    assert tuning.for_mongodb(Server(name, "1"))["answer_rows"] == rows


@pytest.mark.parametrize(
    ("nodes", "found"),
    [
        ([], {"workers": 4, "request_bytes": 5_000_000}),
        ([node(2)], {"workers": 4, "request_bytes": 5_000_000, "replicas_while_loading": 0}),
        ([node(8)], {"workers": 16, "request_bytes": 3_355_443, "replicas_while_loading": 0}),
        (
            [node(8, 31 * GIB), node(4, 31 * GIB), node(1, GIB // 2, ["master"])],
            {"workers": 8, "request_bytes": 5_000_000, "replicas_while_loading": 0},
        ),
    ],
    ids=[
        "nodes not shown",
        "two processors",
        "a heap that is small for its processors",
        "a node without data",
    ],
)
def test_elasticsearch_gets_workers_for_its_processors_and_requests_that_its_heap_can_hold(nodes, found):
    assert tuning.for_elasticsearch({str(n): one for n, one in enumerate(nodes)}) == found | {
        "window_rows": 20_000
    }


def test_all_at_once_leaves_no_worker_without_rows():
    assert tuning.for_elasticsearch({"a": node(24, 31 * GIB)})["window_rows"] == 48_000
