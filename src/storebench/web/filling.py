"""Find the cells of a study's grid that are not measured yet, and the parameters of a run that measures a cell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from storebench.answers.grids import Grid, GridCell, Parameter
from storebench.errors import SpecError
from storebench.fields import json_of
from storebench.planning.params import cell_fields, cell_values
from storebench.results.forecast import missing
from storebench.results.forecast.expected import Pace
from storebench.study.order import turns
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
    asked, study = asked_of(params), dag.study
    values = cell_values(study, asked)
    cells = missing.cells_of(study, dag.dates, dag.read, values)
    pace = Pace(dag.read, study, {one.cell.store for one in cells}, values)
    refusals = _refusals(dag, values)
    sent = (*(name for name in MAIN if name in values), *asked)
    return Grid(
        cells=[_cell(one, pace, values, refusals.get(_run_name(one.key))) for one in cells],
        conf={**{name: values[name] for name in sent}, "skip_done": True},
        may_start=dag.may_start,
    )


def _refusals(dag: GridDag, values: Mapping[str, Any]) -> dict[str, str]:
    """Return why the newest run of each cell with these parameters was refused, by the cell's part of the run's name."""
    fields, found = cell_fields(dag.study), {}
    for row in dag.read.refused_of_a_cell(dag.study.name):
        with suppress(SpecError):  # the run was refused for invalid parameters, which `values` cannot equal
            asked = {
                name: field.read(row["params"].get(name, field.default)) for name, field in fields.items()
            }
            if all(asked[name] == values[name] for name in fields):
                found[_run_name(row["airflow_run_id"].split("__")[1])] = row["reason"]
    return found


def _run_name(key: str) -> str:
    """Normalize a cell's name within the names of runs, which a backfill and the page spell differently."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", key)


def _cell(one: missing.GridCell, pace: Pace, values: Mapping[str, Any], refused: str | None) -> GridCell:
    order = turns({one.cell: one.missing}, 0, warm_up=values["warm_up"], a_a=values["a_a"])
    takes = pace.expected(order)
    return GridCell(
        key=one.key,
        date=one.date,
        state=one.state,
        operations=takes.operations,
        unknown=takes.unknown,
        expected_s=takes.seconds,
        expected_most_s=takes.most_s,
        refused=refused if takes.operations else None,
    )


def asked_of(params: str) -> dict[str, Any]:
    """Parse parameters from a JSON text. Raises SpecError for a text that is no JSON object."""
    try:
        found = json_of(params)
    except ValueError as error:
        raise SpecError(f"The parameters are no JSON object: {error}: {params!r}") from None
    if not isinstance(found, dict):
        raise SpecError(f"The parameters are no JSON object: {params!r}")
    return found
