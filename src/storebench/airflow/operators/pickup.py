"""Pick up an attempt whose task's process died: the attempt's pod goes on without the process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from threading import Thread
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException, AirflowRescheduleException
from kubernetes import client as k8s_client
from kubernetes.client import models as k8s

from storebench.airflow import connections
from storebench.airflow.compat.pod_operator import name_of_started_pod
from storebench.airflow.compat.tasks import UNENDED_STATES, earlier_tries, states_of_tasks
from storebench.airflow.kubernetes.calls import ENDED_PHASES, ask_again
from storebench.airflow.kubernetes.placement import LABEL
from storebench.airflow.operators import leftovers
from storebench.airflow.operators.cleaning import CleaningOperator
from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.study.model import Study

# If a task is queued again before the scheduler has seen that its process ended, the scheduler regards the task as killed. The scheduler
# looks at processes about every second, and on a busy machine every few seconds.
LATER = timedelta(seconds=20)
# Airflow runs the task once more when its process has died. That try follows the pod of the first try and never measures anew.
RETRIES = 1
STARTS_WITHIN = timedelta(hours=2)  # twice the largest `startup_timeout_s` of a run
ANSWERS_WITHIN_S = 2.0  # Airflow kills a process 5 s after it has told the process to stop
TRY = "try_number"  # the label of a pod with the number of its task's try
LOST = (
    "The task's process died, and so did the pod {name} before its result could be read: the attempt is lost. To measure it again,"
    " clear the step"
)


def selector_of(labels: Mapping[str, str], tries: Sequence[int]) -> str:
    """Return the selector of the pods of these tries of the task with these labels."""
    task = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    return f"{task},{TRY} in ({','.join(map(str, tries))})"


def newest_pod(client: k8s_client.CoreV1Api, namespace: str, selector: str) -> k8s.V1Pod | None:
    """Return the newest pod that the selector selects. It may have ended."""
    pods = ask_again(lambda: client.list_namespaced_pod(namespace, label_selector=selector)).items
    return max(pods, key=lambda pod: pod.metadata.creation_timestamp, default=None)


def try_of(pod: k8s.V1Pod) -> int:
    """Return the number of the task's try that has started the pod."""
    return int(pod.metadata.labels[TRY])


def unwatched(client: k8s_client.CoreV1Api, namespace: str, group: str) -> list[str]:
    """Return the names of the pods at work for cells of this task group.

    The calling task has the only slot of its node pool. So no process watches these pods, and another try will pick them up. Pods older
    than their limits are excluded: no try has picked them up.
    """
    now = datetime.now(UTC)

    def may_work(pod: k8s.V1Pod) -> bool:
        limit = STARTS_WITHIN + timedelta(seconds=pod.spec.active_deadline_seconds or 0)
        return bool(now - pod.metadata.creation_timestamp < limit)

    pods = ask_again(lambda: client.list_namespaced_pod(namespace, label_selector=LABEL)).items
    return sorted(
        pod.metadata.name
        for pod in pods
        if pod.metadata.labels.get("task_id", "").startswith(f"{group}.")
        and pod.status.phase not in ENDED_PHASES
        and not pod.metadata.deletion_timestamp
        and may_work(pod)
    )


class RetriedOperator(CleaningOperator):
    """A pod operator whose next try follows the same pod after the task's process has died."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(retry_delay=LATER, **kwargs)
        self.recorded_first: k8s.V1Pod | None = None  # removed when its row is recorded
        self.context: Context | None = None

    def has_recorded(self, context: Context, key: AttemptKey, study: Study, filler: str) -> bool:
        """Return whether an earlier try, whose process died, has recorded a verified attempt. Otherwise set `self.pod` to that try's pod.

        Raises AirflowFailException where the earlier attempt has failed or is lost. A step that was stopped and cleared while it ran, and a
        try that died before it started a pod, leave nothing: then this try measures. The step of a `filler` has no row of its own.
        """
        self.context = context
        tries = earlier_tries(context["ti"], self.retries)
        if not tries:
            return False
        labels = self.labels_of_task(context)
        selector, namespace = selector_of(labels, tries), self.namespace_of_pods()
        rows = [] if filler else connections.repository(connections.PATIENCE_S).tries_of(key)
        if row := next((row for row in rows if row["try_number"] in tries), None):
            self.log.info("The try %s recorded its attempt, and then its process ended", row["try_number"])
            leftovers.remove_pods(self.client, namespace, selector)
            if row["status"] != "verified" and row["error_kind"] != "killed":
                raise AirflowFailException(f"{row['error_kind']}: {row['error']}")
            return bool(row["status"] == "verified")
        self.pod = newest_pod(self.client, namespace, selector)
        if self.pod:
            name, self.attempt = self.pod.metadata.name, self.pod.metadata.labels[LABEL]
            self.log.warning("Picking up the pod %s: the process that watched it has died", name)
            return False
        started = name_of_started_pod(context)
        if started is None or started in {row["pod"] for row in rows}:
            return False
        reason = LOST.format(name=started)
        lost = replace(key, try_number=tries[-1])
        self.record_not_run(lost, study, "infrastructure", reason, status="failed")
        raise AirflowFailException(reason)

    @staticmethod
    def is_verified(key: AttemptKey) -> bool:
        """Return whether this try has a row, and the row is verified."""
        rows = connections.repository(connections.PATIENCE_S).tries_of(key)
        return any(row["try_number"] == key.try_number and row["status"] == "verified" for row in rows)

    def on_kill(self) -> None:
        """Leave the pod to the next try where Airflow stops this process because it has lost sight of the process or ends the worker.

        A user's stop removes the pod.
        """
        if self.pod and self.runs_again():
            self.log.warning(
                "The process is stopped, and Airflow runs the task again: the next try picks up its pod"
            )
        else:
            super().on_kill()

    def runs_again(self) -> bool:
        """Return whether Airflow runs this task or will run it again; False where Airflow does not answer."""
        answers: list[bool] = []

        def ask() -> None:
            if self.context is None:
                return
            ti = self.context["ti"]
            with suppress(Exception):
                states = states_of_tasks(self.context, [ti.task_id], ti.map_index)
                answers.append(states.get(f"{ti.task_id}_{ti.map_index}", "removed") in UNENDED_STATES)

        # The signal may have interrupted a request to Airflow. A second request waits for that request, possibly for ever.
        asking = Thread(target=ask, daemon=True)
        asking.start()
        asking.join(ANSWERS_WITHIN_S)
        return answers == [True]

    def wait_for_unwatched(self) -> None:
        """Put this step off while the pod of another step is at work and waits to be picked up: only one pod may run."""
        names = unwatched(self.client, self.namespace_of_pods(), self.node_pool.group)
        if names:
            self.log.info("Waiting for pods whose tasks have died: %s", ", ".join(names))
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]

    def keeps(self, pod: k8s.V1Pod) -> bool:
        """Keep a pod that was observed at its end until its row is recorded: if the process dies earlier, the next try reads the pod."""
        if self.observed is None:
            return False
        self.recorded_first = pod
        return True

    def remove_pod(self) -> None:
        """Remove the pod whose row is recorded."""
        if self.recorded_first:
            self.delete_pod(self.recorded_first)
        self.recorded_first = None

    @staticmethod
    def record_not_run(
        key: AttemptKey, study: Study, kind: str, reason: str, *, status: str = "not_run"
    ) -> None:
        """Record the row of a step without figures: it was cleared when its data was gone, lacks its servers, or its pod is lost."""
        connections.repository(connections.PATIENCE_S).add_attempt(
            key,
            AttemptResult(status=status, error_kind=kind, error=reason, method_version=study.method_version),
            PodRecord(),
            phases={},
            metric=None,
            target=None,
            dataset=None,
        )
