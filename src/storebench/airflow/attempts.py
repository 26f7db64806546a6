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
from storebench.airflow.plan import reason_to_stop
from storebench.airflow.retrieve import discard, whole
from storebench.airflow.specs import spec_of
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import ServerDied, StorebenchError, StoreUnreachable
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
CLEARED_TRY = 0  # of the row of a step that was cleared when its data was gone: it is no try, so an earlier one still counts


class AttemptOperator(RetriedOperator):
    """One attempt: runs `operation` of a run's turn in a pod and records what came of it, whatever it was.

    `turn` is its name in the user interface; which one it is of the run's in this node pool, the task's map index says.
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
        self.servers: Running | None = None  # that the run has brought for it

    def execute(self, context: Context) -> None:
        study = self.study
        params, run_id = (
            values_of(study, context["params"]),
            run_id_of(context["dag"].dag_id, context["run_id"]),
        )
        ends = self.ends_of_earlier(context)
        own = context["ti"].map_index or 0
        if self.operation == DROP:
            self.remove_leftovers(context, [own])  # in every case
            if params["keep_data"]:
                raise AirflowSkipException("keep_data is set: the data stays in the store")
            if set(ends.values()) == {"skipped"}:
                raise AirflowSkipException("Nothing was done: there is nothing to remove")
        if not ends and DROP not in study.steps:
            self.remove_leftovers(context, self.cells_left(context))
        again = bool(earlier_tries(context["ti"], self.retries))
        # In the default pool a step before the cells does that.
        if not ends and own == 0 and self.node_pool != DEFAULT and not again:
            self.clean(context)
        repository = connections.repository(connections.PATIENCE_S)
        turn = repository.recorded_turn(run_id, self.node_pool.name, own)
        cell, repeat = turn.cell, turn.repeat
        steps = steps_of(study, cell.store)
        first = self.operation == steps[0]
        if self.operation != DROP:
            self.look_at(ends, cell.store, steps)
        for_operation, filler = self.work_at(cell.store)
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
            # At the first, nothing is there yet, but for what an earlier try has left
            connections.left().leaves(run_id, cell, repeat, anew=first and not picks_up)
            if group is None:  # what is in servers of the run goes with them
                self.say_what_stays(context, f"{spec.target} in {store.name}")
        try:
            if first and self.claim and not picks_up:
                volumes.make(self.client, self.namespace_of_pods(), self.claim, params, self.go_on)
            self.run_pod(context)
        except Exception as error:
            result = self.record(key, spec, error)
            if picks_up and self.is_verified(key):
                return  # the process that was to be replaced lived long enough
            passes = result.error_kind == StoreUnreachable.kind or not isinstance(error, AirflowException)
            ending = AirflowException if self.operation == DROP and passes else AirflowFailException
            raise ending(f"{result.error_kind}: {result.error}") from error
        except BaseException as error:  # the process is being ended, and the attempt still gets its row
            self.record(key, spec, error)
            raise
        result = observe.attempt_result(self.observed, self.CONTAINER, None)
        size_bytes = result.data_bytes
        if filler and result.status == "verified":
            self.remove_pod()
        else:
            result = self.record(key, spec, None)
        if leaves and (first or size_bytes is not None):  # one that changes nothing tells none
            connections.left().has_left(run_id, cell, repeat, size_bytes)
        # The program ended well, but its result may break the protocol: then no step that needs this one may run.
        if result.status != "verified" and (self.operation != DROP or self.message()):
            raise AirflowFailException(f"{result.error_kind}: {result.error}")
        if self.operation == DROP:
            connections.left().dropped(run_id, cell, repeat)

    def work_at(self, store: str) -> tuple[str, str]:
        """The operation of the store's whose row tells a failure of this step, and the name of the store that does the step in its place.

        What a store needs and has not itself, the one that fills it does: such a step has no row of its own.
        """
        has = self.study.operations_of(store)
        if self.operation == DROP or self.operation in {one.name for one in has}:
            return self.operation, ""
        filled = {self.operation}  # and the steps that need it, one after the other
        for one in self.study.operations:
            if filled.intersection(one.needs):
                if one in has:
                    return one.name, self.study.store(store).filled_by or ""
                filled.add(one.name)
        raise AssertionError(f"{store} has no {self.operation}")

    def ends_of_earlier(self, context: Context) -> dict[str, str | None]:
        """How the steps of this cell that come before this one have ended. Where one has not, it was cleared: then this one waits."""
        names = [one.name for one in self.study.operations]
        earlier = names if self.operation == DROP else names[: names.index(self.operation)]
        ends = dict(zip(earlier, self.states_of(earlier, context), strict=True)) if earlier else {}
        if not ENDED.issuperset(ends.values()):
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]
        return ends

    def look_at(self, ends: Mapping[str, str | None], store: str, steps: Sequence[str]) -> None:
        """Stop here, in one of Airflow's ways, where what this cell's earlier steps came to leaves nothing to do; `steps` are the cell's."""
        if self.operation not in steps:
            raise AirflowSkipException(f"{store} has no {self.operation}")
        if ends.get(steps[0]) == "skipped":
            raise AirflowSkipException(f"Its {steps[0]} was skipped: there is nothing to do")
        if failed := next((name for name in self.needs_of(steps) if ends[name] != "success"), None):
            raise AirflowFailException(f"Not run, because its {failed} failed")

    def needs_of(self, steps: Sequence[str]) -> list[str]:
        """Those of the steps of its cell without which this one is not run."""
        return [name for name in self.study.operation(self.operation).needs if name in steps]

    def say_what_stays(self, context: Context, kept: str) -> None:
        """Of an operation that was cleared without its drop, what it leaves."""
        if context["ti"].try_number <= 1:
            return
        if ENDED.issuperset(self.states_of([DROP], context)):
            self.log.warning(
                "This step was cleared, and the drop of its cell was not: it has ended, and does not run again by itself. So what this"
                " step leaves stays in the store: %s. To remove it, clear the drop, too, or type %s. Else the next run removes it",
                kept,
                COMMAND,
            )

    def states_of(
        self, operations: Sequence[str], context: Context, number: int | None = None
    ) -> list[str | None]:
        """Airflow's states of these operations' tasks of the same cell, or of the one with this number; None of one that did not begin."""
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
        """Remove the pods of the attempts at the cells with these numbers. A pod whose task was killed goes on alone: it must not fall into
        another cell's measurement, so it is waited for.
        """
        selector = self.attempts_of_run(context)
        for number in numbers:
            leftovers.remove_pods(self.client, self.namespace_of_pods(), f"map_index={number},{selector}")

    def cells_left(self, context: Context) -> list[int]:
        """The numbers of the run's cells whose steps have ended, and of which pods are there."""
        found = leftovers.cells_with_pods(
            self.client, self.namespace_of_pods(), self.attempts_of_run(context)
        )
        names = [one.name for one in self.study.operations]
        return [number for number in found if ENDED.issuperset(self.states_of(names, context, number))]

    def attempts_of_run(self, context: Context) -> str:
        """Selects the pods of the run's attempts on these nodes."""
        labels = self._get_ti_pod_labels(context, include_try_number=False)
        run = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id"))
        # Each pool of nodes numbers its cells on its own.
        names = (f"{self.node_pool.group}.{one.name}" for one in self.study.operations)
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
        """Those that the run brings for this step, ready: none for None. Where they cannot be brought, or have lost what an earlier step
        has left there, the step ends here, with a row that says so.
        """
        servers = Servers(key.run_id)
        if group and (self.pod or self.operation == DROP or self.needs_of(steps)):
            if running := servers.as_brought(group) if self.pod else servers.still(group):
                return running
            if self.operation == DROP:
                connections.left().dropped(key.run_id, cell, key.repeat)
                raise AirflowSkipException(
                    "The servers that the run brought are gone, and the data with them"
                )
            reason = f"The servers {group.key} are not the same any more, and what its cell had there is lost: a server has died"
            self.record_not_run(key, self.study, ServerDied.kind, reason)
            raise AirflowFailException(reason)
        if group is None and (self.pod or self.operation != steps[0]):
            return None  # its first step has removed what was there
        try:
            return servers.bring(group, params, self.go_on)
        except StorebenchError as error:
            self.record_not_run(key, self.study, error.kind, str(error))
            raise AirflowFailException(str(error)) from None

    def record(self, key: AttemptKey, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Record the attempt's row; a drop has none. Then remove the pod and its result. Returns what came of it."""
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
                metrics={},  # of another operation
                histograms={},
                series={},
                error=f"{spec.store} could not do its {spec.operation}: {result.error}",
            )
        store, servers = self.study.store(spec.store), self.servers is not None
        result = judged(result, store, cpu_limit=spec.cpu_limited, servers=servers)
        result = checked(result, self.study, operation)
        pod = observe.pod_record(self.observed, self.CONTAINER)
        # A stop removes the servers, too
        if self.servers and not self._killed and (deaths := Servers(key.run_id).deaths(self.servers)):
            result = observe.with_deaths(result, deaths)
        if result.status == "verified" and result.total_s is None:  # the pod did not measure it
            result.total_s = pod.pod_total_s
        result.method_version = self.study.method_version
        # A pod in another language may say nothing of it.
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
    """Why a step that was cleared alone is not run."""
    return (
        "Its data is not in the store any more: it was dropped at the end of its cell. To measure it again, clear all steps of its"
        f" cell together: {', '.join(study.steps)}"
    )


def steps_of(study: Study, store: str) -> list[str]:
    """The operations of a cell at this store, in their order: those that it has, and what another store does for it, as they need it."""
    info = study.store(store)
    steps = {one.name for one in study.operations_of(store)}
    if info.filled_by:
        filler = {one.name for one in study.operations_of(info.filled_by)}
        for one in reversed(study.operations):
            if one.name in steps:
                steps |= filler.intersection(one.needs)
    return [one.name for one in study.operations if one.name in steps]
