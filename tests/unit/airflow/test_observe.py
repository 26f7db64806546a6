import json
from datetime import UTC, datetime, timedelta

import pytest
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.airflow.outcome import observe
from storebench.attempt.result import AttemptResult

T0 = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def seconds(n):
    return T0 + timedelta(seconds=n)


def pod(terminated=None, waiting=None, conditions=(), reason=None, deleted_at=None):
    state = k8s.V1ContainerState(terminated=terminated, waiting=waiting)
    status = k8s.V1ContainerStatus(
        name="base", image="i", image_id="sha256:1", ready=False, restart_count=0, state=state
    )
    resources = k8s.V1ResourceRequirements(limits={"memory": "64Mi"})
    return k8s.V1Pod(
        metadata=k8s.V1ObjectMeta(
            name="mongodb-write-x", creation_timestamp=seconds(2), deletion_timestamp=deleted_at
        ),
        spec=k8s.V1PodSpec(
            node_name="n1",
            active_deadline_seconds=60,
            containers=[k8s.V1Container(name="base", image="storebench/python:1", resources=resources)],
        ),
        status=k8s.V1PodStatus(
            reason=reason,
            conditions=list(conditions),
            container_statuses=[status] if terminated or waiting else None,
        ),
    )


def ended(code=0, reason="Completed", message=None):
    return k8s.V1ContainerStateTerminated(
        exit_code=code, reason=reason, message=message, started_at=seconds(5), finished_at=seconds(15)
    )


DRAINED = k8s.V1PodCondition(
    type="DisruptionTarget", status="True", reason="EvictionByEvictionAPI", message="Eviction API: evicting"
)


def test_the_pods_own_result_comes_first():
    result = AttemptResult(status="failed", error_kind="unreachable", error="nobody at home")
    found = observe.attempt_result(pod(ended(3, "Error", result.to_json())), "base", RuntimeError("x"))
    assert found == result


@pytest.mark.parametrize(
    ("observed", "kind", "words"),
    [
        (None, "infrastructure", "RuntimeError: the API is down"),
        (pod(ended(137, "OOMKilled")), "oom_killed", "limit of 64Mi: raise the parameter pod_memory"),
        (pod(ended(137, "Error"), deleted_at=seconds(14)), "killed", "exit code 137"),
        (
            pod(ended(137, "Error")),
            "crashed",
            "SIGKILL ended the program: its node had no memory left, perhaps",
        ),
        (pod(ended(143, "Error")), "killed", "exit code 143"),
        (pod(ended(130, "Error")), "killed", "exit code 130"),
        (
            pod(ended(134, "Error")),
            "crashed",
            "SIGABRT ended the program. The container ended with exit code 134",
        ),
        (pod(ended(135, "Error"), deleted_at=seconds(14)), "crashed", "SIGBUS ended the program"),
        (pod(ended(136, "Error")), "crashed", "SIGFPE ended the program"),
        (pod(ended(139, "Error", "not json")), "crashed", "SIGSEGV ended the program"),
        (pod(ended(255, "Error")), "internal", "exit code 255"),
        (pod(ended(2, "Error", "not json")), "bad_spec", "exit code 2"),
        (pod(ended(143, "Error"), reason="DeadlineExceeded"), "timeout", "Not finished after 60 s"),
        (
            pod(
                conditions=[
                    k8s.V1PodCondition(
                        type="PodScheduled", status="False", message="0/1 nodes: Insufficient memory"
                    )
                ]
            ),
            "unschedulable",
            "Insufficient memory",
        ),
        (
            pod(waiting=k8s.V1ContainerStateWaiting(reason="ErrImagePull", message="no such image")),
            "image",
            "no such image",
        ),
        (pod(), "infrastructure", "the API is down"),
    ],
)
def test_every_other_end_has_its_kind_and_reason(observed, kind, words):
    result = observe.attempt_result(observed, "base", RuntimeError("the API is down"))
    assert (result.status, result.error_kind) == ("failed", kind)
    assert words in result.error


GOOD = AttemptResult(status="verified", verification="all").to_json()


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("done", "The pod's result is no JSON: "),
        (GOOD[:-5], "A result of more than 4096 bytes is cut off"),
        ("[" * 4096, "is no JSON: it is nested too deeply"),
        ('{"version": 1}', "is not as docs/protocol.md has it: 'status' is a required property"),
        ("[]", "is not as docs/protocol.md has it: [] is not of type 'object'"),
        (GOOD.replace("null", "NaN", 1), "is not a finite number"),
        (GOOD.replace('"all"', '"a\\u0000b"'), "verification has a character that is in no text"),
    ],
)
def test_a_pod_that_ended_well_and_left_no_result_has_a_bad_one(message, words):
    found = observe.attempt_result(pod(ended(0, message=message)), "base", None)
    assert (found.status, found.error_kind) == ("failed", "bad_result")
    assert words in found.error


@pytest.mark.parametrize("message", ["Traceback: x", '{"rows": 1}', "[" * 4096])
def test_the_last_lines_of_the_log_of_a_pod_that_failed_are_no_result(message):
    found = observe.attempt_result(pod(ended(5, "Error", message)), "base", None)
    assert (found.error_kind, "exit code 5" in found.error) == ("store_failed", True)


def test_a_result_that_is_not_as_it_should_be_is_a_bad_one_whatever_the_exit_code():
    found = observe.attempt_result(pod(ended(5, "Error", '{"version": 1, "status": "failed"}')), "base", None)
    assert found.error_kind == "bad_result" and "'error_kind' is a required property" in found.error


def test_last_words_that_no_text_may_have_are_replaced():
    found = observe.step_result(pod(ended(3, "Error", "10 %\nstorebench: a\0b")), "base", None)
    assert found.error == "a\ufffdb"


@pytest.mark.parametrize(
    ("observed", "kind", "words"),
    [
        (pod(ended(143, "Error", "{}"), reason="DeadlineExceeded"), "timeout", "Not finished after 60 s"),
        (pod(ended(137, "OOMKilled", "{}")), "oom_killed", "limit of 64Mi"),
        (pod(ended(143, "Error", "{}"), reason="Evicted"), "killed", "Kubernetes ended the pod: Evicted"),
        (
            pod(ended(143, "Error", "{}"), conditions=[DRAINED]),
            "killed",
            "Kubernetes ended the pod: EvictionByEvictionAPI: Eviction API: evicting",
        ),
    ],
)
def test_kubernetes_reason_wins_over_the_pods_and_its_figures_are_kept(observed, kind, words):
    own = AttemptResult(error_kind="killed", error="The pod was told to stop", metrics={"only_s": 3.0})
    observed.status.container_statuses[0].state.terminated.message = own.to_json()
    found = observe.attempt_result(observed, "base", RuntimeError("x"))
    result = observe.with_kubernetes_reason(found, observed, "base")
    assert (result.status, result.error_kind, result.metrics) == ("failed", kind, {"only_s": 3.0})
    assert words in result.error


def test_what_was_verified_before_the_limit_stays_verified():
    done = pod(
        ended(0, message=AttemptResult(status="verified", verification="all").to_json()),
        reason="DeadlineExceeded",
    )
    found = observe.attempt_result(done, "base", None)
    assert observe.with_kubernetes_reason(found, done, "base") == found and found.status == "verified"


@pytest.mark.parametrize(
    ("observed", "kind", "text"),
    [
        (None, "infrastructure", "No pod: RuntimeError: the API is down"),
        (pod(ended(3, "Error", "10 %\nstorebench: no S3 at x\n")), "unreachable", "no S3 at x"),
        (
            pod(ended(137, "OOMKilled", "10 %")),
            "oom_killed",
            "The pod needed more memory than its limit of 64Mi",
        ),
        (pod(ended(143, "Error", '10 %\n{"rows": 1}')), "killed", "The container ended with exit code 143"),
        (pod(ended(139, "Error", "9 %\n10 %")), "crashed", "SIGSEGV ended the program"),
    ],
)
def test_a_steps_failure_is_one_line(observed, kind, text):
    result = observe.step_result(observed, "base", RuntimeError("the API is down"))
    assert result.error_kind == kind and result.error.startswith(text) and "\n" not in result.error


def test_the_pods_life_is_that_of_its_container():
    record = observe.pod_record(pod(ended()), "base")
    assert (record.pod, record.node, record.exit_code, record.pod_total_s) == (
        "mongodb-write-x",
        "n1",
        0,
        10.0,
    )


def test_nodes_that_are_alike_are_one_environment():
    one, other = pod(ended()), pod(ended())
    other.spec.node_name = "n2"
    assert observe.pod_environment(one, "base") == observe.pod_environment(other, "base")
    assert observe.pod_record(other, "base").node == "n2"


def test_phases_run_from_the_queue_to_the_unexplained_rest():
    scheduled = k8s.V1PodCondition(type="PodScheduled", status="True", last_transition_time=seconds(3))
    pulled = k8s.CoreV1Event(
        metadata=k8s.V1ObjectMeta(name="e"),
        involved_object=k8s.V1ObjectReference(),
        reason="Pulled",
        last_timestamp=seconds(4),
    )
    result = AttemptResult(status="verified", total_s=9.5, phases={"connect": 1.0, "operation": 8.0})
    agent = k8s.CoreV1Event(
        metadata=k8s.V1ObjectMeta(name="a"),
        involved_object=k8s.V1ObjectReference(field_path="spec.initContainers{agent}"),
        reason="Pulled",
        last_timestamp=seconds(3),
    )
    found = observe.phases(pod(ended(), conditions=[scheduled]), [agent, pulled], "base", T0, result)
    assert found == {
        "queued": 2.0,
        "scheduled": 1.0,
        "image_pulled": 1.0,
        "container_started": 1.0,
        "connect": 1.0,
        "operation": 8.0,
        "other": 0.5,
    }
    assert list(found)[0] == "queued" and list(found)[-1] == "other"


def test_an_attempt_without_a_pod_has_no_phases():
    assert observe.phases(None, [], "base", T0, AttemptResult()) == {}


def test_an_error_of_the_api_is_one_line():
    error = ApiException(status=404, reason="Not Found")
    error.headers = {"Audit-Id": "x"}
    caused = RuntimeError(str(error))
    caused.__cause__ = error
    for each in (error, caused):
        result = observe.attempt_result(None, "base", each)
        assert result.error == "No pod: the Kubernetes API answered 404 Not Found"


def test_a_refused_pod_says_kubernetes_own_sentence():
    said = 'pods "x" is forbidden: maximum memory usage per Container is 4Gi, but limit is 8Gi'
    refused = ApiException(403, "Forbidden")
    refused.body = json.dumps({"kind": "Status", "message": said})
    error = RuntimeError("the pod was not made")
    error.__cause__ = refused
    found = observe.attempt_result(None, "base", error)
    assert found.error == f"No pod: the Kubernetes API answered 403 Forbidden: {said}"
    refused.body = "<html>"
    assert observe.attempt_result(None, "base", refused).error.endswith("answered 403 Forbidden")


def test_the_image_and_the_limit_are_those_of_the_container_beside_a_sidecar():
    found = pod(ended(137, "OOMKilled"))
    limits = k8s.V1ResourceRequirements(limits={"memory": "32Mi"})
    found.spec.containers.insert(0, k8s.V1Container(name="proxy", image="mesh:1", resources=limits))
    assert observe.pod_environment(found, "base")["image"] == "storebench/python:1"
    assert "limit of 64Mi" in observe.attempt_result(found, "base", None).error
