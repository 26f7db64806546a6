"""The operators whose work is done in a pod: what all have in common, and one operation of one cell."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar

from airflow import __version__ as airflow_version
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value
from airflow.providers.cncf.kubernetes.secret import Secret
from airflow.providers.cncf.kubernetes.utils.pod_manager import PodManager
from airflow.sdk import Context
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
from storebench.airflow import connections, leftovers, observe, secrets
from storebench.airflow.images import image
from storebench.airflow.kubernetes_api import RIGHTS, ask_again
from storebench.airflow.node_pools import DEFAULT, NodePool
from storebench.airflow.placement import Placement, with_secret
from storebench.airflow.plan import reason_to_stop
from storebench.airflow.pod_manager import POLL_INTERVAL_S, PromptPodManager
from storebench.airflow.priority import STEPS
from storebench.airflow.retrieve import whole
from storebench.airflow.spark_driver import own_pod
from storebench.airflow.specs import spec_of
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import DROP, VARIABLE, AttemptSpec
from storebench.connection import variable
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.parameters import measured_with
from storebench.results.left import Undropped
from storebench.results.repository import AttemptKey, dataset_id, run_id_of
from storebench.spark import session
from storebench.stores import Store
from storebench.stores.base import OPERATIONS

# A task that is queued again before the scheduler has seen the end of its process is taken for one that was killed. Its look
# at processes takes less than a second, on a busy machine some seconds.
LATER = timedelta(seconds=20)
# Of a drop whose store does not answer, so that what was written is not left there: nothing is timed in it.
DROP_RETRIES = 6
ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}
LEFT = "storebench/left"  # the label of a pod that drops what another run has left


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
        self.dropping: DropOperator | None = None

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
        """Run it to its end, with so much memory, or the run's `pod_memory`. Raises what went wrong, unless the pod has ended well."""
        params = context["params"]
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        # A run that was over, and of which a task was cleared, has lost its own.
        names = [connections.name_of(secret.secret) for secret in self.secrets]
        secrets.apply(run_id, names, self.node_pool)
        self.pod_template_dict = self.placement.template(self.attempt, self.CONTAINER)
        requests = {"cpu": params["pod_cpu"], "memory": memory or params["pod_memory"]}
        limited = ("cpu", "memory") if params["cpu_limit"] else ("memory",)
        self.container_resources = k8s.V1ResourceRequirements(
            requests=requests, limits={name: requests[name] for name in limited}
        )
        self.startup_timeout_seconds = self.schedule_timeout_seconds = params["startup_timeout_s"]
        self.active_deadline_seconds = params["attempt_timeout_s"]
        self.queued_at = datetime.now(UTC)
        try:
            super().execute(context)
        except Exception as error:
            if not self.ended_well():
                raise
            self.log.warning("The pod has ended well, and Kubernetes' API failed meanwhile: %s", error)
        if not self.ended_well():  # of which the provider says nothing where the task is being stopped
            raise AirflowException("The task was stopped")

    def ended_well(self) -> bool:
        """Whether the pod's program has done what it was to do."""
        ended = observe.terminated(self.observed, self.CONTAINER)
        return ended is not None and ended.exit_code == 0

    def find_pod(self, *args: Any, **kwargs: Any) -> k8s.V1Pod | None:
        return ask_again(lambda: super(StorebenchPodOperator, self).find_pod(*args, **kwargs), RIGHTS)

    def cleanup(self, pod: k8s.V1Pod, remote_pod: k8s.V1Pod, *args: Any, **kwargs: Any) -> None:
        self.observe(pod, remote_pod)
        super().cleanup(pod, self.observed or remote_pod, *args, **kwargs)

    def observe(self, pod: k8s.V1Pod | None, known: k8s.V1Pod | None) -> None:
        """Keep the pod's last state and its events. Where the API has none any more, its end is what it was `known` as, if it had ended
        then; else there is none.
        """
        if pod is None or not pod.metadata.name:
            return
        name, namespace = pod.metadata.name, pod.metadata.namespace
        of_the_pod = f"involvedObject.name={name}"
        try:
            self.observed = ask_again(lambda: self.client.read_namespaced_pod(name, namespace), RIGHTS)
            self.events = ask_again(
                lambda: self.client.list_namespaced_event(namespace, field_selector=of_the_pod), RIGHTS
            ).items
        except (ApiException, HTTPError) as error:
            self.log.warning("The pod cannot be looked at any more: %s", error)
        if self.observed is None and observe.terminated(known, self.CONTAINER):
            self.observed = known

    def kubernetes_version(self) -> str | None:
        """The API server's version; None where it does not tell it."""
        try:
            version: str = k8s_client.VersionApi(self.client.api_client).get_code().git_version
        except (ApiException, HTTPError):  # a figure is not lost for want of it
            return None
        return version

    def message(self) -> str | None:
        """What the container left in its termination message."""
        ended = observe.terminated(self.observed, self.CONTAINER)
        return ended.message if ended else None

    def namespace_of_pods(self) -> str:
        """The namespace of this node pool's pods."""
        return self.hook.get_namespace() or "default"

    def clean(self, context: Context) -> None:
        """Remove what runs that are over have left on these nodes and in the stores that are measured there."""
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])

        def drop(left: Undropped) -> None:
            self.go_on()
            self.dropping = DropOperator(left=left, node_pool=self.node_pool)
            self.dropping.drop(context)

        try:
            if left := leftovers.left_here(context["ti"], run_id, self.node_pool.name):
                leftovers.clean(left, self.client, self.namespace_of_pods(), drop)
        except Exception as error:  # noqa: BLE001 - it is no reason not to measure; the next run tries again
            self.log.warning("What earlier runs have left stays where it is: %s", error)
        self.dropping = None
        self.go_on()

    def go_on(self) -> None:
        """Raise where the task was told to stop: Airflow tells it by `on_kill` alone."""
        if self._killed:
            raise AirflowFailException("The task was stopped")

    def on_kill(self) -> None:
        if self.dropping:
            self.dropping.on_kill()
        super().on_kill()


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
        self.look_at_earlier(context)
        if self.operation == DROP and params["keep_data"]:
            raise AirflowSkipException("keep_data: what was written stays in the store")
        if self.operation == "write" and self.node_pool != DEFAULT and not context["ti"].map_index:
            self.clean(context)  # what the dataset's step does in the default pool
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
        filler = name if fills else ""
        spec = spec_of(self.operation, cell, cell.target(run_id, repeat), params, store, filler)
        self.name = f"{store.name}-{self.operation}"
        self.arguments = ["attempt"]
        self.use_store(store, spec)
        if self.operation == DROP and not store.keeps_data:
            raise AirflowSkipException(f"{store.name} keeps nothing that could be dropped")
        if self.operation == "write" and store.keeps_data and not params["keep_data"]:
            connections.left().writes(run_id, cell, repeat)
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
        if self.operation == DROP:
            connections.left().dropped(run_id, cell, repeat)

    def look_at_earlier(self, context: Context) -> None:
        """Stop here, in one of Airflow's ways, where what this cell's earlier tasks came to leaves nothing to do yet, or at all.

        A drop removes their pods first.
        """
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
        if self.operation == DROP:  # whatever else it finds to do
            self.remove_leftovers(context)
        if ends[0] == "skipped":
            raise AirflowSkipException("Nothing was written")
        if self.operation != DROP and ends[0] != "success":
            raise AirflowFailException("Not run: its write has failed")

    def remove_leftovers(self, context: Context) -> None:
        """A pod whose task was killed goes on alone: it must not fall into the next cell's measurement."""
        labels = self._get_ti_pod_labels(context, include_try_number=False)
        own = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id", "map_index"))
        # Each pool of nodes numbers its cells on its own.
        names = (f"{self.node_pool.group}.{operation}" for operation in OPERATIONS)
        tasks = ",".join(make_safe_label_value(name) for name in names)
        leftovers.remove_pods(self.client, self.namespace_of_pods(), f"{own},task_id in ({tasks})")

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
        gone = self._killed and self.observed is None
        result = observe.stopped() if gone else observe.attempt_result(self.observed, self.CONTAINER, failure)
        result = whole(result, spec, connections.s3, connections.PATIENCE_S)
        if self.operation not in OPERATIONS:
            return result
        result = observe.with_kubernetes_reason(result, self.observed, self.CONTAINER)
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


class DropOperator(AttemptOperator):
    """Removes what a run that is over has left in a store. No task of its own: another one's does it before its own work."""

    def __init__(self, *, left: Undropped, **kwargs: Any) -> None:
        super().__init__(
            task_id="clean",
            operation=DROP,
            turn="",
            labels={LEFT: left.target},
            durable=False,
            **kwargs,
        )
        self.left = left

    @staticmethod
    def _get_ti_pod_labels(context: Context | None = None, include_try_number: bool = True) -> dict[str, str]:
        """Not those of the task's own pods, which it would be taken for."""
        return {**AttemptOperator._get_ti_pod_labels(context, include_try_number), "task_id": "clean"}

    def drop(self, context: Context) -> None:
        """Raises StoreUnreachable, or StoreRefused for any other reason for which it stays."""
        store = stores.load(self.left.cell.store)
        self.name = f"{store.name}-clean"
        self.arguments = ["attempt"]
        self.use_store(store, spec_of(DROP, self.left.cell, self.left.target, context["params"], store))
        try:
            self.run_pod(context)
        except Exception as error:
            result = observe.attempt_result(self.observed, self.CONTAINER, error)
            kind = StoreUnreachable if result.error_kind == StoreUnreachable.kind else StoreRefused
            raise kind(f"{result.error_kind}: {result.error}") from error
