"""The operator that tries one operation of one cell, in a pod."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
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

from storebench.airflow import connections, leftovers, observe, volumes
from storebench.airflow.brought import Group, Running, Servers, group_of
from storebench.airflow.checked import checked
from storebench.airflow.judged import judged
from storebench.airflow.node_pools import DEFAULT
from storebench.airflow.params import values_of
from storebench.airflow.pickup import LATER, RETRIES, RetriedOperator, earlier_tries, try_of
from storebench.airflow.retrieve import discard, whole
from storebench.airflow.specs import spec_of
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import ServerDied, StorebenchError, StoreUnreachable
from storebench.planning.turns import reason_to_stop
from storebench.results.attempts import AttemptKey
from storebench.results.repository import run_id_of
from storebench.results.stopped import COMMAND
from storebench.servers.topology import brought_for
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.parameters import measured_with
from storebench.study.reserved import DROP

# A drop is tried again if the store does not answer, so that no data stays there. Nothing in a drop is timed.
DROP_RETRIES = 6
ENDED = {"success", "failed", "skipped", "upstream_failed", "removed"}
CLEARED_TRY = 0  # in the row of a step that was cleared after its data was dropped: the row does not supersede an earlier try


class AttemptOperator(RetriedOperator):
    """An attempt: runs `operation` of one turn in a pod, and records the result, also of a failure.

    `turn`: the turn's name in the user interface. The task's map index is the turn's number within the run and this node pool.
    """

    template_fields: Sequence[str] = (*KubernetesPodOperator.template_fields, "turn")

    def __init__(self, *, study: Study, operation: str, turn: Any, **kwargs: Any) -> None:
        super().__init__(
            map_index_template="{{ task.turn }}",
            retries=DROP_RETRIES if operation == DROP else RETRIES,
            **kwargs,
        )
        self.study = study
        self.operation = operation
        self.turn = turn
        self.parameters: dict[str, Any] = {}  # the parameters that change what is measured
        self.servers: Running | None = None  # provisioned by the run for this attempt

    def execute(self, context: Context) -> None:
        study = self.study
        params, run_id = (
            values_of(study, context["params"]),
            run_id_of(context["dag"].dag_id, context["run_id"]),
        )
        ends = self.ends_of_earlier(context)
        number = context["ti"].map_index or 0
        if self.operation == DROP:
            self.remove_leftovers(context, [number])  # also where the drop is skipped
            if params["keep_data"]:
                raise AirflowSkipException("keep_data is set: the data stays in the store")
            if set(ends.values()) == {"skipped"}:
                raise AirflowSkipException("Nothing was done: there is nothing to remove")
        if not ends and DROP not in study.steps:
            self.remove_leftovers(context, self.cells_left(context))
        again = bool(earlier_tries(context["ti"], self.retries))
        # In the default node pool, a step before the cells cleans up.
        if not ends and number == 0 and self.node_pool != DEFAULT and not again:
            self.clean(context)
        repository = connections.repository(connections.PATIENCE_S)
        turn = repository.recorded_turn(run_id, self.node_pool.name, number)
        cell, repeat = turn.cell, turn.repeat
        steps = steps_of(study, cell.store)
        first = self.operation == steps[0]
        if self.operation != DROP:
            self.end_if_nothing_to_do(ends, cell.store, steps)
        for_operation, filler = self.operation_and_filler(cell.store)
        key = AttemptKey(run_id, cell.key, repeat, for_operation, context["ti"].try_number)
        if self.operation != DROP and self.is_done(context, key, study, filler):
            return
        if self.pod:
            key = replace(key, try_number=try_of(self.pod))
        queries = connections.queries(connections.PATIENCE_S)
        picks_up = self.pod is not None
        if not picks_up:
            if first and (reason := reason_to_stop(study, queries, run_id, cell, repeat, params)):
                repository.skip(run_id, cell, repeat, reason)
                raise AirflowSkipException(f"Not needed: {reason}")
            self.wait_for_unwatched()
        group = None
        if self.node_pool == DEFAULT and brought_for(study):
            group = group_of(study, cell, params)
            self.servers = self.servers_for(group, key, cell, params, steps)
        name = filler or cell.store
        store = study.store(name)
        self.parameters = measured_with(study, cell.store, params, brings=group is not None)
        spec = spec_of(study, self.operation, cell, cell.target(run_id, repeat), params, filler)
        self.name = f"{store.name}-{self.operation}".replace("_", "-")
        self.use_store(store, spec, self.servers)
        if self.operation == DROP and not store.keeps_data:
            raise AirflowSkipException(f"{store.name} keeps no data: there is nothing to drop")
        if self.operation == DROP and self.remove_volume():
            connections.left().dropped(run_id, cell, repeat)
            return
        leaves = self.operation != DROP and store.keeps_data and not params["keep_data"]
        if leaves:
            if self.needs_of(steps) and not connections.left().holds(run_id, cell, repeat):
                reason = dropped(study)
                self.record_not_run(replace(key, try_number=CLEARED_TRY), study, "not_run", reason)
                raise AirflowFailException(reason)
            # Before the cell's first operation, the store holds at most the data of an earlier try.
            connections.left().leaves(run_id, cell, repeat, anew=first and not picks_up)
            if group is None:  # the run's own servers are removed with their data
                self.warn_of_kept_data(context, f"{spec.target} in {store.name}")
        try:
            if first and self.claim and not picks_up:
                volumes.make(self.client, self.namespace_of_pods(), self.claim, params, self.go_on)
            self.run_pod(context)
        except Exception as error:
            result = self.record(key, spec, error)
            if picks_up and self.is_verified(key):
                return  # the process that this try replaces has recorded the attempt
            passes = result.error_kind == StoreUnreachable.kind or not isinstance(error, AirflowException)
            ending = AirflowException if self.operation == DROP and passes else AirflowFailException
            raise ending(f"{result.error_kind}: {result.error}") from error
        except BaseException as error:  # the process is being stopped: the attempt still gets its row
            self.record(key, spec, error)
            raise
        result = observe.attempt_result(self.observed, self.CONTAINER, None)
        size_bytes = result.data_bytes
        if filler and result.status == "verified":
            self.remove_pod()
        else:
            result = self.record(key, spec, None)
        if leaves and (first or size_bytes is not None):  # an operation that changes no data reports no size
            connections.left().has_left(run_id, cell, repeat, size_bytes)
        # The result of a program that exited with 0 may break the protocol. Then no step that depends on this step may run.
        if result.status != "verified" and (self.operation != DROP or self.message()):
            raise AirflowFailException(f"{result.error_kind}: {result.error}")
        if self.operation == DROP:
            connections.left().dropped(run_id, cell, repeat)

    def operation_and_filler(self, store: str) -> tuple[str, str]:
        """Return the operation whose row records a failure of this step, and the name of the filling store, empty without one.

        A filling store does an operation that `store` depends on and does not have. Such a step has no row of its own.
        """
        operations = self.study.operations_of(store)
        if self.operation == DROP or self.operation in {operation.name for operation in operations}:
            return self.operation, ""
        filled = {self.operation}  # and the steps that depend on this step, directly or through others
        for operation in self.study.operations:
            if filled.intersection(operation.needs):
                if operation in operations:
                    return operation.name, self.study.store(store).filled_by or ""
                filled.add(operation.name)
        raise AssertionError(f"{store} has no {self.operation}")

    def ends_of_earlier(self, context: Context) -> dict[str, str | None]:
        """Return Airflow's states of the cell's earlier steps, by step.

        Reschedules this step while an earlier step has not ended: the earlier step was cleared.
        """
        names = [operation.name for operation in self.study.operations]
        earlier = names if self.operation == DROP else names[: names.index(self.operation)]
        ends = dict(zip(earlier, self.states_of(earlier, context), strict=True)) if earlier else {}
        if not ENDED.issuperset(ends.values()):
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]
        return ends

    def end_if_nothing_to_do(self, ends: Mapping[str, str | None], store: str, steps: Sequence[str]) -> None:
        """Skip or fail this step where the states `ends` of the earlier steps leave nothing to do; `steps`: all steps of the cell."""
        if self.operation not in steps:
            raise AirflowSkipException(f"{store} has no {self.operation}")
        if ends.get(steps[0]) == "skipped":
            raise AirflowSkipException(f"The cell's {steps[0]} was skipped: there is nothing to do")
        if failed := next((name for name in self.needs_of(steps) if ends[name] != "success"), None):
            raise AirflowFailException(f"Not run, because the cell's {failed} failed")

    def needs_of(self, steps: Sequence[str]) -> list[str]:
        """Return the steps of the cell that this step depends on; `steps`: all steps of the cell."""
        return [name for name in self.study.operation(self.operation).needs if name in steps]

    def warn_of_kept_data(self, context: Context, kept: str) -> None:
        """Warn that this step was cleared without its cell's drop, so that the data `kept` stays in the store."""
        if context["ti"].try_number <= 1:
            return
        if ENDED.issuperset(self.states_of([DROP], context)):
            self.log.warning(
                "This step was cleared, but the drop of its cell was not. The drop has ended and does not run again by itself, so this"
                " step's data stays in the store: %s. To remove the data, clear the drop, too, or type %s. Otherwise the next run does",
                kept,
                COMMAND,
            )

    def states_of(
        self, operations: Sequence[str], context: Context, number: int | None = None
    ) -> list[str | None]:
        """Return Airflow's states of these operations' tasks in this cell, or in the cell `number`; None for a task that has not begun."""
        ti = context["ti"]
        index = ti.map_index if number is None else number
        task_ids = [f"{self.node_pool.group}.{operation}" for operation in operations]
        states = ti.get_task_states(
            dag_id=context["dag"].dag_id,
            map_index=index,
            task_ids=task_ids,
            run_ids=[context["run_id"]],
        ).get(context["run_id"], {})
        return [states.get(f"{task_id}_{index}") for task_id in task_ids]

    def remove_leftovers(self, context: Context, numbers: Sequence[int]) -> None:
        """Remove the pods of attempts at the cells with these numbers, and wait until the pods are gone.

        A pod whose task was killed goes on by itself, and would disturb another cell's measurement.
        """
        selector = self.attempts_of_run(context)
        for number in numbers:
            leftovers.remove_pods(self.client, self.namespace_of_pods(), f"map_index={number},{selector}")

    def cells_left(self, context: Context) -> list[int]:
        """Return the numbers of the run's cells whose steps have ended, and which still have pods."""
        numbers = leftovers.cells_with_pods(
            self.client, self.namespace_of_pods(), self.attempts_of_run(context)
        )
        names = [operation.name for operation in self.study.operations]
        return [number for number in numbers if ENDED.issuperset(self.states_of(names, context, number))]

    def attempts_of_run(self, context: Context) -> str:
        """Return the selector of the pods of the run's attempts in this node pool."""
        labels = self._get_ti_pod_labels(context, include_try_number=False)
        run = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id"))
        # Cells are numbered within their node pool.
        names = (f"{self.node_pool.group}.{operation.name}" for operation in self.study.operations)
        tasks = ",".join(make_safe_label_value(name) for name in names)
        return f"{run},task_id in ({tasks})"

    def servers_for(
        self,
        group: Group | None,
        key: AttemptKey,
        cell: Cell,
        params: Mapping[str, Any],
        steps: Sequence[str],
    ) -> Running | None:
        """Return the set of servers `group`, ready for this step; None where the step needs no servers of the run.

        Ends the step, with a row that has the reason, where the servers cannot start or have lost the data of an earlier step.
        """
        servers = Servers(key.run_id)
        if group and (self.pod or self.operation == DROP or self.needs_of(steps)):
            if running := servers.as_brought(group) if self.pod else servers.still(group):
                return running
            if self.operation == DROP:
                connections.left().dropped(key.run_id, cell, key.repeat)
                raise AirflowSkipException(
                    "The servers that the run provisioned are gone, and their data with them"
                )
            reason = f"The servers {group.key} have changed, and the cell's data on them is lost: a server has died"
            self.record_not_run(key, self.study, ServerDied.kind, reason)
            raise AirflowFailException(reason)
        if group is None and (self.pod or self.operation != steps[0]):
            return None  # the cell's first step has removed all servers of the run
        try:
            return servers.bring(group, params, self.go_on)
        except StorebenchError as error:
            self.record_not_run(key, self.study, error.kind, str(error))
            raise AirflowFailException(str(error)) from None

    def record(self, key: AttemptKey, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Record the attempt's row (a drop has none), then remove the pod and its result in S3. Returns the result."""
        gone = self._killed and self.observed is None
        result = observe.stopped() if gone else observe.attempt_result(self.observed, self.CONTAINER, failure)
        result = read = whole(result, spec, connections.s3, connections.PATIENCE_S)
        result = observe.with_kubernetes_reason(result, self.observed, self.CONTAINER)
        if self.operation == DROP:
            discard(read, spec, connections.s3, connections.PATIENCE_S)
            self.remove_pod()
            return result
        operation, cell = self.study.operation(key.operation), Cell.from_key(spec.cell_key)
        if spec.store != cell.store:
            result = replace(
                result,
                metrics={},  # the pod's figures are of another operation
                histograms={},
                series={},
                error=f"{spec.store} could not do its {spec.operation}: {result.error}",
            )
        store, servers = self.study.store(spec.store), self.servers is not None
        result = judged(result, store, cpu_limit=spec.cpu_limited, servers=servers)
        result = checked(result, self.study, operation)
        pod = observe.pod_record(self.observed, self.CONTAINER)
        # Stopping a run also removes its servers: that is no death
        if self.servers and not self._killed and (deaths := Servers(key.run_id).deaths(self.servers)):
            result = observe.with_deaths(result, deaths)
        if result.status == "verified" and result.total_s is None:  # the pod did not measure it
            result.total_s = pod.pod_total_s
        result.method_version = self.study.method_version
        # A pod in another language may report no environment.
        if result.environment or result.status == "verified":
            result.environment |= observe.pod_environment(self.observed, self.CONTAINER)
            result.environment |= self.servers.environment(pod.node) if self.servers else {}
            result.environment |= {"kubernetes": self.kubernetes_version(), "airflow": airflow_version}
        phases = observe.phases(self.observed, self.events, self.CONTAINER, self.queued_at, result)
        connections.repository(connections.PATIENCE_S).add_attempt(
            key,
            result,
            pod,
            phases=phases,
            metric=operation.ranked_by if operation.ranked_by in result.metrics else None,
            target=spec.target,
            dataset=self.study.dataset_of(cell, self.parameters),
            parameters=self.parameters,
        )
        self.log.info("Recorded attempt %s: %s %s", key.id, result.status, json.dumps(phases))
        discard(read, spec, connections.s3, connections.PATIENCE_S)
        self.remove_pod()
        return result


def dropped(study: Study) -> str:
    """Return why a step that was cleared alone is not run."""
    return (
        "The cell's data is no longer in the store: it was dropped at the end of the cell. To measure the step again, clear all steps of"
        f" the cell together: {', '.join(study.steps)}"
    )


def steps_of(study: Study, store: str) -> list[str]:
    """Return the operations of a cell at this store, in order: the store's own, and the filling store's that these depend on."""
    info = study.store(store)
    steps = {operation.name for operation in study.operations_of(store)}
    if info.filled_by:
        filler = {operation.name for operation in study.operations_of(info.filled_by)}
        for operation in reversed(study.operations):
            if operation.name in steps:
                steps |= filler.intersection(operation.needs)
    return [operation.name for operation in study.operations if operation.name in steps]
