"""Define the operator that runs one operation of one cell in a pod, and records the attempt."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from airflow import __version__ as airflow_version
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from storebench.airflow import connections
from storebench.airflow.compat.tasks import ENDED_STATES, earlier_tries
from storebench.airflow.kubernetes import volumes
from storebench.airflow.operators.cell_steps import Step
from storebench.airflow.operators.divided import DividedStepOperator
from storebench.airflow.operators.pickup import RETRIES, try_of
from storebench.airflow.outcome import observe
from storebench.airflow.outcome.result_check import check_result, with_disturbances
from storebench.airflow.outcome.retrieve import discard
from storebench.airflow.servers.provision import Running, Servers
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import ServerDied, StorebenchError
from storebench.planning.node_pools import DEFAULT
from storebench.planning.turns import reason_to_stop
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.leftovers.stopped import COMMAND
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.parameters import measured_with
from storebench.study.reserved import DROP
from storebench.study.run_params import study_values

# The try number of the row of a step that a user cleared after the cell's data was dropped. Such a row supersedes no earlier try.
CLEARED_TRY = 0


@dataclass(frozen=True)
class Attempt:
    """An attempt that a task makes. `key`: the key of the attempt's row. A step of a filling store has a row only after a failure.

    `first`: whether the attempt is the cell's first. `picks_up`: whether the task follows the pod of an earlier try.
    """

    step: Step
    key: AttemptKey
    filler: str  # the filling store's name, empty without a filling store
    first: bool
    picks_up: bool = False


class AttemptOperator(DividedStepOperator):
    """Run an operation of one turn in a pod, or in several pods together, and record the attempt, even if it fails."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(retries=RETRIES, **kwargs)
        self.parameters: dict[str, Any] = {}  # the parameters that affect the measurement

    def execute(self, context: Context) -> None:
        attempt = self.admit(context)
        if attempt is None:
            return
        spec = self.provision(attempt)
        self.track_data(context, attempt, spec)
        try:
            self.run(context, attempt)
        except Exception as error:  # noqa: BLE001 - the attempt gets a row after any error
            self.account_for_failure(attempt, spec, error)
        except BaseException as error:  # the process is being stopped: the attempt still gets its row
            self.record(attempt.key, spec, error)
            raise
        else:
            self.account(attempt, spec)

    def admit(self, context: Context) -> Attempt | None:
        """Return the attempt to make; None if an earlier try of this task has recorded the attempt.

        Skips, fails or reschedules the task if the attempt cannot be made or is unnecessary.
        """
        names = [operation.name for operation in self.study.operations]
        states = self.states_of_earlier(names[: names.index(self.operation)], context)
        if self.operation == names[0]:
            self.clean_before_cell(context)
        step = self.step_of(context)
        self.end_if_nothing_to_do(states, step)
        attempt = self.attempt_of(step, context)
        if self.has_recorded(context, attempt.key, self.study, attempt.filler):
            return None
        if self.pod:
            key = replace(attempt.key, try_number=try_of(self.pod))
            return replace(attempt, key=key, picks_up=True)
        if attempt.first:
            self.skip_if_not_needed(step)
        self.wait_for_unwatched()
        return attempt

    def clean_before_cell(self, context: Context) -> None:
        """Remove, before a cell's first step, the leftovers that no other step removes."""
        if DROP not in self.study.steps:
            self.remove_pods_of_cells(context, self.ended_cells_with_pods(context))
        # In the default node pool, a step before the cells cleans up.
        begins_pool = self.node_pool != DEFAULT and not context["ti"].map_index
        if begins_pool and not earlier_tries(context["ti"], self.retries):
            self.clean(context)

    def end_if_nothing_to_do(self, states: Mapping[str, str | None], step: Step) -> None:
        """Skip or fail this step if the cell lacks the operation, or an earlier step was skipped or failed.

        `states`: Airflow's states of the cell's earlier steps, by step.
        """
        if self.operation not in step.operations:
            raise AirflowSkipException(f"This cell has no {self.operation}: {step.cell.key}")
        first = step.operations[0]
        if states.get(first) == "skipped":
            raise AirflowSkipException(f"The cell's {first} was skipped: there is nothing to do")
        if failed := next((name for name in self.needs_of(step) if states[name] != "success"), None):
            raise AirflowFailException(f"Not run, because the cell's {failed} failed")

    def needs_of(self, step: Step) -> list[str]:
        """Return the steps of the cell that this step depends on."""
        return [name for name in self.study.operation(self.operation).needs if name in step.operations]

    def attempt_of(self, step: Step, context: Context) -> Attempt:
        """Return the attempt of this try of the task."""
        operation, filler = self.operation_and_filler(step.cell.store)
        key = AttemptKey(step.run_id, step.cell.key, step.repeat, operation, context["ti"].try_number)
        return Attempt(step, key, filler, first=self.operation == step.operations[0])

    def operation_and_filler(self, store: str) -> tuple[str, str]:
        """Return the operation whose row records a failure of this step, and the name of the filling store ("" if the store fills itself).

        A filling store performs an operation that `store` depends on and lacks. Such a step has no row of its own: its failure is recorded
        in the row of the first operation of `store` that depends on the step.
        """
        operations = self.study.operations_of(store)
        if self.operation in {operation.name for operation in operations}:
            return self.operation, ""
        filled = {self.operation}  # and the steps that depend on this step, directly or through others
        for operation in self.study.operations:
            if filled.intersection(operation.needs):
                if operation in operations:
                    return operation.name, self.study.store(store).filled_by or ""
                filled.add(operation.name)
        raise AssertionError(f"{store} has no {self.operation}")

    def skip_if_not_needed(self, step: Step) -> None:
        """Skip the cell if the run has reached its precision or its budget. Records the skipped turn with the reason."""
        queries = connections.queries(connections.PATIENCE_S)
        if reason := reason_to_stop(self.study, queries, step.run_id, step.cell, step.repeat, step.params):
            repository = connections.repository(connections.PATIENCE_S)
            repository.skip(step.run_id, step.cell, step.repeat, reason)
            raise AirflowSkipException(f"Not needed: {reason}")

    def provision(self, attempt: Attempt) -> AttemptSpec:
        """Provision the attempt's servers, and set the pod's image and credentials. Returns the pod's specification."""
        step = attempt.step
        if self.may_use_servers:
            self.servers = self.servers_for(attempt)
        self.parameters = measured_with(
            self.study, step.cell.store, step.params, provisioned=self.servers is not None
        )
        return self.use_step(step, attempt.filler)

    def servers_for(self, attempt: Attempt) -> Running | None:
        """Return the set of servers for this attempt, when they are ready; None if the attempt needs no servers of the run.

        Fails the step, and records a row with the reason, if the servers cannot start or have lost the data of an earlier step.
        """
        group, servers = self.group_of(attempt.step), Servers(attempt.key.run_id)
        if group and (attempt.picks_up or self.needs_of(attempt.step)):
            if running := servers.as_provisioned(group) if attempt.picks_up else servers.unchanged(group):
                return running
            reason = f"The servers {group.key} have changed, and the cell's data on them is lost: a server has died"
            self.fail_not_run(attempt.key, ServerDied.kind, reason)
        if group is None and (attempt.picks_up or not attempt.first):
            return None  # the cell's first step has removed all servers of the run
        try:
            return servers.provision(group, attempt.step.params, self.go_on)
        except StorebenchError as error:
            self.fail_not_run(attempt.key, error.kind, str(error))

    def fail_not_run(self, key: AttemptKey, kind: str, reason: str) -> NoReturn:
        """Record the row of a step that cannot run, and fail the step."""
        self.record_not_run(key, self.study, kind, reason)
        raise AirflowFailException(reason) from None

    def track_data(self, context: Context, attempt: Attempt, spec: AttemptSpec) -> None:
        """Record, before the pod starts, that the attempt leaves data. Fails the step if the data on which it depends was dropped."""
        if not self.leaves_data(attempt, spec):
            return
        step, records = attempt.step, connections.leftovers()
        if self.needs_of(step) and not records.holds(step.run_id, step.cell, step.repeat):
            key = replace(attempt.key, try_number=CLEARED_TRY)
            self.fail_not_run(key, "not_run", dropped_data_reason(self.study))
        # Before the cell's first operation, the store holds at most the data of an earlier try.
        anew = attempt.first and not attempt.picks_up
        records.leaves(step.run_id, step.cell, step.repeat, anew=anew)
        if self.servers is None:  # the run's own servers are removed with their data
            self.warn_of_kept_data(context, f"{spec.target} in {self.study.store(spec.store).name}")

    def leaves_data(self, attempt: Attempt, spec: AttemptSpec) -> bool:
        """Return whether the attempt leaves data that the cell's drop has to remove."""
        return self.study.store(spec.store).keeps_data and not attempt.step.params["keep_data"]

    def warn_of_kept_data(self, context: Context, kept: str) -> None:
        """Warn if this step was cleared without its cell's drop, because the data then stays in the store. `kept`: the data's name."""
        if context["ti"].try_number <= 1:
            return
        if ENDED_STATES.issuperset(self.states_of([DROP], context)):
            self.log.warning(
                "This step was cleared, but the drop of its cell was not. The drop has ended and does not run again by itself, so this"
                " step's data stays in the store: %s. To remove the data, clear the drop, too, or type %s. Otherwise the next run does",
                kept,
                COMMAND,
            )

    def run(self, context: Context, attempt: Attempt) -> None:
        """Create the cell's volume before its first operation, and run the pod to its end. Raises the error of a failed pod."""
        if attempt.first and self.claim and not attempt.picks_up:
            namespace = self.namespace_of_pods()
            volumes.make(self.client, namespace, self.claim, study_values(attempt.step.params), self.go_on)
        self.run_pod(context)

    def account(self, attempt: Attempt, spec: AttemptSpec) -> None:
        """Record the result of a pod that has succeeded, and the size of the data in the store. Fails the step unless it is verified."""
        step = attempt.step
        result = observe.attempt_result(self.observed, self.CONTAINER, None)
        size_bytes = result.data_bytes
        if attempt.filler and result.status == "verified":
            self.remove_pod()
        else:
            result = self.record(attempt.key, spec, None)
        # An operation that changes no data reports no size.
        if self.leaves_data(attempt, spec) and (attempt.first or size_bytes is not None):
            connections.leftovers().has_left(step.run_id, step.cell, step.repeat, size_bytes)
        # A program can exit with 0 although its result breaks the protocol. The steps that depend on this step must not run then.
        if result.status != "verified":
            raise AirflowFailException(f"{result.error_kind}: {result.error}")

    def account_for_failure(self, attempt: Attempt, spec: AttemptSpec, error: Exception) -> None:
        """Record the attempt that has ended with this error, and fail the step.

        The step does not fail if the process that this try replaces has recorded a verified attempt.
        """
        result = self.record(attempt.key, spec, error)
        if attempt.picks_up and self.is_verified(attempt.key):
            return
        raise AirflowFailException(f"{result.error_kind}: {result.error}") from error

    def record(self, key: AttemptKey, spec: AttemptSpec, failure: BaseException | None) -> AttemptResult:
        """Record the attempt's row, then remove the result from S3, and the pod. Returns the result."""
        pod = observe.pod_record(self.observed, self.CONTAINER)
        result = self.judge(key, spec, self.read_result(spec, failure), pod)
        self.add_environment(result, pod)
        operation = self.study.operation(key.operation)
        phases = observe.phases(self.observed, self.events, self.CONTAINER, self.queued_at, result)
        connections.repository(connections.PATIENCE_S).add_attempt(
            key,
            result,
            pod,
            phases=phases,
            metric=operation.ranked_by if operation.ranked_by in result.metrics else None,
            target=spec.target,
            dataset=self.study.dataset_of(Cell.from_key(spec.cell_key), self.parameters),
            parameters=self.parameters,
        )
        self.log.info("Recorded attempt %s: %s %s", key.id, result.status, json.dumps(phases))
        discard(result, spec, connections.s3, connections.PATIENCE_S)
        self.remove_pod()
        return result

    def judge(
        self, key: AttemptKey, spec: AttemptSpec, result: AttemptResult, pod: PodRecord
    ) -> AttemptResult:
        """Return the result, checked against the study, with its disturbances and the deaths of its servers."""
        if spec.store != Cell.from_key(spec.cell_key).store:
            result = replace(
                result,
                metrics={},  # the pod's figures are of another operation
                histograms={},
                series={},
                error=f"{spec.store} could not do its {spec.operation}: {result.error}",
            )
        store, has_servers = self.study.store(spec.store), self.servers is not None
        result = with_disturbances(
            result, store, cpu_limit=spec.cpu_limited, servers=has_servers, profile=spec.profile
        )
        result = check_result(result, self.study, self.study.operation(key.operation), store.lacks)
        # A stopped run also removes its servers: that is no death of a server.
        if self.servers and not self.is_stopped and (deaths := Servers(key.run_id).deaths(self.servers)):
            result = observe.with_deaths(result, deaths)
        if result.status == "verified" and result.total_s is None:  # the pod did not measure its total time
            result.total_s = pod.pod_total_s
        result.method_version = self.study.method_version
        return result

    def add_environment(self, result: AttemptResult, pod: PodRecord) -> None:
        """Add the image, the servers and the versions of Kubernetes and Airflow to the result's environment.

        A program in another language may report no environment. The environment of such an attempt stays empty unless it is verified.
        """
        if not result.environment and result.status != "verified":
            return
        result.environment |= observe.pod_environment(self.observed, self.CONTAINER)
        result.environment |= self.servers.environment(pod.node) if self.servers else {}
        result.environment |= {"kubernetes": self.kubernetes_version(), "airflow": airflow_version}


def dropped_data_reason(study: Study) -> str:
    """Return the reason why a step does not run that was cleared without the other steps of its cell."""
    return (
        "The cell's data is no longer in the store: it was dropped at the end of the cell. To measure the step again, clear all steps of"
        f" the cell together: {', '.join(study.steps)}"
    )
