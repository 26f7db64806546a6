"""The operators that remove the leftovers of ended runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from storebench.airflow.compat.tasks import states_of_tasks
from storebench.airflow.kubernetes.calls import error_text
from storebench.airflow.operators import leftovers
from storebench.airflow.operators.pods import StorebenchPodOperator
from storebench.airflow.operators.specs import spec_of
from storebench.airflow.outcome import observe
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.planning.node_pools import DEFAULT
from storebench.planning.params import run_values
from storebench.results.database.repository import run_id_of
from storebench.results.leftovers.tracking import Undropped
from storebench.study import studies
from storebench.study.reserved import DROP

PLAN = "plan"  # the first step of a run
MEMORY = "1Gi"  # memory of a pod that drops: no data passes through the pod
LEFTOVER = "storebench/left"  # label of a pod that drops another run's data


class LeftoverDropOperator(StorebenchPodOperator):
    """An operator that drops the data of an ended run in a store. It is no task: another task calls it before its own work."""

    # The calling task must not mistake this pod for its own pod.
    replaced_labels: ClassVar[Mapping[str, str]] = {"task_id": "clean"}

    def __init__(self, *, undropped: Undropped, **kwargs: Any) -> None:
        super().__init__(
            task_id="clean",
            labels={LEFTOVER: undropped.target},
            durable=False,
            **kwargs,
        )
        self.undropped = undropped

    def drop(self, context: Context) -> None:
        """Drop the data. Raises StoreUnreachable where the store does not answer, and StoreRefused for any other failure."""
        cell = self.undropped.cell
        study = studies.find(cell.study)  # may differ from the study of the calling task
        store = study.store(cell.store)
        self.name = f"{store.name}-clean"
        self.use_store(store, spec_of(study, DROP, cell, self.undropped.target, run_values(study, {})))
        try:
            if not self.remove_volume():
                self.run_pod(context, MEMORY)
        except Exception as error:
            result = observe.attempt_result(self.observed, self.CONTAINER, error)
            result = observe.with_kubernetes_reason(result, self.observed, self.CONTAINER)
            kind = StoreUnreachable if result.error_kind == StoreUnreachable.kind else StoreRefused
            raise kind(f"{result.error_kind}: {result.error}") from error


class CleaningOperator(StorebenchPodOperator):
    """A pod operator that can remove the leftovers of ended runs before its own work."""

    dropping: LeftoverDropOperator | None = None

    def clean(self, context: Context) -> list[str]:
        """Remove the leftovers of ended runs on these nodes and in the stores measured there. Returns what stays, with the reasons."""
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])

        def drop(data: Undropped) -> None:
            self.go_on()
            self.dropping = LeftoverDropOperator(undropped=data, node_pool=self.node_pool)
            self.dropping.drop(context)

        remaining = []
        try:
            leftovers.remove_pods_of_runs_over(context["ti"], self.client, self.namespace_of_pods())
            undropped = leftovers.undropped_here(context["ti"], run_id, self.node_pool)
            remaining += leftovers.remove_data(undropped, drop)
        except Exception as error:  # noqa: BLE001 - this run can still measure, and the next run tries again
            self.log.warning("The leftovers of earlier runs are not removed: %s", error_text(error))
            remaining.append(error_text(error))
        self.dropping = None
        self.go_on()
        return remaining

    def go_on(self) -> None:
        """Raise AirflowFailException if Airflow has stopped the task."""
        if self.is_stopped:
            raise AirflowFailException("The task was stopped")

    def on_kill(self) -> None:
        if self.dropping:
            self.dropping.on_kill()
        super().on_kill()


class BeforeCellsOperator(CleaningOperator):
    """The step between a run's plan and its cells. It cleans up after ended runs, also where the plan has failed or found nothing to do."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trigger_rule="all_done", **kwargs)

    def execute(self, context: Context) -> None:
        if not self.is_planned(context):
            self.clean({**context, "params": {}})  # the plan may have refused the parameters
            raise AirflowSkipException("The plan has not succeeded: this run has no cells")
        self.clean(context)

    @staticmethod
    def is_planned(context: Context) -> bool:
        """Return whether the run's plan has succeeded."""
        return states_of_tasks(context, [PLAN]).get(PLAN) == "success"


class CleanOperator(CleaningOperator):
    """A step that only cleans up, and fails where something stays."""

    def execute(self, context: Context) -> None:
        remaining = self.clean(context)
        if self.node_pool == DEFAULT:  # all node pools share one S3
            remaining += leftovers.remove_datasets()
            remaining += leftovers.remove_results()
        if remaining:
            raise AirflowFailException("Not removed:\n" + "\n".join(remaining))
