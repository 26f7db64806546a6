"""What the pod of an attempt is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.airflow import connections
from storebench.attempt.spec import AttemptSpec
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of
from storebench.study.model import Study
from storebench.study.parameters import TOLD

RESULTS = "results/"  # the keys of what attempts put into the bucket


def spec_of(
    study: Study, operation: str, cell: Cell, target: str, params: Mapping[str, Any], filler: str = ""
) -> AttemptSpec:
    """What a pod is to do with what the cell's store keeps as `target`, in a run with these parameters.

    `filler`: the store that does it in the place of the cell's, as its first client does. It may have an axis that the cell does not
    have: there it takes the first value of the axis' grid.
    """
    name = filler or cell.store
    store = study.store(name)
    client, axes = cell.client, dict(cell.axes)
    if filler:
        client = store.clients[0]
        for axis in study.axes:
            if axis.name not in axes and axis.means_something(name, client, axes):
                axes[axis.name] = axis.grid[0]
    dataset = study.dataset_of(cell, params)
    return AttemptSpec(
        operation=operation,
        cell_key=cell.key,
        study=study.name,
        store=name,
        client=client,
        axes=axes,
        rows=cell.rows,
        seed=cell.seed,
        target=target,
        bucket=connections.bucket(),
        dataset=folder_of(dataset) if dataset else None,
        results=f"{RESULTS}{target}/{operation}-",
        method_version=study.method_version,
        options={option: str(params[option]) for option in (*TOLD, *study.params, *store.options)},
    )
