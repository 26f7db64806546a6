"""The command that prints profiles."""

from __future__ import annotations

import uuid

import click

from storebench.cli.environment import results_dsn
from storebench.cli.study import announce_latest, of_study
from storebench.errors import SpecError


@click.command()
@click.argument("run_", metavar="RUN")
@click.option(
    "--attempt", type=click.UUID, metavar="ID", help="Only this attempt: its attempt_id in the results."
)
@click.option("--store", help="Only this store.")
@click.option("--operation", help="Only this operation.")
@of_study
def profile(
    run_: str, attempt: uuid.UUID | None, store: str | None, operation: str | None, study: str | None
) -> None:
    """Print the sampled stacks of a profiled run.

    RUN is a run's id or 'latest'. Each line has the functions from the outermost to the innermost, separated by semicolons, and the number
    of samples: the format that tools for flame graphs read. The first frame of a line names what was sampled: python of a run with
    profile=cpu, python_wall of a run with profile=wall. Without --attempt, the cell, operation and repeat come before it.
    """
    from storebench.answers.profiles import profiles_answer
    from storebench.protocol.profiles import folded_of, stacks_of
    from storebench.results.database.queries import Queries
    from storebench.study.cell import Cell

    queries = Queries(results_dsn())
    announce_latest(queries, study, run_)
    rows = [
        row
        for row in queries.attempts_of_run(queries.run_named(run_, study)["id"])
        if attempt in (None, row["attempt_id"])
        and operation in (None, row["operation"])
        and store in (None, Cell.from_key(row["cell_key"]).store)
    ]
    answers = profiles_answer(rows, queries.profiles([row["attempt_id"] for row in rows]))
    if not answers:
        raise SpecError(
            "No such attempt has a profile: start a run with the parameter profile=cpu or profile=wall"
        )
    for answer in answers:
        place = f"{Cell.from_key(answer.cell_key).label} {answer.operation} {answer.repeat}"
        for name, found in answer.profiles.items():
            if found.folded is None:
                click.echo(f"{place}: no stacks of {name}: {found.unknown}", err=True)
                continue
            if found.dropped_samples:
                click.echo(
                    f"{place}: {found.dropped_samples:,} of {found.samples:,} samples, of rare stacks, were not stored",
                    err=True,
                )
            root = name if attempt else f"{place.replace(';', ',')};{name}"
            click.echo(
                folded_of({f"{root};{stack}": n for stack, n in stacks_of(found.folded).items()}), nl=False
            )
