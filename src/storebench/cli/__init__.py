"""The command line. Commands only parse and print: the modules that they import do the work."""

from __future__ import annotations

from typing import Any

import click

from storebench.cli import (
    claims,
    comparing,
    database,
    disk,
    images,
    new,
    pods,
    profiles,
    publish,
    results,
    runs,
)
from storebench.errors import SpecError, StorebenchError
from storebench.version import code_version


class _Commands(click.Group):
    """The group of all commands. It prints the project's errors and errors of files as one line, and exits with the error's exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except StorebenchError as error:
            click.echo(f"storebench: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            if error.filename is None:  # not an error of a file
                raise
            click.echo(f"storebench: {error.filename}: {error.strerror}", err=True)
            ctx.exit(SpecError.exit_code)


def _print_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"storebench, version {code_version()}")
        context.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Measures storage engines on Kubernetes."""


for _module in (pods, runs, results, profiles, comparing, publish, claims, database, disk, images):
    for _command in vars(_module).values():
        if isinstance(_command, click.Command):
            main.add_command(_command)
main.add_command(new.new)  # its module also has the commands below `new`
