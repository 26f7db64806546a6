"""The commands that print results: attempts and prices. Another command names baselines."""

from __future__ import annotations

from typing import Any

import click

from storebench.cli.environment import console, results_dsn
from storebench.cli.study import announce_latest, of_study
from storebench.errors import SpecError, quoted, unknown


@click.command()
@click.option("--run", "run_", metavar="RUN", help="A run's id, 'latest', or 'baseline:NAME'.")
@click.option("--study", metavar="NAME", help="Only results of this study: 'latest' is its newest run.")
@click.option("--store", help="Only this store.")
@click.option("--cell", help="Only cells whose key contains this text.")
@click.option(
    "--metric",
    help="Show this metric, for operations that have it (default: the metric that ranks the operation).",
)
@click.option(
    "--histogram",
    metavar="METRIC",
    help="Print the distributions of this metric; the attempts of each cell are merged.",
)
@click.option(
    "--series", metavar="METRIC", help="Print the series of this metric: values over time, for each attempt."
)
@click.option(
    "--counters", is_flag=True, help="Print what the servers reported before and after these attempts."
)
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
    counters: bool,
    limit: int,
    format_: str,
) -> None:
    """Print the results, one row for each attempt.

    With --histogram, --series or --counters, print the distributions, series or counters of these attempts instead.
    """
    from storebench.cli.output.table import print_results
    from storebench.results.database.queries import Queries
    from storebench.results.export.flat_files import as_csv, as_json
    from storebench.study.studies import store_names

    if sum(map(bool, (metric, histogram, series, counters))) > 1:
        raise SpecError("Give one of --metric, --histogram, --series and --counters")
    queries = Queries(results_dsn())
    if study:
        queries.study(study)  # raises SpecError for a study without results
    announce_latest(queries, study, run_)
    rows = queries.results(run=run_, study=study, store=store, cell=cell, limit=limit)
    if store and not rows and store not in (known := {*store_names(), *queries.stores()}):
        raise unknown("store", store, sorted(known))
    if histogram or series:
        _print_artifacts(queries, rows, histogram, series, format_)
        return
    if counters:
        _print_counters(queries, rows, format_)
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
    from storebench.answers.artifacts import histograms_answer, series_answer
    from storebench.cli.output.artifacts import histograms_csv, print_histograms, print_series, series_csv
    from storebench.results.runs.artifacts import attempts_with_artifact

    kind, metric = ("histogram", str(histogram)) if histogram else ("series", str(series))
    measured = attempts_with_artifact(queries, rows, kind, metric) if rows else []
    if not measured and format_ == "table":
        click.echo(f"no verified attempt has the {kind} {metric}" if rows else "no results")
        return
    if histogram:
        histograms = histograms_answer(measured, metric)
        if format_ == "table":
            print_histograms(console(), histograms.root, queries.studies())
        elif format_ == "csv":
            click.echo(histograms_csv(histograms.root), nl=False)
        else:
            click.echo(histograms.model_dump_json(indent=2))
        return
    answer = series_answer(measured, metric)
    if format_ == "table":
        print_series(console(), answer.root, queries.studies())
    elif format_ == "csv":
        click.echo(series_csv(answer.root), nl=False)
    else:
        click.echo(answer.model_dump_json(indent=2))


def _print_counters(queries: Any, rows: list[dict[str, Any]], format_: str) -> None:
    from storebench.answers.counters import CountersOfAttempts, counters_answer
    from storebench.cli.output.counters import counters_csv, print_counters

    attempts = counters_answer(rows, queries.counters([row["attempt_id"] for row in rows]))
    if format_ == "csv":
        click.echo(counters_csv(attempts), nl=False)
    elif format_ == "json":
        click.echo(CountersOfAttempts(attempts).model_dump_json(indent=2))
    elif attempts:
        print_counters(console(), attempts, queries.studies())
    else:
        click.echo("no attempt has counters" if rows else "no results")


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@of_study
@click.option("--cpu-hour", type=click.FloatRange(0), required=True, help="Price of one core for an hour.")
@click.option(
    "--gib-hour", type=click.FloatRange(0), required=True, help="Price of one GiB of memory for an hour."
)
@click.option(
    "--rate",
    "rate_per_s",
    metavar="PER_SECOND",
    type=click.FloatRange(0, min_open=True),
    help="Print the servers that this rate needs, and their price per hour, instead of the price of a GB.",
)
@click.option(
    "--metric",
    help="With --rate: the metric with the rate that the servers have shown, such as capacity_per_s.",
)
@click.option(
    "--currency", default="USD", show_default=True, help="Name of the currency, for the output only."
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def price(
    runs: tuple[str, ...],
    study: str | None,
    cpu_hour: float,
    gib_hour: float,
    rate_per_s: float | None,
    metric: str | None,
    currency: str,
    format_: str,
) -> None:
    """Print the price of a verified GB, or of a rate.

    For a study without a dataset the price is per verified attempt. The price counts the hours of the attempts' pods and of servers that
    the run provisioned, but not of other servers. So clients are ranked among clients, and engines among engines.

    With --rate, print for each size of provisioned servers how many sets of servers a required rate needs, and their price. Name several
    runs to compare sizes of servers.
    """
    from storebench.answers.prices import demands_answer, prices_answer
    from storebench.cli.output.demands import print_demands
    from storebench.cli.output.prices import print_prices
    from storebench.results.database.queries import Queries
    from storebench.results.forecast.demand import demands
    from storebench.results.forecast.price import prices
    from storebench.results.forecast.sets import operation_seconds

    if (rate_per_s is None) != (metric is None):
        raise SpecError("Give --rate and --metric together")
    queries = Queries(results_dsn())
    for run_ in runs:
        announce_latest(queries, study, run_)
    ids = dict.fromkeys(queries.run_named(run_, study)["id"] for run_ in runs)
    rows = [row for run_id in ids for row in queries.attempts_of_run(run_id)]
    if rate_per_s is not None and metric is not None:
        seconds = operation_seconds(queries, [row["attempt_id"] for row in rows])
        needed = demands(rows, seconds, metric, rate_per_s, cpu_hour, gib_hour)
        if format_ == "json":
            click.echo(demands_answer(needed, metric, rate_per_s, currency).model_dump_json(indent=2))
        else:
            print_demands(console(), needed, rate_per_s, currency, queries.studies())
        return
    priced = prices(rows, cpu_hour, gib_hour)
    if format_ == "json":
        click.echo(prices_answer(priced, currency).model_dump_json(indent=2))
    else:
        print_prices(console(), priced, currency, queries.studies())


@click.command()
@click.argument("name")
@click.argument("run_", metavar="RUN")
@of_study
def baseline(name: str, run_: str, study: str | None) -> None:
    """Make baseline:NAME a name of RUN, a run's id or 'latest'."""
    from storebench.results.database.repository import Repository

    if "," in name:
        raise SpecError(
            f"{quoted(name)} cannot be a baseline's name: `storebench compare` reads commas as separators of several runs"
        )
    repository = Repository(results_dsn())
    announce_latest(repository, study, run_)
    run_id = repository.run_named(run_, study)["id"]
    repository.set_baseline(name, run_id)
    click.echo(f"baseline:{name} is {run_id}")


# No short option: -h would be part of -nightly
@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("run_", metavar="RUN")
@click.argument("changes", metavar="+TAG|-TAG...", nargs=-1, required=True, type=click.UNPROCESSED)
@of_study
def tag(run_: str, changes: tuple[str, ...], study: str | None) -> None:
    """Add tags to a run, or remove tags.

    RUN is a run's id or 'latest'. +TAG adds a tag, and -TAG removes it: `storebench tag RUN +release:1.2 -nightly`.
    """
    from storebench.results.database.repository import Repository
    from storebench.study.tags import changes_of

    added, removed = changes_of(changes)
    repository = Repository(results_dsn())
    announce_latest(repository, study, run_)
    run_id = repository.run_named(run_, study)["id"]
    tags = repository.change_tags(run_id, added, removed)
    click.echo(f"tags of {run_id}: {', '.join(tags) or 'none'}")
