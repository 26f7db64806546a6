"""python -m local.stack: the embedded stack's commands. `make` calls them; so may you."""

import sys
import time

import click

from local.stack import jobs, lifecycle
from local.stack.settings import Settings, StackError

_started = time.monotonic()


def say(text: str) -> None:
    click.echo(f"[{time.monotonic() - _started:4.0f} s] {text}")


@click.group(help=__doc__)
def main() -> None:
    pass


@main.command(help="Start the stack and wait until it is healthy; a running one is reused.")
def up() -> None:
    settings = Settings()
    lifecycle.up(settings, say)
    say(f"ready. Its addresses and credentials: {settings.env_file}")


@main.command(help="Show what runs, and whether it is healthy.")
def status() -> None:
    sys.exit(0 if lifecycle.status(Settings(), click.echo) else 1)


@main.command(hidden=True)
@click.argument("name", type=click.Choice(list(jobs.JOBS)))
def job(name: str) -> None:
    jobs.JOBS[name](Settings())


if __name__ == "__main__":
    try:
        main()
    except StackError as error:
        click.echo(str(error), err=True)
        sys.exit(1)
