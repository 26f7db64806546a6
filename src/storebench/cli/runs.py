"""The commands that start, follow, list, repeat and remove runs, and list grids."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from storebench.cli.environment import AIRFLOW_URL, airflow_login, command, console, results_dsn
from storebench.cli.study import StudyCommand, announce_latest, default_study, of_study
from storebench.errors import SpecError

INTERRUPTED = 130  # the exit code of shells after Ctrl-C
REPORT_WIDTH = 100
# The parameters about repeats that a run with another number of repeats does not take over. A comparison needs a random order.
OF_REPEATS = ("repeats", "order_seed", "random_order", "skip_done", "precision_percent", "budget_min")


@click.command(cls=StudyCommand)
@click.option("--study", default=default_study, help="The study to run; `storebench studies` lists them.")
@click.option(
    "--preset",
    help="A named set of the study's parameters. Default: the first preset, if no clients or axes are given.",
)
@click.option(
    "--dataset",
    metavar="s3://BUCKET/KEY",
    help="Your CSV or Parquet file instead of the generated rows, for studies that take a file.",
)
@click.option("--rows", type=int, help="Rows of the dataset.")
@click.option("--seed", type=int, help="Seed of the dataset.")
@click.option("--stores", help="Names of stores, with commas between them.")
@click.option("--clients", help="Names of clients, with commas between them.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values of an axis. The help of a study lists its axes.",
)
@click.option("--repeats", type=int, help="How often each cell is measured.")
@click.option("--keep-data/--drop-data", default=None, help="Keep the data of the operations in the stores.")
@click.option("--pod-memory", help="Memory of a pod, for example 8Gi.")
@click.option("--tag", "tags", multiple=True, help="A label of the run, such as release:1.2.")
@click.option("--param", "extra", multiple=True, metavar="NAME=JSON", help="Any other parameter of the DAG.")
def run(
    study: str,
    preset: str | None,
    axes: tuple[str, ...],
    tags: tuple[str, ...],
    extra: tuple[str, ...],
    **options: Any,
) -> None:
    """Run a study in Airflow, and print each result.

    Parameters that are not given have the DAG's defaults. Ctrl-C ends the command, not the run.
    """
    from storebench.cli.airflow_api import PATIENCE_S, Airflow
    from storebench.planning.checks import on_one_machine
    from storebench.planning.conf import axis_values_of, conf_of, replaced
    from storebench.planning.params import grid_of, run_values
    from storebench.results.database.repository import Repository
    from storebench.study.studies import find

    airflow, repository = Airflow(*airflow_login()), Repository(results_dsn(), PATIENCE_S)
    chosen_study = find(study)
    if not (options["clients"] or axes):
        preset = preset or next(iter(chosen_study.presets), None)
    chosen = chosen_study.preset(preset) if preset else None
    embedded = on_one_machine()
    asked = {**options, **axis_values_of(" ".join(axes), chosen_study), "tags": ", ".join(tags) or None}
    conf = conf_of(chosen, asked, extra, embedded=embedded)
    # raises SpecError for invalid parameters before the run starts
    grid_of(chosen_study, run_values(chosen_study, conf))
    if chosen and embedded and (said := replaced(chosen, conf)):
        click.echo(f"on the embedded cluster preset {preset} has {said}")
    run_id = airflow.trigger_when_known(study, conf, click.echo)
    click.echo(f"run {run_id}: {airflow.url}/dags/{study}/runs/{run_id}")
    if chosen:
        click.echo(f"preset {preset}: {chosen.description}")
    _follow(airflow, repository, study, run_id)


@click.command()
def studies() -> None:
    """List the studies with their operations, axes and stores.

    Exits with code 2 if a study cannot be used. The reason is printed, and all other studies are listed.
    """
    from storebench.errors import StorebenchError
    from storebench.study.studies import all_of

    broken = 0
    for name, study in all_of():
        if isinstance(study, StorebenchError):
            broken += 1
            click.echo(f"{name}: cannot be used: {study}", err=True)
            continue
        click.echo(f"{name}: {study.title}")
        click.echo(f"  operations: {', '.join(operation.name for operation in study.operations)}")
        click.echo(f"  axes: {', '.join(axis.name for axis in study.axes) or 'none'}")
        dataset = study.dataset
        click.echo(f"  dataset: {dataset.text if dataset else 'none'}")
        click.echo(f"  stores: {', '.join(study.stores)}")
    click.echo("`storebench run --study NAME --help` describes a study")
    if broken:
        sys.exit(SpecError.exit_code)


@click.command()
@click.argument("run_", metavar="[RUN]", default="latest")
@of_study
def follow(run_: str, study: str | None) -> None:
    """Follow a run in progress, and print each result.

    RUN is a run's id, or 'latest'. Give the study of a run that has no results yet, unless it is the default study. Ctrl-C ends the
    command, not the run.
    """
    from storebench.cli.airflow_api import PATIENCE_S, Airflow
    from storebench.results.database.repository import Repository

    airflow, repository = Airflow(*airflow_login()), Repository(results_dsn(), PATIENCE_S)
    try:
        recorded_run = repository.run_named(run_, study)
        dag_id, run_id = recorded_run["dag_id"], recorded_run["airflow_run_id"]
        announce_latest(repository, study, run_)
    except SpecError:
        dag_id, run_id = study or default_study(), run_
        if airflow.run_state(dag_id, run_id) is None:
            raise
    _follow(airflow, repository, dag_id, run_id)


def _follow(airflow: Any, repository: Any, dag_id: str, run_id: str) -> None:
    """Show the run until it ends, then its overview and the next commands. Raises RunFailed unless the whole run is verified."""
    from storebench.cli import follow
    from storebench.cli.airflow_api import RunFailed
    from storebench.cli.next_steps import Typed, next_lines
    from storebench.cli.output.overview import print_overview
    from storebench.results.database.repository import run_id_of
    from storebench.results.database.runs import LATEST
    from storebench.results.forecast.fixed import fixed_of

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
        record, study = repository.study(rows[0]["study"]), _here(dag_id)
        run = repository.run_named(run_id_of(dag_id, run_id))
        name = LATEST if repository.run_named(LATEST)["id"] == run["id"] else run["airflow_run_id"]
        typed = Typed(name)
        fixed = fixed_of(repository, rows)
        print_overview(report, rows, record, fixed, _largest(study), typed.results(), typed.ranking())
        report.print()
        for line in next_lines(run, rows, study, url, name):
            click.echo(line)
    if state != "success":
        raise RunFailed(f"run {run_id} failed: the remarks above and {url} say why")


def _largest(study: Any) -> Any:
    """Return the study's preset with the most rows; None without presets, or without the study's file."""
    from storebench.cli.output.sentences import Larger

    presets = study.presets.items() if study else ()
    larger = [Larger(name, preset.params.get("rows", study.rows)) for name, preset in presets]
    return max(larger, key=lambda preset: preset.rows, default=None)


def _here(study: str) -> Any:
    """Return the study; None if its file is absent or cannot be used."""
    from storebench.study.studies import find

    try:
        return find(study)
    except SpecError:
        return None


@click.command()
@click.argument("run_", metavar="RUN")
@of_study
@click.option(
    "--repeats",
    type=click.IntRange(1),
    metavar="N",
    help="Measure each cell N times, in a random order drawn again, without the run's precision and budget.",
)
@click.option("--param", "extra", multiple=True, metavar="NAME=JSON", help="Change this parameter.")
@click.option("--trigger", is_flag=True, help="Also start the run in Airflow.")
@click.option("--follow", "follows", is_flag=True, help="Start the run, and print each result as `run` does.")
def replay(
    run_: str, study: str | None, repeats: int | None, extra: tuple[str, ...], trigger: bool, follows: bool
) -> None:
    """Print a run's parameters as JSON, to repeat the run.

    The parameters include the seed of the order, unless --repeats changes the number of repeats. They do not include the run's tags.
    """
    from storebench.cli.airflow_api import PATIENCE_S, Airflow
    from storebench.planning.conf import conf_of
    from storebench.results.database.repository import Repository

    repository = Repository(results_dsn(), PATIENCE_S)
    announce_latest(repository, study, run_)
    recorded_run = repository.run_named(run_, study)
    conf, dag_id = (
        {**recorded_run["params"], "order_seed": recorded_run["order_seed"]},
        recorded_run["dag_id"],
    )
    if repeats is not None:
        conf = {name: value for name, value in conf.items() if name not in OF_REPEATS} | {"repeats": repeats}
    conf |= conf_of(None, {}, extra)
    if not follows:
        click.echo(json.dumps(conf, indent=2))
    if trigger or follows:
        airflow = Airflow(*airflow_login())
        run_id = airflow.trigger(dag_id, conf)
        click.echo(f"run {run_id}: {airflow.url}/dags/{dag_id}/runs/{run_id}", err=not follows)
        if follows:
            _follow(airflow, repository, dag_id, run_id)


@click.command()
@click.option("--study", help="Only runs of this study.")
@click.option("--tag", "tags", multiple=True, help="Only runs with this tag; several: with all of them.")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most the newest N runs."
)
def runs(study: str | None, tags: tuple[str, ...], limit: int) -> None:
    """List the newest runs, and the leftovers of stopped runs.

    A run was stopped if it was marked as failed or deleted in Airflow. Its leftovers are data in stores. The state 'running?' means that
    Airflow cannot be asked whether the run has ended.
    """
    from storebench.cli.airflow_api import Airflow
    from storebench.cli.output.table import print_runs
    from storebench.results.database.repository import Repository
    from storebench.results.leftovers.stopped import as_closed, ask, tell
    from storebench.results.leftovers.tracking import Left

    dsn = results_dsn()
    repository = Repository(dsn)
    recorded_runs = repository.runs(limit, study, tags)
    states = _run_states(Airflow(*airflow_login())) if AIRFLOW_URL in os.environ else None
    stopped, unknown = ask(repository, states)
    print_runs(console(), as_closed(recorded_runs, stopped), asked=unknown is None)
    for line in tell(repository, Left(dsn), stopped, unknown):
        click.echo(line)


@click.command()
@click.option("--yes", is_flag=True, help="Remove the leftovers; without --yes, only list them.")
def clean(yes: bool) -> None:
    """List or remove the leftovers that no run needs.

    Leftovers are data of ended runs in stores, their Secrets and pods, and datasets in S3 of no run in the results. The data of runs in
    progress, data kept by --keep-data, and all results stay.
    """
    from storebench.cli.airflow_api import Airflow, RunFailed
    from storebench.cli.output.leftovers import print_unneeded
    from storebench.results.database.repository import Repository
    from storebench.results.leftovers.tracking import Left
    from storebench.results.leftovers.unneeded import CLEAN_DAG, find

    airflow, dsn = Airflow(*airflow_login()), results_dsn()
    unneeded = find(Repository(dsn), Left(dsn), _run_states(airflow))
    print_unneeded(console(), unneeded)
    if not yes:
        what = (
            "nothing was removed; --yes removes these leftovers, and"
            if unneeded
            else "nothing is recorded; --yes removes"
        )
        click.echo(
            f"{what} leftover pods of ended runs, and results in S3 that no task has read for a day, if there are any"
        )
        return
    run_id = airflow.trigger(CLEAN_DAG, {})
    url = f"{airflow.url}/dags/{CLEAN_DAG}/runs/{run_id}"
    click.echo(f"run {run_id}: {url}\nThe run waits until no attempt is measured")
    if airflow.wait(CLEAN_DAG, run_id, click.echo) != "success":
        raise RunFailed(f"not all of it was removed: the lines above and {url} say why")


@click.command()
@click.option(
    "--older-than",
    type=click.IntRange(1),
    required=True,
    metavar="DAYS",
    help="Remove runs that started more than DAYS days ago.",
)
@click.option("--yes", is_flag=True, help="Remove the runs; without --yes, only print what would be removed.")
def prune(older_than: int, yes: bool) -> None:
    """Remove old runs and their attempts from the results.

    Baselines stay, and so do runs that have not ended or have leftover data in a store (`storebench clean` removes this data).
    """
    from datetime import UTC, datetime, timedelta

    from storebench.results.database.repository import Repository
    from storebench.results.runs.prune import Pruning
    from storebench.results.runs.summary import refresh

    dsn = results_dsn()
    repository, pruning = Repository(dsn), Pruning(dsn)
    before = datetime.now(UTC) - timedelta(days=older_than)
    old_runs, attempts = pruning.old(before)
    what = f"{old_runs} runs with {attempts} attempts, started before {before:%Y-%m-%d %H:%M} UTC"
    if not yes:
        click.echo(f"would remove {what}; --yes removes them")
        return
    refresh(repository, pruning.remove(before))
    click.echo(f"removed {what}")


def _run_states(airflow: Any) -> Any:
    from storebench.results.leftovers.stopped import AIRFLOW_ID, RunStates

    return RunStates(airflow.run_state, airflow.run_ended_at, lambda: airflow.variable(AIRFLOW_ID))


@click.command(cls=StudyCommand)
@click.option("--study", default=default_study, help="The study of the grid.")
@click.option("--rows", type=int, help="Rows of the dataset.")
@click.option("--seed", type=int, help="Seed of the dataset.")
@click.option(
    "--repeats", type=click.IntRange(1), default=1, show_default=True, help="Verified repeats wanted."
)
@click.option("--store", help="Only this store.")
@click.option(
    "--param",
    "extra",
    multiple=True,
    metavar="NAME=JSON",
    help="A parameter with another value than the default.",
)
def grid(study: str, repeats: int, store: str | None, extra: tuple[str, ...], **options: Any) -> None:
    """List the cells of a study's grid and their state.

    Each cell has its partition and its date. The last line is the command that backfills the missing cells.

    Only attempts with the study's default parameters, or with the given parameters, count as verified.
    """
    from storebench.cli.output.grid import print_grid
    from storebench.errors import unknown
    from storebench.planning.conf import conf_of
    from storebench.planning.params import run_values
    from storebench.results.database.queries import Queries
    from storebench.results.forecast.missing import backfill_command, cells_of
    from storebench.study.partition import partitions
    from storebench.study.studies import find

    queries = Queries(results_dsn())
    chosen_study, asked = find(study), conf_of(None, {}, extra)
    if store is not None and store not in chosen_study.stores:
        raise unknown("store", store, chosen_study.stores)
    params = run_values(chosen_study, conf_of(None, {**options, "repeats": repeats}, extra))
    dates = {
        key: date for key, date in partitions(chosen_study).items() if store in (None, key.partition("/")[0])
    }
    cells = cells_of(chosen_study, dates, queries, params)
    print_grid(console(), cells)
    click.echo(backfill_command(study, cells, params["repeats"], asked))
