"""The specification of an attempt's pod."""

from __future__ import annotations

from storebench.airflow import connections
from storebench.attempt.spec import AttemptSpec
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of
from storebench.study.model import Study
from storebench.study.parameters import TOLD
from storebench.study.run_params import RunParams, study_values
from storebench.study.several_pods import merges_of, pods_of

RESULTS = "results/"  # the prefix of the keys of results in the bucket


def spec_of(
    study: Study, operation: str, cell: Cell, target: str, params: RunParams, filler: str = ""
) -> AttemptSpec:
    """Return the specification of a pod that does `operation` on the data `target` of the cell's store, in a run with these parameters.

    `filler`: the store that does the operation instead of the cell's store, with the filler's first client. For an axis that the cell does
    not have, the filler takes the first value of the axis' grid.
    """
    name = filler or cell.store
    store = study.store(name)
    client, axes = cell.client, dict(cell.axes)
    if filler:
        client = store.clients[0]
        for axis in study.axes:
            applies = axis.name not in axes and axis.means_something(name, client, axes)
            if applies and axis.grid[0] != axis.implied:
                axes[axis.name] = axis.grid[0]
    values = study_values(params)
    dataset = study.dataset_of(cell, values)
    divided = pods_of(store, operation, axes) > 1
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
        options={option: str(values[option]) for option in (*TOLD, *study.params, *store.options)},
        merges=merges_of(study) if divided else {},
    )
