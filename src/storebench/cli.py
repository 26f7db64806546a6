"""The command line. Only wires: each command's work is in the module that it imports."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from storebench import __version__
from storebench.errors import SpecError, StorebenchError


class _Commands(click.Group):
    """Turns the project's errors into one line and the exit code of their kind."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except StorebenchError as error:
            click.echo(f"storebench: {error}", err=True)
            ctx.exit(error.exit_code)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="storebench")
def main() -> None:
    """Measures storage engines on Kubernetes."""


@main.command()
def attempt() -> None:
    """Run one attempt: the main program of a pod (its specification is in STOREBENCH_ATTEMPT).

    Exit codes: 0 verified, 2 bad specification, 3 store unreachable, 4 verification failed, 5 store refused or failed.
    """
    from storebench.attempt.run import main as run_attempt

    sys.exit(run_attempt())


@main.command()
def executor() -> None:
    """Run a Spark executor: the main program of the pods that a Spark driver starts."""
    from storebench.spark.executor import main as run_executor

    sys.exit(run_executor())


@main.command()
@click.option("--rows", type=int, required=True, help="Rows of the dataset.")
@click.option("--seed", type=int, default=42, show_default=True, help="The same seed gives the same bytes.")
@click.option("--bucket", default="storebench", show_default=True, help="The S3 bucket.")
def dataset(rows: int, seed: int, bucket: str) -> None:
    """Generate the dataset into S3, unless it is there already (needs STOREBENCH_CONN_S3)."""
    from storebench.attempt.dataset import main as make_dataset

    make_dataset(rows, seed, bucket)


@main.command()
def migrate() -> None:
    """Bring the results' schema in Postgres up to date."""
    from storebench.results.migrate import migrate as run_migrations

    applied = run_migrations(_results_dsn())
    click.echo(f"applied: {', '.join(applied)}" if applied else "the schema is up to date")


@main.command()
@click.option("--study", default="bulk_write_read", show_default=True, help="The DAG to run.")
@click.option("--preset", help="A named set of parameters: 'study' is the original study.")
@click.option("--rows", type=int, help="Rows of the dataset.")
@click.option("--seed", type=int, help="Seed of the dataset.")
@click.option("--stores", help="Comma-separated, for example mongodb,null.")
@click.option("--clients", help="Comma-separated.")
@click.option("--batches", help="Comma-separated batch sizes; 'all' is all at once.")
@click.option("--executors", help="Comma-separated numbers of Spark executors.")
@click.option("--repeats", type=int, help="How often each cell is measured.")
@click.option("--keep-data/--drop-data", default=None, help="Leave in the stores what was written.")
@click.option("--pod-memory", help="Memory of a pod, for example 8Gi.")
@click.option("--param", "extra", multiple=True, metavar="NAME=JSON", help="Any other parameter of the DAG.")
def run(study: str, preset: str | None, extra: tuple[str, ...], **options: Any) -> None:
    """Trigger a run of a study in Airflow, follow it, and print its results.

    A parameter that is not given takes the DAG's default.
    """
    from rich.console import Console

    from storebench.results.repository import Repository, run_id_of
    from storebench.results.table import as_table
    from storebench.trigger import EMBEDDED_SIZES, Airflow, RunFailed, conf_of

    embedded = "kubernetes" in os.environ.get("STOREBENCH_EMBEDDED", "").split()
    conf = conf_of(preset, options, extra, embedded=embedded)
    if preset and embedded:
        click.echo(
            f"on the embedded cluster preset {preset} has {', '.join(f'{k}={v}' for k, v in EMBEDDED_SIZES.items())}"
        )
    airflow = Airflow(
        _environment("STOREBENCH_AIRFLOW_URL"),
        _environment("STOREBENCH_AIRFLOW_USER"),
        _environment("STOREBENCH_AIRFLOW_PASSWORD"),
    )
    run_id = airflow.trigger(study, conf)
    click.echo(f"run {run_id}: {airflow.url}/dags/{study}/runs/{run_id}")
    state = airflow.follow(study, run_id, click.echo)
    rows = Repository(_results_dsn()).results(run=run_id_of(study, run_id))
    Console(width=None if sys.stdout.isatty() else 220).print(as_table(rows))
    if state != "success":
        raise RunFailed(
            f"run {run_id} failed: the remarks above and {airflow.url}/dags/{study}/runs/{run_id} say why"
        )


@main.command()
@click.option("--run", "run_", metavar="RUN", help="A run's id, or 'latest'.")
@click.option("--store", help="Only this store.")
@click.option("--cell", help="Only cells whose key contains this text.")
@click.option(
    "--limit", type=click.IntRange(1), default=1000, show_default=True, help="At most the newest N rows."
)
@click.option(
    "--format", "format_", type=click.Choice(["table", "csv", "json"]), default="table", show_default=True
)
def results(run_: str | None, store: str | None, cell: str | None, limit: int, format_: str) -> None:
    """Print the results, one row for each attempt."""
    from rich.console import Console

    from storebench.results.repository import Repository
    from storebench.results.table import as_csv, as_json, as_table

    rows = Repository(_results_dsn()).results(run=run_, store=store, cell=cell, limit=limit)
    if format_ == "table":
        Console(width=None if sys.stdout.isatty() else 220).print(as_table(rows) if rows else "no results")
    else:
        click.echo(as_csv(rows) if format_ == "csv" else as_json(rows), nl=False)


def _results_dsn() -> str:
    return _environment("AIRFLOW_CONN_STOREBENCH_RESULTS")


def _environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        raise SpecError(
            f"{name} is not set. For the embedded stack: `. {_env_file()}`; for your own, see README.md"
        )
    return value


def _env_file() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get("STOREBENCH_HOME") or cache / "storebench") / "run" / "env"


if __name__ == "__main__":
    main()
