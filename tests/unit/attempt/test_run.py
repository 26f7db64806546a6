"""The record of an attempt at a store in memory: figures, their coverage, disturbances, and the attempt's end."""

import itertools
from types import SimpleNamespace

import pytest

from storebench.attempt import node, run
from storebench.attempt.cgroup import CpuUsage
from storebench.attempt.clock import OperationClock, PhaseClock
from storebench.attempt.result import UNTOLD, AttemptResult
from storebench.attempt.spec import CPU_LIMIT, VARIABLE, AttemptSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.errors import StoreRefused
from storebench.servers.watch import Busiest, ServersUsed
from storebench.stores.base import Durability, Server, Store

SPEC = AttemptSpec(
    operation="sum",
    cell_key="s/client/reference/threads=2/rows=1/seed=42",
    study="s",
    store="client",
    client="reference",
    target="t",
    bucket="b",
    dataset="datasets/d/",
    results="results/t/sum-",
    axes={"threads": "2"},
    rows=1,
    seed=42,
    options={"depth": "3"},
)


class Client(Store):
    """A client of a server."""

    name = "client"
    operations = ("sum",)
    process = "first"
    dropped = False

    def connect(self):
        pass

    def describe(self):
        return Server("Server", "7", {"cache": "1g"})

    def client_settings(self):
        return {"threads": self.values["threads"], "depth": self.values["depth"]}

    def operate(self, attempt):
        clock = OperationClock()
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            self.work()
        attempt.metric("sums", 5)
        attempt.durability(Durability("memory", "w=1"))
        attempt.histogram("latency_s", {0.2: 1, 0.1: 3})
        attempt.series("rate_per_s", ((0, 90), (1, 110)))
        with attempt.phase("verify"):
            return "the sum is the manifest's"

    def work(self):
        pass

    def server_processes(self):
        return {self.process: 0.0}

    def drop(self):
        self.process = "dropped"


class Restarted(Client):
    def work(self):
        self.process = "second"


class Parallel(Client):
    def client_cores(self):
        return 1_000


class Engine(Client):
    figures_cover = "engine"


class Known(Client):
    """A server on this node that says how busy it is: three quarters of the others' work of BUSY."""

    seconds = 0.0

    def cpu_of_servers_s(self):
        self.seconds += 15.0
        return {run.boot_id(): self.seconds}


class Spreading(Client):
    """A client with pods on this node that do a quarter of the other work in BUSY."""

    seconds = 0.0

    def cpu_of_pods_s(self):
        self.seconds += 5.0
        return {run.boot_id(): self.seconds}


class Lossy(Engine):
    def disturbances(self):
        return ["lost 1 of 2 executors"]


class Refusing(Client):
    def work(self):
        raise StoreRefused("The disk is full")


class Wrong(Client):
    def work(self):
        return {}["a mistake in the program"]


class Cgroup:
    """A container with a CPU limit, if it has one, which throttles it `each` time that its CPU is asked for."""

    version = 2

    def __init__(self, limit=None, each=0):
        self.limit, self.each, self.periods = limit, each, 0

    def cpu(self):
        self.periods += self.each
        return CpuUsage(1.0, 0.0, self.periods)

    def cpu_limit_cores(self):
        return self.limit

    def __getattr__(self, name):
        return lambda: 1


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    """Remove S3, and set the container's cgroup."""
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    monkeypatch.setattr(run, "client_for", lambda connection: None)
    monkeypatch.setattr(run, "Cgroup", Cgroup)


@pytest.fixture
def measure(monkeypatch):
    """Return a function that measures a store and returns the record."""

    def measured(store_class, operation="sum", options=None, **cgroup):
        monkeypatch.setattr(run, "Cgroup", lambda: Cgroup(**cgroup))
        spec = AttemptSpec(
            **{**vars(SPEC), "operation": operation, "options": {**SPEC.options, **(options or {})}}
        )
        attempt = run.Attempt(spec, store_class, PhaseClock())
        attempt.run()
        return attempt.result

    return measured


def test_an_attempt_records_what_its_store_says(measure):
    found = measure(Client)
    assert (found.status, found.verification) == ("verified", "the sum is the manifest's")
    assert found.metrics == {"sums": 5.0}
    assert found.histograms == {"latency_s": {"values": [0.1, 0.2], "counts": [3, 1]}}
    assert found.series == {"rate_per_s": {"at_s": [0, 1], "values": [90, 110]}}
    assert (found.durability, found.durability_stated) == ("memory", "w=1")
    assert found.environment["server_name"] == "Server" and found.environment["server_version"] == "7"
    assert found.environment["server_settings"] == {"cache": "1g"}
    assert found.environment["client_settings"] == {"threads": "2", "depth": "3"}, "axes and options are told"


def test_the_cores_that_a_client_can_use_are_its_own_and_the_pods(measure):
    assert measure(Client).client_cores_usable == 1
    assert measure(Client, limit=0.5).client_cores_usable == 0.5
    assert 1 <= measure(Parallel).client_cores_usable < 1_000
    assert measure(Parallel, limit=1.0).client_cores_usable == 1.0


def test_an_engine_in_the_pod_is_no_client_that_could_be_bound(measure):
    found = measure(Engine)
    assert (found.figures_cover, found.client_cores_usable) == ("engine", None)
    assert found.client_cpu_share is not None
    assert measure(Client).figures_cover == "client"


@pytest.fixture
def watched(monkeypatch):
    """Return a function that replaces the watch of the run's provisioned servers, and returns the list of calls."""

    def put(rows, busiest=None, disturbances=(), cpu_s=lambda: None):
        calls = []
        watch = SimpleNamespace(
            agents=rows,
            cpu_s=cpu_s,
            begin=lambda: calls.append("begin"),
            end=lambda: calls.append("end") or ServersUsed(rows, busiest, list(disturbances)),
        )
        monkeypatch.setattr(run.Watch, "from_environment", lambda: watch)
        monkeypatch.setattr(Client, "work", lambda self: calls.append("work"))
        return calls

    return put


def test_what_the_runs_servers_used_meanwhile_is_recorded_and_its_figures_are_of_the_engine_too(
    measure, watched
):
    row = {"role": "server", "name": "s-0", "cpu_s": 3.0}
    calls = watched([row])
    found = measure(Client)
    assert calls == ["begin", "work", "end"]
    assert found.usage == [row] and found.figures_cover == "engine" and found.disturbed is None
    assert found.client_cores_usable == 1, "the client can be the bottleneck all the same"


def test_what_disturbed_servers_is_told(measure, watched):
    watched([{"role": "server", "name": "s-0"}], disturbances=["s-0 was throttled in 3 periods"])
    assert measure(Client).disturbed == "s-0 was throttled in 3 periods"


def test_the_busiest_service_in_front_of_the_store_is_recorded(measure, watched):
    watched([{"role": "server", "name": "api-0"}], Busiest(0.95, 1.0))
    found = measure(Client)
    assert (found.service_cpu_share, found.service_cores_usable) == (0.95, 1.0)
    watched([{"role": "server", "name": "s-0"}])
    found = measure(Client)
    assert (found.service_cpu_share, found.service_cores_usable) == (None, None)


def test_what_disturbed_an_attempt_is_recorded_with_every_reason(measure):
    assert measure(Client).disturbed is None
    assert measure(Restarted).disturbed == "the server was restarted, or another one answered"
    assert measure(Lossy, each=1).disturbed == "lost 1 of 2 executors; throttled in 3 periods"


def test_a_cpu_limit_that_was_asked_for_is_no_disturbance(measure):
    assert measure(Engine, each=1, options={CPU_LIMIT: "True"}).disturbed is None
    assert measure(Engine, each=1, options={CPU_LIMIT: "False"}).disturbed is not None


def test_a_drop_removes_the_target_and_is_not_measured(measure, monkeypatch):
    dropped = []
    monkeypatch.setattr(Client, "drop", lambda self: dropped.append(self.target))
    found = measure(Client, "drop")
    assert (found.status, dropped, found.metrics) == ("verified", ["t"], {})
    assert found.figures_cover is None and "server_name" not in found.environment


@pytest.fixture
def pod(monkeypatch, tmp_path):
    """Run the main program of a pod with this specification. Return its exit code and its result."""

    def main(store_class=Client):
        monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
        monkeypatch.setenv(VARIABLE, SPEC.to_json())
        monkeypatch.setattr(run, "load", lambda study, name: store_class)
        monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
        code = run.main()
        return code, AttemptResult.from_json((tmp_path / "message").read_text())

    return main


def test_a_pod_leaves_its_result_with_the_time_of_each_phase(pod):
    code, found = pod(Client)
    assert (code, found.status, found.error) == (0, "verified", None)
    assert list(found.phases) == [
        "interpreter_and_imports",
        "connect",
        "source",
        "operation",
        "verify",
        "teardown",
    ]
    assert found.total_s >= found.phases["interpreter_and_imports"] > 0


def test_a_failure_loses_no_figure(pod):
    code, found = pod(Refusing)
    assert (code, found.status) == (StoreRefused.exit_code, "failed")
    assert (found.error_kind, found.error) == ("store_failed", "The disk is full")
    assert found.memory_peak_bytes == 1 and "operation" in found.phases
    assert found.environment["server_name"] == "Server" and "sums" not in found.metrics


def test_a_mistake_of_ours_has_its_row_and_its_reason_too(pod, capsys):
    code, found = pod(Wrong)
    assert (code, found.error_kind) == (1, "internal")
    assert found.error == "KeyError: 'a mistake in the program'"
    assert "Traceback" in capsys.readouterr().err


def test_a_pod_whose_image_has_not_the_store_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
    monkeypatch.setenv(VARIABLE, SPEC.to_json())
    monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
    assert run.main() == 2
    found = AttemptResult.from_json((tmp_path / "message").read_text())
    assert found.error_kind == "bad_spec"
    assert found.error == (
        "The study 's' has no store 'client': there is no module storebench/stores/s/client.py"
    )


def test_a_pod_that_is_told_nothing_says_what_starts_it(monkeypatch, tmp_path):
    monkeypatch.setattr(run, "raise_on_sigterm", lambda: None)
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
    assert run.main() == 2
    found = AttemptResult.from_json((tmp_path / "message").read_text())
    assert "`storebench attempt` is started by the DAG, in a pod" in found.error


def test_modules_are_imported_before_the_first_phase(pod, monkeypatch):
    imported = []
    monkeypatch.setattr(Client, "modules", ("client_library",))
    monkeypatch.setattr(run, "importlib", SimpleNamespace(import_module=imported.append))
    pod(Client)
    assert imported == ["client_library"]


@pytest.fixture
def busy(monkeypatch):
    """Make the node busy: other pods kept two cores busy for 10 s, and tasks always waited for a CPU."""
    at = iter([0.0, 10.0])

    def read(own_cpu_s, store_cpu_s):
        s = next(at)
        cpu_s = dict.fromkeys(node.CPU_STATES, 0.0) | {"user": 2 * s}
        return node.NodeCounters(s, {"cpu_some": s}, cpu_s, 0.0, store_cpu_s)

    monkeypatch.setattr(run.NodeCounters, "read", read)
    monkeypatch.setattr(run.os, "cpu_count", lambda: 2)


def test_the_work_of_strangers_disturbs_beside_a_server_that_tells_its_own(measure, busy):
    found = measure(Known)
    assert (found.node_others_cores, found.node_strangers_cores) == (2.0, 0.5)
    assert (found.disturbed, found.perhaps_disturbed) == (None, None)


def test_a_server_that_leaves_room_for_strangers_is_seen_through(measure, busy, monkeypatch):
    monkeypatch.setattr(Known, "cpu_of_servers_s", lambda self: {run.boot_id(): 1.0})
    found = measure(Known)
    assert found.node_strangers_cores == 2.0
    assert found.disturbed == "others kept 2.0 cores busy, and tasks waited for a CPU 100% of the time"


def test_a_server_that_has_failed_is_not_asked_how_busy_it_was(measure, busy):
    asked = []

    class Failing(Known):
        def cpu_of_servers_s(self):
            asked.append(1)
            return super().cpu_of_servers_s()

        def work(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure(Failing)
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("store_class", "strangers_cores"),
    [(Client, 1.0), (Known, 1.0), (Spreading, 0.5)],
    ids=["agents", "not what the server tells", "and the store's own pods"],
)
def test_servers_of_a_run_have_agents_that_tell_their_work(
    measure, busy, watched, store_class, strangers_cores
):
    at = itertools.count(100.0, 10.0)
    watched([{"role": "server", "name": "s-0"}], cpu_s=lambda: {run.boot_id(): next(at)})
    assert measure(store_class).node_strangers_cores == strangers_cores


def test_an_agent_that_does_not_tell_leaves_the_servers_work_unknown(measure, busy, watched):
    watched([{"role": "server", "name": "s-0"}])
    found = measure(Known)
    assert (found.disturbed, found.node_strangers_cores) == (None, None)
    assert found.perhaps_disturbed


def test_an_operation_on_a_node_that_tells_its_counters_is_judged(measure, busy):
    assert measure(Known).not_judged is None


def test_an_operation_that_was_too_short_or_not_watched_is_not_judged(measure):
    assert "the kernel counts CPU time in steps of 10 ms" in measure(Client).not_judged

    class Unwatched(Client):
        def operate(self, attempt):
            return "nothing to see"

    assert measure(Unwatched).not_judged == UNTOLD


def test_where_nobody_tells_the_servers_work_it_is_said_to_be_unknown(measure, busy):
    found = measure(Client)
    assert (found.disturbed, found.node_strangers_cores) == (None, None)
    assert found.perhaps_disturbed.startswith("it is not known how much of 2.0 busy cores beside the pod")
