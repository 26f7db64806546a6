"""Runs and grids: started, listed, started again, removed."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from storebench.cli.environment import airflow_login, console, results_dsn


@click.command()
@click.option("--study", default="bulk_write_read", show_default=True, help="The DAG to run.")
@click.option(
    "--preset",
    help="A named set of parameters: 'study' is the original study; 'quick' varies one thing at a time, and is the default"
    " where no clients, batches or executors are given.",
)
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
    from storebench.results.queries import Queries
    from storebench.results.repository import run_id_of
    from storebench.results.table import as_table
    from storebench.trigger import Airflow, RunFailed, conf_of, embedded_sizes

    embedded = "kubernetes" in os.environ.get("STOREBENCH_EMBEDDED", "").split()
    if not any(options[name] for name in ("clients", "batches", "executors")):
        preset = preset or "quick"
    conf = conf_of(preset, options, extra, embedded=embedded)
    used = [f"{name}={size}" for name, size in embedded_sizes(preset).items() if conf[name] == size]
    if embedded and used:
        click.echo(f"on the embedded cluster preset {preset} has {', '.join(used)}")
    airflow = Airflow(*airflow_login())
    run_id = airflow.trigger(study, conf)
    click.echo(f"run {run_id}: {airflow.url}/dags/{study}/runs/{run_id}")
    state = airflow.follow(study, run_id, click.echo)
    queries, recorded = Queries(results_dsn()), run_id_of(study, run_id)
    if queries.has_run(recorded):  # not where its plan has failed
        console().print(as_table(queries.results(run=recorded)))
    if state != "success":
        raise RunFailed(
            f"run {run_id} failed: the remarks above and {airflow.url}/dags/{study}/runs/{run_id} say why"
        )


@click.command()
@click.argument("run_", metavar="RUN")
@click.option("--trigger", is_flag=True, help="Start the run in Airflow, too.")
def replay(run_: str, trigger: bool) -> None:
    """Print the parameters of a run, order seed included, as JSON to start another like it."""
    from storebench.results.queries import Queries
    from storebench.trigger import Airflow

    found = Queries(results_dsn()).run_named(run_)
    conf = {**found["params"], "order_seed": found["order_seed"]}
    click.echo(json.dumps(conf, indent=2))
    if trigger:
        airflow = Airflow(*airflow_login())
        run_id = airflow.trigger(found["dag_id"], conf)
        click.echo(f"run {run_id}: {airflow.url}/dags/{found['dag_id']}/runs/{run_id}", err=True)


@click.command()
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most the newest N runs."
)
def runs(limit: int) -> None:
    """List the newest runs, and say what was stopped in Airflow and what is left in stores."""
    from storebench.results.repository import Repository
    from storebench.results.table import runs_table

    repository = Repository(results_dsn())
    console().print(runs_table(repository.runs(limit)))
    _say_what_is_left(repository)


@click.command()
@click.option(
    "--older-than", type=click.IntRange(1), required=True, metavar="DAYS", help="Runs started before that."
)
@click.option("--yes", is_flag=True, help="Remove them; without it, only say what would be removed.")
def prune(older_than: int, yes: bool) -> None:
    """Remove old runs and their attempts from the results. Baselines stay, and runs whose data is left in a store.

    Runs that were stopped in Airflow are closed before that.
    """
    from datetime import UTC, datetime, timedelta

    from storebench.results.prune import Pruning
    from storebench.results.repository import Repository
    from storebench.results.summary import refresh

    repository = Repository(results_dsn())
    _say_what_is_left(repository, close_stopped=yes)
    before = datetime.now(UTC) - timedelta(days=older_than)
    pruning = Pruning(results_dsn())
    old_runs, attempts = pruning.old(before)
    what = f"{old_runs} runs with {attempts} attempts, started before {before:%Y-%m-%d %H:%M} UTC"
    if not yes:
        click.echo(f"would remove {what}; --yes removes them")
        return
    refresh(repository, pruning.remove(before))
    click.echo(f"removed {what}")


def _say_what_is_left(repository: Any, *, close_stopped: bool = False) -> None:
    from storebench.results.left import Left
    from storebench.results.stopped import AIRFLOW_ID, RunStates, tell
    from storebench.trigger import Airflow

    states = None
    if "STOREBENCH_AIRFLOW_URL" in os.environ:
        airflow = Airflow(*airflow_login())
        states = RunStates(airflow.run_state, lambda: airflow.variable(AIRFLOW_ID))
    for line in tell(repository, Left(results_dsn()), states, close_them=close_stopped):
        click.echo(line)


@click.command()
@click.option("--study", default="bulk_write_read", show_default=True, help="The study whose grid it is.")
@click.option("--rows", type=int, help="Rows of the dataset (default: the study's).")
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of the dataset.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Verified repeats wanted."
)
@click.option("--store", help="Only this store.")
@click.option(
    "--param", "extra", multiple=True, metavar="NAME=JSON", help="A parameter that is not to be the default."
)
def grid(
    study: str, rows: int | None, seed: int, repeats: int, store: str | None, extra: tuple[str, ...]
) -> None:
    """List the cells of a study's grid: their partitions, dates and state, and the backfill of what is missing.

    Verified is what was measured with the study's default parameters, or with those given.
    """
    from storebench.airflow.params import defaults_of
    from storebench.results.missing import backfill_command, cells_of, state_table
    from storebench.results.queries import Queries
    from storebench.studies import find
    from storebench.trigger import conf_of

    queries = Queries(results_dsn())
    found, asked = find(study), conf_of(None, {}, extra)
    cells = cells_of(found, queries, rows, seed, repeats, store, defaults_of(found, asked))
    console().print(state_table(cells))
    click.echo(backfill_command(study, cells, repeats, asked))
