"""Compare the times of the study queries with the times that two stores' own shells show: `make bench-shells`.

The stores' own modules load the dataset into the PostgreSQL of the connection storebench_postgresql, and into a DuckDB file in a temporary
folder. The reference client asks the ten questions as an attempt does, and the shell asks the same texts. Client and shell take turns, so that
a drift of the machine affects both alike. The client runs in this process, and not in a pod.

DuckDB's client and shell have the version of requirements/bench-shells.in.
"""

from __future__ import annotations

import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
from psycopg.conninfo import conninfo_to_dict
from rich.console import Console
from rich.table import Table

from storebench.attempt.clock import OperationClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.dataset.csv50 import CSV50
from storebench.dataset.upload import ensure_dataset
from storebench.s3 import client_for
from storebench.stores.postgresql_server import conninfo
from storebench.stores.queries import files
from storebench.stores.queries.answers import compare, tally_of
from storebench.stores.queries.asking import PASSES as TIMED
from storebench.stores.queries.asking import ask
from storebench.stores.queries.base import ASK, LOAD
from storebench.stores.queries.duckdb import TABLE, Duckdb
from storebench.stores.queries.postgresql import PostgreSQL
from storebench.stores.queries.questions import QUESTIONS, Rows, key_of
from storebench.stores.queries.sql import SqlStore
from storebench.study.dataset import folder_of

SEED, TARGET = 42, "storebench_bench_shells"
CLOSE = 0.1  # a deviation up to this is counted as close
HOME = Path(os.environ.get("STOREBENCH_HOME", ""))
REQUIREMENTS = Path(__file__).parents[1] / "requirements" / "bench-shells.txt"
INCLUDED = """Each time begins when the question is sent, and ends when the last row of the answer is fetched.
The client's time includes the conversion of the answer to Python's objects and to the study's form.
psql's time (\\timing) does not include the printing.
DuckDB's time (.timer, "Run Time real") includes the printing as CSV to /dev/null. It is in milliseconds, so a time is of many questions."""


@dataclass(frozen=True)
class Kind:
    """A store's own shell.

    `options`: its arguments. `settings`: the first lines of a session. `time`: the pattern of a time, and `unit_s` the seconds of its unit.
    `least_s`: least seconds of a time, so that its last digit is small beside it.
    """

    options: Sequence[str]
    settings: Sequence[str]
    time: re.Pattern[str]
    unit_s: float
    least_s: float = 0.0

    def seconds(self, line: str) -> float:
        """Return the time in a line of the shell's output. Raises ClickException with the line if the shell says something else."""
        if found := self.time.match(line):
            return float(found[1]) * self.unit_s
        raise click.ClickException(f"The shell shows no time: {line.strip() or 'it has ended'}")


PSQL = Kind(
    ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"),
    (r"\timing on",),
    re.compile(r"Time: ([\d.]+) ms"),
    0.001,
)
# The shell times all statements on a line together, and shows milliseconds.
DUCKDB = Kind(
    ("-batch", "-bail", "-no-init", "-csv", "-readonly"),
    (".timer on", ".output /dev/null"),
    re.compile(r"Run Time \(s\): real ([\d.]+) "),
    1.0,
    least_s=0.1,
)


class Shell:
    """A session of a store's own shell."""

    def __init__(self, kind: Kind, process: subprocess.Popen[str]) -> None:
        assert process.stdin and process.stdout
        self.kind = kind
        self._to, self._from = process.stdin, process.stdout
        for line in kind.settings:
            self._to.write(f"{line}\n")

    def times_s(self, statement: str, asked: int, lines: int) -> list[float]:
        """Run lines that have a statement `asked` times. Return the seconds of one time for each line, by the shell's own timer."""
        self._to.write((f"{statement};" * asked + "\n") * lines)
        self._to.flush()
        return [self.kind.seconds(self._from.readline()) / asked for _ in range(lines)]


@contextmanager
def session(kind: Kind, program: Sequence[str | Path], *more: str, **environment: str) -> Iterator[Shell]:
    """Start a shell, and end it after the block. `program`: command of the shell. `more`: further arguments."""
    with subprocess.Popen(
        [*program, *kind.options, *more],
        env={**os.environ, "LC_ALL": "C", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield Shell(kind, process)
        finally:
            process.kill()


@contextmanager
def loaded(store: type[SqlStore], connection: Connection | None, s3: Connection, rows: int) -> Iterator[Any]:
    """Load the dataset into a store. Yield the store as it is connected for the operation `ask`. Drop the data after the block."""
    bucket, s3_client = s3.extra["bucket"], client_for(s3)

    def connected(operation: str) -> SqlStore:
        spec = AttemptSpec(
            operation=operation,
            cell_key="bench",
            study="queries",
            store=store.name,
            client="reference",
            axes={},
            rows=rows,
            seed=SEED,
            target=TARGET,
            bucket=bucket,
            dataset=folder_of(CSV50.id(rows, SEED)),
            results="",
        )
        made = store.of(spec, connection, s3_client)
        made.connect()
        made.source.manifest()
        return made

    try:
        with closing(connected(LOAD)) as loading:
            loading.create()
            loading.load(OperationClock())
        with closing(connected(ASK)) as asking:
            yield asking
    finally:
        with closing(connected(LOAD)) as dropping:
            dropping.drop()


@dataclass(frozen=True)
class Times:
    """The times of a question: a median for each pass. `asked`: how often the question was asked for one time of a pass."""

    store: str
    question: str
    asked: int
    client_s: list[float] = field(default_factory=list)
    shell_s: list[float] = field(default_factory=list)

    @property
    def medians_s(self) -> tuple[float, float]:
        """Return the medians of the client and of the shell."""
        return statistics.median(self.client_s), statistics.median(self.shell_s)

    @property
    def ratio(self) -> float:
        """Return the client's median relative to the shell's median."""
        client_median_s, shell_median_s = self.medians_s
        return client_median_s / shell_median_s

    @property
    def ratios(self) -> list[float]:
        """Return the client's time relative to the shell's time for each pass."""
        return [by_client / by_shell for by_client, by_shell in zip(self.client_s, self.shell_s, strict=True)]


def client_s(client: SqlStore, question: str, asked: int = 1) -> float:
    """Ask a question `asked` times, on the clock of an attempt. Return the seconds of one time."""
    clock = OperationClock()
    for _ in range(asked):
        with clock.operation():
            ask(client, question)
    return clock.operation_s / asked


def measure(store: SqlStore, shell: Shell, question: str, right: Rows, passes: int) -> Times:
    """Let client and shell ask a question in `passes` turns. Verify the client's answer.

    A turn is one untimed question and TIMED timed questions, as in an attempt, over a new connection of the client: psycopg prepares a
    statement that a connection asks more often. The shell's session stays.
    """
    compare(question, ask(store, question), right)
    shortest_s = min(client_s(store, question) for _ in range(TIMED))
    times = Times(store.name, question, max(1, math.ceil(shell.kind.least_s / shortest_s)))

    def by_client() -> None:
        with closing(store.another()) as client:
            ask(client, question)
            seconds = [client_s(client, question, times.asked) for _ in range(TIMED)]
        times.client_s.append(statistics.median(seconds))

    def by_shell() -> None:
        _, *seconds = shell.times_s(store.statement(question), times.asked, 1 + TIMED)
        times.shell_s.append(statistics.median(seconds))

    for number in range(passes):
        first, second = (by_client, by_shell) if number % 2 == 0 else (by_shell, by_client)
        first()
        second()
    return times


def postgresql(s3: Connection, rows: int, right: Mapping[str, Rows], passes: int) -> tuple[str, list[Times]]:
    """Measure PostgreSQL. Return the versions, and the times of each question."""
    server = Connection.from_json("postgresql", os.environ["AIRFLOW_CONN_STOREBENCH_POSTGRESQL"])
    # Its libraries are in the tree in which the stack runs its servers.
    psql = ("chroot", HOME / "postgres" / "root", "/usr/lib/postgresql/18/bin/psql")
    login = {
        "PGDATABASE" if name == "dbname" else f"PG{name.upper()}": str(value)
        for name, value in conninfo_to_dict(conninfo(server)).items()
    }
    with loaded(PostgreSQL, server, s3, rows) as store, session(PSQL, psql, **login) as shell:
        versions = f"{_version(store)}; {_output(*psql, '--version')}"
        return versions, [measure(store, shell, name, right[name], passes) for name in QUESTIONS]


def duckdb(s3: Connection, rows: int, right: Mapping[str, Rows], passes: int) -> tuple[str, list[Times]]:
    """Measure DuckDB. Return the versions, and the times of each question."""
    with tempfile.TemporaryDirectory() as name, patch.object(files, "FOLDER", name):
        packages = Path(name, "packages")
        install = (HOME / "bin" / "uv", "pip", "install", "--quiet", "--no-cache", "--require-hashes")
        _output(*install, "--python", sys.executable, "--target", packages, "--requirement", REQUIREMENTS)
        sys.path.insert(0, str(packages))  # no module has imported the pinned DuckDB so far
        program = packages / "duckdb_cli" / "duckdb"
        with (
            loaded(Duckdb, None, s3, rows) as store,
            # Lines are written at once, although the output is no terminal.
            session(DUCKDB, ("stdbuf", "-oL", program), str(Path(name, TARGET, f"{TABLE}.duckdb"))) as shell,
        ):
            versions = f"{_version(store)}; shell {_output(program, '--version')}"
            return versions, [measure(store, shell, name, right[name], passes) for name in QUESTIONS]


def _version(store: SqlStore) -> str:
    server = store.describe()
    return f"{server.name} {server.version}"


def _output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def table(title: str, measured: Iterable[Times]) -> Table:
    """Return the table of a store with a line for each question."""
    shown = Table(title=title)
    for heading in ("question", "asked", "client, ms", "shell, ms", "difference, ms", "ratio", "of passes"):
        shown.add_column(heading, justify="left" if heading == "question" else "right")
    for times in measured:
        of_client, of_shell = times.medians_s
        shown.add_row(
            times.question,
            str(times.asked),
            *(f"{1000 * seconds:.3f}" for seconds in (of_client, of_shell)),
            f"{1000 * (of_client - of_shell):+.3f}",
            f"{times.ratio:.3f}",
            f"{min(times.ratios):.3f} to {max(times.ratios):.3f}",
        )
    return shown


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True, help="Of the dataset.")
@click.option(
    "--passes",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help=f"Of each question by the client and by the shell; each is the median of {TIMED} timed questions.",
)
def main(rows: int, passes: int) -> None:
    """Compare the times of the study's client with the times of the stores' own shells."""
    console = Console(width=110)
    s3 = Connection.from_json("s3", os.environ["AIRFLOW_CONN_STOREBENCH_S3"])
    manifest, _ = ensure_dataset(client_for(s3), s3.extra["bucket"], rows, SEED)
    right = tally_of(manifest, key_of(rows)).answers().of
    everything = []
    for measured_store in (postgresql, duckdb):
        versions, measured = measured_store(s3, rows, right, passes)
        console.print(table(f"{versions}. {rows:,} rows, medians of {passes} passes", measured))
        everything += measured
    print(INCLUDED)
    most = max(everything, key=lambda times: abs(times.ratio - 1))
    close = sum(1 for times in everything if abs(times.ratio - 1) <= CLOSE)
    print(
        f"max_deviation={most.ratio - 1:+.3f} store={most.store} question={most.question} within_tenth={close}"
        f" of={len(everything)} rows={rows} passes={passes}"
    )


if __name__ == "__main__":
    main()
