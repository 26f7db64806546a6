"""The operators whose work is done in a pod: making the dataset, and one operation of one cell."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

from airflow import __version__ as airflow_version
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value
from airflow.providers.cncf.kubernetes.secret import Secret
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodManager, PodPhase
from airflow.sdk import Context, Variable
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
)
from kubernetes import client as k8s_client
from kubernetes.client import models as k8s
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from storebench import stores
from storebench.airflow import connections, observe
from storebench.airflow.images import image
from storebench.airflow.node_pools import DEFAULT, NodePool
from storebench.airflow.placement import Placement, with_secret
from storebench.airflow.plan import reason_to_stop
from storebench.airflow.priority import STEPS
from storebench.airflow.retrieve import whole
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import CPU_LIMIT, DROP, VARIABLE, AttemptSpec
from storebench.connection import variable
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StoreUnreachable
from storebench.parameters import measured_with
from storebench.results.repository import AttemptKey, dataset_id, run_id_of
from storebench.spark import session
from storebench.stores import Store
from storebench.stores.base import OPERATIONS

POLL_INTERVAL_S = 0.1
SOON_S = 3.0
# A task that is queued again before the scheduler has seen the end of its process is taken for one that was killed. Its look
# at processes takes less than a second, on a busy machine some seconds.
LATER = timedelta(seconds=20)
# Of a drop whose store does not answer, so that what was written is not left there: nothing is timed in it.
DROP_RETRIES = 6
ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}
# For a store with an axis that the cell has not, because it only fills the table of another.
DEFAULT_VALUES = {"executors": "1"}
DATASET_MEMORY = "1Gi"  # the generator's memory does not grow with rows


def own_pod(image: str, executor: Mapping[str, Any]) -> list[k8s.V1EnvVar]:
    """The variables that tell a pod who and where it is, and what its executors' pods are, for storebench.spark.session."""
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


class PromptPodManager(PodManager):
    """Notices the end of a pod within POLL_INTERVAL_S; the provider's own looks each 1 to 2 s, a short attempt's length."""

    def container_is_running(self, pod: k8s.V1Pod, container_name: str) -> bool:
        """Asked when a log has ended: the container's end is reported a moment later."""
        return not self._soon(
            lambda: not super(PromptPodManager, self).container_is_running(pod, container_name)
        )

    def await_pod_completion(self, pod: k8s.V1Pod, *args: Any, **kwargs: Any) -> k8s.V1Pod:
        """The pod's end is reported a moment after the container's."""
        self._soon(lambda: self.read_pod(pod).status.phase in PodPhase.terminal_states)
        return super().await_pod_completion(pod, *args, **kwargs)

    @staticmethod
    def _soon(ended: Callable[[], bool]) -> bool:
        deadline_s = time.monotonic() + SOON_S
        while not (done := ended()) and time.monotonic() < deadline_s:
            time.sleep(POLL_INTERVAL_S)
        return done


class StorebenchPodOperator(KubernetesPodOperator):
    """A pod of this project: placed and confined by storebench.airflow.placement, its resources from the run's params.

    The pod is looked at one last time before it is deleted, however it ended: `self.observed`, `self.events`.
    """

    CONTAINER: ClassVar[str] = "base"

    def __init__(self, *, node_pool: NodePool = DEFAULT, retries: int = 0, **kwargs: Any) -> None:
        super().__init__(
            kubernetes_conn_id=connections.PREFIX + node_pool.connection,
            image_pull_policy="IfNotPresent",
            automount_service_account_token=False,
            startup_check_interval_seconds=POLL_INTERVAL_S,  # type: ignore[arg-type] # it sleeps for it, only
            log_events_on_startup=False,
            termination_message_policy="FallbackToLogsOnError",
            on_finish_action="delete_pod",
            log_events_on_failure=True,
            log_pod_spec_on_failure=False,
            pool=node_pool.slots,
            retries=retries,  # none by default: a timing is never silently repeated
            **kwargs,
        )
        self.node_pool = node_pool
        self.observed: k8s.V1Pod | None = None
        self.events: Sequence[k8s.CoreV1Event] = ()
        self.queued_at: datetime | None = None

    @cached_property
    def attempt(self) -> str:
        """The label of this attempt's pods, and of no others."""
        return uuid.uuid4().hex

    @cached_property
    def pod_manager(self) -> PodManager:
        return PromptPodManager(kube_client=self.client, callbacks=self.callbacks)

    def use_connections(self, names: Sequence[str]) -> None:
        """Give the pod these connections, each from its Secret."""
        self.secrets = [
            Secret("env", variable(name), connections.secret_name(name), connections.SECRET_KEY)  # type: ignore[no-untyped-call]
            for name in names
        ]

    @cached_property
    def placement(self) -> Placement:
        """Where this pod, and those that it starts, run."""
        return Placement.from_extra(connections.get(self.node_pool.connection).extra_dejson)

    def run_pod(self, context: Context, memory: str | None = None) -> None:
        """Run it to its end, with so much memory, or the run's `pod_memory`."""
        params = context["params"]
        self.pod_template_dict = self.placement.template(self.attempt, self.CONTAINER)
        requests = {"cpu": params["pod_cpu"], "memory": memory or params["pod_memory"]}
        limited = ("cpu", "memory") if params["cpu_limit"] else ("memory",)
        self.container_resources = k8s.V1ResourceRequirements(
            requests=requests, limits={name: requests[name] for name in limited}
        )
        self.startup_timeout_seconds = self.schedule_timeout_seconds = params["startup_timeout_s"]
        self.active_deadline_seconds = params["attempt_timeout_s"]
        self.queued_at = datetime.now(UTC)
        super().execute(context)

    def cleanup(self, pod: k8s.V1Pod, remote_pod: k8s.V1Pod, *args: Any, **kwargs: Any) -> None:
        self.observe(pod)
        super().cleanup(pod, remote_pod, *args, **kwargs)

    def observe(self, pod: k8s.V1Pod | None) -> None:
        """Keep the pod's last state and its events; a pod that is gone leaves None."""
        if pod is None or not pod.metadata.name:
            return
        try:
            self.observed = self.client.read_namespaced_pod(pod.metadata.name, pod.metadata.namespace)
            self.events = self.client.list_namespaced_event(
                pod.metadata.namespace, field_selector=f"involvedObject.name={pod.metadata.name}"
            ).items
        except ApiException as error:
            self.log.warning("The pod cannot be looked at any more: %s", error.reason)

    def kubernetes_version(self) -> str | None:
        """The API server's version; None where it does not tell it."""
        try:
            version: str = k8s_client.VersionApi(self.client.api_client).get_code().git_version
        except (ApiException, HTTPError):  # a figure is not lost for want of it
            return None
        return version

    def message(self) -> str | None:
        """What the container left in its termination message."""
        status = observe.container_status(self.observed, self.CONTAINER) if self.observed else None
        ended = status.state.terminated if status and status.state else None
        return ended.message if ended else None


class DatasetOperator(StorebenchPodOperator):
    """Makes sure that the run's dataset is in S3, and records it."""

    def execute(self, context: Context) -> None:
        rows, seed = context["params"]["rows"], context["params"]["seed"]
        self.image = image("python")
        self.name = "dataset"
        self.arguments = [
            "dataset",
            "--rows",
            str(rows),
            "--seed",
            str(seed),
            "--bucket",
            connections.bucket(),
        ]
        self.use_connections(["s3"])
        try:
            self.run_pod(context, DATASET_MEMORY)
        except AirflowException as error:
            reason = observe.attempt_result(self.observed, self.CONTAINER, error).error
            last_words = (self.message() or "").strip().rpartition("\n")[2]
            raise AirflowFailException(f"The dataset was not made: {last_words or reason}") from error
        connections.repository(connections.PATIENCE_S).add_dataset(Manifest.from_json(self.message() or ""))


class AttemptOperator(StorebenchPodOperator):
    """One attempt: runs `operation` of a run's turn in a pod and records what came of it, whatever it was.

    `turn` is its name in the user interface; which one it is of the run's in this node pool, the task's map index says.
    """

    template_fields: Sequence[str] = (*KubernetesPodOperator.template_fields, "turn")

    def __init__(self, *, operation: str, turn: Any, **kwargs: Any) -> None:
        super().__init__(
            map_index_template="{{ task.turn }}",
            retries=DROP_RETRIES if operation == DROP else 0,
            retry_delay=LATER,
            **kwargs,
        )
        self.operation = operation
        self.turn = turn
        self.parameters: dict[str, Any] = {}  # that change what is measured

    def execute(self, context: Context) -> None:
        params, run_id = context["params"], run_id_of(context["dag"].dag_id, context["run_id"])
        if self.operation == DROP and params["keep_data"]:
            raise AirflowSkipException("keep_data: what was written stays in the store")
        self.look_at_earlier(context)
        repository = connections.repository(connections.PATIENCE_S)
        turn = repository.recorded_turn(run_id, self.node_pool.name, context["ti"].map_index or 0)
        cell, repeat = turn.cell, turn.repeat
        if self.operation == "write" and (
            reason := reason_to_stop(connections.queries(), run_id, cell, repeat, params)
        ):
            repository.skip(run_id, cell, repeat, reason)
            raise AirflowSkipException(f"Not needed: {reason}")
        operations = stores.load(cell.store).operations
        fills = self.operation == "write" and "write" not in operations
        name = (stores.load(cell.store).filled_by if fills else None) or cell.store
        store = stores.load(name)
        self.parameters = measured_with(cell.store, params)
        spec = AttemptSpec(
            operation=self.operation,
            cell_key=cell.key,
            target=cell.target(run_id, repeat),
            dataset_bucket=connections.bucket(),
            dataset_key=dataset_key(cell.rows, cell.seed),
            manifest_key=manifest_key(cell.rows, cell.seed),
            store=name if fills else "",
            options={**DEFAULT_VALUES, **{name: str(params[name]) for name in (CPU_LIMIT, *store.options)}},
        )
        self.name = f"{store.name}-{self.operation}"
        self.arguments = ["attempt"]
        self.use_store(store, spec)
        if self.operation == DROP:
            self.remove_leftovers(context)
            if not store.keeps_data:
                raise AirflowSkipException(f"{store.name} keeps nothing that could be dropped")
        operation = operations[0] if fills else self.operation
        key = AttemptKey(run_id, cell.key, repeat, operation, context["ti"].try_number)
        try:
            self.run_pod(context)
        except AirflowException as error:
            result = self.record(key, spec, error)
            again = self.operation == DROP and result.error_kind == StoreUnreachable.kind
            ending = AirflowException if again else AirflowFailException
            raise ending(f"{result.error_kind}: {result.error}") from error
        except BaseException as error:  # being killed is no AirflowException; it is a row all the same
            self.record(key, spec, error)
            raise
        if not fills:
            self.record(key, spec, None)

    def look_at_earlier(self, context: Context) -> None:
        """Stop here, in one of Airflow's ways, where what this cell's earlier tasks came to leaves nothing to do yet, or at all."""
        ti, group = context["ti"], self.node_pool.group
        earlier = STEPS[: STEPS.index(self.operation)]
        if not earlier:
            return
        states = ti.get_task_states(
            dag_id=context["dag"].dag_id,
            map_index=ti.map_index,
            task_ids=[f"{group}.{operation}" for operation in earlier],
            run_ids=[context["run_id"]],
        ).get(context["run_id"], {})
        ends = [states.get(f"{group}.{operation}_{ti.map_index}") for operation in earlier]
        if not ENDED.issuperset(ends):  # one of them was cleared
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]
        if ends[0] == "skipped":
            raise AirflowSkipException("Nothing was written")
        if self.operation != DROP and ends[0] != "success":
            raise AirflowFailException("Not run: its write has failed")

    def remove_leftovers(self, context: Context) -> None:
        """A pod whose task was killed goes on alone: it must not fall into the next cell's measurement."""
        labels = self._get_ti_pod_labels(context, include_try_number=False)
        own = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id", "map_index"))
        namespace = self.hook.get_namespace() or "default"
        # Each pool of nodes numbers its cells on its own.
        names = (f"{self.node_pool.group}.{operation}" for operation in OPERATIONS)
        tasks = ",".join(make_safe_label_value(name) for name in names)
        selector = f"{own},task_id in ({tasks})"
        for pod in self.client.list_namespaced_pod(namespace, label_selector=selector).items:
            if pod.status.phase not in PodPhase.terminal_states:
                self.log.warning("Removing the pod %s, whose task has ended without it", pod.metadata.name)
            self.pod_manager.delete_pod(pod)

    def use_store(self, store: type[Store], spec: AttemptSpec) -> None:
        """What the pod needs for this store: image, credentials, and for one that starts pods itself who and where it is."""
        self.image = image(store.image)
        self.env_vars = [k8s.V1EnvVar(name=VARIABLE, value=spec.to_json())]
        server = stores.connection(spec.store_name)
        self.use_connections(list(dict.fromkeys(["s3", *([server] if server else [])])))
        if store.service_account:
            self.service_account_name = store.service_account
            self.automount_service_account_token = True
            executor = self.placement.template(self.attempt, session.EXECUTOR)
            if session.encrypted(spec.options):
                key, folder = connections.secret_name(connections.SPARK_KEY), str(session.KEY.parent)
                self.secrets.append(Secret("volume", folder, key))  # type: ignore[no-untyped-call]
                executor = with_secret(executor, key, folder)
            self.env_vars += own_pod(self.image, executor)

    def record(self, key: AttemptKey, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Write the attempt's row; a drop has none. Returns what came of it."""
        result = observe.attempt_result(self.observed, self.CONTAINER, failure)
        result = whole(result, spec, connections.s3, connections.PATIENCE_S)
        if self.operation not in OPERATIONS:
            return result
        if spec.store:
            result.error = f"Its table could not be written by {spec.store}: {result.error}"
        if result.environment:
            result.environment |= observe.pod_environment(self.observed, self.CONTAINER)
            result.environment |= {"kubernetes": self.kubernetes_version(), "airflow": airflow_version}
        phases = observe.phases(self.observed, self.events, self.CONTAINER, self.queued_at, result)
        cell = spec.cell
        connections.repository(connections.PATIENCE_S).add_attempt(
            key,
            result,
            observe.pod_record(self.observed, self.CONTAINER),
            phases=phases,
            target=spec.target,
            dataset=dataset_id(SCHEMA_VERSION, cell.rows, cell.seed),
            parameters=self.parameters,
        )
        self.log.info("Recorded attempt %s: %s %s", key.id, result.status, json.dumps(phases))
        return result
