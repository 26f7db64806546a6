"""The page's API and its files: only for those whom Airflow knows, and only to read. /storebench/openapi.json describes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from airflow.api_fastapi.core_api.security import get_user
from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import FileResponse, JSONResponse
from pydantic import BaseModel

from storebench import __version__
from storebench.errors import SpecError, StoreUnreachable
from storebench.grid import BATCH_SIZE, EXECUTORS, Cell
from storebench.results import difference
from storebench.results.compare import Comparison as Found
from storebench.results.compare import compare
from storebench.results.database import Row
from storebench.results.price import prices
from storebench.web import figures, filling
from storebench.web.access import GridDagDep, ReadingDep
from storebench.web.models import (
    Attempt,
    CellFigures,
    CellPhases,
    Comparison,
    Grid,
    Operation,
    Page,
    Parameter,
    Price,
    Run,
    Status,
    Turn,
    Verdict,
    Without,
)
from storebench.web.reading import Sort

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
def runs(read: ReadingDep, dag: Text | None = None, limit: Limit = 50, offset: Offset = 0) -> Page[Run]:
    """The newest runs first, of all DAGs or of one."""
    return _page(Run, read.runs_page(limit + 1, offset, dag), limit, offset)


@app.get("/api/run")
def run(read: ReadingDep, run: RunName) -> Run:
    """One run."""
    return Run.model_validate(read.run_counted(read.run_named(run)["id"]))


@app.get("/api/turns")
def turns(read: ReadingDep, run: RunName, limit: Limit = MOST, offset: Offset = 0) -> Page[Turn]:
    """What a run set out to do, in its order, and at the end what it left out."""
    return _page(Turn, read.turns(read.run_named(run)["id"], limit + 1, offset), limit, offset)


@app.get("/api/cells")
def cells(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellFigures]:
    """A run's cells, write and read apart: each attempt's newest try, medians, intervals; warm-ups left out.

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


@app.get("/api/attempts")
def attempts(
    read: ReadingDep,
    run: RunName | None = None,
    store: Text | None = None,
    client: Text | None = None,
    cell: Text | None = None,
    operation: Operation | None = None,
    status: Status | None = None,
    sort: Sort = Sort.RECORDED_AT,
    descending: bool = True,
    limit: Limit = 100,
    offset: Offset = 0,
) -> Page[Attempt]:
    """Attempts, all tries and warm-ups among them. `cell` is a cell's key, `store` and `client` are parts of their names."""
    asked = {
        "run_id": read.run_named(run)["id"] if run else None,
        "cell_key": cell,
        "operation": operation,
        "status": status,
    }
    filters = {name: value for name, value in asked.items() if value is not None}
    parts = {name: value for name, value in (("store", store), ("client", client)) if value}
    rows = read.attempts_page(filters, parts, sort, descending, limit + 1, offset)
    return _page(Attempt, rows, limit, offset)


@app.get("/api/prices")
def priced(
    read: ReadingDep,
    run: RunName,
    cpu_hour: Annotated[float, Query(ge=0, description="Price of one core for an hour")],
    gib_hour: Annotated[float, Query(ge=0, description="Price of one GiB of memory for an hour")],
    limit: Limit = 100,
    offset: Offset = 0,
) -> Page[Price]:
    """What a verified GB cost in each of a run's cells, as `storebench price` computes it. `limit` and `offset` count cells."""
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    found = prices(read.attempts_of(run_id, keys[:limit]), cpu_hour, gib_hour)
    items = [Price.model_validate({**_named(price.cell_key), **vars(price)}) for price in found]
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/cell-keys")
def cell_keys(read: ReadingDep, containing: Text = "", limit: Limit = 50) -> list[str]:
    """Keys of cells that have been in a run."""
    return read.cells_like(containing, limit)


@app.get("/api/compare")
def compared(
    read: ReadingDep,
    before: RunName,
    after: RunName,
    margin_percent: Annotated[float, Query(ge=0, le=100)] = difference.MARGIN * 100,
) -> Comparison:
    """Whether `after` is faster or slower than `before`, cell by cell, and what else differs between them."""
    sides = [Run.model_validate(read.run_counted(read.run_named(name)["id"])) for name in (before, after)]
    found = compare(read, sides[0].id, sides[1].id, margin=margin_percent / 100)
    return Comparison(
        before=sides[0],
        after=sides[1],
        verdicts=[
            Verdict.model_validate(
                {
                    **_compared(found, cell, operation),
                    **vars(verdict),
                    "low": verdict.interval.low if verdict.interval else None,
                    "high": verdict.interval.high if verdict.interval else None,
                }
            )
            for (cell, operation), verdict in found.verdicts.items()
        ],
        without=[
            Without.model_validate({**_compared(found, cell, operation), "reason": reason})
            for (cell, operation), reason in found.without.items()
        ],
        differences=found.differences,
        test=difference.TEST,
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
def static(name: str) -> FileResponse:
    """The page, as the front end's build left it."""
    found = {path.name: path for path in STATIC.iterdir()} if STATIC.is_dir() else {}
    if name not in found:
        raise HTTPException(404, "No such file: `make setup` builds the page")
    return FileResponse(found[name])


@app.get("/openapi.json", include_in_schema=False)
def openapi() -> JSONResponse:
    """The API's description."""
    return JSONResponse(app.openapi())


def _compared(found: Found, cell_key: str, operation: str) -> Row:
    """What is told of a cell's operation with a verdict or without."""
    return {**_named(cell_key), "operation": operation, "remarks": found.remarks[cell_key, operation]}


def _named(cell_key: str) -> Row:
    """The fields of CellName."""
    cell = Cell.from_key(cell_key)
    return {
        "cell_key": cell_key,
        "store": cell.store,
        "client": cell.client,
        "batch_size": cell.value(BATCH_SIZE.key),
        "executors": cell.value(EXECUTORS.key),
        "rows": cell.rows,
        "seed": cell.seed,
    }


def _page(model: type[M], rows: Sequence[Row], limit: int, offset: int) -> Page[M]:
    """`rows` are one more than were asked for, where there are more."""
    items = [model.model_validate(row) for row in rows[:limit]]
    return Page(items=items, offset=offset, more=len(rows) > limit)
