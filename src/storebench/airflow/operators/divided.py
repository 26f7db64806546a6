"""Define the base classes of operators whose work several pods may do together: the task's pod leads, and a Job has the others."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from airflow.sdk import Context
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow import connections
from storebench.airflow.compat.kubernetes_provider import variable_of
from storebench.airflow.kubernetes import parts, secrets
from storebench.airflow.kubernetes.calls import ENDED_PHASES, error_text
from storebench.airflow.operators.cell_steps import CellStepOperator, Step
from storebench.airflow.operators.pods import StorebenchPodOperator
from storebench.airflow.outcome import observe
from storebench.attempt.parts.environment import KEY
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import PartFailed, StorebenchError
from storebench.study.several_pods import pods_of

# The leader sees the end of a part's connection before Kubernetes reports why the part's pod has ended.
REASON_WITHIN_S = 5.0


class SeveralPodsOperator(StorebenchPodOperator):
    """A pod operator whose work several pods may do together. The task's pod leads, and a Job has the others.

    `pods`: the number of pods. `wait_s`: the seconds for which the leader waits for the other pods.
    """

    pods = 1
    wait_s = 0
    not_started: parts.PartsFailed | None = None
    has_parts = False  # whether the other pods' Job may exist

    def use_parts(self, pods: int, wait_s: int) -> None:
        """Set the number of pods, and give them the variables and the Secret by which they find each other. One pod gets nothing."""
        self.pods = pods
        if pods > 1:
            self.wait_s = wait_s
            self.env_vars = [*self.env_vars, *parts.variables(pods, wait_s)]
            secret = connections.secret_name(self.parts_key)
            self.secrets = [*self.secrets, variable_of(KEY, secret, secrets.PARTS_KEY_FIELD)]

    @cached_property
    def parts_key(self) -> str:
        """The name of the Secret with the random key by which the attempt's pods know each other."""
        return secrets.parts_key(self.attempt)

    def execute_within(self, context: Context, limit_s: int) -> None:
        self.has_parts = self.pods > 1 and self.pod is not None  # an earlier try may have made the Job
        super().execute_within(context, limit_s)

    def on_started(self, pod: k8s.V1Pod) -> None:
        """Make the other pods. The leader waits for them. Raises PartsFailed."""
        super().on_started(pod)
        if self.pods == 1:
            return
        current = self.pod_manager.read_pod(pod)
        if current.status.phase in ENDED_PHASES:
            return
        self.has_parts = True
        try:
            parts.start(self.client, self.pod_request_obj, self.CONTAINER, self.pods, current, self.wait_s)
        except parts.PartsFailed as error:
            self.not_started = error  # the provider raises an error of its own in its place
            raise

    def with_reasons_of_parts(self, result: AttemptResult) -> AttemptResult:
        """Return a failed result with Kubernetes' reason if another pod has failed. The other pods must not be removed yet."""
        if not self.has_parts or self.is_stopped or result.status == "verified":
            return result
        try:
            failures = self.failures_of_parts(result.error_kind == PartFailed.kind)
            not_made = self.why_not_made()
        except (ApiException, HTTPError) as error:
            self.log.warning("The pods of the other parts cannot be read: %s", error_text(error))
            return result
        return with_failures_of_parts(result, failures, not_made)

    def failures_of_parts(self, lost: bool) -> list[tuple[k8s.V1Pod, AttemptResult]]:
        """Return the other pods that Kubernetes says have failed or have not started, with the reasons.

        `lost`: whether the leader has lost a part. Then the reason may only appear in a moment.
        """
        name, namespace = parts.job_name(self.attempt), self.namespace_of_pods()
        failures: list[tuple[k8s.V1Pod, AttemptResult]] = []

        def known() -> bool:
            failures[:] = [
                (pod, reason)
                for pod in parts.pods_of_job(self.client, namespace, name)
                if (reason := self.reason_of_part(pod))
            ]
            return bool(failures) or not lost

        parts.soon(known, REASON_WITHIN_S)
        return failures

    def reason_of_part(self, pod: k8s.V1Pod) -> AttemptResult | None:
        """Return why the pod of a part has failed or did not start in time; None if Kubernetes knows no reason."""
        reason = observe.reason_of_part(pod, self.CONTAINER)
        if reason is None and observe.is_scheduled_after(pod, self.observed, self.CONTAINER):
            why = parts.why_not_scheduled(self.client, pod)
            return observe.unschedulable(why) if why else None
        return reason

    def why_not_made(self) -> str | None:
        """Return why Kubernetes did not make pods of the Job, such as a quota; None if it made all pods."""
        name, namespace = parts.job_name(self.attempt), self.namespace_of_pods()
        if len(parts.pods_of_job(self.client, namespace, name)) >= self.pods - 1:
            return None
        return parts.why_not_made(self.client, namespace, name)

    def remove_parts(self) -> None:
        """Remove the Job of the other pods, and the Secret with their key. Both are also removed with the leader's pod and with the run."""
        if self.pods == 1:
            return
        try:
            if self.has_parts:
                parts.remove_job(self.client, self.namespace_of_pods(), parts.job_name(self.attempt))
            secrets.remove(self.node_pool.name, self.parts_key)
        except (ApiException, HTTPError, StorebenchError) as error:
            self.log.warning("The attempt's other pods are not removed yet: %s", error_text(error))
        self.has_parts = False


class DividedStepOperator(SeveralPodsOperator, CellStepOperator):
    """Run a step of a cell by one pod, or by several pods that do its operation together."""

    def use_step(self, step: Step, filler: str = "") -> AttemptSpec:
        spec = super().use_step(step, filler)
        pods = pods_of(self.study.store(spec.store), spec.operation, spec.axes)
        self.use_parts(pods, step.params["startup_timeout_s"])
        return spec

    def read_result(self, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Return the ended pod's complete result, with Kubernetes' reason if another pod of the attempt has failed."""
        return self.with_reasons_of_parts(super().read_result(spec, self.not_started or failure))

    def remove_pod(self) -> None:
        """Remove the pod whose row is recorded, and the attempt's other pods."""
        self.remove_parts()
        super().remove_pod()


def with_failures_of_parts(
    result: AttemptResult, failures: list[tuple[k8s.V1Pod, AttemptResult]], not_made: str | None = None
) -> AttemptResult:
    """Return a failed result with the failures of parts that Kubernetes knows. The kind of the first failure replaces PartFailed.kind.

    `not_made`: why Kubernetes did not make a part's pod.
    """
    if not failures and not not_made:
        return result
    text = parts.texts_of([(pod, reason.error or "") for pod, reason in failures])
    if not_made:
        text = "; ".join(filter(None, [text, f"not all parts have a pod: {not_made}"]))
    known = failures[0][1].error_kind if failures else "unschedulable"
    kind = known if result.error_kind == PartFailed.kind else result.error_kind
    leader = f". The leader says: {result.error}" if result.error else ""
    return replace(result, error_kind=kind, error=f"{text[0].upper()}{text[1:]}{leader}")
