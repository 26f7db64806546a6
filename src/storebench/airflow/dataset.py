"""The operator that makes the dataset, in a pod."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException

from storebench import protocol
from storebench.airflow import connections, observe
from storebench.airflow.cleaning import BeforeCellsOperator
from storebench.airflow.params import grid_of, values_of
from storebench.attempt.dataset import VARIABLE, DatasetSpec
from storebench.errors import BadResult
from storebench.results.repository import run_id_of
from storebench.study.cell import Cell
from storebench.study.dataset import Dataset, folder_of
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
        self.name = "dataset"
        self.use_connections(["s3"])
        cells = grid_of(self.study, params, context["dag_run"].partition_key).cells
        # One, but for a dataset that axes shape
        for dataset, cell in {self.dataset_of(cell): cell for cell in reversed(cells)}.items():
            self.go_on()
            self.making = making = copy(self)  # an operator has one pod
            try:
                manifest = making.made(dataset, cell, context)
            except Exception as error:  # noqa: BLE001 - whatever the error is, the run's rows get it as their reason
                result = observe.step_result(making.observed, self.CONTAINER, error)
                reason = f"The dataset was not made: {result.error_kind}: {result.error}"
                repository.stop_run(run_id, reason)
                raise AirflowFailException(reason) from None
            repository.add_dataset(dataset, self.dataset.version, cell.rows, cell.seed, manifest)

    def dataset_of(self, cell: Cell) -> str:
        """The id of the cell's dataset."""
        return self.dataset.id(cell.rows, cell.seed, dict(cell.axes))

    def made(self, dataset: str, cell: Cell, context: Context) -> Mapping[str, Any]:
        """Make the dataset of this id, which the cell works on; returns its manifest."""
        axes = {name: value for name, value in cell.axes if name in self.dataset.axes}
        spec = DatasetSpec(connections.bucket(), folder_of(dataset), cell.rows, cell.seed, axes)
        self.use_pod(self.dataset.pod, VARIABLE, spec.to_json())
        self.run_pod(context, MEMORY)
        return _manifest(self.message())

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
