"""Define the base class of the operators of a cell's steps: its operations and its drop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowRescheduleException

from storebench.airflow import connections
from storebench.airflow.compat.kubernetes_provider import label_value
from storebench.airflow.compat.tasks import ENDED_STATES, states_of_tasks
from storebench.airflow.operators import leftovers
from storebench.airflow.operators.pickup import LATER, RetriedOperator
from storebench.airflow.operators.specs import spec_of
from storebench.airflow.outcome import observe
from storebench.airflow.outcome.retrieve import full_result
from storebench.airflow.servers.provision import Group, Running, group_of
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.planning.node_pools import DEFAULT
from storebench.planning.params import run_values
from storebench.results.database.repository import run_id_of
from storebench.servers.topology import provisioned_for
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.run_params import RunParams


@dataclass(frozen=True)
class Step:
    """A step of a cell in its run. `operations`: all operations of the cell, in order; `params`: the run's parameters."""

    run_id: str
    params: RunParams
    cell: Cell
    repeat: int
    operations: Sequence[str]

    @property
    def target(self) -> str:
        """The name of the cell's data in its store."""
        return self.cell.target(self.run_id, self.repeat)


class CellStepOperator(RetriedOperator):
    """Run a step of a cell in a pod: `operation` of one turn.

    `turn`: the turn's name in the user interface. The task's map index is the number of the turn among the run's turns in this node pool.
    """

    template_fields: Sequence[str] = (*RetriedOperator.template_fields, "turn")

    def __init__(self, *, study: Study, operation: str, turn: Any, **kwargs: Any) -> None:
        super().__init__(map_index_template="{{ task.turn }}", **kwargs)
        self.study = study
        self.operation = operation
        self.turn = turn
        self.servers: Running | None = None  # the servers that the run provisioned for this step

    def step_of(self, context: Context) -> Step:
        """Return the step that the task of this context performs."""
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        params, number = run_values(self.study, context["params"]), context["ti"].map_index or 0
        repository = connections.repository(connections.PATIENCE_S)
        turn = repository.recorded_turn(run_id, self.node_pool.name, number)
        return Step(run_id, params, turn.cell, turn.repeat, cell_operations(self.study, turn.cell))

    def states_of_earlier(self, names: Sequence[str], context: Context) -> dict[str, str | None]:
        """Return Airflow's states of the cell's earlier steps `names`, by step.

        Reschedules this step if an earlier step has not ended, because a user has cleared the earlier step.
        """
        states = dict(zip(names, self.states_of(names, context), strict=True)) if names else {}
        if not ENDED_STATES.issuperset(states.values()):
            raise AirflowRescheduleException(datetime.now(UTC) + LATER)  # type: ignore[no-untyped-call]
        return states

    def states_of(
        self, operations: Sequence[str], context: Context, number: int | None = None
    ) -> list[str | None]:
        """Return Airflow's states of these operations' tasks; None for a task that has not begun.

        `number`: the cell's map index; None for the cell of this task.
        """
        index = context["ti"].map_index if number is None else number
        task_ids = [f"{self.node_pool.group}.{operation}" for operation in operations]
        states = states_of_tasks(context, task_ids, index)
        return [states.get(f"{task_id}_{index}") for task_id in task_ids]

    def remove_pods_of_cells(self, context: Context, numbers: Sequence[int]) -> None:
        """Remove the pods of attempts at the cells with these map indexes, and wait until the pods are gone.

        A pod whose task was killed keeps running, and would disturb another cell's measurement.
        """
        selector = self.attempts_of_run(context)
        for number in numbers:
            leftovers.remove_pods(self.client, self.namespace_of_pods(), f"map_index={number},{selector}")

    def ended_cells_with_pods(self, context: Context) -> list[int]:
        """Return the map indexes of the run's cells whose steps have ended and that still have pods."""
        numbers = leftovers.cells_with_pods(
            self.client, self.namespace_of_pods(), self.attempts_of_run(context)
        )
        names = [operation.name for operation in self.study.operations]
        return [
            number for number in numbers if ENDED_STATES.issuperset(self.states_of(names, context, number))
        ]

    def attempts_of_run(self, context: Context) -> str:
        """Return the label selector of the pods of the run's attempts in this node pool."""
        labels = self.labels_of_task(context)
        run = ",".join(f"{name}={labels[name]}" for name in ("dag_id", "run_id"))
        # Cells are numbered within their node pool.
        names = (f"{self.node_pool.group}.{operation.name}" for operation in self.study.operations)
        tasks = ",".join(label_value(name) for name in names)
        return f"{run},task_id in ({tasks})"

    def group_of(self, step: Step) -> Group | None:
        """Return the set of servers that the run provisions for this step; None if the step uses no servers of the run."""
        if not self.may_use_servers:
            return None
        return group_of(self.study, step.cell, step.params)

    @property
    def may_use_servers(self) -> bool:
        """Return whether a run of this study can provision servers for cells of this node pool."""
        return self.node_pool == DEFAULT and bool(provisioned_for(self.study))

    def use_step(self, step: Step, filler: str = "") -> AttemptSpec:
        """Set the pod's name, image and credentials for this step. Returns the pod's specification.

        `filler`: the store that does the operation instead of the cell's store.
        """
        spec = spec_of(self.study, self.operation, step.cell, step.target, step.params, filler)
        store = self.study.store(spec.store)
        self.name = f"{store.name}-{self.operation}".replace("_", "-")
        self.use_store(store, spec, self.servers)
        return spec

    def read_result(self, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Return the ended pod's complete result, from its message and from S3. `failure`: the operator's error, or None.

        The result names its object in S3. The object stays in S3 until `discard` removes it.
        """
        if self.is_stopped and self.observed is None:
            result = observe.stopped()
        else:
            result = observe.attempt_result(self.observed, self.CONTAINER, failure)
        result = full_result(result, spec, connections.s3, connections.PATIENCE_S)
        return observe.with_kubernetes_reason(result, self.observed, self.CONTAINER)


def cell_operations(study: Study, cell: Cell) -> list[str]:
    """Return the names of a cell's operations, in order: its store's operations, and the operations of the filling store on which they
    depend.
    """
    info = study.store(cell.store)
    names = {operation.name for operation in study.operations_in(cell)}
    if info.filled_by:
        filler = {operation.name for operation in study.operations_in(replace(cell, store=info.filled_by))}
        for operation in reversed(study.operations):
            if operation.name in names:
                names |= filler.intersection(operation.needs)
    return [operation.name for operation in study.operations if operation.name in names]
