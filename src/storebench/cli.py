"""The command line. Only wires: each command's work is in the module that it imports."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import click

from storebench.errors import SpecError, StorebenchError
from storebench.version import code_version


class _Commands(click.Group):
    """Turns the project's errors into one line and the exit code of their kind."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except StorebenchError as error:
            click.echo(f"storebench: {error}", err=True)
            ctx.exit(error.exit_code)


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


@main.command()
def attempt() -> None:
    """Run one attempt: the main program of a pod (its specification is in STOREBENCH_ATTEMPT).

    Exit codes: 0 verified, 2 bad specification, 3 store unreachable, 4 verification failed, 5 store refused or failed.
    """
    from storebench.attempt.run import main as run_attempt

    code = run_attempt()
    # The result is written. A native thread of a client (Arrow's are such) that lets go of a Python object while the
    # interpreter takes itself apart would abort the process, and its exit code would say so instead.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


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
@click.option(
    "--reader", metavar="ROLE", help="A role that may read the results: the one of the results page."
)
def migrate(reader: str | None) -> None:
    """Bring the results' schema in Postgres up to date."""
    from storebench.results.migrate import grant
    from storebench.results.migrate import migrate as run_migrations

    applied = run_migrations(_results_dsn())
    click.echo(f"applied: {', '.join(applied)}" if applied else "the schema is up to date")
    if reader:
        grant(_results_dsn(), reader)
        click.echo(f"{reader} may read it")


@main.command()
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
    airflow = Airflow(*_airflow())
    run_id = airflow.trigger(study, conf)
    click.echo(f"run {run_id}: {airflow.url}/dags/{study}/runs/{run_id}")
    state = airflow.follow(study, run_id, click.echo)
    queries, recorded = Queries(_results_dsn()), run_id_of(study, run_id)
    if queries.has_run(recorded):  # not where its plan has failed
        _console().print(as_table(queries.results(run=recorded)))
    if state != "success":
        raise RunFailed(
            f"run {run_id} failed: the remarks above and {airflow.url}/dags/{study}/runs/{run_id} say why"
        )


@main.command()
@click.option("--run", "run_", metavar="RUN", help="A run's id, 'latest', or 'baseline:NAME'.")
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
    from storebench.results.queries import Queries
    from storebench.results.table import as_csv, as_json, as_table

    rows = Queries(_results_dsn()).results(run=run_, store=store, cell=cell, limit=limit)
    if format_ == "table":
        _console().print(as_table(rows) if rows else "no results")
    else:
        click.echo(as_csv(rows) if format_ == "csv" else as_json(rows), nl=False)


@main.command()
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="At most the newest N runs."
)
def runs(limit: int) -> None:
    """List the newest runs, and say what was stopped in Airflow and what is left in stores."""
    from storebench.results.repository import Repository
    from storebench.results.table import runs_table

    repository = Repository(_results_dsn())
    _console().print(runs_table(repository.runs(limit)))
    _say_what_is_left(repository)


@main.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--a-a", "arms", is_flag=True, help="Compare the run's two arms (or its odd and even repeats): the noise."
)
@click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=5.0,
    show_default=True,
    help="Percent: a difference within it does not count.",
)
@click.option(
    "--fail-over",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    help="Exit with code 1 where B is slower by more than this, and with 6 where it could be for all that was measured.",
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def compare(
    before: str, after: str | None, arms: bool, margin: float, fail_over: float | None, format_: str
) -> None:
    """Say for each cell and operation whether B is faster or slower than A, the same, or that it cannot be told, and why.

    A and B are two runs (their ids, 'latest', 'baseline:NAME'; several that were made in turns as ID,ID,ID) or two cells
    (their keys).

    Exit codes: 0; with --fail-over 1 for a regression, and 6 where none was found but the data do not rule one out, or nothing could be
    compared; 2 for what cannot be asked so; 3 where the results database does not answer.
    """
    from storebench.results.compare import compare as compare_sides
    from storebench.results.compare import compare_arms
    from storebench.results.queries import Queries
    from storebench.results.verdicts import as_json, exit_code, print_comparison

    if arms == (after is not None):
        raise SpecError("Give two runs or two cells to compare, or one run and --a-a")
    if fail_over is not None and fail_over <= margin:
        raise SpecError(
            f"A slowdown of {fail_over:g} % does not count with a margin of {margin:g} %: give a larger --fail-over, or a smaller"
            " --margin"
        )
    queries = Queries(_results_dsn())
    share = margin / 100
    found = (
        compare_arms(queries, before, margin=share)
        if after is None
        else compare_sides(queries, before, after, margin=share)
    )
    if format_ == "json":
        click.echo(as_json(found))
    else:
        print_comparison(_console(), found, margin, noise=arms)
    if fail_over is not None:
        code, lines = exit_code(found, fail_over / 100)
        for line in lines:
            click.echo(f"storebench: {line}", err=True)
        sys.exit(code)


@main.command("plan-repeats")
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@click.option(
    "--difference",
    type=click.FloatRange(0, min_open=True),
    metavar="PERCENT",
    required=True,
    help="The slowdown to tell.",
)
@click.option(
    "--margin", type=click.FloatRange(0, 100), default=5.0, show_default=True, help="As of compare."
)
@click.option(
    "--pairs",
    type=click.IntRange(1),
    metavar="N",
    help="Cells times operations of the comparison that is planned (default: those of A).",
)
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def plan_repeats_(
    before: str, after: str | None, difference: float, margin: float, pairs: int | None, format_: str
) -> None:
    """Say how many repeats tell a difference, from the noise of what was measured.

    A and B are named as for `compare`. Of one run it is the noise of its repeats; of several (ID,ID,ID), of the runs; of two sides,
    whatever differs between them, that of the turns.
    """
    from storebench.results.queries import Queries
    from storebench.results.repeats import plan_json, plan_repeats, plan_table, plan_text

    plan = plan_repeats(
        Queries(_results_dsn()), before, after, difference=difference / 100, margin=margin / 100, pairs=pairs
    )
    if format_ == "json":
        click.echo(plan_json(plan))
        return
    _console().print(plan_table(plan))
    for line in filter(None, (plan.caution, plan_text(plan))):
        click.echo(line)


@main.command()
@click.argument("run_", metavar="RUN")
@click.option("--cpu-hour", type=click.FloatRange(0), required=True, help="Price of one core for an hour.")
@click.option(
    "--gib-hour", type=click.FloatRange(0), required=True, help="Price of one GiB of memory for an hour."
)
@click.option("--currency", default="USD", show_default=True, help="Only a name.")
@click.option("--format", "format_", type=click.Choice(["table", "json"]), default="table", show_default=True)
def price(run_: str, cpu_hour: float, gib_hour: float, currency: str, format_: str) -> None:
    """What a verified GB cost: CPU and memory hours of the pods that wrote or read it. The stores' servers are not in it: clients are
    ranked among clients, engines that run in the pods among engines."""
    from storebench.results.price import price_tables, prices
    from storebench.results.queries import Queries

    queries = Queries(_results_dsn())
    found = prices(queries.attempts_of_run(queries.run_named(run_)["id"]), cpu_hour, gib_hour)
    if format_ == "json":
        click.echo(json.dumps([vars(one) for one in found], indent=2))
    else:
        _console().print(*price_tables(found, currency))


@main.command()
@click.argument("name")
@click.argument("run_", metavar="RUN")
def baseline(name: str, run_: str) -> None:
    """Let baseline:NAME mean RUN (a run's id, or 'latest')."""
    from storebench.results.repository import Repository

    if "," in name:
        raise SpecError(
            f"{name!r} cannot be a baseline's name: `storebench compare` takes commas as between several runs"
        )
    repository = Repository(_results_dsn())
    run_id = repository.run_named(run_)["id"]
    repository.set_baseline(name, run_id)
    click.echo(f"baseline:{name} is {run_id}")


@main.command()
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

    queries = Queries(_results_dsn())
    found, asked = find(study), conf_of(None, {}, extra)
    cells = cells_of(found, queries, rows, seed, repeats, store, defaults_of(found, asked))
    _console().print(state_table(cells))
    click.echo(backfill_command(study, cells, repeats, asked))


@main.command()
@click.argument("run_", metavar="RUN")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="The file (default: RUN.zip here)."
)
@click.option(
    "--sign",
    "key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="KEYFILE",
    help="Sign it with this SSH key, in a second file with .sig at the end of its name.",
)
def export(run_: str, out: Path | None, key: Path | None) -> None:
    """Write a run to one file: its attempts, phases, environments, datasets and parameters, with checksums."""
    from storebench.results import signature
    from storebench.results.bundle import Bundles
    from storebench.results.queries import Queries

    run_id = Queries(_results_dsn()).run_named(run_)["id"]
    path = out or Path(re.sub(r"[^0-9A-Za-z.+-]+", "_", run_id) + ".zip")
    counts = Bundles(_results_dsn()).export(run_id, path)
    click.echo(f"{path}: {', '.join(f'{count} {name}' for name, count in counts.items())}")
    if key:
        click.echo(f"{signature.sign(path, key)}: its signature")


@main.command()
@click.argument("run_", metavar="RUN")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="The folder to write to."
)
def report(run_: str, out: Path) -> None:
    """Write a run's charts and tables as one HTML file that needs no Airflow, and its attempts as CSV and JSON."""
    from storebench.web.report import write_report

    for path in write_report(_results_dsn(), run_, out):
        click.echo(str(path))


@main.command("import")
@click.argument("bundle", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--signer", metavar="NAME", help="Load it only if this one of the allowed signers signed it.")
@click.option(
    "--allowed-signers",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Names and their public SSH keys, as ssh-keygen(1) describes them (default: ~/.ssh/allowed_signers).",
)
@click.option(
    "--signature",
    "signed",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The signature (default: BUNDLE.sig).",
)
def import_(bundle: Path, signer: str | None, allowed_signers: Path | None, signed: Path | None) -> None:
    """Load a file that `storebench export` wrote. Loading it again changes nothing."""
    from storebench.results import signature
    from storebench.results.bundle import Bundles

    beside = signature.signature_path(bundle)
    if signer:
        allowed = allowed_signers or Path.home() / ".ssh" / "allowed_signers"
        signature.verify(bundle, signed or beside, allowed, signer)
        click.echo(f"{bundle} is signed by {signer}")
    elif signed or allowed_signers:
        raise SpecError("Give --signer NAME, too: one of the allowed signers, whose signature it must be")
    elif beside.exists():
        click.echo(f"{beside} was not looked at: --signer NAME verifies it", err=True)
    run_id, new = Bundles(_results_dsn()).load(bundle)
    click.echo(f"{run_id}: new are {', '.join(f'{count} {name}' for name, count in new.items())}")


@main.command()
@click.argument("run_", metavar="RUN")
@click.option("--trigger", is_flag=True, help="Start the run in Airflow, too.")
def replay(run_: str, trigger: bool) -> None:
    """Print the parameters of a run, order seed included, as JSON to start another like it."""
    from storebench.results.queries import Queries
    from storebench.trigger import Airflow

    found = Queries(_results_dsn()).run_named(run_)
    conf = {**found["params"], "order_seed": found["order_seed"]}
    click.echo(json.dumps(conf, indent=2))
    if trigger:
        airflow = Airflow(*_airflow())
        run_id = airflow.trigger(found["dag_id"], conf)
        click.echo(f"run {run_id}: {airflow.url}/dags/{found['dag_id']}/runs/{run_id}", err=True)


@main.command()
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

    repository = Repository(_results_dsn())
    _say_what_is_left(repository, close_stopped=yes)
    before = datetime.now(UTC) - timedelta(days=older_than)
    pruning = Pruning(_results_dsn())
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
        airflow = Airflow(*_airflow())
        states = RunStates(airflow.run_state, lambda: airflow.variable(AIRFLOW_ID))
    for line in tell(repository, Left(_results_dsn()), states, close_them=close_stopped):
        click.echo(line)


def _airflow() -> tuple[str, str, str]:
    return (
        _environment("STOREBENCH_AIRFLOW_URL"),
        _environment("STOREBENCH_AIRFLOW_USER"),
        _environment("STOREBENCH_AIRFLOW_PASSWORD"),
    )


def _console() -> Any:
    """What tables are printed on: as wide as the terminal, or wide enough where there is none."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 280)


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
