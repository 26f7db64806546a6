"""What the pod of an attempt is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.airflow import connections
from storebench.attempt.spec import CPU_LIMIT, AttemptSpec
from storebench.dataset.manifest import dataset_key, manifest_key
from storebench.grid import Cell
from storebench.stores import Store

# For a store that fills the table of another one: it may have an axis that the cell does not have.
DEFAULT_VALUES = {"executors": "1"}


def spec_of(
    operation: str,
    cell: Cell,
    target: str,
    params: Mapping[str, Any],
    store: type[Store],
    filler: str = "",
) -> AttemptSpec:
    """What a pod is to do with what `store` keeps of a cell as `target`; `filler`: the name of that store where it is not the cell's."""
    return AttemptSpec(
        operation=operation,
        cell_key=cell.key,
        target=target,
        dataset_bucket=connections.bucket(),
        dataset_key=dataset_key(cell.rows, cell.seed),
        manifest_key=manifest_key(cell.rows, cell.seed),
        store=filler,
        options={**DEFAULT_VALUES, **{option: str(params[option]) for option in (CPU_LIMIT, *store.options)}},
    )
