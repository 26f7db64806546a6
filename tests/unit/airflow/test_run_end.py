from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from airflow.sdk.execution_time import task_runner
from kubernetes.client.exceptions import ApiException

from storebench import patience
from storebench.airflow import connections
from storebench.airflow.kubernetes import secrets
from storebench.airflow.operators import run_end
from storebench.airflow.operators.run_end import close_stopped, failed_step, run_states
from storebench.airflow.servers import provision
from storebench.errors import ServersFailed, SpecError, StoreUnreachable
from storebench.planning.node_pools import DEFAULT, NodePool
from storebench.results.leftovers.servers import ServerUse
from storebench.servers.render import set_id
from tests.unit.airflow.cluster import Cluster

ENDED_AT = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def this_airflow(monkeypatch):
    monkeypatch.setenv("AIRFLOW_VAR_STOREBENCH_AIRFLOW_ID", "this")
    comms = SimpleNamespace(send=lambda asked: SimpleNamespace(end_date=ENDED_AT))
    monkeypatch.setattr(task_runner, "SUPERVISOR_COMMS", comms, raising=False)


def instance(runs):
    """Return a task's instance in an Airflow with these runs."""

    def get_dr_count(dag_id, run_ids, states):
        return sum(1 for run_id in run_ids if runs.get((dag_id, run_id)) in states)

    return SimpleNamespace(get_dr_count=get_dr_count)


def test_an_airflow_keeps_the_id_that_it_was_given_first(monkeypatch):
    kept = {}
    monkeypatch.setattr(run_end.Variable, "get", lambda key, *, default: kept.get(key) or default)
    monkeypatch.setattr(run_end.Variable, "set", lambda key, value, description: kept.update({key: value}))
    first = run_end.airflow_id()
    assert first and run_end.airflow_id() == first


@pytest.mark.parametrize("state", ["failed", "success"])
def test_a_run_that_is_over_in_airflow_has_its_state(state):
    states = run_states(instance({("d", "r"): state}))
    assert (states.state_of("d", "r"), states.ended_at("d", "r")) == (state, ENDED_AT)


@pytest.mark.parametrize("state", ["queued", "running"])
def test_a_run_that_is_queued_or_runs_goes_on(state):
    assert run_states(instance({("d", "r"): state})).state_of("d", "r") in run_end.OPEN_STATES


def test_a_run_that_airflow_does_not_have_has_no_state():
    assert run_states(instance({("d", "other"): "running"})).state_of("d", "r") is None


@pytest.mark.parametrize(
    ("failed", "named"),
    [
        ("plan", "plan"),
        ("dataset", "dataset"),
        ("clean", "clean"),
        ("turns_v8", "turns_v8"),
        ("cell.write_0", None),
    ],
)
def test_a_step_before_the_cells_that_failed_is_named(failed, named):
    found = failed_step({"plan": "success", "dataset": "upstream_failed", failed: "failed"})
    assert found == (f"The step {named} failed. Its log, or the scheduler's, says why" if named else None)


class Kept:
    """The runs that go on as far as was recorded, and the Secrets' users."""

    def __init__(self, open_runs=(), users=None):
        self.runs = [
            {"id": f"d/{name}", "dag_id": "d", "airflow_run_id": name, "airflow_id": "this"}
            for name in open_runs
        ]
        self.users = users or {}
        self.servers = {}

    def open_runs(self):
        return list(self.runs)

    def last_seen_at(self, run_id):
        return datetime(2026, 1, 1, tzinfo=UTC)

    def use_secrets(self, run_id, node_pool, names):
        self.users.setdefault(run_id, set()).update((node_pool, name) for name in names)

    def release_secrets(self, run_id, remove, place):
        others = {
            (place(node_pool), name)
            for other, used in self.users.items()
            if other != run_id
            for node_pool, name in used
        }
        for node_pool, name in sorted(self.users.get(run_id, ())):
            if (place(node_pool), name) not in others:
                remove(node_pool, name)
        self.users.pop(run_id, None)

    def runs_with_servers(self):
        return [
            {"run_id": run, "airflow_id": "this", "servers": [use.servers for use in uses]}
            for run, uses in sorted(self.servers.items())
        ]

    def servers_of(self, run_id):
        return list(self.servers.get(run_id, ()))

    def servers_removed(self, run_id, servers):
        self.servers[run_id] = [use for use in self.servers[run_id] if use.servers != servers]
        if not self.servers[run_id]:
            del self.servers[run_id]

    def runs_with_secrets(self):
        return [
            {"run_id": run, "airflow_id": "this", "secrets": sorted(map(list, used))}
            for run, used in sorted(self.users.items())
        ]


@pytest.fixture
def keep(monkeypatch):
    def account(*args, **kwargs):
        kept = Kept(*args, **kwargs)
        monkeypatch.setattr(connections, "repository", lambda *_: kept)
        monkeypatch.setattr(connections, "leftovers", lambda: kept)
        return kept

    return account


@pytest.fixture
def cluster(monkeypatch):
    found = Cluster()
    hook = SimpleNamespace(core_v1_client=found, get_namespace=lambda: "ns")
    monkeypatch.setattr(
        "airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", lambda conn_id: hook
    )
    monkeypatch.setattr(patience, "LONGEST_WAIT_S", 0.01)
    monkeypatch.setattr(connections, "pod", lambda name: SimpleNamespace(to_json=lambda: "{}"))
    monkeypatch.setattr(connections, "get", lambda name: None)
    return found


def test_a_plan_closes_the_runs_that_are_over_in_airflow_and_no_others(keep, cluster, monkeypatch, capsys):
    keep(["stopped", "deleted", "goes-on", "now"])
    closed = []
    monkeypatch.setattr(
        run_end, "close", lambda repository, one: closed.append((one.run["id"], one.state)) or 3
    )
    states = {("d", "stopped"): "failed", ("d", "goes-on"): "running"}
    close_stopped(instance(states), "d/now")
    assert closed == [("d/stopped", "failed"), ("d/deleted", None)]
    assert (
        "Closed the run d/stopped, which was marked as failed in Airflow: 3 operations were not run"
        in capsys.readouterr().out
    )


def test_a_plan_removes_the_servers_of_runs_that_are_over_and_of_no_others(keep, monkeypatch):
    kept, removed = keep(), []
    for run in ("d/stopped", "d/goes-on", "d/now"):
        kept.servers[run] = [ServerUse("elasticsearch@one", "elasticsearch@one")]
    there = SimpleNamespace(remove=removed.append)
    monkeypatch.setattr(provision.Servers, "cluster", there)
    assert close_stopped(instance({("d", "stopped"): "failed", ("d", "goes-on"): "running"}), "d/now") == []
    assert removed == [set_id("d/stopped", "elasticsearch@one")]
    assert set(kept.servers) == {"d/goes-on", "d/now"}


def test_servers_that_cannot_be_removed_are_told_and_tried_again(keep, monkeypatch):
    def stuck(name):
        raise ServersFailed("it stays")

    kept = keep()
    kept.servers["d/stopped"] = [ServerUse("elasticsearch@one", "elasticsearch@one")]
    monkeypatch.setattr(provision.Servers, "cluster", SimpleNamespace(remove=stuck))
    (said,) = close_stopped(instance({("d", "stopped"): "failed"}), "d/now")
    assert said == "The servers elasticsearch@one of the run d/stopped are left in the cluster: it stays"
    assert "d/stopped" in kept.servers


def test_secrets_stay_while_a_run_needs_them(keep, cluster):
    keep()
    secrets.apply("d/1", ["s3", "mongodb"], DEFAULT)
    secrets.apply("d/2", ["s3"], DEFAULT)
    secrets.release("d/1")
    assert set(cluster.secrets) == {"storebench-s3"}
    secrets.release("d/2")
    assert cluster.secrets == {}


@pytest.mark.parametrize(
    ("host", "namespace", "removed"),
    [("https://one", "ns", False), ("https://one", "other", True), ("https://two", "ns", True)],
)
def test_secrets_of_a_pool_of_nodes_go_with_its_last_run_there(
    keep, cluster, monkeypatch, host, namespace, removed
):
    pool = cluster if not removed else Cluster()
    places = {"": (cluster, "https://one", "ns"), "v8": (pool, host, namespace)}

    def hook(conn_id):
        found, address, name = places[conn_id.removeprefix("storebench_kubernetes").removeprefix("_")]
        api = SimpleNamespace(configuration=SimpleNamespace(host=address))
        monkeypatch.setattr(found, "api_client", api)
        return SimpleNamespace(core_v1_client=found, get_namespace=lambda: name)

    monkeypatch.setattr("airflow.providers.cncf.kubernetes.hooks.kubernetes.KubernetesHook", hook)
    keep()
    for node_pool in (DEFAULT, NodePool("v8")):
        secrets.apply("d/1", ["s3"], node_pool)
    secrets.apply("d/2", ["s3"], DEFAULT)
    secrets.release("d/1")
    assert set(cluster.secrets) == {"storebench-s3"}
    assert ("storebench-s3" not in pool.secrets) is removed


def test_secrets_of_runs_that_are_over_are_removed_by_the_next_plan(keep, cluster):
    kept = keep()
    for run in ("d/stopped", "d/goes-on", "d/now"):
        secrets.apply(run, [run[2:]], DEFAULT)
    close_stopped(instance({("d", "goes-on"): "running", ("d", "now"): "running"}), "d/now")
    assert set(cluster.secrets) == {"storebench-goes-on", "storebench-now"}
    assert sorted(kept.users) == ["d/goes-on", "d/now"]


def test_a_secret_that_is_gone_already_is_no_error(keep, cluster):
    kept = keep()
    secrets.apply("d/1", ["s3"], DEFAULT)
    cluster.secrets.clear()
    secrets.release("d/1")
    assert kept.users == {}


def test_secrets_that_cannot_be_removed_are_said_and_fail_nothing(keep, cluster, capsys):
    kept = keep()
    secrets.apply("d/1", ["s3"], DEFAULT)
    cluster.fails = lambda call, before: ApiException(403, "Forbidden")
    secrets.release("d/1")
    assert "The Secrets of the run d/1 are left in the cluster: 403 Forbidden" in capsys.readouterr().out
    assert "d/1" in kept.users, "the next run tries it again"
    assert close_stopped(instance({("d", "1"): "failed"}), "d/now") == [
        "The Secrets of the run d/1 are left in the cluster: 403 Forbidden"
    ]


def test_secrets_of_a_cluster_that_has_no_connection_any_more_are_said_and_fail_nothing(
    keep, cluster, monkeypatch
):
    def get(name):
        raise SpecError(f"There is no Airflow Connection 'storebench_{name}'")

    keep()
    secrets.apply("d/1", ["s3"], NodePool("gone"))
    monkeypatch.setattr(connections, "get", get)
    assert "There is no Airflow Connection 'storebench_kubernetes_gone'" in secrets.release("d/1")


def test_a_secret_is_said_to_be_needed_before_it_is_made(keep, cluster):
    kept = keep()
    cluster.fails = lambda call, before: AssertionError("nobody knows of it") if not kept.users else None
    secrets.apply("d/1", ["s3"], DEFAULT)
    assert set(cluster.secrets) == {"storebench-s3"}


def test_a_secret_that_another_task_makes_at_the_same_time_is_no_error(keep, cluster):
    keep()

    def fails(call, before):
        if call == "create secret" and before.count(call) == 0:
            cluster.secrets["storebench-s3"] = {}
            return ApiException(409, "Conflict")
        return None

    cluster.fails = fails
    secrets.apply("d/1", ["s3"], DEFAULT)
    assert cluster.secrets["storebench-s3"]


@pytest.mark.parametrize("name", ["s3", "mongodb_v8", "spark_key"])
def test_a_secret_tells_its_connection(name):
    assert connections.name_of(connections.secret_name(name)) == name


def test_a_cluster_that_does_not_answer_is_named(keep, cluster, monkeypatch):
    from urllib3.exceptions import ProtocolError

    from storebench.airflow.kubernetes import calls

    monkeypatch.setattr(calls, "PATIENCE_S", 0.01)
    keep()
    cluster.fails = lambda call, before: ProtocolError("Connection aborted.")
    with pytest.raises(StoreUnreachable, match=r"storebench_kubernetes'\) does not answer"):
        secrets.apply("d/1", ["s3"], DEFAULT)
