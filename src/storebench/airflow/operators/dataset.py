"""The operator that makes the dataset, in a pod."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException
from kubernetes.client import models as k8s

from storebench import protocol
from storebench.airflow import connections
from storebench.airflow.operators.cleaning import BeforeCellsOperator
from storebench.airflow.operators.divided import SeveralPodsOperator
from storebench.airflow.outcome import observe
from storebench.attempt.dataset import VARIABLE, DatasetSpec
from storebench.attempt.result import AttemptResult
from storebench.errors import BadResult, StoreRefused
from storebench.planning.params import grid_of, run_values
from storebench.planning.topologies import copies_of
from storebench.results.database.repository import run_id_of
from storebench.stores.base import Pod
from storebench.study.cell import Cell
from storebench.study.dataset import FILE, PODS, CustomFile, Dataset, folder_of
from storebench.study.model import Study
from storebench.study.run_params import study_values

MEMORY = "1Gi"  # a generator's memory does not grow with the dataset


class DatasetOperator(SeveralPodsOperator, BeforeCellsOperator):
    """The step that makes the run's missing datasets in S3, each by one pod or by several, and records all of the run's datasets."""

    making: DatasetOperator | None = None
    failed: AttemptResult | None = None  # why the dataset was not made, with the reasons of the other pods

    def __init__(self, *, study: Study, **kwargs: Any) -> None:
        assert study.dataset is not None
        super().__init__(**kwargs)
        self.dataset: Dataset = study.dataset
        self.study = study

    def execute(self, context: Context) -> None:
        super().execute(context)
        params = run_values(self.study, context["params"])
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository = connections.repository(connections.PATIENCE_S)
        repository.stop_run(run_id, None)  # clear the reason that an earlier try of this step has recorded
        custom_file, values = self.study.custom_file(params), study_values(params)
        if custom_file:  # the plan has counted the file's rows
            cells = tuple(turn.cell for turn in repository.recorded_turns(run_id))
        else:
            partition = context["dag_run"].partition_key
            cells = grid_of(
                self.study, params, partition, copies_of(self.study, params, connections.exists)
            ).cells
        # There is one dataset, or several where axes shape the dataset.
        for dataset, cell in {self.study.dataset_of(cell, values): cell for cell in reversed(cells)}.items():
            assert dataset is not None
            self.go_on()
            spec, pod = self.spec_of(dataset, cell), self.dataset.pod
            if custom_file:
                spec, pod = replace(spec, rows=custom_file.max_rows, file=values[FILE]), custom_file.pod
            self.making = making = copy(self)  # an operator has one pod
            try:
                pods = 1 if custom_file else values.get(PODS, 1)
                manifest = making.made(pod, spec, context, pods, params["startup_timeout_s"])
            except Exception as error:  # noqa: BLE001 - whatever the error is, the run's rows get it as their reason
                result = making.reason_of(error)
                reason = f"The dataset was not made: {result.error_kind}: {result.error}"
                repository.stop_run(run_id, reason)
                raise AirflowFailException(reason) from None
            version = custom_file.version if custom_file else self.dataset.version
            repository.add_dataset(dataset, version, cell.rows, cell.seed, manifest)

    def spec_of(self, dataset: str, cell: Cell) -> DatasetSpec:
        """Return the specification of the pod that makes the dataset with this id for the cell."""
        axes = {
            name: value for name, value in self.study.values_of(cell).items() if name in self.dataset.axes
        }
        return DatasetSpec(connections.bucket(), folder_of(dataset), cell.rows, cell.seed, axes)

    def made(
        self, pod: Pod, spec: DatasetSpec, context: Context, pods: int = 1, wait_s: int = 0
    ) -> Mapping[str, Any]:
        """Make a dataset in this pod, or in `pods` such pods. Returns its manifest. `wait_s`: the leader waits for the others this long."""
        self.name = "dataset"
        self.use_connections(["s3"])
        self.use_pod(pod, VARIABLE, spec.to_json())
        self.use_parts(pods, wait_s)
        try:
            self.run_pod(context, MEMORY)
        finally:
            self.remove_parts()
        return _manifest(self.message())

    def observe(self, pod: k8s.V1Pod | None, known: k8s.V1Pod | None) -> k8s.V1Pod | None:
        """Keep the leader's last state as for any pod, and the reasons of the other pods, which are removed with the leader."""
        observed = super().observe(pod, known)
        if self.has_parts and not self.ended_well():
            self.failed = self.with_reasons_of_parts(
                observe.step_result(observed, self.CONTAINER, self.not_started)
            )
        return observed

    def reason_of(self, error: Exception) -> AttemptResult:
        """Return why the dataset was not made. `error`: the operator's error, the last resort for a reason."""
        return self.failed or observe.step_result(self.observed, self.CONTAINER, self.not_started or error)

    def made_for_plan(self, context: Context, custom_file: CustomFile, spec: DatasetSpec) -> None:
        """Make the dataset of a custom file, within the task of the plan. Raises StoreRefused with the reason of a failure."""
        making = copy(self)
        try:
            making.made(custom_file.pod, spec, context)
        except Exception as error:  # noqa: BLE001 - whatever the error is, the run is refused with it
            result = making.reason_of(error)
            raise StoreRefused(f"The dataset was not made: {result.error_kind}: {result.error}") from None

    def on_kill(self) -> None:
        if self.making:
            self.making.on_kill()
        super().on_kill()


def _manifest(message: str | None) -> dict[str, Any]:
    """Return the manifest in a pod's termination message. Raises BadResult for an invalid manifest."""
    try:
        manifest: dict[str, Any] = protocol.read(message or "")
    except ValueError as error:
        raise BadResult(f"The pod left no manifest: {error}") from None
    if wrong := protocol.problem("manifest", manifest):
        raise BadResult(f"The pod's manifest is not as docs/protocol.md has it: {wrong}")
    return manifest
