"""The command line. Only wires: each command's work is in the module that it imports."""

from __future__ import annotations

from typing import Any

import click

from storebench.cli import claims, database, disk, new, pods, results, runs
from storebench.errors import SpecError, StorebenchError
from storebench.version import code_version


class _Commands(click.Group):
    """Turns the project's errors, and those of files, into one line and an exit code: of their kind, or of what cannot be asked so."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except StorebenchError as error:
            click.echo(f"storebench: {error}", err=True)
            ctx.exit(error.exit_code)
        except OSError as error:
            if error.filename is None:  # of no file
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


for _module in (pods, runs, results, claims, database, disk):
    for _command in vars(_module).values():
        if isinstance(_command, click.Command):
            main.add_command(_command)
main.add_command(new.new)  # its module has commands that are only below it
