"""The operator that makes the dataset, in a pod."""

from __future__ import annotations

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException

from storebench.airflow import connections, observe
from storebench.airflow.cleaning import CleaningOperator
from storebench.airflow.images import image
from storebench.airflow.params import common_values
from storebench.dataset.manifest import Manifest
from storebench.results.repository import run_id_of

MEMORY = "1Gi"  # the generator's memory does not grow with rows


class DatasetOperator(CleaningOperator):
    """Makes sure that the run's dataset is in S3, and records it. Before that, it cleans up after runs that are over."""

    def execute(self, context: Context) -> None:
        params = common_values(context["params"])
        rows, seed = params["rows"], params["seed"]
        run_id = run_id_of(context["dag"].dag_id, context["run_id"])
        repository = connections.repository(connections.PATIENCE_S)
        repository.stop_run(run_id, None)  # it may be a second try
        self.clean(context)
        self.image = image("python")
        self.name = "dataset"
        self.arguments = [
            "dataset",
            "--rows",
            str(rows),
            "--seed",
            str(seed),
            "--bucket",
            connections.bucket(),
        ]
        self.use_connections(["s3"])
        try:
            self.run_pod(context, MEMORY)
        except Exception as error:  # noqa: BLE001 - whatever the error is, the run's rows get it as their reason
            result = observe.step_result(self.observed, self.CONTAINER, error)
            reason = f"The dataset was not made: {result.error_kind}: {result.error}"
            repository.stop_run(run_id, reason)
            raise AirflowFailException(reason) from None
        repository.add_dataset(Manifest.from_json(self.message() or ""))
