"""The commands that write the skeletons of studies and stores."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from storebench.version import CHECKOUT


@click.group()
def new() -> None:
    """Write the skeleton of a study or of a store.

    A skeleton has a test, and its unchanged runs are verified.
    """


@new.command()
@click.argument("name")
@click.option("--store", default="memory", show_default=True, metavar="NAME", help="The study's first store.")
def study(name: str, store: str) -> None:
    """Write a study with one store in Python."""
    from storebench.skeletons.write import write_study

    _say(written := write_study(CHECKOUT, name, store))
    _say_next(written, name)


@new.command()
@click.argument("name")
@click.option(
    "--study",
    required=True,
    metavar="NAME",
    help="A study that `storebench new study` has written, or a study with its own skeleton.",
)
@click.option(
    "--pod",
    type=click.Choice(["go", "python", "shell"]),
    help="Also write an image for the store: a program in Go, a shell script, or Python with its own packages. By default the"
    " store is in Python, in the image python.",
)
def store(name: str, study: str, pod: str | None) -> None:
    """Write a store of a study, and add its name to the study's file."""
    from storebench.skeletons.write import write_store

    _say(written := write_store(CHECKOUT, study, name, pod))
    click.echo(f"added {name} to dags/{study}.py")
    _say_next(written, study, f" STORES={name}")


def _say(written: Iterable[Path]) -> None:
    for path in written:
        click.echo(f"wrote {path.relative_to(CHECKOUT)}")


def _say_next(written: Iterable[Path], study: str, stores: str = "") -> None:
    (test,) = (path.relative_to(CHECKOUT) for path in written if path.name.startswith("test_"))
    click.echo(f"test it: {sys.executable} -m pytest {test}")
    click.echo(f"measure it: make run STUDY={study}{stores}")
