"""A pod in another language is judged by its window, or its row says that nobody has judged it."""

from dataclasses import replace

import pytest

from storebench.airflow.operators import pods
from storebench.airflow.outcome.result_check import with_disturbances
from storebench.airflow.outcome.retrieve import full_result
from storebench.attempt.overflow import fitting
from storebench.attempt.result import UNTOLD, AttemptResult
from storebench.stores.base import Pod, Store
from storebench.study.observing import WALL, disturbed_by
from tests.unit.airflow.account import CELL, VERIFIED, attempt, context
from tests.unit.airflow.cluster import ended
from tests.unit.attempt.test_overflow import LONG, SPEC, FakeS3
from tests.unit.example import STUDY

QUIET = {
    "seconds": 2.0,
    "cores": 2,
    "cpu_s": 1.0,
    "throttled_periods": 0,
    "stalled_s": {"cpu_some": 0.1, "memory_some": 0.0, "memory_full": 0.0, "io_some": 0.0, "io_full": 0.0},
    "node_cpu_s": dict.fromkeys(("user", "nice", "system", "iowait", "irq", "softirq", "steal"), 0.0)
    | {"user": 1.1, "idle": 2.9},
}
# Others kept 1.5 cores busy, and somebody waited for a CPU all the time.
BUSY = QUIET | {
    "stalled_s": {"cpu_some": 2.0},
    "node_cpu_s": QUIET["node_cpu_s"] | {"user": 4.0, "idle": 0.0},
}
OTHERS = "others kept 1.5 cores busy, and tasks waited for a CPU 100% of the time"


class Engine(Store):
    name = "engine"
    figures_cover = "engine"


class Client(Store):
    name = "client"


def told(window=None, **said):
    """Return the result of a pod that does not judge itself."""
    content = replace(AttemptResult(status="verified", window=window), **said).to_json()
    return AttemptResult.from_json(content.replace('"not_judged":null,', ""))


def judge(result, store=Engine, *, cpu_limit=False, **where):
    return with_disturbances(result, store, cpu_limit=cpu_limit, **where)


def test_a_pod_that_tells_nothing_of_its_node_is_not_judged():
    found = judge(told())
    assert (found.not_judged, found.disturbed) == (UNTOLD, None)


def test_a_pod_that_says_that_it_has_judged_itself_stays_as_it_is():
    found = judge(AttemptResult.from_json(AttemptResult(status="verified").to_json()))
    assert (found.not_judged, found.disturbed) == (None, None)


def test_a_profiled_attempt_never_counts():
    for result in (told(), told(QUIET), AttemptResult(status="verified")):
        assert judge(result, profile=WALL).disturbed == disturbed_by(WALL)
    assert judge(told(BUSY), profile=WALL).disturbed == f"{disturbed_by(WALL)}; {OTHERS}"
    assert judge(AttemptResult(status="failed"), profile=WALL).disturbed is None


def test_a_window_without_others_is_sound():
    found = judge(told(QUIET))
    assert (found.not_judged, found.disturbed, found.perhaps_disturbed) == (None, None, None)
    assert (found.node_cpu_some_share, found.node_others_cores, found.node_strangers_cores) == (
        0.05,
        0.05,
        0.05,
    )


def test_others_disturb_an_engine_and_perhaps_a_client_whose_server_they_may_be():
    found = judge(told(BUSY))
    assert (found.not_judged, found.disturbed, found.node_strangers_cores) == (None, OTHERS, 1.5)
    assert judge(told(BUSY, disturbed="it says so")).disturbed == f"it says so; {OTHERS}"
    for store, servers in ((Client, False), (Engine, True)):
        found = judge(told(BUSY, perhaps_disturbed="a cache"), store, servers=servers)
        assert (found.disturbed, found.node_strangers_cores) == (None, None)
        assert found.perhaps_disturbed.startswith("a cache; it is not known how much of 1.5 busy cores")


def test_a_cpu_limit_that_the_run_did_not_ask_for_disturbs():
    throttled = told(QUIET | {"throttled_periods": 3})
    assert judge(throttled).disturbed == "throttled in 3 periods"
    assert judge(throttled, cpu_limit=True).disturbed is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"seconds": 0.02}, "it took 20 ms, and the kernel counts CPU time in steps of 10 ms"),
        ({"seconds": 0.0}, "it took 0 ms"),
        ({"stalled_s": {}}, "does not report how long tasks waited for a CPU"),
        ({"stalled_s": None}, "does not report how long tasks waited for a CPU"),
        ({"node_cpu_s": {"user": 4.0}}, "does not report how busy its CPUs were"),
        ({"cpu_s": None}, "or how busy the pod was"),
    ],
)
def test_a_window_that_tells_too_little_is_not_judged(change, reason):
    found = judge(told(QUIET | change))
    assert reason in found.not_judged and found.disturbed is None


def test_the_store_says_what_the_figures_cover_where_the_pod_does_not():
    assert judge(told()).figures_cover == "engine"
    assert judge(told(), Client).figures_cover == "client"
    assert judge(told(figures_cover="client")).figures_cover == "client"
    server = [{"role": "server", "name": "s-0"}]
    assert judge(told(usage=server), Client).figures_cover == "engine"


def test_a_failed_attempt_is_not_judged():
    failed = replace(told(BUSY), status="failed")
    assert judge(failed) == failed


def test_what_the_agent_adds_to_a_message_is_kept_beside_the_whole_in_s3(monkeypatch):
    bucket = FakeS3()
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    monkeypatch.setattr("storebench.s3.client_for", lambda connection: bucket)
    monkeypatch.setattr("storebench.attempt.overflow.s3.client_for", lambda connection: bucket)
    message = replace(fitting(LONG, SPEC), window=BUSY, cpu_s=1.5, memory_peak_bytes=7)
    found = full_result(AttemptResult.from_json(message.to_json()), SPEC, lambda: bucket)
    assert (found.window, found.cpu_s) == (BUSY, 1.5)
    assert found.memory_peak_bytes == LONG.memory_peak_bytes, "what the pod says itself stays"
    assert judge(found).disturbed == OTHERS


@pytest.fixture
def started(cluster, monkeypatch):
    """Run a step of a store whose pod has a command, and leaves this result; returns the pod as it was asked for."""

    def run(operation, window=None):
        message = told(window, metrics=VERIFIED.metrics, verification="all of it").to_json()
        specs = []

        def end(pod):
            specs.append(pod.spec)
            return ended(message=message.replace(f'"not_judged":"{UNTOLD}",', ""))

        cluster.end = end
        monkeypatch.setattr(STUDY.store(CELL.store), "pod", Pod(command=("/kv", "measure")))
        earlier = {"cell.write_0": "success", "cell.read_0": "success"} if operation == "drop" else None
        attempt(operation).execute(context(f"cell.{operation}", earlier))
        return specs[-1]

    return run


def test_a_program_of_another_language_is_started_through_the_agent_and_judged(account, started, monkeypatch):
    monkeypatch.setattr(pods, "named", {"servers_agent": "own/agent:1"}.get)
    spec = started("write", BUSY)
    (container,), (agent,) = spec["containers"], spec["initContainers"]
    assert container["command"] == ["/storebench/agent", "pod", "/kv", "measure"]
    assert (agent["image"], agent["command"]) == ("own/agent:1", ["/agent", "install", "/storebench/agent"])
    mounts = [{one["name"]: one for one in each["volumeMounts"]} for each in (container, agent)]
    assert mounts[0]["storebench-agent"]["readOnly"] and "storebench-agent" in mounts[1]
    assert {"name": "storebench-agent", "emptyDir": {}} in spec["volumes"]
    ((_, result, _),) = account.attempts
    assert result.not_judged is None and "1.5 busy cores beside the pod" in result.perhaps_disturbed
    assert result.figures_cover == "client"
    assert started("drop")["containers"][0]["command"] == ["/kv", "measure"], "nothing is timed in a drop"


def test_without_an_image_of_the_agent_the_program_is_started_by_itself_and_not_judged(
    account, started, monkeypatch
):
    monkeypatch.setattr(pods, "named", lambda name: None)
    spec = started("write")
    assert spec["containers"][0]["command"] == ["/kv", "measure"] and not spec.get("initContainers")
    ((_, result, _),) = account.attempts
    assert (result.status, result.not_judged) == ("verified", UNTOLD)
