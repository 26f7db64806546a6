"""A task's process dies, and the next try picks up the pod that goes on without the process."""

import threading
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from airflow.providers.cncf.kubernetes.operators.pod import POD_IDENTIFIER_STATE_KEY
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException

from storebench.airflow.compat import pod_manager
from storebench.airflow.operators import pickup, pods
from storebench.attempt.result import AttemptResult
from storebench.errors import StoreUnreachable
from tests.unit.airflow.account import FIGURES, VERIFIED, attempt, context
from tests.unit.airflow.cluster import ended


class Store(dict):
    """Airflow's task state store of one task."""

    set = dict.__setitem__


def tried(number, task_id="cell.write", store=None, **others):
    """Return the context of a try that Airflow starts itself, with unchanged max_tries."""
    found = context(task_id, **others)
    found["ti"].try_number = number
    found["task_state_store"] = Store() if store is None else store
    return found


@pytest.mark.parametrize("at", ["log", "events", "record", "delete"])
def test_an_attempt_whose_process_dies_is_timed_once_and_has_one_verified_row(cluster, account, die, at):
    cluster.runs_for = 6
    die(at, attempt("write"), tried(1))
    attempt("write").execute(tried(2))
    ((_, result, pod),) = account.attempts
    assert (result.status, result.metrics, account.tries) == ("verified", FIGURES, [1])
    assert cluster.started == [pod.pod] and cluster.pods == {}, "no second pod was started"
    # Nobody knows when the first try began to wait.
    assert ("queued" in account.phases[0]) is (at == "delete")


def test_a_pod_that_was_picked_up_and_fails_has_its_own_reason_once(cluster, account, die):
    refused = AttemptResult(status="failed", error_kind="refused", error="disk full", metrics={"only_s": 3.5})
    cluster.end = lambda pod: ended(5, message=refused.to_json())
    die("log", attempt("write"), tried(1))
    for number in (2, 3):
        with pytest.raises(AirflowFailException, match="refused: disk full"):
            attempt("write").execute(tried(number))
    assert [row["error"] for row in account.rows.values()] == ["disk full"] and account.tries == [1]
    assert len(cluster.started) == 1 and cluster.pods == {}


def test_a_result_outlasts_a_results_database_that_is_away_for_longer_than_a_task_waits(
    cluster, account, monkeypatch
):
    def away(*_, **__):
        raise StoreUnreachable("The results database cannot be used")

    with monkeypatch.context() as outage:
        outage.setattr(account, "add_attempt", away)
        with pytest.raises(StoreUnreachable):
            attempt("write").execute(tried(1))
    assert len(cluster.pods) == 1, "its pod keeps the result"
    attempt("write").execute(tried(2))
    assert [result.status for _, result, _ in account.attempts] == ["verified"] and account.tries == [1]
    assert len(cluster.started) == 1 and cluster.pods == {}


def test_an_attempt_whose_pod_died_with_its_process_is_lost_and_not_measured_anew(cluster, account, die):
    cluster.runs_for = 50
    die("log", attempt("write"), tried(1))
    (name,) = cluster.pods
    cluster.pods.clear()
    store = Store({POD_IDENTIFIER_STATE_KEY: {"name": name, "namespace": "ns"}})
    with pytest.raises(AirflowFailException, match=f"process died, and so did the pod {name}"):
        attempt("write").execute(tried(2, store=store))
    ((_, result, _),) = account.attempts
    assert (result.status, result.error_kind, account.tries) == ("failed", "infrastructure", [1])
    assert cluster.started == [name]


def test_the_provider_keeps_the_name_of_the_pod_that_it_starts(cluster, account, die):
    """The test above distinguishes a lost attempt from an attempt that never began by this name."""
    store = Store()
    die("log", attempt("write"), tried(1, store=store))
    assert store[POD_IDENTIFIER_STATE_KEY]["name"] in cluster.pods


def test_a_step_whose_process_died_before_its_pod_measures(cluster, account):
    attempt("write").execute(tried(2))
    assert [result.status for _, result, _ in account.attempts] == ["verified"] and account.tries == [2]


def test_a_cleared_step_measures_anew(cluster, account):
    store = Store()
    attempt("write").execute(tried(1, store=store))
    cleared = tried(2, store=store)
    cleared["ti"].max_tries = 2  # as Airflow raises it when it clears a task
    attempt("write").execute(cleared)
    assert account.tries == [1, 2] and len(cluster.started) == 2


def test_a_step_that_was_cleared_while_it_ran_measures_anew(cluster, account):
    killed = AttemptResult(status="failed", error_kind="killed", error="The pod was told to stop")
    cluster.end = lambda pod: ended(143, message=killed.to_json())
    with pytest.raises(AirflowFailException):
        attempt("write").execute(tried(1))
    cluster.end = lambda pod: ended(message=VERIFIED.to_json())
    attempt("write").execute(tried(2))  # Airflow leaves max_tries then
    assert [result.status for _, result, _ in account.attempts] == ["failed", "verified"]
    assert account.tries == [1, 2]


@pytest.mark.parametrize("state", [None, "scheduled", "queued", "running", "up_for_retry"])
def test_a_process_that_airflow_replaces_leaves_its_pod_to_the_next_try(cluster, account, state):
    operator, deleted = attempt("write"), []

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()
            deleted.append("delete" in cluster.calls)

    cluster.fails = stop
    operator.execute(
        tried(1, states={"cell.write_0": state})
    )  # it may even record the attempt before it is killed
    assert deleted == [False]
    assert [result.status for _, result, _ in account.attempts] == ["verified"]


def test_a_process_that_records_while_the_next_try_follows_its_pod_counts(cluster, account, die):
    cluster.runs_for = 6
    die("log", attempt("write"), tried(1))
    (name,) = cluster.pods
    follower = attempt("write")
    record = follower.record

    def overtaken(key, spec, failure):
        account.add_attempt(key, VERIFIED, SimpleNamespace(pod=name), phases={})
        return record(key, spec, failure)

    follower.record = overtaken
    cluster.fails = lambda call, before: cluster.pods.clear() if call == "log" else None
    follower.execute(tried(2))
    assert [row["status"] for row in account.rows.values()] == ["verified"]
    assert len(cluster.started) == 1


@pytest.mark.parametrize("states", [{"cell.write_0": "failed"}, {"cell.write_0": "restarting"}, {}])
def test_a_stop_by_a_user_removes_the_pod(cluster, account, states):
    operator = attempt("write")

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()

    cluster.fails = stop
    with pytest.raises(AirflowFailException, match="killed: The task was stopped in Airflow"):
        operator.execute(tried(1, states={"plan": "success", **states}))
    assert cluster.pods == {}


def test_a_question_that_airflow_does_not_answer_does_not_keep_a_stop_from_removing_the_pod(
    cluster, account, monkeypatch
):
    monkeypatch.setattr(pickup, "ANSWERS_WITHIN_S", 0.1)
    given = tried(1)
    given["ti"].get_task_states = lambda **_: threading.Event().wait()
    operator = attempt("write")

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()

    cluster.fails = stop
    with pytest.raises(AirflowFailException, match="killed"):
        operator.execute(given)
    assert cluster.pods == {}


def test_no_other_cell_is_measured_beside_a_pod_that_waits_to_be_picked_up(cluster, account, die):
    cluster.runs_for, cluster.created_at = 10, datetime.now(UTC)
    die("log", attempt("write"), tried(1))
    other = tried(1)
    other["ti"].map_index = 1
    with pytest.raises(AirflowRescheduleException):
        attempt("write").execute(other)
    assert len(cluster.started) == 1
    attempt("write").execute(tried(2))
    attempt("write").execute(other)
    assert [result.status for _, result, _ in account.attempts] == ["verified"] * 2


def test_a_pod_that_is_older_than_its_limits_is_not_waited_for(cluster, account, die):
    cluster.runs_for, cluster.created_at = 10_000, datetime.now(UTC) - timedelta(hours=2, seconds=601)
    die("log", attempt("write"), tried(1))
    cluster.runs_for = 2
    other = tried(1)
    other["ti"].map_index = 1
    attempt("write").execute(other)
    assert [result.status for _, result, _ in account.attempts] == ["verified"]


def test_a_pod_whose_end_nobody_tells_is_given_up_after_its_limits(cluster, account, monkeypatch):
    monkeypatch.setattr(pods, "LATE_S", -2)
    monkeypatch.setattr(pod_manager, "SOON_S", 0.1)
    cluster.runs_for = 10_000
    endless = tried(1, startup_timeout_s=1, attempt_timeout_s=2)
    with pytest.raises(AirflowFailException, match="timeout: No end of the pod is known after 2 s"):
        attempt("write").execute(endless)
    ((_, result, _),) = account.attempts
    assert (result.status, result.error_kind) == ("failed", "timeout")
    assert cluster.pods == {}


def test_a_programs_log_fills_no_volume(cluster, account, monkeypatch, capsys):
    monkeypatch.setattr(pod_manager, "LOG_CHARACTERS", 100)
    cluster.runs_for = 8
    lines = [
        f"2026-01-01T12:00:{second:02d}Z word-{second:02d} {'x' * 20}\n".encode() for second in range(60)
    ]
    monkeypatch.setattr(
        cluster,
        "read_namespaced_pod_log",
        lambda **_: SimpleNamespace(stream=lambda **_: iter(lines), read=lambda *_: b"", closed=True),
    )
    attempt("write").execute(tried(1))
    told = capsys.readouterr().out
    assert [second for second in range(60) if f"word-{second:02d}" in told] == [0, 1, 2, 3]
    assert told.count("more than 100 characters") == 1
    assert [result.status for _, result, _ in account.attempts] == ["verified"]
