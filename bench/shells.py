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
from storebench.stores.queries.asking import PASSES, ask
from storebench.stores.queries.base import ASK, LOAD
from storebench.stores.queries.duckdb import TABLE, Duckdb
from storebench.stores.queries.postgresql import PostgreSQL
from storebench.stores.queries.questions import QUESTIONS, Rows, key_of
from storebench.stores.queries.sql import SqlStore
from storebench.study.dataset import folder_of

SEED, TARGET = 42, "storebench_bench_shells"
HOME = Path(os.environ.get("STOREBENCH_HOME", ""))
REQUIREMENTS = Path(__file__).parents[1] / "requirements" / "bench-shells.txt"
INCLUDED = """Each time begins when the question is sent, and ends when the last row of the answer is fetched.
The client's time includes the conversion of the answer to Python's objects and to the study's form. psql's time (\\timing) does not include
the printing. DuckDB's time (.timer, "Run Time real") includes the printing as CSV to /dev/null."""


@dataclass(frozen=True)
class Kind:
    """A store's own shell.

    `options`: its arguments. `settings`: the first lines of a session. `time`: the pattern of a time, and `unit_s` the seconds of its unit.
    `least_s`: least seconds of a pass, so that the last shown digit of the time is small beside the pass.
    """

    options: Sequence[str]
    settings: Sequence[str]
    time: re.Pattern[str]
    unit_s: float
    least_s: float = 0.0

    def seconds(self, lines: Iterable[str]) -> float:
        """Return the first time in the lines that the shell prints. Raises ClickException with the lines if there is no time."""
        said = []
        for line in lines:
            if found := self.time.match(line):
                return float(found[1]) * self.unit_s
            said.append(line)
        raise click.ClickException(f"The shell ended without a time: {''.join(said).strip()}")


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

    def time_s(self, statement: str, times: int) -> float:
        """Run a statement several times. Return the seconds of one time by the shell's own timer."""
        self._to.write(f"{statement};" * times + "\n")
        self._to.flush()
        return self.kind.seconds(self._from) / times


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
    """The seconds of a question by pass. `asked`: how often a pass asks the question, which divides the seconds of the pass."""

    store: str
    question: str
    asked: int = 1
    client_s: list[float] = field(default_factory=list)
    shell_s: list[float] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """Return the client's median relative to the shell's median."""
        return statistics.median(self.client_s) / statistics.median(self.shell_s)

    @property
    def ratios(self) -> list[float]:
        """Return the client's time relative to the shell's time for each pass."""
        return [client_s / shell_s for client_s, shell_s in zip(self.client_s, self.shell_s, strict=True)]


def client_s(store: SqlStore, question: str, times: int = 1) -> float:
    """Ask a question several times, on the clock of an attempt. Return the seconds of one time."""
    clock = OperationClock()
    for _ in range(times):
        with clock.operation():
            ask(store, question)
    return clock.operation_s / times


def measure(store: SqlStore, shell: Shell, question: str, right: Rows, passes: int) -> Times:
    """Let client and shell ask a question `passes` times in turns. Verify the client's answer.

    The client asks over a new connection after PASSES timed questions, as in a new attempt: psycopg prepares a statement that it sees more
    often. The shell's session stays.
    """
    statement, least_s = store.statement(question), shell.kind.least_s
    compare(question, ask(store, question), right)
    asked = math.ceil(least_s / client_s(store, question)) if least_s else 1
    times = Times(store.name, question, asked)
    while (remaining := passes - len(times.client_s)) > 0:
        with closing(store.another()) as client:
            ask(client, question)
            shell.time_s(statement, asked)
            for number in range(min(PASSES, remaining)):
                if number % 2:
                    times.shell_s.append(shell.time_s(statement, asked))
                times.client_s.append(client_s(client, question, asked))
                if not number % 2:
                    times.shell_s.append(shell.time_s(statement, asked))
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
    for heading in ("question", "asked in a pass", "client, ms", "shell, ms", "ratio", "ratios of passes"):
        shown.add_column(heading, justify="left" if heading == "question" else "right")
    for times in measured:
        medians = (statistics.median(side) for side in (times.client_s, times.shell_s))
        shown.add_row(
            times.question,
            str(times.asked),
            *(f"{1000 * seconds:.3f}" for seconds in medians),
            f"{times.ratio:.3f}",
            f"{min(times.ratios):.3f} to {max(times.ratios):.3f}",
        )
    return shown


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=200_000, show_default=True, help="Of the dataset.")
@click.option(
    "--passes",
    type=click.IntRange(1),
    default=3 * PASSES,
    show_default=True,
    help="Timed passes of each question by the client and by the shell.",
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
    console.print(INCLUDED)
    most = max(everything, key=lambda times: abs(times.ratio - 1))
    print(
        f"max_deviation={most.ratio - 1:+.3f} store={most.store} question={most.question} rows={rows} passes={passes}"
    )


if __name__ == "__main__":
    main()
