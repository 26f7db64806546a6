"""What is still to be measured of a study's grid, and with which parameters a run of one of its cells measures that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from storebench.airflow.params import cell_fields, common_values
from storebench.errors import SpecError, unknown
from storebench.order import turns
from storebench.results import missing
from storebench.results.expected import Pace
from storebench.web.access import GridDag
from storebench.web.models import Grid, GridCell, Parameter

SENT = ("rows", "seed", "repeats")  # also where they are the defaults: a run says what it measured


def parameters_of(dag: GridDag) -> list[Parameter]:
    """What a user may choose for runs of single cells of the DAG's grid, in the order of its form."""
    return [
        Parameter(
            name=name,
            title=field.title,
            text=field.text,
            default=dag.defaults[name],
            examples=list(field.examples),
        )
        for name, field in cell_fields(dag.defaults).items()
    ]


def grid_of(dag: GridDag, params: str) -> Grid:
    """The DAG's grid for these parameters, a JSON object of those that are not to be the defaults.

    Raises SpecError for what is no such text, for an unknown parameter, and for a value that is not valid.
    """
    asked = _asked(params)
    known = cell_fields(dag.defaults)
    for name in asked:
        if name not in known:
            raise unknown("parameter", name, known)
    values = common_values({**dag.defaults, **asked})
    cells = missing.cells_of(dag.dag_id, dag.dates, dag.read, values)
    pace = Pace(dag.read, dag.dag_id, {one.cell.store for one in cells})
    return Grid(
        cells=[_cell(one, pace, values) for one in cells],
        conf={**{name: values[name] for name in (*SENT, *asked)}, "skip_done": True},
        may_start=dag.may_start,
    )


def _cell(one: missing.GridCell, pace: Pace, values: Mapping[str, Any]) -> GridCell:
    order = turns({one.cell: one.missing}, 0, warm_up=values["warm_up"], a_a=values["a_a"])
    takes = pace.expected(order)
    return GridCell(
        key=one.key,
        date=one.date,
        state=one.state,
        operations=takes.operations,
        unknown=takes.unknown,
        expected_s=takes.seconds,
    )


def _asked(params: str) -> dict[str, Any]:
    try:
        found = json.loads(params)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise SpecError(f"The parameters are no JSON object: {params}")
    return found
