"""The common base of operators that do their work in a pod."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from airflow.sdk import Context, Variable
from airflow.sdk.exceptions import AirflowException, AirflowTaskTimeout
from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench.airflow import connections
from storebench.airflow.compat.kubernetes_provider import file_of, variable_of
from storebench.airflow.compat.pod_manager import POLL_INTERVAL_S
from storebench.airflow.compat.pod_operator import ObservedPodOperator
from storebench.airflow.images import image, named
from storebench.airflow.kubernetes import secrets, volumes
from storebench.airflow.kubernetes.calls import RIGHTS, ask_again, error_text
from storebench.airflow.kubernetes.placement import Placement, with_agent, with_secret, with_shared_memory
from storebench.airflow.kubernetes.pod_watch import PodWatch
from storebench.airflow.outcome import observe
from storebench.airflow.servers.provision import Running
from storebench.attempt import disk
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.connection import variable
from storebench.errors import SpecError
from storebench.planning.node_pools import DEFAULT, NodePool
from storebench.planning.params import common_values
from storebench.planning.topologies import AGENT_IMAGE
from storebench.results.database.repository import run_id_of
from storebench.servers.render import AGENT_PROGRAM
from storebench.spark import session
from storebench.spark.options import KEY_NAME
from storebench.stores.base import Pod, Store
from storebench.stores.volume import claim_of
from storebench.study.reserved import DROP
from storebench.study.run_params import PodParams

# Kubernetes ends a pod after `attempt_timeout_s`, but not on a lost node. There the task gives up this many seconds later.
LATE_S = 300


class StorebenchPodOperator(ObservedPodOperator):
    """An operator with a pod: storebench.airflow.kubernetes.placement places and confines the pod, the run's parameters set its resources.

    `self.observed` and `self.events` are the pod's last state and its events, read before the pod is deleted, however it ended.
    """

    CONTAINER: ClassVar[str] = "base"

    def __init__(self, *, node_pool: NodePool = DEFAULT, retries: int = 0, **kwargs: Any) -> None:
        super().__init__(
            kubernetes_conn_id=connections.PREFIX + node_pool.connection,
            image_pull_policy="IfNotPresent",
            automount_service_account_token=False,
            startup_check_interval_seconds=POLL_INTERVAL_S,  # type: ignore[arg-type] # only an argument of sleep
            log_events_on_startup=False,
            termination_message_policy="FallbackToLogsOnError",
            on_finish_action="delete_pod",
            log_events_on_failure=True,
            log_pod_spec_on_failure=False,
            pool=node_pool.slots,
            retries=retries,  # 0 by default: a timing is never silently repeated
            **kwargs,
        )
        self.node_pool = node_pool
        self.observed: k8s.V1Pod | None = None
        self.events: Sequence[k8s.CoreV1Event] = ()
        self.watch: PodWatch | None = None
        self.queued_at: datetime | None = None
        self.claim: str | None = None  # the volume claim that the pods of the cell share
        self.volume_folder = ""
        self.shared_memory = False
        self.servers_id: str | None = None  # the set of servers that the run has provisioned for the pod
        # The image of the agent, which watches the node for a program of another language.
        self.agent: str | None = None

    @cached_property
    def attempt(self) -> str:
        """The label value that only this attempt's pods have."""
        return uuid.uuid4().hex

    def use_connections(self, names: Sequence[str]) -> None:
        """Give the pod these connections, each from its Secret. Keeps their secrets out of the task's messages about the pod."""
        for name in names:
            # The plan has checked the connection. A connection that was changed since then fails in the pod, which records a row.
            with suppress(SpecError):
                connections.pod(name)
        self.secrets = [
            variable_of(variable(name), connections.secret_name(name), connections.SECRET_KEY)
            for name in names
        ]

    def use_pod(self, pod: Pod, variable_name: str, spec: str) -> None:
        """Set the pod's image and program, and the variable with its specification."""
        self.image = image(pod.image)
        self.cmds = list(pod.command)
        self.arguments = [] if pod.command else list(pod.arguments)
        self.env_vars = [k8s.V1EnvVar(name=variable_name, value=spec)]
        self.shared_memory = pod.shared_memory

    def use_store(self, store: type[Store], spec: AttemptSpec, servers: Running | None = None) -> None:
        """Set the pod's image and credentials for this store, and for a pod that starts pods its own name and address. `servers`: the set
        that the run has provisioned for the pod.
        """
        self.use_pod(pod := store.pod_of(spec.operation), VARIABLE, spec.to_json())
        connection = store.connection_of(spec.store)
        self.use_connections(list(dict.fromkeys(["s3", *filter(None, [None if servers else connection])])))
        self.servers_id = servers.set_id if servers else None
        if servers and connection:
            self.env_vars = [*self.env_vars, *servers.variables(connection)]
        self.agent = named(AGENT_IMAGE) if pod.command and spec.operation != DROP else None
        if self.agent:
            self.cmds = [AGENT_PROGRAM, "pod", *pod.command]
        if rate := Variable.get(disk.AIRFLOW_VARIABLE, default=None):
            text = f"{disk.rate_of(rate):g}"
            self.env_vars = [*self.env_vars, k8s.V1EnvVar(name=disk.VARIABLE, value=text)]
        if pod.volume:
            self.claim, self.volume_folder = claim_of(spec.target), pod.volume
        if pod.account:
            self.service_account_name = pod.account
            self.automount_service_account_token = True
            executor = self.placement.template(self.attempt, session.EXECUTOR, self.servers_id)
            if session.encrypted(spec.options):
                key, folder = connections.secret_name(KEY_NAME), str(session.KEY.parent)
                self.secrets.append(file_of(folder, key))
                executor = with_secret(executor, key, folder)
            self.env_vars = [*self.env_vars, *_spark_driver_variables(str(self.image), executor)]

    @cached_property
    def placement(self) -> Placement:
        """The placement of this pod and of the pods that it starts."""
        return Placement.from_extra(connections.get(self.node_pool.connection).extra_dejson)

    def run_pod(self, context: Context, memory: str | None = None) -> None:
        """Run the pod to its end, with `memory` or the run's `pod_memory`, or follow `self.pod` if it is set.

        Raises the error unless the pod has ended well; PodOverdue where nothing reports the pod's end LATE_S seconds after its limits.
        """
        params = common_values(context["params"])
        self.startup_timeout_seconds = self.schedule_timeout_seconds = params["startup_timeout_s"]
        self.active_deadline_seconds = params["attempt_timeout_s"]
        if self.pod is None:
            self.prepare(context, params, memory)
            self.queued_at = datetime.now(UTC)
        limit_s = 2 * params["startup_timeout_s"] + params["attempt_timeout_s"] + LATE_S
        try:
            self.execute_within(context, limit_s)
        except (Exception, AirflowTaskTimeout) as error:
            if not self.ended_well():
                # The provider reads the pod once more, and may raise another error instead of the timeout's.
                if isinstance(error, AirflowTaskTimeout) or isinstance(error.__context__, AirflowTaskTimeout):
                    raise observe.PodOverdue(limit_s, self.active_deadline_seconds) from error
                raise
            self.log.warning("The pod has ended well. Meanwhile there was an error: %s", error_text(error))
        if not self.ended_well():  # the provider raises no error if the task is being stopped
            raise AirflowException("The task was stopped")

    def prepare(self, context: Context, params: PodParams, memory: str | None) -> None:
        """Make the pod's Secrets, and set the pod's template and resources: `memory`, or the run's `pod_memory`."""
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        # The end of the run has removed its Secrets. This task may have been cleared after the end.
        names = [connections.name_of(secret.secret) for secret in self.secrets]
        secrets.apply(run_id, names, self.node_pool)
        self.pod_template_dict = self.placement.template(self.attempt, self.CONTAINER, self.servers_id)
        if self.claim:
            self.pod_template_dict = volumes.mounted(self.pod_template_dict, self.claim, self.volume_folder)
        if self.shared_memory:
            self.pod_template_dict = with_shared_memory(self.pod_template_dict)
        if self.agent:
            self.pod_template_dict = with_agent(self.pod_template_dict, self.agent)
        requests = {"cpu": params["pod_cpu"], "memory": memory or params["pod_memory"]}
        limited = ("cpu", "memory") if params["cpu_limit"] else ("memory",)
        self.container_resources = k8s.V1ResourceRequirements(
            requests=requests, limits={name: requests[name] for name in limited}
        )

    def on_started(self, pod: k8s.V1Pod) -> None:
        self.watch = PodWatch(self.client, pod)

    def remove_volume(self) -> bool:
        """Remove the cell's volume, if it has one. Returns whether it has one. Raises VolumeFailed."""
        if self.claim:
            volumes.remove(self.client, self.namespace_of_pods(), self.claim)
        return self.claim is not None

    def ended_well(self) -> bool:
        """Return whether the pod's program has exited with 0."""
        ended = observe.terminated(self.observed, self.CONTAINER)
        return ended is not None and ended.exit_code == 0

    def observe(self, pod: k8s.V1Pod | None, known: k8s.V1Pod | None) -> k8s.V1Pod | None:
        """Keep the pod's last state and its events. Where the API no longer has the pod, keep its `known` state if the pod had ended, or
        its last state before an eviction, which has the reason: Kubernetes removes an evicted pod as soon as its program has ended.
        """
        if pod is None or not pod.metadata.name:
            return self.observed
        name, namespace = pod.metadata.name, pod.metadata.namespace
        of_the_pod = f"involvedObject.name={name}"
        try:
            self.observed = ask_again(lambda: self.client.read_namespaced_pod(name, namespace), RIGHTS)
            self.events = ask_again(
                lambda: self.client.list_namespaced_event(namespace, field_selector=of_the_pod), RIGHTS
            ).items
        except (ApiException, HTTPError) as error:
            self.log.warning("The pod's last state cannot be read: %s", error_text(error))
        if self.observed is None:
            if observe.terminated(known, self.CONTAINER):
                self.observed = known
            elif self.watch and observe.is_evicted(last := self.watch.last_state()):
                self.observed = last
        return self.observed

    def kubernetes_version(self) -> str | None:
        """Return the API server's version; None where it does not answer."""
        try:
            version: str = k8s_client.VersionApi(self.client.api_client).get_code().git_version
        except (ApiException, HTTPError):  # the figures are recorded without the version
            return None
        return version

    def message(self) -> str | None:
        """Return the container's termination message."""
        ended = observe.terminated(self.observed, self.CONTAINER)
        return ended.message if ended else None

    def namespace_of_pods(self) -> str:
        """Return the namespace of this node pool's pods."""
        return self.hook.get_namespace() or "default"


def _spark_driver_variables(image: str, executor: Mapping[str, Any]) -> list[k8s.V1EnvVar]:
    """Return the variables of a Spark driver's pod with its name and address and with its executors' pods, for storebench.spark.session."""
    fields = {
        session.POD_NAME: "metadata.name",
        session.POD_IP: "status.podIP",
        session.POD_NAMESPACE: "metadata.namespace",
    }
    variables = [
        k8s.V1EnvVar(
            name=name,
            value_from=k8s.V1EnvVarSource(field_ref=k8s.V1ObjectFieldSelector(field_path=path)),
        )
        for name, path in fields.items()
    ]
    variables.append(k8s.V1EnvVar(name=session.IMAGE, value=image))
    variables.append(k8s.V1EnvVar(name=session.EXECUTOR_POD, value=json.dumps(executor)))
    if api := Variable.get("storebench_kubernetes_api", default=None):
        variables.append(k8s.V1EnvVar(name=session.API, value=api))
    return variables
