"""The operator that tries one operation of one cell, in a pod."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from airflow import __version__ as airflow_version
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.cncf.kubernetes.pod_generator import make_safe_label_value
from airflow.sdk import Context
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSkipException,
)

from storebench import stores
from storebench.airflow import connections, leftovers, observe
from storebench.airflow.cleaning import CleaningOperator
from storebench.airflow.node_pools import DEFAULT
from storebench.airflow.params import common_values
from storebench.airflow.plan import reason_to_stop
from storebench.airflow.priority import STEPS
from storebench.airflow.retrieve import whole
from storebench.airflow.specs import spec_of
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import DROP, AttemptSpec
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StoreUnreachable
from storebench.parameters import measured_with
from storebench.results.repository import AttemptKey, dataset_id, run_id_of
from storebench.results.stopped import COMMAND
from storebench.stores.base import OPERATIONS

# If a task is queued again before the scheduler has seen that its process ended, the scheduler takes it for killed. It looks at
# processes about every second, and on a busy machine every few seconds.
LATER = timedelta(seconds=20)
# A drop is tried again if the store does not answer, so that no data stays there. Nothing in a drop is timed.
DROP_RETRIES = 6
ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}


class AttemptOperator(CleaningOperator):
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
        self.parameters: dict[str, Any] = {}  # the parameters that change what is measured

    def execute(self, context: Context) -> None:
        params, run_id = common_values(context["params"]), run_id_of(context["dag"].dag_id, context["run_id"])
        self.look_at_earlier(context)
        if self.operation == DROP and params["keep_data"]:
            raise AirflowSkipException("keep_data is set: the written data stays in the store")
        if self.operation == "write" and self.node_pool != DEFAULT and not context["ti"].map_index:
            self.clean(context)  # in the default pool, the step dataset does that
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
            raise AirflowSkipException(f"{store.name} keeps no data: there is nothing to drop")
        to_drop = self.operation == "write" and store.keeps_data and not params["keep_data"]
        if to_drop:
            connections.left().writes(run_id, cell, repeat)
            self.say_what_stays(context, f"{spec.target} in {store.name}")
        operation = operations[0] if fills else self.operation
        key = AttemptKey(run_id, cell.key, repeat, operation, context["ti"].try_number)
        try:
            self.run_pod(context)
        except AirflowException as error:
            result = self.record(key, spec, error)
            again = self.operation == DROP and result.error_kind == StoreUnreachable.kind
            ending = AirflowException if again else AirflowFailException
            raise ending(f"{result.error_kind}: {result.error}") from error
        except BaseException as error:  # a killed task raises no AirflowException, and still gets its row
            self.record(key, spec, error)
            raise
        if not fills:
            self.record(key, spec, None)
        if to_drop:
            size_bytes = observe.attempt_result(self.observed, self.CONTAINER, None).data_bytes
            connections.left().written(run_id, cell, repeat, size_bytes)
        if self.operation == DROP:
            connections.left().dropped(run_id, cell, repeat)

    def look_at_earlier(self, context: Context) -> None:
        """Stop here, in one of Airflow's ways, where what this cell's earlier tasks came to leaves nothing to do yet, or at all.

        A drop removes their pods first.
        """
        earlier = STEPS[: STEPS.index(self.operation)]
        if not earlier:
            return
        ends = self.states_of(earlier, context)
        if not ENDED.issuperset(ends):  # one of them was cleared
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]
        if self.operation == DROP:  # in every case
            self.remove_leftovers(context)
        if ends[0] == "skipped":
            raise AirflowSkipException("Nothing was written: there is nothing to do")
        if self.operation != DROP and ends[0] != "success":
            raise AirflowFailException("Not run, because its write failed")

    def say_what_stays(self, context: Context, written: str) -> None:
        """Of a write that was cleared without its drop, what it leaves."""
        if context["ti"].try_number <= 1:
            return
        if ENDED.issuperset(self.states_of([DROP], context)):
            self.log.warning(
                "This write was cleared, and the drop of its cell was not: it has ended, and does not run again by itself. So what this"
                " write leaves stays in the store: %s. To remove it, clear the drop, too, or type %s. Else the next run removes it",
                written,
                COMMAND,
            )

    def states_of(self, operations: Sequence[str], context: Context) -> list[str | None]:
        """Airflow's states of these operations' tasks of the same cell; None of one that did not begin."""
        ti = context["ti"]
        task_ids = [f"{self.node_pool.group}.{operation}" for operation in operations]
        states = ti.get_task_states(
            dag_id=context["dag"].dag_id,
            map_index=ti.map_index,
            task_ids=task_ids,
            run_ids=[context["run_id"]],
        ).get(context["run_id"], {})
        return [states.get(f"{task_id}_{ti.map_index}") for task_id in task_ids]

    def remove_leftovers(self, context: Context) -> None:
        """A pod whose task was killed goes on alone: it must not fall into the next cell's measurement."""
        labels = self._get_ti_pod_labels(context, include_try_number=False)
        own = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id", "map_index"))
        # Each pool of nodes numbers its cells on its own.
        names = (f"{self.node_pool.group}.{operation}" for operation in OPERATIONS)
        tasks = ",".join(make_safe_label_value(name) for name in names)
        leftovers.remove_pods(self.client, self.namespace_of_pods(), f"{own},task_id in ({tasks})")

    def record(self, key: AttemptKey, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Write the attempt's row; a drop has none. Returns what came of it."""
        gone = self._killed and self.observed is None
        result = observe.stopped() if gone else observe.attempt_result(self.observed, self.CONTAINER, failure)
        result = whole(result, spec, connections.s3, connections.PATIENCE_S)
        if self.operation not in OPERATIONS:
            return result
        result = observe.with_kubernetes_reason(result, self.observed, self.CONTAINER)
        if spec.store:
            result.error = f"{spec.store} could not write its table: {result.error}"
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
