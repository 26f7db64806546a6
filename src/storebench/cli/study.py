"""The common parts of commands that take a study: their help lists the study's axes, parameters and presets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from storebench.cli.environment import STUDY

if TYPE_CHECKING:
    from storebench.fields import Field
    from storebench.results.database.runs import Runs
    from storebench.study.model import Axis, Study

OPTION = "--study"
# The option of commands that take names of runs
of_study = click.option(
    OPTION, metavar="NAME", help="The run must be of this study: 'latest' is the study's newest run."
)


def announce_latest(queries: Runs, study: str | None, *names: str | None) -> None:
    """Print the run that 'latest' names, if `names` has it. `names`: names of runs, several with commas. Raises SpecError without runs.

    The line goes to the standard error, so that the output stays CSV or JSON.
    """
    from storebench.results.database.runs import LATEST

    if LATEST in (name for several in names if several for name in several.split(",")):
        run = queries.run_named(LATEST, study)
        at = f"{run['started_at']:%Y-%m-%d %H:%M} UTC"
        click.echo(f"latest is {run['airflow_run_id']} of {run['study']}, started {at}", err=True)


def default_study() -> str:
    """Return the name of the default study: STOREBENCH_STUDY, or the first study by name; empty without studies."""
    from storebench.study import studies

    return os.environ.get(STUDY) or next(iter(studies.names()), "")


class StudyCommand(click.Command):
    """A command whose help describes the study that --study names."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta["study"] = _study_in(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if study := _study(ctx):
            if study.axes:
                with formatter.section(f"Axes of {study.name}, for --axis"):
                    formatter.write_dl([(axis.name, _describe_axis(axis)) for axis in study.axes])
            options = [option for name in study.stores for option in study.store(name).options.items()]
            given = {option.name for option in self.params}
            known = {**study.params, **dict(options)}.items()
            if params := {name: field for name, field in known if name not in given}:
                with formatter.section(f"Parameters of {study.name}, for --param"):
                    formatter.write_dl([(name, _explained(field)) for name, field in params.items()])
            with formatter.section("Parameters of every study, for --param; the form explains them"):
                formatter.write_dl(self._common(study, params))
            with formatter.section("Stores and clients"):
                formatter.write_dl([(name, ", ".join(study.store(name).clients)) for name in study.stores])
            if study.presets:
                with formatter.section("Presets"):
                    formatter.write_dl([(name, preset.description) for name, preset in study.presets.items()])

    def _common(self, study: Study, shown_params: Mapping[str, Field]) -> list[tuple[str, str]]:
        """Return names and texts of the parameters of every study that this command has no option for."""
        from storebench.planning.params import fields_of

        listed = {
            *shown_params,
            *(axis.name for axis in study.axes),
            *(option.name for option in self.params),
        }
        listed |= {"stores", "clients"}  # listed in their own section
        return [
            (name, f"{field.title}. Default: {json.dumps(field.default)}.")
            for name, field in fields_of(study).items()
            if name not in listed
        ]


def _study_in(args: list[str]) -> str:
    """Return the study that the arguments name, or the default. The options depend on the study, so this happens before parsing."""
    for place, arg in enumerate(args):
        if arg == OPTION and place + 1 < len(args):
            return args[place + 1]
        if arg.startswith(f"{OPTION}="):
            return arg.partition("=")[2]
    return default_study()


def _study(ctx: click.Context) -> Study | None:
    """Return the command's study; None if no study exists. Raises SpecError for an unknown name."""
    from storebench.study import studies

    name = ctx.meta.get("study")
    if not name:
        return None
    if "studies" not in ctx.meta:
        ctx.meta["studies"] = studies.find(name)
    study: Study = ctx.meta["studies"]
    return study


def _explained(field: Field) -> str:
    text = f"{field.title}. {field.text}".replace("**", "")  # the form reads Markdown
    return f"{text} Default: {json.dumps(field.default)}."


def _describe_axis(axis: Axis) -> str:
    values = f"{axis.hint}, for example {','.join(axis.choices)}. Default: {','.join(axis.default)}"
    where = [f"{name} {' or '.join(places)}" for name, places in axis.where.items()]
    return f"{axis.title}: {values}{'. Only for ' + ', '.join(where) if where else ''}"
