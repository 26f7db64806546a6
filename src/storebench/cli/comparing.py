"""The commands that compare: comparisons, rankings, plans of repeats."""

from __future__ import annotations

import sys

import click

from storebench.cli.environment import console, results_dsn
from storebench.cli.study import announce_latest, default_study, of_study
from storebench.errors import SpecError

margin_option = click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    help="Percent: a smaller difference does not count.",
)


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--a-a",
    "arms",
    is_flag=True,
    help="Compare the two arms of one run (or its odd and even repeats): this shows the noise.",
)
@click.option(
    "--by",
    metavar="PLACE=A,B",
    help="Compare two values within one run: store=A,B, client=A,B, or two values of an axis.",
)
@margin_option
@click.option(
    "--fail-over",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    help="Exit with code 1 if B is worse by more than this, and with 6 if the data do not rule that out.",
)
@of_study
@click.option("--metric", help="Compare by this metric (default: the metric that ranks the operation).")
@click.option(
    "--single-runs",
    is_flag=True,
    help="With --fail-over: also judge a single run per side, although a drift of the machine between the runs looks like a difference.",
)
@click.option("--why", "whole", is_flag=True, help="Print all that goes along with each difference.")
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
    whole: bool,
    format_: str,
) -> None:
    """Compare two runs or two cells: better, worse, or the same.

    For each cell and operation the verdict says whether B is better or worse than A (times: faster or slower), the same, or that A and B
    cannot be told apart, and why. For a metric without a preferred direction, the verdict is higher or lower. Up to five lines say what else
    differs together with the verdict (goes along with), the figures that may explain most of it first. No cause is claimed.

    A and B are two runs (their ids, 'latest', 'baseline:NAME'; several alternating runs as ID,ID,ID, or turns:ID:A for the page's)
    or two cells (their keys). With --by, A is one run, and two of its values are compared, such as two stores.

    Exit codes: 0 by default. With --fail-over: 1 for a regression; 6 if no regression was found but the data do not rule one out: an
    interval is too wide, B lacks cells of A, a run has not ended, nothing could be compared, or (without --single-runs) a side has a single
    run. 2 for invalid arguments. 3 if the results database does not answer.
    """
    from storebench.answers.comparisons import comparison_answer
    from storebench.cli.output.comparison import exit_code, print_comparison
    from storebench.results.comparison.compare import compare as compare_sides
    from storebench.results.comparison.compare import compare_arms, compare_values
    from storebench.results.comparison.sides import By
    from storebench.results.comparison.why import why
    from storebench.results.database.queries import Queries

    if [arms, by is not None, after is not None].count(True) != 1:
        raise SpecError("Give two runs or two cells to compare, or one run and --a-a or --by")
    if fail_over is not None and fail_over <= margin:
        raise SpecError(
            f"A change of {fail_over:g} % does not count with a margin of {margin:g} %: give a larger --fail-over, or a smaller"
            " --margin"
        )
    if single_runs and fail_over is None:
        raise SpecError("--single-runs changes the exit code of --fail-over: give both, or neither")
    queries = Queries(results_dsn())
    announce_latest(queries, study, before, after)
    share = margin / 100
    if by is not None:
        comparison = compare_values(queries, before, By.of(by), margin=share, metric=metric, study=study)
    elif after is not None:
        comparison = compare_sides(queries, before, after, margin=share, metric=metric, study=study)
    else:
        comparison = compare_arms(queries, before, margin=share, metric=metric, study=study)
    if format_ == "json":
        click.echo(comparison_answer(queries, comparison).model_dump_json(indent=2))
    else:
        print_comparison(
            console(), comparison, queries.studies(), why(queries, comparison), noise=arms, whole=whole
        )
    if fail_over is not None:
        code, lines = exit_code(comparison, fail_over / 100, single_runs=single_runs)
        for line in lines:
            click.echo(f"storebench: {line}", err=True)
        sys.exit(code)


@click.command()
@click.argument("run_", metavar="[RUN]", required=False)
@click.option("--study", metavar="NAME", help="The study; `storebench studies` lists them.")
@click.option(
    "--operation", metavar="NAME", help="Rank by this operation (default: the study's first operation)."
)
@click.option(
    "--metric", metavar="NAME", help="Rank by this metric (default: the metric that ranks the operation)."
)
@click.option("--rows", type=click.IntRange(0), help="Rows of the dataset.")
@click.option("--seed", type=click.IntRange(0), help="Seed of the dataset.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only cells with this value on the axis; '*' for all values.",
)
@click.option(
    "--environment",
    metavar="ID",
    help="Only results of this environment; the last lines of the ranking list the environments.",
)
@click.option(
    "--guarantee",
    metavar="TEXT",
    help="Only cells that deliver this form or guarantee this durability: 'dicts', 'disk'.",
)
@click.option(
    "--include",
    "included",
    multiple=True,
    type=click.Choice(["floor", "client-bound", "service-bound", "unlike"]),
    help="Also rank these cells, which are excluded otherwise.",
)
@click.option(
    "--alike",
    is_flag=True,
    help="Exclude cells bound by their client or a service, and cells with another guarantee than most.",
)
@margin_option
@click.option(
    "--across",
    metavar="NAME",
    help="Print only medians and their intervals, with a column for each value of this axis (or 'store' or 'client').",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "csv", "json", "markdown"]),
    default="table",
    show_default=True,
    help="markdown is a short table for a page of documentation.",
)
def ranking(
    run_: str | None,
    study: str | None,
    operation: str | None,
    metric: str | None,
    rows: int | None,
    seed: int | None,
    axes: tuple[str, ...],
    environment: str | None,
    guarantee: str | None,
    included: tuple[str, ...],
    alike: bool,
    margin: float,
    across: str | None,
    format_: str,
) -> None:
    """Rank a study's stores and clients.

    RUN is a run's id, 'latest', or 'baseline:NAME'. It gives the study, rows and seed that no option gives; results of other runs count, too.

    Each line has the median of all runs in the same environment, the number of attempts (n), the median's interval, the median relative to the
    best median, and a verdict relative to the best cell. A cell that is the same as the best cell, or cannot be told apart from it, shares its
    place. Figures have three significant digits, and share a unit if they are within a factor of 1,000. CSV and JSON have the numbers in the
    metric's unit: seconds, if its name ends with _s.

    A ranked cell lists its differences from most cells: its client (client-bound) or a service before the store (service-bound) was the limit,
    it delivers a different form or guarantees a different durability (unlike), or it has too few attempts for an interval (few). With --alike,
    the first three are excluded. Stores that only show the limit of a client (floor) are always excluded, unless --include names them. The
    end of the ranking lists excluded cells with the reason, and cells that were disturbed, failed, or measured only in other environments.

    By default, rows, seed, values on axes and environment are the most frequent ones, with --alike also the guarantee. On an axis that only some
    stores or clients have, the default is all values.
    """
    from storebench.answers.rankings import ranking_answer
    from storebench.cli.output.ranking import as_markdown, print_medians, print_ranking, rows_of
    from storebench.results.database.queries import Queries
    from storebench.results.export.flat_files import as_csv
    from storebench.results.ranking.choice import ANY, Question
    from storebench.results.ranking.rank import ranking_of
    from storebench.study.reserved import CLIENT, STORE

    places = dict(axis.split("=", 1) for axis in axes if "=" in axis)
    if len(places) != len(axes):
        raise SpecError("--axis takes NAME=VALUE, each axis once")
    if across and format_ == "json":
        raise SpecError("--across has no JSON: `--format json` without --across has all medians")
    if across and across not in (STORE, CLIENT):
        places.setdefault(across, ANY)
    queries = Queries(results_dsn())
    if run_:
        announce_latest(queries, study, run_)
        (run,) = queries.runs_counted([queries.run_named(run_, study)["id"]])
        study = run["study"]
        rows, seed = (
            run[name] if value is None else value for name, value in (("rows", rows), ("seed", seed))
        )
    asked = Question(
        study or default_study(),
        operation,
        metric,
        rows,
        seed,
        places,
        environment,
        guarantee,
        frozenset(included),
        alike,
        margin / 100,
    )
    ranked = ranking_of(queries, asked)
    if across:
        print_medians(console(), ranked, across, format_)
        return
    if format_ == "markdown":
        click.echo(as_markdown(ranked), nl=False)
        return
    if format_ == "table":
        print_ranking(console(), ranked)
        return
    answer = ranking_answer(queries, ranked)
    if format_ == "csv":
        click.echo(as_csv(rows_of(answer)), nl=False)
    else:
        click.echo(answer.model_dump_json(indent=2))


@click.command("plan-repeats")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    required=True,
    help="The smallest difference to detect.",
)
@margin_option
@click.option(
    "--pairs",
    type=click.IntRange(1),
    metavar="N",
    help="Number of pairs of cell and operation in the planned comparison (default: the number in A).",
)
@of_study
@click.option("--metric", help="Plan for this metric (default: the metric that ranks the operation).")
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
    """Compute how many repeats detect a difference.

    The noise comes from the results. A and B are named as in `compare`. One run gives the noise of its repeats, several runs (ID,ID,ID) give
    the noise between runs, and two sides give the noise between turns, independent of the sides' difference.
    """
    from storebench.answers.repeats import plan_answer
    from storebench.cli.output.repeats import print_plan
    from storebench.results.comparison.repeats import plan_repeats
    from storebench.results.database.queries import Queries

    queries = Queries(results_dsn())
    announce_latest(queries, study, before, after)
    plan = plan_repeats(
        queries,
        before,
        after,
        difference=difference / 100,
        margin=margin / 100,
        pairs=pairs,
        metric=metric,
        study=study,
    )
    if format_ == "json":
        click.echo(plan_answer(plan).model_dump_json(indent=2))
    else:
        print_plan(console(), plan, queries.studies())
