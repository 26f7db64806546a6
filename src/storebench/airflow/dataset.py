"""The operator that makes the dataset, in a pod."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException

from storebench import protocol
from storebench.airflow import connections, observe
from storebench.airflow.cleaning import BeforeCellsOperator
from storebench.airflow.params import grid_of, values_of
from storebench.airflow.topologies import copies_of
from storebench.attempt.dataset import VARIABLE, DatasetSpec
from storebench.errors import BadResult, StoreRefused
from storebench.results.repository import run_id_of
from storebench.stores.base import Pod
from storebench.study.cell import Cell
from storebench.study.dataset import FILE, Dataset, File, folder_of
from storebench.study.model import Study

MEMORY = "1Gi"  # a generator's memory does not grow with the dataset


class DatasetOperator(BeforeCellsOperator):
    """Makes sure that the run's datasets are in S3, and records them."""

    making: DatasetOperator | None = None

    def __init__(self, *, study: Study, **kwargs: Any) -> None:
        assert study.dataset is not None
        super().__init__(**kwargs)
        self.dataset: Dataset = study.dataset
        self.study = study

    def execute(self, context: Context) -> None:
        super().execute(context)
        params = values_of(self.study, context["params"])
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository = connections.repository(connections.PATIENCE_S)
        repository.stop_run(run_id, None)  # it may be a second try
        own = self.study.own_file(params)
        if own:  # its rows are those that the plan has found
            cells = tuple(turn.cell for turn in repository.recorded_turns(run_id))
        else:
            partition = context["dag_run"].partition_key
            cells = grid_of(self.study, params, partition, copies_of(self.study, params)).cells
        # One, but for a dataset that axes shape
        for dataset, cell in {self.study.dataset_of(cell, params): cell for cell in reversed(cells)}.items():
            assert dataset is not None
            self.go_on()
            spec, pod = self.spec_of(dataset, cell), self.dataset.pod
            if own:
                spec, pod = replace(spec, rows=own.max_rows, file=params[FILE]), own.pod
            self.making = making = copy(self)  # an operator has one pod
            try:
                manifest = making.made(pod, spec, context)
            except Exception as error:  # noqa: BLE001 - whatever the error is, the run's rows get it as their reason
                result = observe.step_result(making.observed, self.CONTAINER, error)
                reason = f"The dataset was not made: {result.error_kind}: {result.error}"
                repository.stop_run(run_id, reason)
                raise AirflowFailException(reason) from None
            version = own.version if own else self.dataset.version
            repository.add_dataset(dataset, version, cell.rows, cell.seed, manifest)

    def spec_of(self, dataset: str, cell: Cell) -> DatasetSpec:
        """What its pod is told of the dataset of this id, which the cell works on."""
        axes = {name: value for name, value in cell.axes if name in self.dataset.axes}
        return DatasetSpec(connections.bucket(), folder_of(dataset), cell.rows, cell.seed, axes)

    def made(self, pod: Pod, spec: DatasetSpec, context: Context) -> Mapping[str, Any]:
        """Have this pod make it; returns its manifest."""
        self.name = "dataset"
        self.use_connections(["s3"])
        self.use_pod(pod, VARIABLE, spec.to_json())
        self.run_pod(context, MEMORY)
        return _manifest(self.message())

    def made_for_plan(self, context: Context, own: File, spec: DatasetSpec) -> None:
        """Make it of a file of one's own within another task, the plan. Raises StoreRefused that says why it cannot be made."""
        making = copy(self)
        try:
            making.made(own.pod, spec, context)
        except Exception as error:  # noqa: BLE001 - whatever the error is, the run is refused with it
            result = observe.step_result(making.observed, self.CONTAINER, error)
            raise StoreRefused(f"The dataset was not made: {result.error_kind}: {result.error}") from None

    def on_kill(self) -> None:
        if self.making:
            self.making.on_kill()
        super().on_kill()


def _manifest(message: str | None) -> dict[str, Any]:
    """What the pod has left. Raises BadResult for what is no manifest."""
    try:
        found: dict[str, Any] = protocol.read(message or "")
    except ValueError as error:
        raise BadResult(f"The pod left no manifest: {error}") from None
    if wrong := protocol.problem("manifest", found):
        raise BadResult(f"The pod's manifest is not as docs/protocol.md has it: {wrong}")
    return found
