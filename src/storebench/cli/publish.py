"""The commands that write results as files for readers without Storebench: a report, a site."""

from __future__ import annotations

from pathlib import Path

import click

from storebench.cli.environment import results_dsn
from storebench.cli.study import announce_latest, of_study


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to write to."
)
def report(run_: str, study: str | None, out: Path) -> None:
    """Write a run's charts and tables as one HTML file.

    The report needs no Airflow. The run's attempts are written beside it as CSV and JSON.
    """
    from storebench.results.database.queries import Queries
    from storebench.web.report import write_report

    dsn = results_dsn()
    announce_latest(Queries(dsn), study, run_)
    for path in write_report(dsn, run_, out, study):
        click.echo(str(path))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def site(folder: Path) -> None:
    """Write a static site of all studies' runs.

    DIR is created; an existing site is rewritten. The site can be read without a server, or hosted anywhere: index.html links to a page for
    each run, and data/ has the attempts of each study as Parquet and CSV.
    """
    from storebench.web.site import write_site

    for line in write_site(results_dsn(), folder):
        click.echo(line)
