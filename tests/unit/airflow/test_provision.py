"""Servers provisioned by a run, through the tasks of a DAG, on a cluster in memory."""

import dataclasses
import json
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from storebench.airflow import connections, images
from storebench.airflow.dags.study import ProvisionOperator, remove_servers
from storebench.airflow.kubernetes import pod_watch, secrets
from storebench.airflow.kubernetes.placement import Placement
from storebench.airflow.operators import pods
from storebench.airflow.servers import provision
from storebench.airflow.servers.provision import Group, Running, Servers, groups_of
from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.planning import topologies
from storebench.planning.draft import order_of
from storebench.planning.topologies import topology_of
from storebench.results.leftovers.servers import ServerUse
from storebench.servers import cluster as server_cluster
from storebench.servers.render import CLIENT, LABEL, Place, rendered, set_id
from storebench.servers.sizes import Sizes
from storebench.servers.topology import FOLDER, provisioned_for
from storebench.servers.topology import find as find_topology
from storebench.spark import session
from storebench.study.model import Axis
from storebench.study.order import Turn
from storebench.study.studies import find
from tests.unit.airflow.account import PARAMS, VERIFIED, attempt, context
from tests.unit.airflow.cluster import ended
from tests.unit.example import STUDY, cell
from tests.unit.servers.kube import Kube, container, starting

ONE, THREE, PLAIN = cell("elasticsearch@one"), cell("elasticsearch@three"), cell("elasticsearch")
DONE = {"cell.write_0": "success", "cell.read_0": "success"}
RUN = "s/now"


@pytest.fixture
def kube(cluster, monkeypatch):
    """Return the cluster of the servers. All connections exist except @one and @three."""
    found = Kube(lambda pod: ended(message=VERIFIED.to_json()))
    hook = SimpleNamespace(core_v1_client=found, get_namespace=lambda: "ns", is_in_cluster=False)
    monkeypatch.setattr(pods.StorebenchPodOperator, "hook", hook)
    monkeypatch.setattr(pod_watch, "Watch", lambda: SimpleNamespace(stream=found.watched))
    monkeypatch.setattr(secrets, "cluster_of", lambda node_pool: (found, "ns"))
    for api in ("AppsV1Api", "NetworkingV1Api"):
        monkeypatch.setattr(server_cluster.k8s_client, api, lambda api_client: found)
    monkeypatch.setattr(server_cluster, "POLL_INTERVAL_S", 0.001)
    monkeypatch.setattr(connections, "exists", lambda name: not name.endswith(("_one", "_three", "_away")))
    monkeypatch.setattr(images, "named", {"servers_elasticsearch": "own/es:1"}.get)
    monkeypatch.delenv(FOLDER, raising=False)
    return found


@pytest.fixture
def at(account):
    """Set the cell of the account's turns."""

    def put(one):
        account.cell = one

    return put


@pytest.mark.parametrize("dies", [False, True])
def test_a_try_that_picks_up_a_pod_leaves_its_servers_alone_and_tells_whether_one_died(
    account, kube, at, die, dies
):
    at(ONE)
    kube.runs_for = 12
    die("log", attempt("write"), context("cell.write"), kube)
    if dies:
        dead = kube.pods[f"{name_of(ONE.store)}-0"]
        dead.status.container_statuses = [container(restarts=1, before=ended(137, "OOMKilled"))]
    second = context("cell.write")
    second["ti"].try_number = 2
    attempt("write").execute(second)
    ((_, result, _),) = account.attempts
    assert kube.made == 1 and result.status == "verified"
    assert result.environment["servers"]["topology"] == "elasticsearch/one"
    assert ("ended, and was started again" in (result.disturbed or "")) is dies


def work(operation, states=None, **more):
    attempt(operation).execute(context(f"cell.{operation}", states, **more))


def servers_there(kube):
    return sorted(name for name, pod in kube.pods.items() if LABEL in pod.metadata.labels)


def name_of(key, run=RUN):
    return f"elasticsearch-{set_id(run, key)}"


def told(kube, monkeypatch):
    """Return the environment of the last client's pod, by name."""
    found = {}
    end = kube.end

    def note(pod):
        found.clear()
        found.update({one["name"]: one for one in pod.spec["containers"][0]["env"]})
        return end(pod)

    kube.end = note
    return found


def test_a_name_means_a_connection_then_a_topology(kube):
    assert topology_of(STUDY, "elasticsearch", connections.exists) is None
    assert topology_of(STUDY, "elasticsearch@v8", connections.exists) is None, "it has a connection"
    assert topology_of(STUDY, "null@one", connections.exists) is None, "a pool of nodes"
    assert str(topology_of(STUDY, "elasticsearch@three", connections.exists)) == "elasticsearch/three"


def test_a_store_may_have_its_data_at_other_servers_than_by_itself(kube):
    assert (
        topology_of(STUDY, "delta-spark", connections.exists)
        is topology_of(STUDY, "delta-spark@hdfs", connections.exists)
        is None
    )
    assert str(topology_of(STUDY, "delta-spark@hdfs_one", connections.exists)) == "hdfs/one"
    assert topology_of(STUDY, "delta-spark@one", connections.exists) is None, "a pool of nodes"
    assert {"delta-spark@hdfs_three", "delta-spark@ozone_one"} <= set(provisioned_for(STUDY))
    with pytest.raises(
        SpecError, match=r"no Airflow Connection 'storebench_ozone_away'.* there are: one, three"
    ):
        topology_of(STUDY, "delta-spark@ozone_away", connections.exists)


def test_the_pod_of_such_a_store_is_told_where_they_are_and_has_the_s3_of_the_dataset(
    kube, account, at, monkeypatch
):
    env = told(kube, monkeypatch)
    at(cell("delta-spark@hdfs_one"))
    work("write")
    host = f"hdfs-{set_id(RUN, 'delta-spark@hdfs_one')}"
    assert json.loads(env["STOREBENCH_CONN_HDFS_ONE"]["value"])["host"] == host
    assert "STOREBENCH_CONN_S3" in env


def test_a_connection_of_a_topologys_name_wins(kube, monkeypatch):
    monkeypatch.setattr(connections, "exists", lambda name: True)
    assert topology_of(STUDY, "elasticsearch@three", connections.exists) is None


def test_a_name_that_means_neither_is_refused_with_what_there_is(kube):
    with pytest.raises(SpecError) as error:
        topology_of(STUDY, "elasticsearch@away", connections.exists)
    said = str(error.value)
    assert "no Airflow Connection 'storebench_elasticsearch_away'" in said and "there are: one, three" in said


def test_cells_with_the_same_servers_stay_together_and_the_groups_are_shuffled(kube):
    cells = [cell(store, batch=batch) for batch in ("10", "20") for store in (ONE.store, "null", THREE.store)]
    groups = groups_of(STUDY, cells, PARAMS)
    keys, orders = {cell: group and group.key for cell, group in groups.items()}, set()
    for seed in range(20):
        params = {**PARAMS, "repeats": 3, "order_seed": seed, "random_order": True}
        order, _ = order_of(STUDY, dict.fromkeys(cells, 3), params, keys.get)
        stores = [turn.cell.store for turn in order]
        assert len(order) == 18 and {turn.node_pool for turn in order} == {""}
        assert len([n for n in range(1, 18) if stores[n] != stores[n - 1]]) == 2, "each group once"
        orders.add(tuple(dict.fromkeys(stores)))
    assert len(orders) > 3


def test_sizes_on_an_axis_make_groups_of_their_own(kube):
    axis = Axis("server_memory", "m", "", ".*", "a size", ("2Gi",), ("2Gi",), ("2Gi",))
    study = dataclasses.replace(STUDY, axes=(*STUDY.axes, axis))
    cells = [cell(ONE.store, batch=batch, server_memory=size) for batch in (1, 2) for size in ("2Gi", "4Gi")]
    groups = groups_of(study, cells, PARAMS)
    assert [groups[one].key for one in cells] == [f"{ONE.store} server_memory={n}Gi" for n in (2, 4, 2, 4)]
    assert groups[cells[0]] is groups[cells[2]] and groups[cells[1]].sizes.memory == "4Gi"


def test_only_cells_with_a_partition_have_servers_that_may_change_their_network(kube, monkeypatch):
    study = find("bulk_write_read")
    monkeypatch.setattr(images, "named", {"servers_agent": "own/agent:1"}.get)

    def keys_and_rights(**params):
        cells = [cell(THREE.store, fault=fault) for fault in ("none", "partition", "pause")]
        groups = groups_of(study, cells, {**PARAMS, **params})
        return [(groups[one].key, "NET_ADMIN" in str(groups[one].objects(RUN, Placement()))) for one in cells]

    plain = (THREE.store, False)
    assert keys_and_rights() == [plain, (f"{THREE.store} fault=partition", True), plain]
    assert keys_and_rights(fault_url="http://192.0.2.7/fault") == [plain] * 3
    monkeypatch.setattr(provision.capacity, "lacking", lambda *_: None)
    kube.refuses, kube.says = {"Pod": 403}, "violates PodSecurity"
    group = groups_of(study, [cell(THREE.store, fault="partition")], PARAMS)
    with pytest.raises(SpecError, match=r"violates PodSecurity.* needs .* NET_ADMIN. Allow this container"):
        provision.check(group.values(), PARAMS)


def test_a_write_provisions_its_servers_and_its_pod_is_told_where_they_are(account, kube, at, monkeypatch):
    at(ONE)
    found = told(kube, monkeypatch)
    work("write")
    assert servers_there(kube) == [f"{name_of(ONE.store)}-0"]
    told_connection = json.loads(found["STOREBENCH_CONN_ELASTICSEARCH_ONE"]["value"])
    assert told_connection == {"host": name_of(ONE.store), "port": 9200}
    assert found["STOREBENCH_SERVERS_SET"]["value"] == set_id(RUN, ONE.store)
    assert "STOREBENCH_AGENT_TOKEN" not in found, "there is no image of the agent"
    (done,) = account.attempts
    assert done[0] == "write" and done[1].status == "verified"
    assert done[1].environment["servers"] == {
        "topology": "elasticsearch/one",
        "sizes": "",
        "manifests": done[1].environment["servers"]["manifests"],
        "images": ["own/es:1"],
        "share_the_clients_node": True,
    }
    assert account.servers[RUN, ONE.store].pods == {f"{name_of(ONE.store)}-0": ["1", 0]}
    assert [name for _, _, name in account.secret_users] == ["s3"], "no Secret of a connection"


def test_only_pods_at_servers_of_the_run_have_the_label_that_the_servers_admit(account, kube, at):
    found, end = [], kube.end

    def note(pod):
        found.append(pod)
        return end(pod)

    kube.end = note
    at(ONE)
    work("write")
    at(cell("delta-spark@hdfs_one"))
    work("write")
    at(PLAIN)
    work("write")
    spark = set_id(RUN, "delta-spark@hdfs_one")
    assert [pod.labels.get(CLIENT) for pod in found] == [set_id(RUN, ONE.store), spark, None]
    told_executor = next(
        one["value"] for one in found[1].spec["containers"][0]["env"] if one["name"] == session.EXECUTOR_POD
    )
    assert json.loads(told_executor)["metadata"]["labels"][CLIENT] == spark, "executors read the blocks"
    assert [key for key in kube.objects if key[0] == "NetworkPolicy"] == [], "it went with the servers"


def test_with_an_agent_the_pod_gets_its_addresses_and_its_token(account, kube, at, monkeypatch):
    monkeypatch.setattr(images, "named", {"servers_agent": "own/agent:1"}.get)
    at(ONE)
    found = told(kube, monkeypatch)
    work("write")
    secret = f"storebench-servers-{set_id(RUN, ONE.store)}"
    assert json.loads(found["STOREBENCH_AGENTS"]["value"]) == {f"{name_of(ONE.store)}-0": "10.0.0.1"}
    assert json.loads(found["STOREBENCH_SERVICE_CORES"]["value"]) == {}, "it is no service"
    assert json.loads(found["STOREBENCH_CPU_LIMITED"]["value"]) == []
    assert json.loads(found["STOREBENCH_DATA_SERVERS"]["value"]) == [f"{name_of(ONE.store)}-0"]
    assert found["STOREBENCH_AGENT_TOKEN"]["valueFrom"]["secretKeyRef"]["name"] == secret in kube.secrets
    Servers(RUN).release()
    assert secret not in kube.secrets


def test_a_cpu_limit_that_was_asked_for_is_told_and_is_part_of_the_environment(
    account, kube, at, monkeypatch
):
    monkeypatch.setattr(images, "named", {"servers_agent": "own/agent:1"}.get)
    at(ONE)
    found = told(kube, monkeypatch)
    work("write", server_cpu="2")
    assert json.loads(found["STOREBENCH_CPU_LIMITED"]["value"]) == [f"{name_of(ONE.store)}-0"]
    assert account.attempts[0][1].environment["servers"]["cpu_limits"] == ["2"]


def test_a_password_goes_from_the_secret_of_the_set_into_the_connection_and_is_in_no_specification(kube):
    group = Group("key", "mariadb@one", find_topology("mariadb", "one"), Sizes())
    Servers(RUN).cluster.make("x1", rendered(group.topology, "x1", group.sizes, Place()))
    told = Running(group, "x1", tuple(kube.pods.values()), {}).variables("mariadb_one")
    names = [one.name for one in told]
    password = told[names.index("STOREBENCH_SERVERS_PASSWORD")]
    reference = password.value_from.secret_key_ref
    assert password.value is None and reference.key in kube.secrets[reference.name]["data"]
    connection = told[names.index("STOREBENCH_CONN_MARIADB_ONE")].value
    assert names.index(password.name) < names.index("STOREBENCH_CONN_MARIADB_ONE"), (
        "Kubernetes replaces $(NAME) by what was said before"
    )
    read = Connection.from_json("mariadb_one", connection.replace(f"$({password.name})", "a1b2"))
    assert (read.host, read.login, read.password) == ("mariadb-x1", "root", "a1b2")


def test_a_pod_is_told_the_services_in_front_of_the_store(kube):
    group = Group("key", "cassandra@rest", find_topology("cassandra", "rest"), Sizes())
    for one in rendered(group.topology, "x1", group.sizes, Place()):
        if one["kind"] == "StatefulSet":
            kube.create_namespaced_stateful_set("ns", one)
    running = Running(group, "x1", tuple(kube.pods.values()), {})
    assert running.services() == {"cassandra-api-x1-0": 1.0, "cassandra-api-tuned-x1-0": None}
    assert running.limited() == [] and len(running.pods) == 3
    assert running.holding() == ["cassandra-x1-0"]


def test_the_cells_next_steps_use_the_same_servers(account, kube, at):
    at(ONE)
    work("write")
    work("read", {"cell.write_0": "success"})
    work("drop", DONE)
    assert kube.made == 1 and [one[1].status for one in account.attempts] == ["verified"] * 2
    assert account.left == {}


def test_a_turn_at_other_servers_removes_those_before_it(account, kube, at):
    at(ONE)
    work("write")
    at(THREE)
    work("write")
    assert servers_there(kube) == [f"{name_of(THREE.store)}-{n}" for n in range(3)]
    assert list(account.servers) == [(RUN, THREE.store)]
    at(PLAIN)
    work("write")
    assert servers_there(kube) == [] and account.servers == {} and kube.objects == {}


def test_servers_that_cannot_be_provisioned_are_a_row_and_are_not_tried_again(account, kube, at):
    kube.status_of = lambda name: starting(waiting=("ImagePullBackOff", "not found"))
    at(ONE)
    for _ in range(2):
        with pytest.raises(AirflowFailException, match=r"own/es:1|es:1 cannot be pulled"):
            work("write")
    assert kube.made == 1 and servers_there(kube) == [] and kube.objects == {}
    operation, result, _ = account.attempts[0]
    assert (operation, result.status, result.error_kind) == ("write", "not_run", "servers_failed")
    assert result.error.startswith("The servers elasticsearch@one could not be provisioned: ")
    assert len(account.attempts) == 2
    kube.status_of = Kube().status_of
    at(THREE)
    work("write")
    assert account.attempts[-1][1].status == "verified", "the next cell is clean"


def test_a_server_that_dies_in_an_attempt_is_its_reason_and_the_next_cell_has_new_ones(account, kube, at):
    at(ONE)

    def end(pod):
        dead = kube.pods[f"{name_of(ONE.store)}-0"]
        dead.status.container_statuses = [container(restarts=1, before=ended(137, "OOMKilled"))]
        failed = dataclasses.replace(VERIFIED, status="failed", error_kind="unreachable", error="No answer")
        return ended(3, message=failed.to_json())

    before, kube.end = kube.end, end
    with pytest.raises(AirflowFailException, match="server_died"):
        work("write")
    result = account.attempts[0][1]
    assert result.error_kind == "server_died"
    assert (
        "ended, and was started again: OOMKilled (exit code 137). The client says: No answer" in result.error
    )
    kube.end = before
    with pytest.raises(AirflowSkipException, match="servers that the run provisioned are gone"):
        work("drop", {"cell.write_0": "failed", "cell.read_0": "failed"})
    assert account.left == {}, "there is nothing to remove any more"
    work("write")
    assert kube.made == 2 and account.attempts[-1][1].status == "verified"
    assert account.attempts[-1][1].disturbed is None


def test_a_server_that_was_started_again_in_a_verified_attempt_disturbed_it(account, kube, at):
    at(ONE)
    before = kube.end

    def end(pod):
        kube.pods[f"{name_of(ONE.store)}-0"].status.container_statuses = [container(restarts=1)]
        return before(pod)

    kube.end = end
    work("write")
    result = account.attempts[0][1]
    assert result.status == "verified" and "was started again" in result.disturbed


def test_a_step_whose_data_went_with_its_server_is_a_row(account, kube, at):
    at(ONE)
    work("write")
    kube.pods.clear()
    with pytest.raises(AirflowFailException, match="the cell's data on them is lost: a server has died"):
        work("read", {"cell.write_0": "success"})
    operation, result, _ = account.attempts[-1]
    assert (operation, result.status, result.error_kind) == ("read", "not_run", "server_died")
    assert kube.made == 1, "the next cell makes them"


def test_a_step_that_is_stopped_while_servers_start_leaves_none(account, kube, at, monkeypatch):
    kube.status_of = lambda name: starting()
    at(ONE)
    step = attempt("write")
    step._killed = True
    with pytest.raises(AirflowFailException, match="was stopped"):
        step.execute(context("cell.write"))
    assert kube.made == 1 and servers_there(kube) == [] and account.servers == {}


def test_sizes_are_parameters_of_what_is_measured_at_provisioned_servers_alone(
    account, kube, at, monkeypatch
):
    noted = []
    monkeypatch.setattr(account, "add_attempt", lambda *_, parameters=None, **__: noted.append(parameters))
    at(ONE)
    work("write", server_memory="4Gi")
    at(PLAIN)
    work("write", server_memory="4Gi")
    assert noted[0]["server_memory"] == "4Gi" and not any("server" in name for name in noted[1])


class Planned:
    """The records that the step before the cells reads."""

    def __init__(self, account, turns):
        self.account, self.turns, self.stopped = account, turns, None

    def recorded_turns(self, run_id):
        return self.turns

    def stop_run(self, run_id, reason):
        self.stopped = reason


@pytest.fixture
def bring(account, kube, monkeypatch):
    def run(*cells, stopped=False):
        planned = Planned(account, [Turn(one, 1) for one in cells])
        monkeypatch.setattr(connections, "repository", lambda *_: planned)
        step = ProvisionOperator(task_id="servers", study=STUDY)
        if stopped:
            step.on_kill()
        try:
            step.execute(context("servers"))
        finally:
            run.stopped = planned.stopped

    return run


def test_the_step_before_the_cells_provisions_the_first_servers(bring, account, kube):
    bring(THREE, ONE)
    assert servers_there(kube) == [f"{name_of(THREE.store)}-{n}" for n in range(3)]
    assert account.servers[RUN, THREE.store].pods


def test_it_provisions_none_where_the_first_turn_needs_none(bring, account, kube):
    bring(PLAIN, ONE)
    bring()
    assert servers_there(kube) == [] and account.servers == {}


def test_servers_that_all_turns_need_and_that_do_not_start_end_the_run_with_the_reason(bring, account, kube):
    kube.status_of = lambda name: starting(waiting=("ImagePullBackOff", "not found"))
    with pytest.raises(AirflowFailException, match="The servers elasticsearch@one could not be provisioned"):
        bring(ONE, ONE)
    assert bring.stopped.startswith("The servers elasticsearch@one could not be provisioned")
    kube.status_of = Kube().status_of
    bring(ONE)
    assert account.servers[RUN, ONE.store].pods, "the step was cleared: it tries again"


def test_servers_that_only_some_turns_need_leave_the_others(bring, account, kube):
    kube.status_of = lambda name: starting(waiting=("ImagePullBackOff", "not found"))
    bring(ONE, PLAIN)
    assert bring.stopped is None and account.servers[RUN, ONE.store].failed


def test_a_stop_while_they_start_leaves_none(bring, account, kube):
    kube.status_of = lambda name: starting()
    with pytest.raises(AirflowFailException, match="was stopped"):
        bring(ONE, stopped=True)
    assert servers_there(kube) == [] and account.servers == {}


def test_the_last_step_removes_what_is_left(account, kube, at):
    at(THREE)
    work("write")
    remove_servers(context("remove_servers", {"aggregate": "running"}))
    assert servers_there(kube) == [] and account.servers == {} and kube.objects == {}
    assert account.left == {}, "the data is gone with them"


def test_the_last_step_fails_where_servers_stay_and_after_a_stop(account, kube, at, monkeypatch):
    monkeypatch.setattr(server_cluster, "GONE_WITHIN_S", 0.01)
    at(ONE)
    work("write")
    kube.sticky = {f"data-{name_of(ONE.store)}-0"}
    with pytest.raises(
        AirflowFailException, match="Not removed:\nThe servers elasticsearch@one of the run s/now"
    ):
        remove_servers(context("remove_servers", {"aggregate": "success"}))
    assert account.servers, "the next run tries again"
    kube.sticky = set()
    with pytest.raises(AirflowFailException, match="The run was stopped"):
        remove_servers(context("remove_servers", {"aggregate": "skipped"}))
    assert servers_there(kube) == [] and account.servers == {}


def test_what_does_not_fit_is_refused_before_anything_is_made(kube, monkeypatch):
    monkeypatch.setattr(provision.capacity, "lacking", lambda *_: "there is no room")
    groups = groups_of(STUDY, [THREE], PARAMS)
    with pytest.raises(
        SpecError, match="The servers elasticsearch@three do not fit on the cluster: there is no room"
    ):
        provision.check(groups.values(), PARAMS)
    assert kube.objects == {}


@pytest.mark.parametrize(
    ("status", "said", "refused"),
    [
        (403, "pods is forbidden: unable to validate against any security context constraint", True),
        (422, "Pod is invalid: spec.priorityClassName", True),
        (403, "exceeded quota: small, requested: pods=1", False),  # other servers may be gone by then
        (400, "admission webhook does not support dry run", False),
    ],
)
def test_servers_whose_pods_kubernetes_would_refuse_are_refused_in_its_words(
    kube, monkeypatch, status, said, refused
):
    monkeypatch.setattr(provision.capacity, "lacking", lambda *_: None)
    kube.refuses, kube.says = {"Pod": status}, said
    groups = groups_of(STUDY, [THREE], PARAMS)
    if refused:
        with pytest.raises(
            SpecError, match=f"elasticsearch@three cannot be made in the namespace 'ns': .*{said}"
        ):
            provision.check(groups.values(), PARAMS)
    else:
        provision.check(groups.values(), PARAMS)
    assert "dry run" in kube.calls and kube.objects == {} and kube.pods == {}


@pytest.mark.parametrize(
    ("embedded", "size", "fits"),
    [
        ("kubernetes s3", "1000000Gi", False),
        ("compose", "1000000Gi", False),
        ("kubernetes s3", "1Mi", True),
        ("s3", "1000000Gi", True),  # on the user's own cluster its volumes are not on this disk
    ],
)
def test_volumes_that_the_embedded_cluster_s_disk_cannot_hold_are_refused(
    kube, monkeypatch, tmp_path, embedded, size, fits
):
    monkeypatch.setenv("STOREBENCH_EMBEDDED", embedded)
    monkeypatch.setenv("STOREBENCH_DISK_PATH", str(tmp_path))
    monkeypatch.setattr(provision.capacity, "lacking", lambda *_: None)
    params = {**PARAMS, "server_disk": size}
    groups = groups_of(STUDY, [THREE], params)
    if fits:
        provision.check(groups.values(), params)
        return
    said = (
        r"The servers elasticsearch@three ask for volumes of 3,000,000 GiB together, but .* GiB free\."
        r" Choose a smaller server_disk"
    )
    with pytest.raises(SpecError, match=said):
        provision.check(groups.values(), params)
    assert kube.objects == {}


def test_one_node_cannot_have_copies(kube):
    with pytest.raises(SpecError, match="server_copies"):
        topologies.check_sizes(STUDY, [ONE], {**PARAMS, "server_copies": 3}, connections.exists)
    topologies.check_sizes(STUDY, [ONE, PLAIN], PARAMS, connections.exists)


def test_what_has_failed_in_a_run_is_kept_with_its_reason():
    assert not ServerUse("s", "s", failed="why").may_exist and ServerUse("s", "s").may_exist


@pytest.fixture
def bulk():
    return find("bulk_write_read")


def test_caches_can_be_emptied_only_at_servers_of_the_run(kube, bulk, monkeypatch):
    monkeypatch.setattr(images, "named", lambda name: "own/agent:1")
    stores, emptied = {ONE.store, PLAIN.store, "delta-rs"}, {"cache": "cold"}
    with pytest.raises(SpecError) as error:
        topologies.check_agents(bulk, stores, emptied, {ONE.store}, images.named(topologies.AGENT_IMAGE))
    said = str(error.value)
    assert said.startswith("cache=cold empties the caches of servers before each read: only the agents")
    assert (
        "provisions none for delta-rs, elasticsearch. Give the parameter another value, or leave out" in said
    )
    assert "in the place of elasticsearch ask for elasticsearch@one or elasticsearch@three" in said
    topologies.check_agents(bulk, {ONE.store}, emptied, {ONE.store}, images.named(topologies.AGENT_IMAGE))
    for cache in ("as_is", "hot"):
        topologies.check_agents(bulk, stores, {"cache": cache}, set(), images.named(topologies.AGENT_IMAGE))
    topologies.check_agents(STUDY, stores, {}, set(), images.named(topologies.AGENT_IMAGE))


def test_a_store_that_trusts_its_server_has_none_of_a_connection(kube):
    scan = find("column_scan")
    with pytest.raises(SpecError) as error:
        topologies.check_agents(
            scan, {"mariadb", "wendelin-pandas@away"}, {}, set(), images.named(topologies.AGENT_IMAGE)
        )
    said = str(error.value)
    assert said.startswith(
        "wendelin-pandas@away would connect to a server of your own, by the Airflow Connection storebench_zeo_away. "
    )
    assert "unpickles each object" in said and "Ask for wendelin-pandas@one, and" in said
    topologies.check_agents(
        scan,
        {"mariadb", "wendelin-pandas@one"},
        {},
        {"wendelin-pandas@one"},
        images.named(topologies.AGENT_IMAGE),
    )


def test_servers_without_agents_cannot_have_their_caches_emptied(kube, bulk):
    with pytest.raises(SpecError, match=r"no image of the agent is known\. .*storebench_image_servers_agent"):
        topologies.check_agents(
            bulk, {ONE.store}, {"cache": "lukewarm"}, {ONE.store}, images.named(topologies.AGENT_IMAGE)
        )
