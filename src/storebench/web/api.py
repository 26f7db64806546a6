"""The page's API and its files: only for those whom Airflow knows, and only to read. /storebench/openapi.json describes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from airflow.api_fastapi.core_api.security import get_user
from fastapi import Depends, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, StringConstraints

from storebench import __version__
from storebench.errors import SpecError, StoreUnreachable
from storebench.results.compare import Comparison as Found
from storebench.results.compare import compare
from storebench.results.database import Row
from storebench.results.stopped import RunStates, as_closed, stopped_runs
from storebench.results.verdicts import MARGIN, TEST
from storebench.web import figures, filling, page_files
from storebench.web.access import GridDagDep, ReadingDep, StatesDep
from storebench.web.artifacts import artifacts_of
from storebench.web.models.answers import Page
from storebench.web.models.attempts import Attempt, CellArtifacts, CellFigures, CellPhases, Status
from storebench.web.models.comparisons import Comparison, Verdict, Without
from storebench.web.models.grids import Grid, Parameter
from storebench.web.models.runs import Run, Runs, Turn
from storebench.web.models.studies import Study
from storebench.web.reading import AXIS, METRIC, Reading, Sort

STATIC = Path(__file__).parent / "page" / "static"
MOST = 500  # of what one answer has

app = FastAPI(
    title="Storebench results",
    description=__doc__,
    version=__version__,
    dependencies=[Depends(get_user)],
    docs_url=None,  # FastAPI's own pages would be for everybody
    redoc_url=None,
    openapi_url=None,
)

M = TypeVar("M", bound=BaseModel)
RunName = Annotated[
    str, Query(max_length=500, description="A run's id, here or in Airflow; 'latest'; 'baseline:NAME'")
]
Limit = Annotated[int, Query(ge=1, le=MOST)]
Offset = Annotated[int, Query(ge=0)]
Text = Annotated[str, Query(max_length=500)]


@app.exception_handler(SpecError)
def _not_there(request: Request, error: SpecError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=404)


@app.exception_handler(StoreUnreachable)
def _away(request: Request, error: StoreUnreachable) -> JSONResponse:
    """Without the reason, which names hosts: it is in the API server's log."""
    return JSONResponse({"detail": "The results database does not answer"}, status_code=503)


@app.get("/api/runs")
def runs(
    read: ReadingDep, states: StatesDep, dag: Text | None = None, limit: Limit = 50, offset: Offset = 0
) -> Runs:
    """The newest runs first, of all DAGs or of one."""
    page = _page(Run, _ended(read, states, read.runs_page(limit + 1, offset, dag)), limit, offset)
    return Runs(**dict(page), latest=read.latest(dag))


@app.get("/api/run")
def run(read: ReadingDep, states: StatesDep, run: RunName) -> Run:
    """One run."""
    return _run(read, states, run)


@app.get("/api/study")
def study(read: ReadingDep, name: Text) -> Study:
    """A study that has results, as it was when a run of it last began."""
    return figures.study_of(read, name)


@app.get("/api/turns")
def turns(read: ReadingDep, run: RunName, limit: Limit = MOST, offset: Offset = 0) -> Page[Turn]:
    """What a run set out to do, in its order, and at the end what it left out."""
    return _page(Turn, read.turns(read.run_named(run)["id"], limit + 1, offset), limit, offset)


@app.get("/api/cells")
def cells(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellFigures]:
    """A run's cells, each operation apart: each attempt's newest try, medians, intervals; warm-ups left out.

    `limit` and `offset` count cells.
    """
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    items = figures.figures_of(read.attempts_of(run_id, keys[:limit]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/phases")
def phases(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellPhases]:
    """Where the time went in each cell's typical attempt. `limit` and `offset` count cells."""
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    typical = figures.typical_of(read.attempts_of(run_id, keys[:limit]))
    items = figures.phases_of(typical, read.phases([row["attempt_id"] for row in typical]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/artifacts")
def artifacts(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellArtifacts]:
    """The histograms and series of a run's cells that have any. `limit` and `offset` count cells."""
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    rows = read.attempts_of(run_id, keys[:limit])
    items = artifacts_of(rows, read.artifacts([row["attempt_id"] for row in rows]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/attempts")
def attempts(
    read: ReadingDep,
    run: RunName | None = None,
    store: Text | None = None,
    client: Text | None = None,
    cell: Text | None = None,
    operation: Text | None = None,
    status: Status | None = None,
    axis: Annotated[
        list[Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*=", max_length=500)]] | None,
        Query(description="NAME=VALUE: only of cells that are there on that axis"),
    ] = None,
    rows: int | None = None,
    seed: int | None = None,
    sort: Annotated[
        str,
        Query(
            pattern=f"^({'|'.join(Sort)}|({AXIS}|{METRIC})[a-z0-9_]+)$",
            description="A column, axis:NAME or metric:NAME",
        ),
    ] = Sort.RECORDED_AT,
    descending: bool = True,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Page[Attempt]:
    """Attempts, all tries and warm-ups among them. `cell` is a cell's key, `store` and `client` are parts of their names,
    `axis` says where cells are on axes."""
    asked = {
        "run_id": read.run_named(run)["id"] if run else None,
        "cell_key": cell,
        "operation": operation,
        "status": status,
        "rows": rows,
        "seed": seed,
    }
    filters = {name: value for name, value in asked.items() if value is not None}
    parts = {name: value for name, value in (("store", store), ("client", client)) if value}
    axes = [(name, value) for name, _, value in (one.partition("=") for one in axis or ())]
    found = read.attempts_page(filters, parts, axes, sort, descending, limit + 1, offset)
    return _page(Attempt, found, limit, offset)


@app.get("/api/cell-keys")
def cell_keys(read: ReadingDep, containing: Text = "", limit: Limit = 50) -> list[str]:
    """Keys of cells that have been in a run."""
    return read.cells_like(containing, limit)


@app.get("/api/compare")
def compared(
    read: ReadingDep,
    states: StatesDep,
    before: RunName,
    after: RunName,
    margin_percent: Annotated[float, Query(ge=0, le=100)] = MARGIN * 100,
    metric: Text | None = None,
) -> Comparison:
    """Whether `after` is better or worse than `before`, cell by cell, and what else differs between them; by the metric that ranks
    each operation, or another one.
    """
    sides = [_run(read, states, name) for name in (before, after)]
    found = compare(read, sides[0].id, sides[1].id, margin=margin_percent / 100, metric=metric)
    compared = _Sides(read, found)
    return Comparison(
        before=sides[0],
        after=sides[1],
        verdicts=[
            Verdict.model_validate(
                {
                    **compared.told(cell, operation),
                    **found.measured[cell, operation],
                    **vars(verdict),
                    "low": verdict.interval.low if verdict.interval else None,
                    "high": verdict.interval.high if verdict.interval else None,
                }
            )
            for (cell, operation), verdict in found.verdicts.items()
        ],
        without=[
            Without.model_validate({**compared.told(cell, operation), "reason": reason})
            for (cell, operation), reason in found.without.items()
        ],
        differences=found.differences,
        test=TEST,
        margin_percent=margin_percent,
        caution=found.design.caution,
    )


@app.get("/api/parameters")
def parameters(dag: GridDagDep) -> list[Parameter]:
    """What may be chosen for runs of single cells of a study's grid."""
    return filling.parameters_of(dag)


@app.get("/api/grid")
def grid(
    dag: GridDagDep,
    params: Annotated[
        str, Query(max_length=10_000, description="Parameters that are not to be the defaults: a JSON object")
    ] = "{}",
) -> Grid:
    """A study's grid, and what is still to be measured of each cell with these parameters, as `storebench grid` tells it."""
    try:
        return filling.grid_of(dag, params)
    except SpecError as error:
        raise HTTPException(422, str(error)) from None


@app.get("/static/{name}", include_in_schema=False)
def static(name: str, accept_encoding: Annotated[str, Header()] = "") -> Response:
    """The page, as the front end's build left it."""
    found = {path.name: path for path in STATIC.iterdir()} if STATIC.is_dir() else {}
    if name not in found:
        raise HTTPException(404, "No such file: `make setup` builds the page")
    return page_files.answer(found[name], accept_encoding)


@app.get("/openapi.json", include_in_schema=False)
def openapi() -> JSONResponse:
    """The API's description."""
    return JSONResponse(app.openapi())


def _run(read: Reading, states: RunStates, name: str) -> Run:
    """The run of this name."""
    (found,) = _ended(read, states, [read.run_counted(read.run_named(name)["id"])])
    return Run.model_validate(found)


def _ended(read: Reading, states: RunStates, rows: list[Row]) -> list[Row]:
    """These runs; those that were stopped in Airflow as the next run will record them."""
    going = any(row["state"] == "running" for row in rows)
    return as_closed(rows, stopped_runs(read, states)) if going else rows


class _Sides:
    """What is told of the cells of a comparison, with a verdict or without."""

    def __init__(self, read: Reading, found: Found) -> None:
        rows = read.on_machines(row for side in found.attempts for some in side.values() for row in some)
        self._attempts = {row["attempt_id"]: row for row in rows}
        self._found = found

    def told(self, cell_key: str, operation: str) -> Row:
        """Of one cell's operation."""
        key = cell_key, operation
        before, after = (
            figures.origin_of([self._attempts[row["attempt_id"]] for row in side.get(key, ())])
            for side in self._found.attempts
        )
        return {
            **figures.named(cell_key),
            "operation": operation,
            "remarks": self._found.remarks[key],
            "origin_before": before,
            "origin_after": after,
        }


def _page(model: type[M], rows: Sequence[Row], limit: int, offset: int) -> Page[M]:
    """`rows` are one more than were asked for, where there are more."""
    items = [model.model_validate(row) for row in rows[:limit]]
    return Page(items=items, offset=offset, more=len(rows) > limit)
