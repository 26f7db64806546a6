"""The command that judges the claims of a study."""

from __future__ import annotations

import click

from storebench.cli.environment import console, results_dsn
from storebench.cli.study import announce_latest, default_study
from storebench.errors import SpecError


@click.command()
@click.argument("names", metavar="[RUN]...", nargs=-1)
@click.option(
    "--study", metavar="NAME", default=default_study, help="The study; `storebench studies` lists them."
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="markdown is the table for the study's page in docs/.",
)
def claims(names: tuple[str, ...], study: str, format_: str) -> None:
    """Judge the claims of the original study by measurements.

    The study's file has the claims. Each claim gets a verdict (confirmed, refuted, cannot tell), the ratio B / A, its interval, the number
    of rounds (n), and the run. Confirmed: the whole interval is in the claim's region of ratios. Refuted: the whole interval is outside.
    Only verified, undisturbed attempts by the study's present method count.

    RUN is a run's id, 'latest', or 'baseline:NAME'; several runs are combined. By default each case uses the newest run that has both sides
    and at least 5 rounds.
    """
    from storebench.answers.claims import claims_answer
    from storebench.cli.output.claims import as_markdown, print_claims
    from storebench.results.comparison.claims import judged_claims, runs_of
    from storebench.results.database.queries import Queries
    from storebench.study import studies
    from storebench.study.record import StudyRecord

    queries = Queries(results_dsn())
    announce_latest(queries, study, *names)
    try:
        record = StudyRecord.of(studies.find(study))
    except SpecError as error:
        if study not in queries.study_names():
            raise
        click.echo(
            f"Using the claims of the last run of {study!r}: its file cannot be used: {error}",
            err=True,
        )
        record = queries.study(study)
    judged = judged_claims(queries, record, runs_of(queries, names, study))
    if format_ == "json":
        click.echo(claims_answer(study, judged).model_dump_json(indent=2))
    elif format_ == "markdown":
        click.echo(as_markdown(study, judged), nl=False)
    else:
        print_claims(console(), study, judged)
