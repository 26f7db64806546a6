"""What was measured: attempts, comparisons, prices."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from storebench.cli.environment import console, results_dsn
from storebench.cli.study import default_study, of_study
from storebench.errors import SpecError, unknown


@click.command()
@click.option("--run", "run_", metavar="RUN", help="A run's id, 'latest', or 'baseline:NAME'.")
@click.option("--study", metavar="NAME", help="Only of this study: 'latest' is its newest run.")
@click.option("--store", help="Only this store.")
@click.option("--cell", help="Only cells whose key contains this text.")
@click.option(
    "--metric",
    help="Show this metric (default: the one that ranks each operation), of operations that have it.",
)
@click.option(
    "--histogram", metavar="METRIC", help="Print these distributions: the attempts of each cell together."
)
@click.option("--series", metavar="METRIC", help="Print these series: values over time, of each attempt.")
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, help="At most the newest N rows."
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
def results(
    run_: str | None,
    study: str | None,
    store: str | None,
    cell: str | None,
    metric: str | None,
    histogram: str | None,
    series: str | None,
    limit: int,
    format_: str,
) -> None:
    """Print the results, one row for each attempt.

    With --histogram or --series, print what these attempts have reported of that.
    """
    from storebench.results.queries import Queries
    from storebench.results.table import as_csv, as_json, print_results
    from storebench.study.studies import store_names

    if sum(map(bool, (metric, histogram, series))) > 1:
        raise SpecError("Give one of --metric, --histogram and --series")
    queries = Queries(results_dsn())
    if study:
        queries.study(study)  # refuses one that has no results
    rows = queries.results(run=run_, study=study, store=store, cell=cell, limit=limit)
    if store and not rows and store not in (known := {*store_names(), *queries.stores()}):
        raise unknown("store", store, sorted(known))
    if histogram or series:
        _print_artifacts(queries, rows, histogram, series, format_)
        return
    if metric:
        rows = queries.ranked(rows, metric)
    if format_ == "table":
        if rows:
            print_results(console(), rows, queries.studies())
        else:
            click.echo("no results")
    else:
        click.echo(as_csv(rows) if format_ == "csv" else as_json(rows), nl=False)


def _print_artifacts(
    queries: Any, rows: list[dict[str, Any]], histogram: str | None, series: str | None, format_: str
) -> None:
    from storebench.results import artifacts

    kind, metric = ("histogram", histogram) if histogram else ("series", series)
    found = artifacts.artifacts_of(queries, rows, kind, str(metric)) if rows else []
    if not found and format_ == "table":
        click.echo(f"no verified attempt has the {kind} {metric}" if rows else "no results")
        return
    lines = artifacts.histogram_lines(found) if histogram else artifacts.series_lines(found)
    if format_ == "table":
        (artifacts.print_histograms if histogram else artifacts.print_series)(console(), lines)
    elif format_ == "csv":
        click.echo((artifacts.histograms_csv if histogram else artifacts.series_csv)(lines), nl=False)
    else:
        click.echo(artifacts.as_json(lines), nl=False)


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--a-a", "arms", is_flag=True, help="Compare the run's two arms (or its odd and even repeats): the noise."
)
@click.option(
    "--by",
    metavar="PLACE=A,B",
    help="Compare two values of the run: store=A,B, client=A,B, or two on an axis.",
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    help="Percent: a difference within it does not count.",
)
@click.option(
    "--fail-over",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    help="Exit with code 1 where B is worse by more than this, and with 6 where it could be for all that was measured.",
)
@of_study
@click.option("--metric", help="Compare by this metric (default: the one that ranks each operation).")
@click.option(
    "--single-runs",
    is_flag=True,
    help="With --fail-over: judge one run on each side, too. You know that a drift of the machine between them looks like a difference.",
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def compare(
    before: str,
    after: str | None,
    arms: bool,
    by: str | None,
    margin: float,
    fail_over: float | None,
    study: str | None,
    metric: str | None,
    single_runs: bool,
    format_: str,
) -> None:
    """Compare two runs, or two cells: what is better or worse.

    For each cell and operation it says whether B is better or worse than A (of times: faster or slower), the same, or that it cannot be
    told, and why. Of a metric that is neither better lower nor higher, it says higher or lower.

    A and B are two runs (their ids, 'latest', 'baseline:NAME'; several that were made in turns as ID,ID,ID, or as turns:ID:A where the
    page has made them) or two cells (their keys). With --by both are values of one run, such as two stores.

    Exit codes: 0; with --fail-over 1 for a regression, and 6 where none was found but the data do not rule one out: an interval is too
    wide, B lacks what A has, a run still goes on, or nothing could be compared. It is 6, too, where each side has one run, without
    --single-runs; 2 for what cannot be asked so; 3 where the results database does not answer.
    """
    from storebench.results.compare import compare as compare_sides
    from storebench.results.compare import compare_arms, compare_values
    from storebench.results.comparison_output import as_json, exit_code, print_comparison
    from storebench.results.queries import Queries
    from storebench.results.sides import By

    if [arms, by is not None, after is not None].count(True) != 1:
        raise SpecError("Give two runs or two cells to compare, or one run and --a-a or --by")
    if fail_over is not None and fail_over <= margin:
        raise SpecError(
            f"A change of {fail_over:g} % does not count with a margin of {margin:g} %: give a larger --fail-over, or a smaller"
            " --margin"
        )
    if single_runs and fail_over is None:
        raise SpecError("--single-runs is about the exit code of --fail-over: give both, or neither")
    queries = Queries(results_dsn())
    share = margin / 100
    if by is not None:
        found = compare_values(queries, before, By.of(by), margin=share, metric=metric, study=study)
    elif after is not None:
        found = compare_sides(queries, before, after, margin=share, metric=metric, study=study)
    else:
        found = compare_arms(queries, before, margin=share, metric=metric, study=study)
    if format_ == "json":
        click.echo(as_json(found))
    else:
        print_comparison(console(), found, margin, noise=arms)
    if fail_over is not None:
        code, lines = exit_code(found, fail_over / 100, single_runs=single_runs)
        for line in lines:
            click.echo(f"storebench: {line}", err=True)
        sys.exit(code)


@click.command()
@click.option(
    "--study", metavar="NAME", default=default_study, help="The study; `storebench studies` lists them."
)
@click.option("--operation", metavar="NAME", help="Of this operation (default: the study's first).")
@click.option("--metric", metavar="NAME", help="By this metric (default: the one that ranks the operation).")
@click.option("--rows", type=click.IntRange(0), help="Rows of the dataset.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the dataset.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only of cells that are there on this axis; '*' for all of its values.",
)
@click.option("--environment", metavar="ID", help="What was measured in this one; the last lines list them.")
@click.option("--kind", metavar="TEXT", help="Those that deliver this, or promise it: 'dicts', 'disk'.")
@click.option(
    "--include",
    "included",
    multiple=True,
    type=click.Choice(["limit", "client-bound", "service-bound", "unlike"]),
    help="Rank these, too. They are left out by default.",
)
@click.option(
    "--margin", type=click.FloatRange(0, 100), default=5.0, show_default=True, help="Percent, as of compare."
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
def ranking(
    study: str,
    operation: str | None,
    metric: str | None,
    rows: int | None,
    seed: int | None,
    axes: tuple[str, ...],
    environment: str | None,
    kind: str | None,
    included: tuple[str, ...],
    margin: float,
    format_: str,
) -> None:
    """Rank a study's stores and clients.

    For each it prints the median of all runs in the same environment, the number of attempts (n), the median's interval, how many times the
    best one's median it is, and a verdict against the best one. What is the same as the best, or cannot be told from it, shares its place.
    Figures have three significant digits, and share a unit if they are within a factor of 1,000. CSV and JSON have the numbers in the metric's unit: seconds, if its name ends with _s.

    Excluded are stores that only show what a client can do (limit), cells that are bound by their client (client-bound) or by a service in
    front of the store (service-bound), and those that deliver or promise something else than most (unlike). They stand below, with the reason, and so does what was disturbed, failed, or was
    measured in other environments only.

    Rows, seed, values on axes, environment and kind are those of most cells, unless they are given. On an axis that only some stores or
    clients have, it is all values.
    """
    from storebench.results.queries import Queries
    from storebench.results.ranking import ranking_of
    from storebench.results.ranking_choice import Question
    from storebench.results.ranking_output import as_json, print_ranking, rows_of
    from storebench.results.table import as_csv

    places = dict(axis.split("=", 1) for axis in axes if "=" in axis)
    if len(places) != len(axes):
        raise SpecError("--axis takes NAME=VALUE, each axis once")
    asked = Question(
        study, operation, metric, rows, seed, places, environment, kind, frozenset(included), margin / 100
    )
    found = ranking_of(Queries(results_dsn()), asked)
    if format_ == "table":
        print_ranking(console(), found)
    else:
        click.echo(as_csv(rows_of(found)) if format_ == "csv" else as_json(found), nl=False)


@click.command("plan-repeats")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    required=True,
    help="The difference to tell.",
)
@click.option(
    "--margin", type=click.FloatRange(0, 100), default=5.0, show_default=True, help="As of compare."
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    metavar="N",
    help="Cells times operations of the comparison that is planned (default: those of A).",
)
@of_study
@click.option("--metric", help="Plan for this metric (default: the one that ranks each operation).")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def plan_repeats_(
    before: str,
    after: str | None,
    difference: float,
    margin: float,
    pairs: int | None,
    study: str | None,
    metric: str | None,
    format_: str,
) -> None:
    """Say how many repeats tell a difference.

    The noise is that of what was measured. A and B are named as for `compare`. Of one run it is the noise of its repeats; of several (ID,ID,ID), of the runs; of two sides,
    whatever differs between them, that of the turns.
    """
    from storebench.results.queries import Queries
    from storebench.results.repeats import plan_json, plan_repeats, print_plan

    plan = plan_repeats(
        Queries(results_dsn()),
        before,
        after,
        difference=difference / 100,
        margin=margin / 100,
        pairs=pairs,
        metric=metric,
        study=study,
    )
    if format_ == "json":
        click.echo(plan_json(plan))
    else:
        print_plan(console(), plan)


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option("--cpu-hour", type=click.FloatRange(0), required=True, help="Price of one core for an hour.")
@click.option(
    "--gib-hour", type=click.FloatRange(0), required=True, help="Price of one GiB of memory for an hour."
)
@click.option("--currency", default="USD", show_default=True, help="Only a name.")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def price(
    run_: str, study: str | None, cpu_hour: float, gib_hour: float, currency: str, format_: str
) -> None:
    """Tell what a verified GB cost in CPU and memory.

    Of a study without a dataset it is what a verified attempt cost. These are hours of the pods that worked on it. The stores' servers are not in it: clients are ranked among clients, engines that
    run in the pods among engines.
    """
    from storebench.results.price import prices, print_prices
    from storebench.results.queries import Queries

    queries = Queries(results_dsn())
    found = prices(queries.attempts_of_run(queries.run_named(run_, study)["id"]), cpu_hour, gib_hour)
    if format_ == "json":
        click.echo(json.dumps([vars(one) for one in found], indent=2))
    else:
        print_prices(console(), found, currency)


@click.command()
@click.argument("name")
@click.argument("run_", metavar="RUN")
@of_study
def baseline(name: str, run_: str, study: str | None) -> None:
    """Let baseline:NAME mean RUN, a run's id or 'latest'."""
    from storebench.results.repository import Repository

    if "," in name:
        raise SpecError(
            f"{name!r} cannot be a baseline's name: `storebench compare` takes commas as between several runs"
        )
    repository = Repository(results_dsn())
    run_id = repository.run_named(run_, study)["id"]
    repository.set_baseline(name, run_id)
    click.echo(f"baseline:{name} is {run_id}")


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to write to."
)
def report(run_: str, study: str | None, out: Path) -> None:
    """Write a run's charts and tables as one HTML file.

    It needs no Airflow. The run's attempts are beside it as CSV and JSON.
    """
    from storebench.web.report import write_report

    for path in write_report(results_dsn(), run_, out, study):
        click.echo(str(path))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def site(folder: Path) -> None:
    """Write a static site of all studies' runs.

    DIR is made. It can be read without a server, or hosted anywhere: index.html leads to a page for each run, and data/ has the
    attempts of each study as Parquet and CSV. A site that is there is written anew.
    """
    from storebench.web.site import write_site

    for line in write_site(results_dsn(), folder):
        click.echo(line)
