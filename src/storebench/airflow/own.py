"""A file of one's own as a run's dataset: what the plan finds out of it, before anything is measured."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from storebench import s3
from storebench.airflow import connections, preflight
from storebench.attempt.dataset import DatasetSpec
from storebench.errors import StoreRefused
from storebench.study import own_files
from storebench.study.cell import Cell
from storebench.study.dataset import FILE, MANIFEST, File, folder_of, seed_of
from storebench.study.model import Study

Make = Callable[[File, DatasetSpec], None]  # has a pod make it; raises a StorebenchError
SHOWN_COLUMNS = 100


def with_file(
    study: Study, params: Mapping[str, Any], make: Make | None
) -> tuple[dict[str, Any], Mapping[str, Any] | None]:
    """The parameters of a run, and the manifest of the file that they name, which `make` makes if it is not there yet; None without a file.

    The file's rows, and the number that stands for its version, are `rows` and `seed` then. Raises a StorebenchError for a file that is not
    there, or cannot be a dataset.
    """
    own, file = study.own_file(params), params.get(FILE)
    if own is None or file is None:
        return dict(params), None
    client, bucket = connections.s3(), connections.bucket()
    files = own_files.find(client, file)
    seed = seed_of(file, files.version, files.size)
    folder = folder_of(own.id(seed))
    manifest = _manifest(client, bucket, folder)
    if manifest is None:
        assert make is not None, "the plan of a study with a dataset has it made"
        preflight.check_disk(files.size)
        print(f"A pod looks at {file}, and makes a dataset of it", flush=True)
        make(own, DatasetSpec(bucket, folder, own.max_rows, seed, file=file))
        manifest = _manifest(client, bucket, folder)
        if manifest is None:
            raise StoreRefused(f"The pod has not left a manifest at s3://{bucket}/{folder}{MANIFEST}")
        # Also of a run that is refused then: `storebench clean` removes what is of no run
        connections.repository(connections.PLAN_PATIENCE_S).add_dataset(
            own.id(seed), own.version, manifest["rows"], seed, manifest
        )
    print(dataset_in_words(manifest))
    return {**params, "rows": manifest["rows"], "seed": seed}, manifest


def dataset_in_words(manifest: Mapping[str, Any]) -> str:
    """What was found in the file, a line for each column."""
    schema = manifest["schema"]
    lines = [
        f"  {one['name']}: {_type(one)}{', with nulls' if one.get('nullable') else ''}"
        for one in schema[:SHOWN_COLUMNS]
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


def not_held(study: Study, cells: Iterable[Cell], manifest: Mapping[str, Any]) -> dict[Cell, str]:
    """Return the cells whose store, or the store that fills it, cannot hold the file's data, or whose client cannot read it back; each with
    the reason."""
    found = {}
    for cell in cells:
        store = study.store(cell.store)
        for name in filter(None, (cell.store, store.filled_by)):
            if reason := study.store(name).cannot_hold(manifest):
                found[cell] = f"{name} cannot hold this dataset: {reason}"
                break
        else:
            if reason := store.cannot_give_back(manifest, cell.client):
                found[cell] = (
                    f"{cell.store} cannot give this dataset back to its client {cell.client}: {reason}"
                )
    return found


def _manifest(client: Any, bucket: str, folder: str) -> dict[str, Any] | None:
    with s3.errors(client, bucket, folder + MANIFEST):
        text = s3.read(client, bucket, folder + MANIFEST)
    if text is None:
        return None
    found: dict[str, Any] = json.loads(text)
    return found
