"""The read-only API of the results page, and the page's files. Users log in to Airflow. /storebench/openapi.json describes the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar
from uuid import UUID

from fastapi import APIRouter, Depends, FastAPI, Header, HTTPException, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, StringConstraints

from storebench import __version__
from storebench.airflow.compat.api_server import get_user
from storebench.answers import figures
from storebench.answers.artifacts import artifacts_answer
from storebench.answers.attempts import Attempt, CellArtifacts, CellFigures, CellPhases, PodUsage, Status
from storebench.answers.base import Page
from storebench.answers.claims import Claims, study_claims_answer
from storebench.answers.counters import AttemptCounters, counters_answer
from storebench.answers.grids import Grid, Parameter
from storebench.answers.histories import CellHistory, history_answer
from storebench.answers.profiles import AttemptProfiles, profiles_answer
from storebench.answers.rankings import Included, Ranking, ranking_answer
from storebench.answers.runs import Run, Runs, Turn
from storebench.answers.server_sizes import ServerSizes, server_sizes_answer
from storebench.answers.studies import Study
from storebench.errors import SchemaDiffers, SpecError, StoreUnreachable, quoted
from storebench.fields import UNSTORABLE
from storebench.results.database.rows import AttemptRow
from storebench.results.ranking.choice import Question
from storebench.results.ranking.rank import ranking_of
from storebench.results.statistics.verdicts import MARGIN
from storebench.web import comparing, filling, metrics, page_files, starting
from storebench.web.access import GridDagDep, ReadingDep, StatesDep
from storebench.web.comparing import Margin
from storebench.web.reading import AXIS, METRIC, Reading, Sort
from storebench.web.runs import current, run_of


def storable(request: Request) -> None:
    """Answer 422 for a text with a character that Postgres cannot store."""
    for name, value in request.query_params.multi_items():
        if UNSTORABLE.search(name + value):
            raise HTTPException(422, f"The parameter {quoted(name)} has a character that cannot be stored")


STATIC = Path(__file__).parent / "page" / "static"
MOST = 500  # items of an answer
MOST_OFFSET = 2**31 - 1
MOST_INTEGER = 2**63 - 1  # the largest integer that Postgres stores

app = FastAPI(
    title="Storebench results",
    description=__doc__,
    version=__version__,
    dependencies=[Depends(get_user), Depends(storable)],
    docs_url=None,  # FastAPI's own pages would need no login
    redoc_url=None,
    openapi_url=None,
)

M = TypeVar("M", bound=BaseModel)
RunName = Annotated[
    str, Query(max_length=500, description="A run's id, here or in Airflow; 'latest'; 'baseline:NAME'")
]
Limit = Annotated[int, Query(ge=1, le=MOST)]
Offset = Annotated[int, Query(ge=0, le=MOST_OFFSET)]
Integer = Annotated[int, Query(ge=0, le=MOST_INTEGER)]
Text = Annotated[str, Query(max_length=500)]
Tags = Annotated[list[Text] | None, Query(description="Only runs with all these tags")]
Axes = Annotated[
    list[Annotated[str, StringConstraints(pattern="^[a-z][a-z0-9_]*=", max_length=500)]] | None,
    Query(description="NAME=VALUE: only cells with this value on this axis"),
]


@app.exception_handler(SpecError)
def _not_there(request: Request, error: SpecError) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=404)


@app.exception_handler(SchemaDiffers)
def _of_another_version(request: Request, error: SchemaDiffers) -> JSONResponse:
    return JSONResponse({"detail": str(error)}, status_code=500)


@app.exception_handler(StoreUnreachable)
def _away(request: Request, error: StoreUnreachable) -> JSONResponse:
    """Answer without the reason, which names hosts: the API server's log has the reason."""
    return JSONResponse({"detail": "The results database does not answer"}, status_code=503)


@app.get("/api/runs")
def runs(
    read: ReadingDep,
    states: StatesDep,
    dag: Text | None = None,
    tag: Tags = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> Runs:
    """List the runs of all DAGs, or of one DAG, newest first. `latest` does not depend on the tags."""
    rows = read.runs_page(limit + 1, offset, dag, tag or ())
    page = _page(Run, current(read, states, rows), limit, offset)
    return Runs(**dict(page), latest=read.latest(dag))


@app.get("/api/run")
def run(read: ReadingDep, states: StatesDep, run: RunName) -> Run:
    """Return a run."""
    return run_of(read, states, run)


@app.get("/api/study")
def study(read: ReadingDep, name: Text) -> Study:
    """Return a study with results, as of the start of its last run."""
    return figures.study_answer(read, name)


@app.get("/api/turns")
def turns(read: ReadingDep, run: RunName, limit: Limit = MOST, offset: Offset = 0) -> Page[Turn]:
    """List a run's planned turns in order, and then the skipped turns."""
    return _page(Turn, read.turns(read.run_named(run)["id"], limit + 1, offset), limit, offset)


@app.get("/api/cells")
def cells(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellFigures]:
    """List the newest tries, medians and intervals of each operation of a run's cells, without warm-ups.

    `limit` and `offset` count cells.
    """
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    items = figures.figures_answer(read.attempts_of(run_id, keys[:limit]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/phases")
def phases(
    read: ReadingDep, run: RunName, attempt: UUID | None = None, limit: Limit = 100, offset: Offset = 0
) -> Page[CellPhases]:
    """List the phases of each cell's typical attempt, or of one attempt. `limit` and `offset` count cells."""
    keys, rows = _cells_or_attempt(read, read.run_named(run)["id"], attempt, limit, offset)
    typical = rows if attempt else figures.typical_of(rows)
    items = figures.phases_answer(typical, read.phases([row["attempt_id"] for row in typical]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/pods")
def pods(
    read: ReadingDep, run: RunName, attempt: UUID, limit: Limit = MOST, offset: Offset = 0
) -> Page[PodUsage]:
    """List the pods of an attempt: its own pod as part 0, the pods that did other parts of its operation, executors, and servers."""
    rows = read.pods(read.run_named(run)["id"], attempt, limit + 1, offset)
    return _page(PodUsage, rows, limit, offset)


@app.get("/api/counters")
def counters(
    read: ReadingDep, run: RunName, attempt: UUID | None = None, limit: Limit = 100, offset: Offset = 0
) -> Page[AttemptCounters]:
    """List the counters of the servers of a run's attempts, without warm-ups and superseded tries, or of one attempt.

    Attempts without counters are absent. `limit` and `offset` count cells.
    """
    keys, rows = _cells_or_attempt(read, read.run_named(run)["id"], attempt, limit, offset)
    items = counters_answer(rows, read.counters([row["attempt_id"] for row in rows]))
    return Page(items=items, offset=offset, more=len(keys) > limit)


@app.get("/api/profiles")
def profiles(read: ReadingDep, run: RunName, attempt: UUID) -> list[AttemptProfiles]:
    """Return the sampled stacks of an attempt; an empty list for an attempt without a profile."""
    _, rows = _cells_or_attempt(read, read.run_named(run)["id"], attempt, 1, 0)
    return profiles_answer(rows, read.profiles([row["attempt_id"] for row in rows]))


@app.get("/api/artifacts")
def artifacts(read: ReadingDep, run: RunName, limit: Limit = 100, offset: Offset = 0) -> Page[CellArtifacts]:
    """List the histograms and series of a run's cells. Cells without histograms and series are absent. `limit` and `offset` count cells."""
    run_id = read.run_named(run)["id"]
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    rows = read.attempts_of(run_id, keys[:limit])
    items = artifacts_answer(rows, read.artifacts([row["attempt_id"] for row in rows]))
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
    axis: Axes = None,
    rows: Integer | None = None,
    seed: Integer | None = None,
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
    """List attempts, including all tries and warm-ups. `cell` is a cell's key, `store` and `client` are parts of names,
    and `axis` gives values on axes."""
    columns = {
        "run_id": read.run_named(run)["id"] if run else None,
        "cell_key": cell,
        "operation": operation,
        "status": status,
        "rows": rows,
        "seed": seed,
    }
    filters = {name: value for name, value in columns.items() if value is not None}
    parts = {name: value for name, value in (("store", store), ("client", client)) if value}
    page = read.attempts_page(filters, parts, _pairs(axis), sort, descending, limit + 1, offset)
    return _page(Attempt, page, limit, offset)


@app.get("/api/cell-keys")
def cell_keys(read: ReadingDep, containing: Text = "", limit: Limit = 50) -> list[str]:
    """List the keys of cells that have been in a run. Each key contains each word of `containing`, ignoring case."""
    return read.cells_like(containing, limit)


@app.get("/api/history")
def history(read: ReadingDep, cell: Text, operation: Text, metric: Text | None = None) -> CellHistory:
    """Return the history of a cell's operation over all runs: levels, changes of level, and baselines. Without `metric`, by the metric that
    ranks the operation. `cell` is a cell's key, or words that only one cell's key has.
    """
    return history_answer(read, read.cell_named(cell), operation, metric)


@app.get("/api/ranking")
def ranking(
    read: ReadingDep,
    study: Text,
    operation: Text | None = None,
    metric: Text | None = None,
    rows: Integer | None = None,
    seed: Integer | None = None,
    axis: Axes = None,
    environment: Text | None = None,
    guarantee: Text | None = None,
    include: Annotated[
        list[Included] | None, Query(description="Exclusions that are ranked nevertheless")
    ] = None,
    alike: Annotated[
        bool,
        Query(description="Exclude cells bound by a client or a service, and cells with another guarantee"),
    ] = False,
    margin_percent: Margin = MARGIN * 100,
) -> Ranking:
    """Rank a study's stores and clients over all runs in one environment. A parameter that is absent takes the value that most cells were
    measured with; without a guarantee, cells with any guarantee are ranked, and each lists its differences.
    """
    axes = dict(_pairs(axis))
    included = frozenset(include or ())
    question = Question(
        *(study, operation, metric, rows, seed, axes, environment, guarantee, included, alike),
        margin_percent / 100,
    )
    return ranking_answer(read, ranking_of(read, question))


@app.get("/api/claims")
def claims(
    read: ReadingDep,
    study: Text,
    run: Annotated[list[RunName] | None, Query(description="Judge only by these runs")] = None,
) -> Claims:
    """Judge the claims of the original study, each case by the newest run with both sides and enough repeats, as `storebench claims`
    does.
    """
    return study_claims_answer(read, study, run or ())


@app.get("/api/server-sizes")
def server_sizes(
    read: ReadingDep,
    study: Text,
    operation: Text | None = None,
    metric: Text | None = None,
    run: Annotated[list[RunName] | None, Query(description="Use only these runs")] = None,
) -> ServerSizes:
    """Return a metric over the size of servers that runs have provisioned, from the runs of a study that differ in nothing else, and why
    other runs are excluded. Higher must be better; without `metric`, the first such metric.
    """
    return server_sizes_answer(read, study, operation, metric, run or ())


@app.get("/api/parameters")
def parameters(dag: GridDagDep) -> list[Parameter]:
    """List the parameters for runs of single cells of a study's grid."""
    return filling.parameters_of(dag)


@app.get("/api/grid")
def grid(dag: GridDagDep, params: Annotated[str, starting.PARAMS] = "{}") -> Grid:
    """Return a study's grid, and for each cell the operations to measure with these parameters, as `storebench grid` does."""
    try:
        return filling.grid_of(dag, params)
    except SpecError as error:
        raise HTTPException(422, str(error)) from None


app.include_router(comparing.router)
app.include_router(starting.router)
# Not included as the others: the app's own dependency would refuse the token of the metrics
_with_token = APIRouter(dependency_overrides_provider=app)
_with_token.add_api_route("/metrics", metrics.metrics, include_in_schema=False)
app.router.routes.extend(_with_token.routes)


@app.get("/static/{name}", include_in_schema=False)
def static(
    name: str,
    accept_encoding: Annotated[str, Header()] = "",
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """Return a file of the page from the front end's build."""
    files = {path.name: path for path in STATIC.iterdir()} if STATIC.is_dir() else {}
    if name not in files:
        raise HTTPException(404, "No such file: `make setup` builds the page")
    return page_files.answer(files[name], accept_encoding, if_none_match)


@app.get("/openapi.json", include_in_schema=False)
def openapi() -> JSONResponse:
    """Return the API's description."""
    return JSONResponse(app.openapi())


def _pairs(texts: Sequence[str] | None) -> list[tuple[str, str]]:
    """Split texts of the form NAME=VALUE."""
    return [(name, value) for name, _, value in (text.partition("=") for text in texts or ())]


def _cells_or_attempt(
    read: Reading, run_id: str, attempt: UUID | None, limit: int, offset: int
) -> tuple[list[str], list[AttemptRow]]:
    """Return an attempt of a run; without `attempt`, the keys of up to `limit` cells and one more, and the newest tries of the former."""
    if attempt:
        filters: dict[str, str | int] = {"run_id": run_id, "attempt_id": str(attempt)}
        return [], read.attempts_page(filters, {}, (), Sort.RECORDED_AT, True, 1, 0)
    keys = read.cells_of_run_page(run_id, limit + 1, offset)
    return keys, read.attempts_of(run_id, keys[:limit])


def _page(model: type[M], rows: Sequence[Mapping[str, Any]], limit: int, offset: int) -> Page[M]:
    """Build a page of up to `limit` rows; a row more than `limit` shows that more rows follow."""
    items = [model.model_validate(row) for row in rows[:limit]]
    return Page(items=items, offset=offset, more=len(rows) > limit)
