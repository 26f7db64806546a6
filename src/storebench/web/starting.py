"""Return the form and the draft of a future run, checked as the plan checks runs. The page starts runs through Airflow's own API, as the
page's user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query

from storebench.answers.starting import Draft, DraftCell, Form, FormField, Mistake, Preset, Section
from storebench.errors import SpecError
from storebench.fields import Field, Flag, Values
from storebench.planning.checks import check_disk, on_one_machine
from storebench.planning.conf import conf_of, replaced
from storebench.planning.draft import Draft as Planned
from storebench.planning.draft import draft_of
from storebench.planning.faults import check_faults
from storebench.planning.params import grid_of, run_values_or_mistakes, sections_of
from storebench.planning.topologies import check_agents, check_sizes, copies_of, topology_of
from storebench.servers.topology import provisioned_for
from storebench.study.grid import Grid
from storebench.study.model import Preset as Named
from storebench.study.record import StudyRecord
from storebench.study.run_params import study_values
from storebench.web.access import GridDag, GridDagDep, agent_image, has_connection, most_turns
from storebench.web.filling import requested_of

MOST_CELLS = 200  # cells in an answer
PARAMS = Query(max_length=10_000, description="Parameters that differ from their defaults, as a JSON object")

router = APIRouter()


@router.get("/api/form")
def form(dag: GridDagDep) -> Form:
    """Return the form of a study's DAG."""
    embedded = on_one_machine()
    return Form(
        sections=[
            Section(title=title, fields=[_field(dag.study, name, field) for name, field in fields.items()])
            for title, fields in sections_of(dag.study).items()
        ],
        presets=[
            Preset(
                name=preset.name,
                description=_described(preset, embedded),
                params=conf_of(preset, {}, embedded=embedded),
            )
            for preset in dag.study.presets
        ],
        stores=list(dag.study.stores),
    )


def _described(preset: Named, embedded: bool) -> str:
    said = replaced(preset, preset.embedded) if embedded else ""
    return f"{preset.description}. On the embedded cluster: {said}" if said else preset.description


@router.get("/api/draft")
def draft(dag: GridDagDep, params: Annotated[str, PARAMS] = "{}") -> Draft:
    """Return the plan of a run, or the reasons to refuse the run. The plan does not check facts that only a cluster knows, such as whether
    servers fit on the nodes.
    """
    try:
        requested = requested_of(params)
    except SpecError as error:
        raise HTTPException(422, str(error)) from None
    return drafted(dag, requested)


def drafted(dag: GridDag, requested: Mapping[str, Any]) -> Draft:
    """Draft a run of the DAG with these parameters; all other parameters keep their defaults."""
    study = dag.study
    values, mistakes = run_values_or_mistakes(study, requested)
    if values is None:
        return _refused(dag, [Mistake(parameter=name, text=text) for name, text in mistakes.items()])
    try:
        grid = grid_of(study, values, copies_of=copies_of(study, values, has_connection))
        if study.dataset:
            check_disk(values["rows"] * study.dataset.row_bytes)
        used = {cell.store for cell in grid.cells}
        provisioned = {store for store in used if topology_of(study, store, has_connection)}
        check_agents(study, used, values, provisioned, agent_image())
        check_sizes(study, grid.cells, values, has_connection)
        check_faults(study, grid.cells, values, has_connection, agent_image())
        planned = draft_of(
            study,
            grid,
            values,
            dag.read,
            skips=bool(values["skip_done"]),
            most_turns=most_turns(),
            provisioned=provisioned,
            group_of=lambda cell: cell.store if cell.store in provisioned else None,
        )
    except SpecError as error:
        return _refused(dag, [Mistake(parameter=None, text=str(error))])
    return Draft(
        mistakes=[],
        cells=list(_cells(grid, planned)),
        cells_total=len(grid.cells),
        operations=planned.expected.operations,
        unknown=planned.expected.unknown,
        expected_s=planned.expected.seconds,
        expected_most_s=planned.expected.most_s,
        may_end_earlier=values["precision_percent"] is not None or values["budget_min"] is not None,
        dropped=grid.dropped,
        dropped_because=grid.dropped_because,
        conf={name: study_values(values)[name] for name in requested},
        may_start=dag.may_start,
    )


def _refused(dag: GridDag, mistakes: list[Mistake]) -> Draft:
    return Draft(mistakes=mistakes, may_start=dag.may_start)


def _cells(grid: Grid, planned: Planned) -> Iterator[DraftCell]:
    for cell in grid.cells[:MOST_CELLS]:
        yield DraftCell(
            key=cell.key,
            label=cell.label,
            repeats=planned.repeats.get(cell, 0),
            skipped=planned.skipped.get(cell),
        )


def _field(study: StudyRecord, name: str, field: Field) -> FormField:
    kind: Literal["list", "flag", "text"] = (
        "list" if isinstance(field, Values) else "flag" if isinstance(field, Flag) else "text"
    )
    examples = list(field.examples)
    if kind == "list":  # the examples of a text field are lists themselves
        examples = list(dict.fromkeys(part.strip() for text in examples for part in str(text).split(",")))
    if name == "stores":
        examples += provisioned_for(study)
    return FormField(
        name=name,
        title=field.title,
        text=field.text.split("\n\n")[0],  # later paragraphs are for Airflow's own form
        default=field.default,
        kind=kind,
        examples=examples,
    )
