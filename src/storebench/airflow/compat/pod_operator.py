"""Extend the Kubernetes provider's pod operator by methods with which Storebench's operators change the provider's behaviour.

Written for apache-airflow-providers-cncf-kubernetes 10.25.0 and apache-airflow-task-sdk 1.3.2.

Remove a method when the provider has a documented callback or argument instead: `cleanup` and `process_pod_deletion` for a callback that
is called however a pod ended, before the pod is deleted; `is_istio_enabled` when the provider knows sidecars of any name; `find_pod` when
the provider repeats the request; `_get_ti_pod_labels` and `labels_of_task` for an argument with the labels that identify a task's pods;
`execute_within` when the provider has a limit for the whole life of a pod and can follow a given pod; `name_of_started_pod` when the
provider returns the name; `await_pod_start` when the provider has a callback that is called as soon as the pod runs, before it waits for the pod's end
and also for a pod that it follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

from airflow.providers.cncf.kubernetes.operators.pod import POD_IDENTIFIER_STATE_KEY, KubernetesPodOperator
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodManager
from airflow.sdk import Context
from airflow.sdk.execution_time.timeout import timeout
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException

from storebench.airflow.compat.pod_manager import PromptPodManager, with_final_phase
from storebench.airflow.kubernetes.calls import RIGHTS, ask_again


class ObservedPodOperator(KubernetesPodOperator):
    """A pod operator whose subclasses see the pod before it is deleted, and decide whether it is deleted.

    `replaced_labels`: labels that replace the labels by which the provider identifies the pods of a task.
    """

    replaced_labels: ClassVar[Mapping[str, str]] = {}

    @cached_property
    def pod_manager(self) -> PodManager:
        return PromptPodManager(kube_client=self.client, callbacks=self.callbacks)

    def observe(self, pod: k8s.V1Pod | None, known: k8s.V1Pod | None) -> k8s.V1Pod | None:
        """Return the pod's last state; None if the state is unknown. `known`: the state that the provider has read.

        Called once before the pod is deleted, however the pod ended.
        """
        raise NotImplementedError

    def on_started(self, pod: k8s.V1Pod) -> None:
        """Do what the pod's program waits for. Called once the pod runs, also for a pod of an earlier try. The pod may have ended."""

    def await_pod_start(self, pod: k8s.V1Pod) -> None:
        super().await_pod_start(pod)
        self.on_started(pod)

    def keeps(self, pod: k8s.V1Pod) -> bool:
        """Return whether the operator keeps the pod for now, although the provider would delete the pod."""
        return False

    @property
    def is_stopped(self) -> bool:
        """Return whether Airflow has stopped the task. Only `on_kill` learns of a stop."""
        return self._killed

    def execute_within(self, context: Context, limit_s: int) -> None:
        """Run a pod to its end, or follow `self.pod` if it is set. Raises AirflowTaskTimeout after `limit_s` seconds."""
        if self.pod is not None:
            self.pod_request_obj = self.pod
        with timeout(limit_s):  # type: ignore[no-untyped-call]
            super().execute(context)

    def delete_pod(self, pod: k8s.V1Pod) -> None:
        """Delete a pod that was kept."""
        super().process_pod_deletion(pod, reraise=False)

    def labels_of_task(self, context: Context) -> dict[str, str]:
        """Return the labels of the pods of all tries of this task."""
        return self._get_ti_pod_labels(context, include_try_number=False)

    @classmethod
    def _get_ti_pod_labels(
        cls, context: Context | None = None, include_try_number: bool = True
    ) -> dict[str, str]:
        labels = KubernetesPodOperator._get_ti_pod_labels(context, include_try_number)
        return {**labels, **cls.replaced_labels}

    def is_istio_enabled(self, pod: k8s.V1Pod | None) -> bool:
        """Return whether the pod has sidecars (Istio, Vault, …). Sidecars do not end by themselves: for a pod with sidecars, the provider
        waits only for the end of this operator's container. The provider itself only knows sidecars of one name.
        """
        try:  # read the pod: the cluster may have added a sidecar
            return pod is not None and len(self.pod_manager.read_pod(pod).spec.containers) > 1
        except ApiException as error:
            if error.status != 404:
                raise
            return False

    def find_pod(self, *args: Any, **kwargs: Any) -> k8s.V1Pod | None:
        """Return the task's pod. Repeats the request while the API server does not answer."""
        return ask_again(lambda: super(ObservedPodOperator, self).find_pod(*args, **kwargs), RIGHTS)

    def cleanup(self, pod: k8s.V1Pod, remote_pod: k8s.V1Pod, *args: Any, **kwargs: Any) -> None:
        last = self.observe(pod, remote_pod) or remote_pod
        super().cleanup(pod, with_final_phase(last) if last else last, *args, **kwargs)

    def process_pod_deletion(self, pod: k8s.V1Pod, *, reraise: bool = True) -> bool:
        return False if self.keeps(pod) else bool(super().process_pod_deletion(pod, reraise=reraise))


def name_of_started_pod(context: Context) -> str | None:
    """Return the name of the last pod that this task has started; None if unknown. The provider stores it in Airflow's task state store."""
    store: Any = context.get("task_state_store")
    stored = store.get(POD_IDENTIFIER_STATE_KEY) if store is not None else None
    return stored.get("name") if isinstance(stored, dict) else None
