"""Find the cells of a study's grid that are not measured yet, and the parameters of a run that measures a cell."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from storebench.answers.grids import Grid, GridCell, Parameter
from storebench.errors import SpecError, quoted
from storebench.fields import json_of
from storebench.planning.params import cell_fields, cell_values
from storebench.results.forecast import missing
from storebench.results.forecast.expected import Pace
from storebench.study.order import turns
from storebench.study.run_params import CellParams, study_values
from storebench.web.access import GridDag

# The parameters that every user chooses. A run's configuration names them even with default values: it tells what the run measures.
MAIN = ("rows", "seed", "repeats")


def parameters_of(dag: GridDag) -> list[Parameter]:
    """Return the parameters of runs of single cells of the DAG's grid, in the order of the DAG's form."""
    return [
        Parameter(
            name=name,
            title=field.title,
            text=field.text,
            default=field.default,
            main=name in MAIN,
            examples=list(field.examples),
        )
        for name, field in cell_fields(dag.study).items()
    ]


def grid_of(dag: GridDag, params: str) -> Grid:
    """Return the DAG's grid for these parameters: a JSON object with the parameters that differ from their defaults.

    Raises SpecError for a text that is no JSON object, for an unknown parameter, and for an invalid value.
    """
    requested, study = requested_of(params), dag.study
    cell_params = cell_values(study, requested)
    cells = missing.cells_of(study, dag.dates, dag.read, cell_params)
    pace = Pace(dag.read, study, {grid_cell.cell.store for grid_cell in cells}, cell_params)
    refusals, values = _refusals(dag, cell_params), study_values(cell_params)
    sent = (*(name for name in MAIN if name in values), *requested)
    return Grid(
        cells=[
            _cell(grid_cell, pace, cell_params, refusals.get(_run_name(grid_cell.key))) for grid_cell in cells
        ],
        conf={**{name: values[name] for name in sent}, "skip_done": True},
        may_start=dag.may_start,
    )


def _refusals(dag: GridDag, params: CellParams) -> dict[str, str]:
    """Return why the newest run of each cell with these parameters was refused, by the cell's part of the run's name."""
    fields, reasons, values = cell_fields(dag.study), {}, study_values(params)
    for row in dag.read.refused_of_a_cell(dag.study.name):
        with suppress(SpecError):  # the run was refused for invalid parameters, which `values` cannot equal
            refused_values = {
                name: field.read(row["params"].get(name, field.default)) for name, field in fields.items()
            }
            if all(refused_values[name] == values[name] for name in fields):
                reasons[_run_name(row["airflow_run_id"].split("__")[1])] = row["reason"]
    return reasons


def _run_name(key: str) -> str:
    """Normalize a cell's name within the names of runs, which a backfill and the page spell differently."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", key)


def _cell(grid_cell: missing.GridCell, pace: Pace, params: CellParams, refused: str | None) -> GridCell:
    order = turns({grid_cell.cell: grid_cell.missing}, 0, warm_up=params["warm_up"], a_a=params["a_a"])
    expected = pace.expected(order)
    return GridCell(
        key=grid_cell.key,
        date=grid_cell.date,
        state=grid_cell.state,
        operations=expected.operations,
        unknown=expected.unknown,
        expected_s=expected.seconds,
        expected_most_s=expected.most_s,
        refused=refused if expected.operations else None,
    )


def requested_of(params: str) -> dict[str, Any]:
    """Parse parameters from a JSON text. Raises SpecError for a text that is no JSON object."""
    try:
        values = json_of(params)
    except ValueError as error:
        raise SpecError(f"The parameters are no JSON object: {error}: {quoted(params)}") from None
    if not isinstance(values, dict):
        raise SpecError(f"The parameters are no JSON object: {quoted(params)}")
    return values
