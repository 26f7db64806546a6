"""The main programs of pods. No user types these commands, so the help does not list them."""

from __future__ import annotations

import os
import sys

import click


@click.command(hidden=True)
def attempt() -> None:
    """Run one attempt: the main program of a pod (its specification is in STOREBENCH_ATTEMPT).

    docs/reference/exit-codes.md has the exit codes.
    """
    from storebench.attempt.run import main as run_attempt
    from storebench.attempt.user import give_name

    give_name()
    code = run_attempt()
    # The result is written. Skip the interpreter's shutdown: a native thread of a client (such as Arrow) that releases a Python
    # object during the shutdown would abort the process and change the exit code.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


@click.command(hidden=True)
def executor() -> None:
    """Run a Spark executor: the main program of the pods that a Spark driver starts."""
    from storebench.attempt.user import give_name
    from storebench.spark.executor import main as run_executor

    give_name()
    sys.exit(run_executor())


@click.command(hidden=True)
@click.argument("program", metavar="MODULE:FUNCTION")
def dataset(program: str) -> None:
    """Make the dataset in S3 unless it exists: the main program of a pod (its specification is in STOREBENCH_DATASET)."""
    from storebench import redact
    from storebench.attempt.dataset import main as make_dataset
    from storebench.attempt.user import give_name

    give_name()
    redact.guard()
    make_dataset(program)
