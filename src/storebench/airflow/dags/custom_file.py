"""Make a run's dataset from a custom file. The plan needs the dataset's size and schema before any measurement."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from storebench import s3
from storebench.airflow import connections
from storebench.attempt.dataset import DatasetSpec
from storebench.errors import StoreRefused
from storebench.planning import checks
from storebench.study import custom_files
from storebench.study.dataset import FILE, MANIFEST, CustomFile, folder_of, seed_of
from storebench.study.model import Study
from storebench.study.run_params import RunParams, study_values

Make = Callable[
    [CustomFile, DatasetSpec], None
]  # makes the dataset of a file in a pod; raises a StorebenchError
SHOWN_COLUMNS = 100


def with_file(
    study: Study, params: RunParams, make: Make | None
) -> tuple[RunParams, Mapping[str, Any] | None]:
    """Return a run's parameters, and the manifest of the dataset of the custom file. Without a file, the manifest is None.

    `make` makes the dataset if its manifest is missing. In the returned parameters, `rows` is the file's number of rows, and `seed`
    identifies the file's version. Raises a StorebenchError for a file that does not exist or cannot be a dataset.
    """
    custom_file, file = study.custom_file(params), study_values(params).get(FILE)
    if custom_file is None or file is None:
        return params, None
    client, bucket = connections.s3(), connections.bucket()
    files = custom_files.find(client, file)
    seed = seed_of(file, files.version, files.size)
    folder = folder_of(custom_file.id(seed))
    manifest = _manifest(client, bucket, folder)
    if manifest is None:
        assert make is not None, "the plan of a study with a dataset can make the dataset"
        checks.check_disk(files.size)
        print(f"A pod reads {file} and makes a dataset of it", flush=True)
        make(custom_file, DatasetSpec(bucket, folder, custom_file.max_rows, seed, file=file))
        manifest = _manifest(client, bucket, folder)
        if manifest is None:
            raise StoreRefused(f"The pod has not left a manifest at s3://{bucket}/{folder}{MANIFEST}")
        # Record the dataset even if the run is refused later, so that `storebench clean` can remove it.
        connections.repository(connections.PLAN_PATIENCE_S).add_dataset(
            custom_file.id(seed), custom_file.version, manifest["rows"], seed, manifest
        )
    print(dataset_text(manifest))
    return {**params, "rows": manifest["rows"], "seed": seed}, manifest


def dataset_text(manifest: Mapping[str, Any]) -> str:
    """Return the size of a file's dataset, and the type of each column in a line of its own."""
    schema = manifest["schema"]
    lines = [
        f"  {column['name']}: {_type(column)}{', with nulls' if column.get('nullable') else ''}"
        for column in schema[:SHOWN_COLUMNS]
    ]
    if (more := len(schema) - SHOWN_COLUMNS) > 0:
        lines.append(f"  and {more:,} more")
    sizes = f"{manifest['rows']:,} rows, {manifest['bytes'] / 1e6:,.1f} MB as CSV, {len(schema):,} columns"
    return "\n".join([f"The dataset is {manifest['file']}: {sizes}", *lines])


def _type(column: Mapping[str, Any]) -> str:
    bounds = [str(column[name]) for name in ("precision", "scale") if column.get(name) is not None]
    kind = f"{column['type']}({', '.join(bounds)})" if bounds else str(column["type"])
    if column.get("earliest"):
        return f"{kind} from {column['earliest']} to {column['latest']}"
    return f"{kind}, as its type does not hold {column['misfit']!r}" if column.get("misfit") else kind


def _manifest(client: Any, bucket: str, folder: str) -> dict[str, Any] | None:
    with s3.errors(client, bucket, folder + MANIFEST):
        text = s3.read(client, bucket, folder + MANIFEST)
    if text is None:
        return None
    manifest: dict[str, Any] = json.loads(text)
    return manifest
