"""The operators, with Airflow's own that they are made of, on a cluster in memory."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException
from kubernetes.client.exceptions import ApiException

from storebench.airflow import kubernetes_api
from storebench.airflow.dataset import DatasetOperator
from storebench.attempt.result import AttemptResult
from storebench.errors import SpecError
from storebench.results.stopped import COMMAND
from tests.unit.airflow.account import CELL, VERIFIED, attempt, context
from tests.unit.airflow.cluster import away, ended


def test_an_attempt_is_recorded_with_its_figures(cluster, account):
    attempt("write").execute(context("cell.write"))
    ((operation, result, pod),) = account.attempts
    assert (operation, result.status, result.operation_s, pod.exit_code) == ("write", "verified", 1.5, 0)
    assert cluster.pods == {}


@pytest.mark.parametrize("after", ["log", "create"])
def test_a_verified_attempt_is_not_lost_where_the_api_server_is_away_at_its_end(cluster, account, after):
    cluster.fails = away(after, calls=12)
    attempt("write").execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.status, result.operation_s, pod.exit_code) == ("verified", 1.5, 0)


def test_an_attempt_goes_on_while_the_api_server_is_away(cluster, account):
    cluster.runs_for = 4
    cluster.fails = away("log", calls=12)
    attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.status == "verified"


def test_what_the_operator_knows_is_used_where_the_last_look_fails(cluster, account, monkeypatch):
    monkeypatch.setattr(kubernetes_api, "PATIENCE_S", 0.05)
    looks = []

    def fails(call, before):
        looks.append(call)
        # the operator's own reads are over when it has read the pod's end
        return ApiException(503, "Unavailable") if watching["over"] else None

    watching = {"over": False}
    operator = attempt("write")
    cleanup = operator.cleanup

    def from_now_on(*args, **kwargs):
        watching["over"] = True
        cleanup(*args, **kwargs)

    operator.cleanup = from_now_on
    cluster.fails = fails
    operator.execute(context("cell.write"))
    ((_, result, pod),) = account.attempts
    assert (result.status, pod.exit_code) == ("verified", 0) and looks


def test_a_pod_that_is_gone_is_not_asked_for_again(cluster, account):
    def fails(call, before):
        if call == "log":
            cluster.pods.clear()

    cluster.fails = fails
    with pytest.raises(AirflowFailException):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure"
    assert cluster.calls.count("read") < 8


def test_an_attempt_that_ran_out_of_time_says_so_and_keeps_its_figures(cluster, account):
    told_to_stop = AttemptResult(
        error_kind="killed", error="The pod was told to stop", operation_s=3.5, memory_peak_bytes=7
    )
    cluster.end = lambda pod: (ended(143, message=told_to_stop.to_json()), "DeadlineExceeded")
    with pytest.raises(AirflowFailException, match="timeout: Not finished after 600 s"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.error_kind, result.operation_s, result.memory_peak_bytes) == ("timeout", 3.5, 7)


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (
            (ended(143, message='making it\n{"rows": 1000, "sha256": "…"}'), "DeadlineExceeded"),
            "timeout: Not finished after 600 s: raise the parameter attempt_timeout_s",
        ),
        (
            ended(3, message="10 %\nstorebench: S3 at http://s3 does not answer"),
            "unreachable: S3 at http://s3 does not answer",
        ),
        (
            ended(143, message='{"rows": 1000}'),
            "killed: The container ended with exit code 143 (Error) and no result",
        ),
    ],
)
def test_the_datasets_failure_names_the_step_and_its_reason_in_one_line(cluster, account, end, reason):
    cluster.end = lambda pod: end
    with pytest.raises(AirflowFailException) as caught:
        DatasetOperator(task_id="dataset").execute(context("dataset"))
    assert str(caught.value) == account.stopped == f"The dataset was not made: {reason}"


def test_leftover_pods_are_removed_even_where_the_data_is_kept(cluster, account):
    states = {"cell.write_0": "failed", "cell.read_0": "failed"}
    cluster.pods["orphan"] = SimpleNamespace(
        metadata=SimpleNamespace(
            name="orphan", labels={"dag_id": "s", "run_id": "now", "map_index": "0", "task_id": "cell.write"}
        ),
        status=SimpleNamespace(phase="Running"),
    )
    with pytest.raises(AirflowSkipException, match="keep_data"):
        attempt("drop").execute(context("cell.drop", states, keep_data=True))
    assert cluster.pods == {}


def test_data_is_accounted_for_from_the_write_to_the_drop_unless_it_is_to_be_kept(cluster, account):
    attempt("write").execute(context("cell.write", keep_data=True))
    assert account.left == {}
    cluster.end = lambda pod: ended(message=replace(VERIFIED, data_bytes=512).to_json())
    attempt("write").execute(context("cell.write"))
    ((key, left),) = account.left.items()
    assert (key, left.size_bytes) == (("s/now", CELL, 1), 512)
    states = {"cell.write_0": "success", "cell.read_0": "success"}
    attempt("drop").execute(context("cell.drop", states))
    assert account.left == {}


@pytest.mark.parametrize(
    ("try_number", "drop", "said"), [(1, "success", False), (2, "success", True), (2, None, False)]
)
def test_a_write_that_is_cleared_without_its_drop_says_what_it_leaves(
    cluster, account, capsys, try_number, drop, said
):
    cleared = context("cell.write", {"cell.drop_0": drop})
    cleared["ti"].try_number = try_number
    attempt("write").execute(cleared)
    words = f"leaves stays in the store: {CELL.target('s/now', 1)} in mongodb. To remove it, clear the drop"
    told = capsys.readouterr().out
    assert (words in told) is (COMMAND in told) is said


def test_a_task_makes_the_secrets_that_its_pod_needs(cluster, account):
    attempt("write").execute(context("cell.write"))
    assert set(cluster.secrets) == {"storebench-s3", "storebench-mongodb"}
    assert account.secret_users == [("s/now", "", "s3"), ("s/now", "", "mongodb")]


def test_secrets_that_kubernetes_does_not_take_are_a_row(cluster, account):
    forbidden = ApiException(403, "Forbidden")
    cluster.fails = lambda call, before: forbidden if call == "replace secret" else None
    with pytest.raises(SpecError, match="403 Forbidden"):
        attempt("write").execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert result.error_kind == "infrastructure" and "refused a Secret" in result.error


def test_an_attempt_whose_task_is_stopped_says_so(cluster, account):
    operator = attempt("write")

    def stop(call, calls):
        if call == "log" and "log" not in calls:
            operator.on_kill()

    cluster.fails = stop
    with pytest.raises(ApiException):  # the pod is gone
        operator.execute(context("cell.write"))
    ((_, result, _),) = account.attempts
    assert (result.status, result.error_kind) == ("failed", "killed")
    assert result.error == "The task was stopped in Airflow while its pod ran"
