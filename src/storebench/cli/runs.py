"""Runs and grids: started, listed, started again, removed."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from storebench.cli.environment import airflow_login, command, console, results_dsn
from storebench.cli.study import StudyCommand, default_study, of_study
from storebench.errors import SpecError

INTERRUPTED = 130  # as a shell has it of what Ctrl-C has ended
REPORT_WIDTH = 100


@click.command(cls=StudyCommand)
@click.option("--study", default=default_study, help="The study to run; `storebench studies` lists them.")
@click.option(
    "--preset",
    help="A named set of parameters of the study. Without stores, clients and axes the first one is the default.",
)
@click.option(
    "--dataset",
    metavar="s3://BUCKET/KEY",
    help="A CSV or Parquet file of your own in place of the generated rows; of studies that take one.",
)
@click.option("--rows", type=int, help="Rows of the dataset.")
@click.option("--seed", type=int, help="Seed of the dataset.")
@click.option("--stores", help="Comma-separated.")
@click.option("--clients", help="Comma-separated.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values of an axis of the study; the axes are listed below.",
)
@click.option("--repeats", type=int, help="How often each cell is measured.")
@click.option("--keep-data/--drop-data", default=None, help="Keep what the operations leave in the stores.")
@click.option("--pod-memory", help="Memory of a pod, for example 8Gi.")
@click.option("--param", "extra", multiple=True, metavar="NAME=JSON", help="Any other parameter of the DAG.")
def run(
    study: str, preset: str | None, axes: tuple[str, ...], extra: tuple[str, ...], **options: Any
) -> None:
    """Run a study in Airflow, and print each result as it comes.

    A parameter that is not given takes the DAG's default. Ctrl-C ends the command, not the run.
    """
    from storebench.airflow.params import defaults_of, grid_of
    from storebench.results.repository import Repository
    from storebench.study.studies import find
    from storebench.trigger import PATIENCE_S, Airflow, conf_of, places_of, replaced

    airflow, repository = Airflow(*airflow_login()), Repository(results_dsn(), PATIENCE_S)
    found = find(study)
    if not (options["clients"] or axes):
        preset = preset or next(iter(found.presets), None)
    chosen = found.preset(preset) if preset else None
    embedded = "kubernetes" in os.environ.get("STOREBENCH_EMBEDDED", "").split()
    asked = {**options, **places_of(" ".join(axes), found)}
    conf = conf_of(chosen, asked, extra, embedded=embedded)
    grid_of(found, defaults_of(found, conf))  # refuses what cannot be run, before anything is
    if chosen and embedded and (said := replaced(chosen, conf)):
        click.echo(f"on the embedded cluster preset {preset} has {said}")
    run_id = airflow.trigger_when_known(study, conf, click.echo)
    click.echo(f"run {run_id}: {airflow.url}/dags/{study}/runs/{run_id}")
    if chosen:
        click.echo(f"preset {preset}: {chosen.description}")
    _follow(airflow, repository, study, run_id)


@click.command()
def studies() -> None:
    """List the studies: what each asks, and of which stores.

    Exit code 2 where one of them cannot be used; it says why, and the others are listed all the same.
    """
    from storebench.errors import StorebenchError
    from storebench.study.studies import all_of

    broken = 0
    for name, found in all_of():
        if isinstance(found, StorebenchError):
            broken += 1
            click.echo(f"{name}: cannot be used: {found}", err=True)
            continue
        click.echo(f"{name}: {found.title}")
        click.echo(f"  operations: {', '.join(operation.name for operation in found.operations)}")
        click.echo(f"  axes: {', '.join(axis.name for axis in found.axes) or 'none'}")
        dataset = found.dataset
        click.echo(f"  dataset: {dataset.text if dataset else 'none'}")
        click.echo(f"  stores: {', '.join(found.stores)}")
    click.echo("`storebench run --study NAME --help` tells more of one")
    if broken:
        sys.exit(SpecError.exit_code)


@click.command()
@click.argument("run_", metavar="[RUN]", default="latest")
@of_study
def follow(run_: str, study: str | None) -> None:
    """Follow a run that goes on, and print each result.

    RUN is a run's id, or 'latest'. Of a run that has no results yet, the study must be given, unless it is the default one. Ctrl-C ends
    the command, not the run.
    """
    from storebench.results.repository import Repository
    from storebench.trigger import PATIENCE_S, Airflow

    airflow, repository = Airflow(*airflow_login()), Repository(results_dsn(), PATIENCE_S)
    try:
        found = repository.run_named(run_, study)
        dag_id, run_id = found["dag_id"], found["airflow_run_id"]
    except SpecError:
        dag_id, run_id = study or default_study(), run_
        if airflow.run_state(dag_id, run_id) is None:
            raise
    _follow(airflow, repository, dag_id, run_id)


def _follow(airflow: Any, repository: Any, dag_id: str, run_id: str) -> None:
    """Show the run to its end, then what came of it, and what to type next. Raises RunFailed where not all of it is verified."""
    from storebench.cli import follow
    from storebench.cli.next_steps import next_lines
    from storebench.results.fixed import fixed_of
    from storebench.results.overview import print_overview
    from storebench.results.repository import run_id_of
    from storebench.trigger import RunFailed

    url = f"{airflow.url}/dags/{dag_id}/runs/{run_id}"
    try:
        state = follow.follow(console(), airflow, repository, dag_id, run_id)
    except KeyboardInterrupt:
        click.echo(
            f"\nThe run goes on in Airflow.\n  follow it: {command()} follow {run_id} --study {dag_id}"
        )
        click.echo(f"  stop it: mark it as failed at {url}")
        sys.exit(INTERRUPTED)
    if rows := repository.attempts_of_run(run_id_of(dag_id, run_id)):
        report = console(most=REPORT_WIDTH)
        report.print()
        recorded, study = repository.study(rows[0]["study"]), _here(dag_id)
        print_overview(report, rows, recorded, fixed_of(repository, rows), _largest(study))
        report.print()
        run = repository.run_named(run_id_of(dag_id, run_id))
        for line in next_lines(run, rows, study, url):
            click.echo(line)
    if state != "success":
        raise RunFailed(f"run {run_id} failed: the remarks above and {url} say why")


def _largest(study: Any) -> Any:
    """Return the study's preset that has the most rows; None where it has none, or where the study is not here."""
    from storebench.results.sentences import Larger

    presets = study.presets.items() if study else ()
    larger = [Larger(name, preset.params.get("rows", study.rows)) for name, preset in presets]
    return max(larger, key=lambda preset: preset.rows, default=None)


def _here(study: str) -> Any:
    """Return the study; None where its file is not here."""
    from storebench.study.studies import find

    try:
        return find(study)
    except SpecError:
        return None


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option("--trigger", is_flag=True, help="Start the run in Airflow, too.")
def replay(run_: str, study: str | None, trigger: bool) -> None:
    """Print a run's parameters, to start another like it.

    They are JSON, and the seed of the order is among them.
    """
    from storebench.results.queries import Queries
    from storebench.trigger import Airflow

    found = Queries(results_dsn()).run_named(run_, study)
    conf = {**found["params"], "order_seed": found["order_seed"]}
    click.echo(json.dumps(conf, indent=2))
    if trigger:
        airflow = Airflow(*airflow_login())
        run_id = airflow.trigger(found["dag_id"], conf)
        click.echo(f"run {run_id}: {airflow.url}/dags/{found['dag_id']}/runs/{run_id}", err=True)


@click.command()
@click.option("--study", help="Only of this study.")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most the newest N runs."
)
def runs(study: str | None, limit: int) -> None:
    """List the newest runs, and what stopped ones have left.

    A run was stopped if it is marked as failed, or was deleted, in Airflow. What it has left is data in stores. Where Airflow cannot be
    asked whether a run goes on, its state is 'running?'.
    """
    from storebench.results.left import Left
    from storebench.results.repository import Repository
    from storebench.results.stopped import as_closed, ask, tell
    from storebench.results.table import print_runs
    from storebench.trigger import Airflow

    repository = Repository(results_dsn())
    found = repository.runs(limit, study)
    states = _run_states(Airflow(*airflow_login())) if "STOREBENCH_AIRFLOW_URL" in os.environ else None
    stopped, unknown = ask(repository, states)
    print_runs(console(), as_closed(found, stopped), asked=unknown is None)
    for line in tell(repository, Left(results_dsn()), stopped, unknown):
        click.echo(line)


@click.command()
@click.option("--yes", is_flag=True, help="Remove it; without it, only list it.")
def clean(yes: bool) -> None:
    """List, or remove, what no run needs any more.

    That is the data that ended runs have left in stores, their Secrets and pods, and datasets in S3 that are of no run in the results.
    What a run needs that goes on stays, and what --keep-data has kept. No result is removed.
    """
    from storebench.results.left import Left
    from storebench.results.repository import Repository
    from storebench.results.unneeded import CLEAN_DAG, find, print_unneeded
    from storebench.trigger import Airflow, RunFailed

    airflow = Airflow(*airflow_login())
    found = find(Repository(results_dsn()), Left(results_dsn()), _run_states(airflow))
    print_unneeded(console(), found)
    if not yes:
        what = (
            "nothing was removed; --yes removes all of it, and"
            if found
            else "nothing is recorded; --yes removes"
        )
        click.echo(
            f"{what} the pods that ended runs have left, and results in S3 that no task has read for a day, if there are any"
        )
        return
    run_id = airflow.trigger(CLEAN_DAG, {})
    url = f"{airflow.url}/dags/{CLEAN_DAG}/runs/{run_id}"
    click.echo(f"run {run_id}: {url}\nIt waits until no attempt is measured")
    if airflow.wait(CLEAN_DAG, run_id, click.echo) != "success":
        raise RunFailed(f"not all of it was removed: the lines above and {url} say why")


@click.command()
@click.option(
    "--older-than", type=click.IntRange(1), required=True, metavar="DAYS", help="Runs started before that."
)
@click.option("--yes", is_flag=True, help="Remove them; without it, only say what would be removed.")
def prune(older_than: int, yes: bool) -> None:
    """Remove old runs and their attempts from the results.

    Baselines stay, and runs that go on, or whose data is left in a store: `storebench clean` removes that.
    """
    from datetime import UTC, datetime, timedelta

    from storebench.results.prune import Pruning
    from storebench.results.repository import Repository
    from storebench.results.summary import refresh

    repository = Repository(results_dsn())
    before = datetime.now(UTC) - timedelta(days=older_than)
    pruning = Pruning(results_dsn())
    old_runs, attempts = pruning.old(before)
    what = f"{old_runs} runs with {attempts} attempts, started before {before:%Y-%m-%d %H:%M} UTC"
    if not yes:
        click.echo(f"would remove {what}; --yes removes them")
        return
    refresh(repository, pruning.remove(before))
    click.echo(f"removed {what}")


def _run_states(airflow: Any) -> Any:
    from storebench.results.stopped import AIRFLOW_ID, RunStates

    return RunStates(airflow.run_state, airflow.run_ended_at, lambda: airflow.variable(AIRFLOW_ID))


@click.command(cls=StudyCommand)
@click.option("--study", default=default_study, help="The study whose grid it is.")
@click.option("--rows", type=int, help="Rows of the dataset.")
@click.option("--seed", type=int, help="Seed of the dataset.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Verified repeats wanted."
)
@click.option("--store", help="Only this store.")
@click.option(
    "--param", "extra", multiple=True, metavar="NAME=JSON", help="A parameter that is not to be the default."
)
def grid(study: str, repeats: int, store: str | None, extra: tuple[str, ...], **options: Any) -> None:
    """List a study's cells, their state, and what is missing.

    Each has its partition and its date. The last line is the backfill of what is missing.

    Verified is what was measured with the study's default parameters, or with those given.
    """
    from storebench.airflow.params import defaults_of
    from storebench.errors import unknown
    from storebench.results.missing import backfill_command, cells_of, print_grid
    from storebench.results.queries import Queries
    from storebench.study.partition import partitions
    from storebench.study.studies import find
    from storebench.trigger import conf_of

    queries = Queries(results_dsn())
    found, asked = find(study), conf_of(None, {}, extra)
    if store is not None and store not in found.stores:
        raise unknown("store", store, found.stores)
    params = defaults_of(found, conf_of(None, {**options, "repeats": repeats}, extra))
    dates = {key: date for key, date in partitions(found).items() if store in (None, key.partition("/")[0])}
    cells = cells_of(found, dates, queries, params)
    print_grid(console(), cells)
    click.echo(backfill_command(study, cells, params["repeats"], asked))
