"""Run the embedded stack's commands: python -m local.stack. `make` and users call them."""

import os
import sys

import click

from local.progress import INTERRUPTED, Screen
from local.stack import databases, environment, jobs, lifecycle, parts, render, supervisor
from local.stack.settings import Settings, StackError
from storebench.cli.study import default_study
from storebench.errors import StorebenchError
from storebench.planning.conf import names_in


@click.group(help=__doc__)
def main() -> None:
    os.environ.update(environment.without_proxy(Settings()))


_study = click.option("--study", metavar="NAME", help="Only what this study's stores need.")
_stores = click.option(
    "--stores",
    metavar="NAMES",
    help="Only what these stores of the study (default: that of `storebench run`) need, with commas between them.",
)


def _needed(study: str | None, stores: str | None) -> frozenset[str]:
    """Return the parts that a study and stores need; all parts without either."""
    if study is None and stores is None:
        return parts.SERVERS | parts.IMAGES
    names = None if stores is None else names_in(stores)
    return parts.needed_by(parts.study_named(study or default_study()), names)


@main.command(help="Start the stack and wait until it is healthy; a running one is reused.")
@_study
@_stores
def up(study: str | None, stores: str | None) -> None:
    settings, screen = Settings(), Screen(sys.stdout)
    try:
        lifecycle.up(settings, _needed(study, stores) & parts.ON_DEMAND, screen)
    except KeyboardInterrupt:
        screen.say(
            "Interrupted. What was started goes on: the same `make` waits for it, `make stop` ends it."
        )
        sys.exit(INTERRUPTED)
    screen.say(f"ready. Its addresses and credentials: {settings.env_file}")


@main.command(help="Show what runs, and whether it is healthy.")
def status() -> None:
    sys.exit(0 if lifecycle.status(Settings(), click.echo) else 1)


@main.command(help="Print the parts that only some stores need.")
@_study
@_stores
def needs(study: str | None, stores: str | None) -> None:
    click.echo(" ".join(sorted(_needed(study, stores))))


@main.command(
    help="Make a database for a store of your own on the stack's PostgreSQL, and its Airflow Connection."
)
@click.argument("name")
def database(name: str) -> None:
    settings = Settings()
    databases.check_name(name)
    if supervisor.processes(settings) is None:
        raise StackError("The stack is not running: `make up` starts it")
    airflow = jobs.airflow(settings)
    connection = databases.make_for_store(settings, render.secrets(settings), name, airflow)
    click.echo(
        f"Pods reach the database {databases.STORE}{name} by the Airflow Connection {connection}. A store uses it with"
        f' `connection = "{name}"`.'
    )


@main.command("stop-idle", hidden=True)
def stop_idle() -> None:
    lifecycle.stop_idle(Settings(), Screen(sys.stdout).say)


@main.command(hidden=True)
@click.argument("servers", nargs=-1, required=True, type=click.Choice(sorted(parts.ON_DEMAND)))
def wake(servers: tuple[str, ...]) -> None:
    lifecycle.wake(Settings(), frozenset(servers), Screen(sys.stdout))


@main.command(hidden=True)
@click.argument("name", type=click.Choice(list(jobs.JOBS)))
def job(name: str) -> None:
    jobs.JOBS[name](Settings())


if __name__ == "__main__":
    try:
        main()
    except (StackError, StorebenchError) as error:
        click.echo(str(error), err=True)
        sys.exit(1)
