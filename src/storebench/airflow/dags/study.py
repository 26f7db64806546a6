"""Create a study's DAG: plan -> dataset -> one mapped group for each cell (its operations -> drop) -> aggregate.

Without a dataset, a step that only cleans up replaces the step `dataset`. Where no store keeps data, a cell has no drop.
Where a run can provision servers: dataset -> servers -> cells -> remove_servers, which is a teardown (docs/decisions/0024).
With several node pools, each node pool has a separate group.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from airflow.sdk import (
    DAG,
    Asset,
    BaseOperator,
    Context,
    Param,
    XComArg,
    get_current_context,
    task,
    task_group,
)
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections
from storebench.airflow.compat.priority import MOST_STEPS, CellByCell
from storebench.airflow.compat.tasks import states_of_tasks
from storebench.airflow.compat.timetable import GridTimetable
from storebench.airflow.dags.plan import turns_on
from storebench.airflow.dags.plan_step import PlanOperator
from storebench.airflow.kubernetes import secrets
from storebench.airflow.operators.attempts import AttemptOperator
from storebench.airflow.operators.cleaning import BeforeCellsOperator
from storebench.airflow.operators.dataset import DatasetOperator
from storebench.airflow.operators.drops import DropOperator
from storebench.airflow.operators.run_end import failed_step
from storebench.airflow.servers.provision import Servers, groups_of
from storebench.errors import SpecError, StorebenchError
from storebench.planning.doc import cleared, doc_of
from storebench.planning.node_pools import DEFAULT, NodePool, node_pools
from storebench.planning.params import MEASURED, check_presets, run_values, sections_of
from storebench.planning.turns import killed_of
from storebench.results.database.queries import broken_first
from storebench.results.database.repository import run_id_of
from storebench.results.runs.gaps import fill_gaps
from storebench.results.runs.summary import refresh
from storebench.servers.topology import provisioned_for
from storebench.study.check import problems_of_stores
from storebench.study.faults import problems_of_faults
from storebench.study.model import Study
from storebench.study.partition import partitions
from storebench.study.record import StudyRecord
from storebench.study.reserved import DROP
from storebench.study.several_pods import problems_of_pods
from storebench.study.studies import folder

AGGREGATE = "aggregate"  # the last step of a run
MOST_NAMED = 50  # failures that a run's error names; the results list all failures


def study_dag(study: Study) -> DAG:
    """Create the DAG of `study`. Airflow finishes a cell before it starts the next cell in the same pool of nodes. The pods of a node pool
    run one at a time, because its Airflow pool has one slot unless the user gives it more.

    A study's file calls this function. Raises SpecError for a study that cannot run, and for a study whose name differs from the name of
    its file: a copy of a study's file would otherwise replace the DAG of that study.
    """
    file = Path(sys._getframe(1).f_globals.get("__file__", ""))
    if file.parent == folder() and file.stem != study.name:
        raise SpecError(
            f"{file.name} has no study of the name {file.stem!r}, but one of the name {study.name!r}: give the study the name of its file"
        )
    study.refuse([*problems_of_stores(study), *problems_of_pods(study), *problems_of_faults(study)])
    finished = Asset(f"storebench://{study.name}")
    with DAG(
        dag_id=study.name,
        description=study.description.split("\n")[0],
        doc_md=doc_of(study),
        schedule=GridTimetable(partitions(study), StudyRecord.of(study).as_json()),
        start_date=datetime(2024, 1, 1, tzinfo=UTC),
        catchup=False,
        max_active_runs=1,
        params=params_of(study),
        tags=["storebench", "study"],
    ) as dag:

        @task(task_id=AGGREGATE, trigger_rule="all_done", outlets=[finished])
        def aggregate() -> None:
            """Add a row for each operation without an attempt, close the run, remove its Secrets, and fail the run if anything failed.

            Airflow emits the event of the asset only if this task succeeds.
            """
            context = get_current_context()
            repository = connections.repository(connections.PATIENCE_S)
            run_id = run_id_of(context["dag"].dag_id, context["run_id"])
            states = states_of_tasks(context)
            tasks = sorted(name for name, state in states.items() if state == "failed")
            killed = killed_of(study, states, repository.recorded_turns(run_id))
            reason = failed_step(states)
            if gaps := fill_gaps(repository, run_id, killed, reason):
                print(f"{gaps} operations have no attempt")
            failed = repository.finish_run(run_id, reason=reason)
            refresh(repository, repository.cells_of_run(run_id))
            secrets.release(run_id)
            if failed:
                lines = [
                    f"{row['operation']} {row['cell_key']}: {row['error_kind']}: {row['error']}"
                    for row in broken_first(failed)[:MOST_NAMED]
                ]
                more = [f"… and {len(failed) - MOST_NAMED} more"] if len(failed) > MOST_NAMED else []
                raise AirflowFailException(
                    "\n".join([f"{len(failed)} operations are not verified:", *lines, *more])
                )
            if tasks:
                named = ", ".join(tasks[:MOST_NAMED])
                more = [f" and {len(tasks) - MOST_NAMED} more"] if len(tasks) > MOST_NAMED else []
                raise AirflowFailException(f"These tasks failed; their logs say why: {named}{''.join(more)}")
            counted = repository.run_counted(run_id)
            event = {"run": run_id, "verified": counted["verified"], "disturbed": counted["disturbed"]}
            context["outlet_events"][finished].extra = event

        ready: BeforeCellsOperator = (
            DatasetOperator(task_id="dataset", study=study)
            if study.dataset
            else BeforeCellsOperator(task_id="clean")
        )
        made_for_plan = ready.made_for_plan if isinstance(ready, DatasetOperator) else None
        plan = PlanOperator(task_id="plan", study=study, made_for_plan=made_for_plan)
        planned, end = plan.output, aggregate()
        planned >> ready >> end  # `ready` cleans up, also in a run without cells
        server_steps: list[Any] = []
        if provisioned_for(study):
            server_steps = [ProvisionOperator(task_id="servers", study=study)]
            ready >> server_steps[0] >> end
            server_steps.append(_removal())
            server_steps[0] >> server_steps[1]
        for node_pool in node_pools():
            turns = planned
            if node_pool != DEFAULT:
                planned >> (turns := _turns_task(study, node_pool))
            cells = _cells(study, node_pool).expand(turn=turns)
            ready >> cells >> end
            if server_steps and node_pool == DEFAULT:  # other node pools have no servers of a run
                server_steps[0] >> cells >> server_steps[1]
    return dag


def params_of(study: Study) -> dict[str, Param]:
    """Return the form's fields in order, with the limits of their values. Airflow folds the fields of a section. The fields of the section
    MEASURED stay visible.

    Raises SpecError for a study whose presets have values that the form refuses.
    """
    check_presets(study)
    return {
        name: Param(
            field.default,
            type=field.types,
            **field.limits,
            examples=list(field.examples),
            title=field.title,
            description_md=field.text,
            section=None if section == MEASURED else section,
        )
        for section, fields in sections_of(study).items()
        for name, field in fields.items()
    }


class ProvisionOperator(BaseOperator):
    """The step that provisions the servers of the run's first turn, while nothing is measured.

    Other turns provision their servers themselves, one set after another: the sets of a run and their order are known only when it runs.
    """

    def __init__(self, *, study: Study, **kwargs: Any) -> None:
        super().__init__(pool=DEFAULT.slots, retries=0, **kwargs)
        self.study = study
        self._stopped = False

    def execute(self, context: Context) -> None:
        params = run_values(self.study, context["params"])
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository, servers = connections.repository(connections.PATIENCE_S), Servers(run_id)
        turns = [turn for turn in repository.recorded_turns(run_id) if turn.node_pool == DEFAULT.name]
        groups = groups_of(self.study, [turn.cell for turn in turns], params)
        servers.forget_failures()  # this step was cleared
        first = groups[turns[0].cell] if turns else None
        try:
            running = servers.provision(first, params, self.go_on)
        except StorebenchError as error:
            print(error, flush=True)
            if set(groups.values()) != {first}:
                return  # turns that need these servers fail with the reason, and other turns go on
            repository.stop_run(run_id, str(error))
            raise AirflowFailException(str(error)) from None
        if running is None:
            print("The first turn of this run needs no servers of its own", flush=True)

    def go_on(self) -> None:
        """Raise AirflowFailException if Airflow has stopped the task."""
        if self._stopped:
            raise AirflowFailException("The task was stopped")

    def on_kill(self) -> None:
        self._stopped = True


def remove_servers(context: Context) -> None:
    """Remove the run's remaining servers. Airflow runs this step also after a stop, when it skips all other steps that have not begun.
    Then this step fails: otherwise Airflow would count the run as a success.
    """
    remaining = Servers(run_id_of(context["dag"].dag_id, context["run_id"])).release()
    if remaining:
        raise AirflowFailException(f"Not removed:\n{remaining}")
    if states_of_tasks(context, [AGGREGATE]).get(AGGREGATE) == "skipped":
        raise AirflowFailException("The run was stopped")


def _removal() -> Any:
    @task(task_id="remove_servers")
    def remove() -> None:
        """Remove the run's remaining servers, also after a failure or a stop."""
        remove_servers(get_current_context())

    return remove().as_teardown(on_failure_fail_dagrun=True)


def _turns_task(study: Study, node_pool: NodePool) -> XComArg:
    @task(task_id=f"turns_{node_pool.name}")
    def turns() -> list[str]:
        """Name the turns to run in this node pool."""
        return turns_on(study, node_pool, get_current_context()["dag_run"])

    return turns()


def _cells(study: Study, node_pool: NodePool) -> Any:
    steps = study.steps
    if len(steps) > MOST_STEPS:
        raise SpecError(
            f"The study {study.name!r}: a cell can have {MOST_STEPS - 1} operations, not {len(study.operations)}"
        )

    @task_group(group_id=node_pool.group)
    def cell(turn: Any) -> None:
        # The tasks of a cell are not linked in the graph (docs/decisions/0007). Each task checks its predecessors when it starts.
        for place, operation in enumerate(steps):
            step: Any = DropOperator if operation == DROP else partial(AttemptOperator, operation=operation)
            step(
                task_id=operation,
                study=study,
                turn=turn,
                node_pool=node_pool,
                weight_rule=CellByCell(),
                priority_weight=place,
                doc_md=cleared(study),
            )

    return cell
