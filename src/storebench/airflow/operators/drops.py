"""Define the operator of a cell's last step, which drops the cell's data in a pod."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowSkipException

from storebench.airflow import connections
from storebench.airflow.operators.cell_steps import CellStepOperator, Step
from storebench.airflow.outcome.retrieve import discard
from storebench.airflow.servers.provision import Running, Servers
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import StoreUnreachable
from storebench.planning.params import run_values
from storebench.study.reserved import DROP

# Airflow retries a drop if the store does not answer, so that no data stays in the store. A drop is not timed.
DROP_RETRIES = 6


class DropOperator(CellStepOperator):
    """Drop a cell's data in its store, as the cell's last step. A drop has no row."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(operation=DROP, retries=DROP_RETRIES, **kwargs)

    def execute(self, context: Context) -> None:
        step = self.admit(context)
        spec = self.provision(step)
        if not self.remove_volume():
            self.run(context, spec)
        self.forget_data(step)

    def admit(self, context: Context) -> Step:
        """Return the step, once the cell's earlier steps have ended and their pods are gone. Skips the step if there is nothing to drop."""
        states = self.states_of_earlier([operation.name for operation in self.study.operations], context)
        self.remove_pods_of_cells(context, [context["ti"].map_index or 0])  # also where the drop is skipped
        if run_values(self.study, context["params"])["keep_data"]:
            raise AirflowSkipException("keep_data is set: the data stays in the store")
        if set(states.values()) == {"skipped"}:
            raise AirflowSkipException("Nothing was done: there is nothing to remove")
        step = self.step_of(context)
        self.wait_for_unwatched()
        return step

    def provision(self, step: Step) -> AttemptSpec:
        """Find the servers with the cell's data, and set the pod's image and credentials. Returns the pod's specification.

        Skips the step if no data remains: the servers are gone, or the store keeps no data.
        """
        self.servers = self.servers_with_data(step)
        spec = self.use_step(step)
        store = self.study.store(spec.store)
        if not store.keeps_data:
            raise AirflowSkipException(f"{store.name} keeps no data: there is nothing to drop")
        return spec

    def servers_with_data(self, step: Step) -> Running | None:
        """Return the set of servers that the run has provisioned for the cell; None if the cell uses no servers of the run.

        Skips the step if these servers are gone.
        """
        group = self.group_of(step)
        if group is None:
            return None
        if running := Servers(step.run_id).unchanged(group):
            return running
        self.forget_data(step)
        raise AirflowSkipException("The servers that the run provisioned are gone, and their data with them")

    def run(self, context: Context, spec: AttemptSpec) -> None:
        """Run the pod to its end. Fails the step if the data was not dropped.

        Airflow retries the step if the store does not answer, or if the error did not come from the pod.
        """
        try:
            self.run_pod(context)
        except Exception as error:
            result = self.end_pod(spec, error)
            passes = result.error_kind == StoreUnreachable.kind or not isinstance(error, AirflowException)
            ending = AirflowException if passes else AirflowFailException
            raise ending(f"{result.error_kind}: {result.error}") from error
        except BaseException as error:  # the process is being stopped
            self.end_pod(spec, error)
            raise
        result = self.end_pod(spec, None)
        if result.status != "verified" and self.message():  # a drop may report no result
            raise AirflowFailException(f"{result.error_kind}: {result.error}")

    def end_pod(self, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Remove the ended pod and its result in S3. Returns the result."""
        result = self.read_result(spec, failure)
        discard(result, spec, connections.s3, connections.PATIENCE_S)
        self.remove_pod()
        return result

    @staticmethod
    def forget_data(step: Step) -> None:
        """Record that the cell's data is gone."""
        connections.leftovers().dropped(step.run_id, step.cell, step.repeat)
