"""python -m local.stack: the embedded stack's commands. `make` calls them; so may you."""

import sys

import click

from local.progress import INTERRUPTED, Screen
from local.stack import jobs, lifecycle, parts
from local.stack.settings import Settings, StackError
from storebench.errors import StorebenchError


@click.group(help=__doc__)
def main() -> None:
    pass


_stores = click.option(
    "--stores", metavar="NAMES", help="Only what these stores need, with commas between them. Default: all."
)


def _needed(stores: str | None) -> frozenset[str]:
    return parts.SERVERS | parts.IMAGES if stores is None else parts.needed_by(stores.split(","))


@main.command(help="Start the stack and wait until it is healthy; a running one is reused.")
@_stores
def up(stores: str | None) -> None:
    settings, screen = Settings(), Screen(sys.stdout)
    try:
        lifecycle.up(settings, _needed(stores) & parts.SERVERS, screen)
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
@_stores
def needs(stores: str | None) -> None:
    click.echo(" ".join(sorted(_needed(stores))))


@main.command("stop-idle", hidden=True)
def stop_idle() -> None:
    lifecycle.stop_idle(Settings(), Screen(sys.stdout).say)


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
