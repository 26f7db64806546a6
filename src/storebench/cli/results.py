"""What was measured: attempts, comparisons, prices."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from storebench.cli.environment import console, results_dsn
from storebench.errors import SpecError, unknown


@click.command()
@click.option("--run", "run_", metavar="RUN", help="A run's id, 'latest', or 'baseline:NAME'.")
@click.option("--store", help="Only this store.")
@click.option("--cell", help="Only cells whose key contains this text.")
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, help="At most the newest N rows."
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
def results(run_: str | None, store: str | None, cell: str | None, limit: int, format_: str) -> None:
    """Print the results, one row for each attempt."""
    from storebench.results.queries import Queries
    from storebench.results.table import as_csv, as_json, print_results
    from storebench.stores import REGISTRY

    queries = Queries(results_dsn())
    rows = queries.results(run=run_, store=store, cell=cell, limit=limit)
    if store and not rows and store not in (known := {*REGISTRY, *queries.stores()}):
        raise unknown("store", store, sorted(known))
    if format_ == "table":
        if rows:
            print_results(console(), rows)
        else:
            click.echo("no results")
    else:
        click.echo(as_csv(rows) if format_ == "csv" else as_json(rows), nl=False)


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--a-a", "arms", is_flag=True, help="Compare the run's two arms (or its odd and even repeats): the noise."
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
    help="Exit with code 1 where B is slower by more than this, and with 6 where it could be for all that was measured.",
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def compare(
    before: str, after: str | None, arms: bool, margin: float, fail_over: float | None, format_: str
) -> None:
    """Compare two runs, or two cells: what is faster or slower.

    For each cell and operation it says whether B is faster or slower than A, the same, or that it cannot be told, and why.

    A and B are two runs (their ids, 'latest', 'baseline:NAME'; several that were made in turns as ID,ID,ID) or two cells
    (their keys).

    Exit codes: 0; with --fail-over 1 for a regression, and 6 where none was found but the data do not rule one out, or nothing could be
    compared; 2 for what cannot be asked so; 3 where the results database does not answer.
    """
    from storebench.results.compare import compare as compare_sides
    from storebench.results.compare import compare_arms
    from storebench.results.queries import Queries
    from storebench.results.verdicts import as_json, exit_code, print_comparison

    if arms == (after is not None):
        raise SpecError("Give two runs or two cells to compare, or one run and --a-a")
    if fail_over is not None and fail_over <= margin:
        raise SpecError(
            f"A slowdown of {fail_over:g} % does not count with a margin of {margin:g} %: give a larger --fail-over, or a smaller"
            " --margin"
        )
    queries = Queries(results_dsn())
    share = margin / 100
    found = (
        compare_arms(queries, before, margin=share)
        if after is None
        else compare_sides(queries, before, after, margin=share)
    )
    if format_ == "json":
        click.echo(as_json(found))
    else:
        print_comparison(console(), found, margin, noise=arms)
    if fail_over is not None:
        code, lines = exit_code(found, fail_over / 100)
        for line in lines:
            click.echo(f"storebench: {line}", err=True)
        sys.exit(code)


@click.command("plan-repeats")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    required=True,
    help="The slowdown to tell.",
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
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def plan_repeats_(
    before: str, after: str | None, difference: float, margin: float, pairs: int | None, format_: str
) -> None:
    """Say how many repeats tell a difference.

    The noise is that of what was measured. A and B are named as for `compare`. Of one run it is the noise of its repeats; of several (ID,ID,ID), of the runs; of two sides,
    whatever differs between them, that of the turns.
    """
    from storebench.results.queries import Queries
    from storebench.results.repeats import plan_json, plan_repeats, print_plan

    plan = plan_repeats(
        Queries(results_dsn()), before, after, difference=difference / 100, margin=margin / 100, pairs=pairs
    )
    if format_ == "json":
        click.echo(plan_json(plan))
    else:
        print_plan(console(), plan)


@click.command()
@click.argument("run_", metavar="RUN")
@click.option("--cpu-hour", type=click.FloatRange(0), required=True, help="Price of one core for an hour.")
@click.option(
    "--gib-hour", type=click.FloatRange(0), required=True, help="Price of one GiB of memory for an hour."
)
@click.option("--currency", default="USD", show_default=True, help="Only a name.")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def price(run_: str, cpu_hour: float, gib_hour: float, currency: str, format_: str) -> None:
    """Tell what a verified GB cost in CPU and memory.

    These are hours of the pods that wrote or read it. The stores' servers are not in it: clients are ranked among clients, engines that
    run in the pods among engines.
    """
    from storebench.results.price import prices, print_prices
    from storebench.results.queries import Queries

    queries = Queries(results_dsn())
    found = prices(queries.attempts_of_run(queries.run_named(run_)["id"]), cpu_hour, gib_hour)
    if format_ == "json":
        click.echo(json.dumps([vars(one) for one in found], indent=2))
    else:
        print_prices(console(), found, currency)


@click.command()
@click.argument("name")
@click.argument("run_", metavar="RUN")
def baseline(name: str, run_: str) -> None:
    """Let baseline:NAME mean RUN, a run's id or 'latest'."""
    from storebench.results.repository import Repository

    if "," in name:
        raise SpecError(
            f"{name!r} cannot be a baseline's name: `storebench compare` takes commas as between several runs"
        )
    repository = Repository(results_dsn())
    run_id = repository.run_named(run_)["id"]
    repository.set_baseline(name, run_id)
    click.echo(f"baseline:{name} is {run_id}")


@click.command()
@click.argument("run_", metavar="RUN")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to write to."
)
def report(run_: str, out: Path) -> None:
    """Write a run's charts and tables as one HTML file.

    It needs no Airflow. The run's attempts are beside it as CSV and JSON.
    """
    from storebench.web.report import write_report

    for path in write_report(results_dsn(), run_, out):
        click.echo(str(path))
