"""Commands for the results database: its schema, SQL, and runs as files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import click

from storebench.cli.environment import any_results_dsn, console, page_of, results_dsn
from storebench.cli.study import announce_latest, of_study
from storebench.errors import SpecError


@click.command()
@click.option(
    "--reader", metavar="ROLE", help="Also let this role read the results, as the results page does."
)
def migrate(reader: str | None) -> None:
    """Update the schema of the results in Postgres."""
    from storebench.results.database.migrate import grant
    from storebench.results.database.migrate import migrate as run_migrations

    dsn = any_results_dsn()
    applied = run_migrations(dsn)
    click.echo(f"applied: {', '.join(applied)}" if applied else "the schema is up to date")
    if reader:
        grant(dsn, reader)
        click.echo(f"{reader} may read the results")


@click.command()
@click.argument("statement", metavar="SQL")
@click.option(
    "--write",
    is_flag=True,
    help="Let the statement change the database. Otherwise the server refuses changes.",
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
def sql(statement: str, write: bool, format_: str) -> None:
    """Print the answer of the results database to an SQL statement.

    The tables and views are in the schema storebench: `storebench sql "SELECT store, median FROM storebench.summary"`.
    """
    from storebench.answers.units import NOTHING
    from storebench.cli.output.listing import Column, print_listing
    from storebench.results.database.question import Question
    from storebench.results.export.flat_files import as_csv, as_json

    def text_of(value: Any) -> str:
        return (
            NOTHING if value is None else json.dumps(value) if isinstance(value, dict | list) else str(value)
        )

    rows = Question(results_dsn(), write=write).answer(statement)
    if isinstance(rows, str):
        click.echo(rows)
    elif format_ != "table":
        click.echo(as_csv(rows) if format_ == "csv" else as_json(rows), nl=False)
    elif rows:
        columns = [Column(name, number=isinstance(value, int | float)) for name, value in rows[0].items()]
        print_listing(console(), columns, [list(map(text_of, row.values())) for row in rows])
    else:
        click.echo("no rows")


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The file (default: RUN.zip here)."
)
@click.option(
    "--sign",
    "key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEYFILE",
    help="Sign the file with this SSH key. The signature is a second file, whose name ends with .sig.",
)
def export(run_: str, study: str | None, out: Path | None, key: Path | None) -> None:
    """Write a run to one file, with checksums.

    The file has the run's attempts, phases, environments, datasets and parameters.
    """
    from storebench.results.database.queries import Queries
    from storebench.results.export import signature
    from storebench.results.export.bundle import Bundles

    dsn = results_dsn()
    queries = Queries(dsn)
    announce_latest(queries, study, run_)
    run_id = queries.run_named(run_, study)["id"]
    path = out or Path(re.sub(r"[^0-9A-Za-z.+-]+", "_", run_id) + ".zip")
    counts = Bundles(dsn).export(run_id, path)
    click.echo(f"{path}: {', '.join(f'{count} {name}' for name, count in counts.items())}")
    if key:
        click.echo(f"{signature.sign(path, key)}: its signature")


@click.command("import")
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--signer", metavar="NAME", help="Load the file only if this allowed signer signed it.")
@click.option(
    "--allowed-signers",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Names and their public SSH keys, as ssh-keygen(1) describes them (default: ~/.ssh/allowed_signers).",
)
@click.option(
    "--signature",
    "signed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The signature (default: BUNDLE.sig).",
)
@click.option(
    "--more-attempts",
    is_flag=True,
    help="Also add attempts to a run that the results already have: newer tries supersede older tries.",
)
def import_(
    bundle: Path, signer: str | None, allowed_signers: Path | None, signed: Path | None, more_attempts: bool
) -> None:
    """Load a file that `storebench export` wrote. Loading the same file again changes nothing."""
    from storebench.results.export import bundle_file, signature
    from storebench.results.export.bundle import Bundles

    content = bundle_file.content_of(bundle)
    beside = signature.signature_path(bundle)
    if signer:
        allowed = allowed_signers or Path.home() / ".ssh" / "allowed_signers"
        signature.verify(bundle, content, signed or beside, allowed, signer)
        click.echo(f"{bundle} is signed by {signer}")
    elif signed or allowed_signers:
        raise SpecError("Give --signer NAME, too: the allowed signer whose signature is expected")
    elif beside.exists():
        click.echo(f"{beside} was not looked at: --signer NAME verifies it", err=True)
    run_id, new = Bundles(results_dsn()).load(bundle, content, more_attempts=more_attempts)
    click.echo(f"{run_id}: added {', '.join(f'{count} {name}' for name, count in new.items())}")
    if page := page_of(run_id):
        click.echo(f"Its page: {page}")
