"""Fuzz the parameters of runs: seeded random configurations of all studies, valid and nearly valid, through form, draft, plan and command
line.

Each configuration is accepted, or refused with a message: by HTTP 422 or a list of mistakes, by a SpecError, by exit code 2. A finding is
any other error, a step of more than a second, or a draft that differs from the plan. `bench.fuzz_conf_values` makes the
configurations. Cluster, S3 and results database are stand-ins in memory.

Needs no stack: `make fuzz-conf`.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import random
import re
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import click

from bench.fuzz_conf_results import Results
from bench.fuzz_conf_values import Configuration, configurations

CONFIGURATIONS, SEED = 10_000, 1
LONGEST_S = 1.0  # the longest CPU time of a step, which excludes other work of the machine
KINDS = ("tracebacks", "slow", "differing")
POOLS = "v8"  # the value of STOREBENCH_NODE_POOLS
CONNECTIONS = {  # Airflow's connections, beside a configuration's own connection
    "s3": {"conn_type": "aws"},
    **{
        name: {"conn_type": "generic", "host": "server.example.com"}
        for name in (
            *("mongodb", "mongodb_v8", "elasticsearch", "elasticsearch_v8", "cassandra", "mariadb", "hdfs"),
            *("hdfs_v3", "ozone", "zeo", "kubernetes", "kubernetes_v8"),
        )
    },
}
# Refusals of a plan because of a connection, its bucket, or the images of this Airflow, which a draft does not check.
OUT_OF_SIGHT = re.compile(
    r"The connection storebench_|There is no Airflow Connection|.*cannot use the bucket |.*no image of the agent is known"
)


@dataclass
class Tally:
    """The number of configurations by outcome, and the longest step in seconds."""

    taken: int = 0
    refused: int = 0
    findings: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest: str = ""

    def report(self, kind: str, configuration: Configuration, text: str) -> None:
        """Count a finding, and print it with the configuration."""
        self.findings[kind] += 1
        click.echo(f"{kind}: {configuration.study}: {text}\n  {configuration.typed()}")


@contextlib.contextmanager
def stand_ins() -> Iterator[Fuzzer]:
    """Yield the fuzzer of all studies, with stand-ins for Airflow's database, Kubernetes, S3 and the results."""
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        known = {
            f"AIRFLOW_CONN_STOREBENCH_{name.upper()}": json.dumps(value)
            for name, value in CONNECTIONS.items()
        }
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("AIRFLOW_CONN_STOREBENCH_")
        }
        for name in ("STOREBENCH_EMBEDDED", "STOREBENCH_SERVERS"):
            kept.pop(name, None)
        settings = {
            "AIRFLOW_HOME": kept.get("AIRFLOW_HOME", home),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
            "AIRFLOW_CONN_STOREBENCH_RESULTS": "postgresql://results.invalid/storebench",
            "STOREBENCH_NODE_POOLS": POOLS,
            "STOREBENCH_DISK_PATH": home,
            **{
                f"STOREBENCH_AIRFLOW_{name}": "http://airflow.invalid" for name in ("URL", "USER", "PASSWORD")
            },
        }
        stack.enter_context(patch.dict(os.environ, {**kept, **settings, **known}, clear=True))
        yield Fuzzer(stack)


class Fuzzer:
    """A fuzzer of configurations. `stack`: keeps the stand-ins until the end."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        from airflow.sdk.execution_time import context
        from fastapi.testclient import TestClient
        from kubernetes import client as kubernetes_client

        from storebench.airflow import connections, images, preflight
        from storebench.airflow.compat.api_server import get_user
        from storebench.airflow.dags import custom_file, plan
        from storebench.airflow.kubernetes import secrets
        from storebench.cli import airflow_api, runs
        from storebench.servers import capacity, topology
        from storebench.study import studies
        from storebench.study.partition import partitions
        from storebench.study.record import StudyRecord
        from storebench.web import access
        from storebench.web.api import app

        self.studies = {name: studies.find(name) for name in studies.names()}
        self.results = Results()
        self.tally = Tally()
        dags = {
            name: access.GridDag(
                StudyRecord.read(json.loads(json.dumps(StudyRecord.of(declared).as_json()))),
                partitions(declared),
                True,
                self.results,  # type: ignore[arg-type]
            )
            for name, declared in self.studies.items()
        }
        self._page = TestClient(app)
        overrides = {get_user: lambda: None, access.grid_dag: lambda dag: dags[dag]}
        overrides[access.grid_dag].__annotations__["dag"] = str
        cluster = SimpleNamespace(api_client=None, create_namespaced_pod=lambda *_, **__: None)
        stack.enter_context(patch.dict(app.dependency_overrides, overrides))
        for where, name, value in (
            (connections, "repository", lambda *_: self.results),
            (plan, "airflow_id", lambda: "fuzz"),
            (preflight, "check", _check_disk),
            (preflight, "check_embedded", lambda *_: None),
            (images, "named", "registry.example.com/{}:1".format),
            (custom_file, "with_file", lambda study, params, make: (dict(params), None)),
            (secrets, "apply", lambda *_: None),
            (secrets, "cluster_of", lambda *_: (cluster, "default")),
            (kubernetes_client, "StorageV1Api", lambda *_: cluster),
            (capacity, "lacking", lambda *_: None),
            (studies, "find", self.studies.__getitem__),
            (airflow_api, "Airflow", lambda *_: SimpleNamespace(trigger_when_known=self._triggered, url="")),
            (context, "mask_secret", lambda *_: None),  # Airflow's log would get slower by each secret
            (topology, "find", cache(topology.find)),
            (runs, "_follow", lambda *_: None),
        ):
            stack.enter_context(patch.object(where, name, value))
        self._conf: dict[str, Any] | None = None

    def _triggered(self, dag_id: str, conf: Mapping[str, Any], report: Callable[[str], None]) -> str:
        self._conf = dict(conf)
        return "fuzz"

    def run(self, count: int, seed: int, progress: Callable[[int], None] = lambda done: None) -> Tally:
        """Try `count` configurations. The same seed gives the same configurations."""
        chance = random.Random(seed)
        made = configurations(list(self.studies.values()), chance)
        for done in range(count):
            self.check(next(made))
            progress(done + 1)
        return self.tally

    def check(self, configuration: Configuration) -> None:
        """Try a configuration, and report its findings."""
        from storebench import redact

        redact._secrets.clear()  # forget the secrets of earlier connections
        redact._pattern.cache_clear()
        try:
            asked = json.loads(configuration.params)
        except (ValueError, RecursionError):
            asked = None
        drafted = self._timed(configuration, "draft", lambda: self._get("draft", configuration))
        self._timed(configuration, "grid", lambda: self._get("grid", configuration))
        if configuration.connection:
            self._timed(configuration, "connection", lambda: _normal(configuration))
        self._timed(configuration, "command line", lambda: self._typed(configuration))
        if not isinstance(asked, dict):
            self.tally.refused += 1
            if drafted is not None and drafted.status_code != 422:
                self.tally.report("differing", configuration, "the draft takes a text that is no JSON object")
            return
        planned = self._timed(configuration, "plan", lambda: self._planned(configuration, asked))
        if planned is None or drafted is None:
            return
        if planned.refusal:
            self.tally.refused += 1
        else:
            self.tally.taken += 1
        if drafted.status_code == 200 and (differs := _differing(planned, drafted.json(), asked)):
            self.tally.report("differing", configuration, differs)

    def _timed(self, configuration: Configuration, step: str, work: Callable[[], Any]) -> Any:
        """Time the work and return its value; None if it raises, which is a finding."""
        began_s = time.process_time()
        try:
            with contextlib.redirect_stdout(
                io.StringIO()
            ):  # suppress Airflow's log of unreadable connections
                return work()
        except Exception as error:  # noqa: BLE001 # each is a finding
            place = traceback.extract_tb(error.__traceback__)[-1]
            described = f"{step}: {type(error).__name__}: {str(error)[:300]!r} at {place.filename.rpartition('/src/')[2]}:{place.lineno}"
            self.tally.report("tracebacks", configuration, described)
            return None
        finally:
            took_s = time.process_time() - began_s
            if took_s > self.tally.slowest_s:
                self.tally.slowest_s, self.tally.slowest = took_s, f"{step} {configuration.typed()[:2000]}"
            if took_s > LONGEST_S:
                self.tally.report("slow", configuration, f"{step} took {took_s:.1f} s")

    def _get(self, path: str, configuration: Configuration) -> Any:
        answer = self._page.get(
            f"/api/{path}", params={"dag": configuration.study, "params": configuration.params}
        )
        if answer.status_code not in (200, 422):
            raise AssertionError(f"HTTP {answer.status_code}: {answer.text[:200]}")
        answer.json()
        return answer

    def _planned(self, configuration: Configuration, asked: Mapping[str, Any]) -> Planned:
        from storebench.airflow.dags.plan import plan_of
        from storebench.errors import SpecError
        from storebench.planning.params import fields_of

        study, self.results.started = self.studies[configuration.study], None
        defaults = {name: each.default for name, each in fields_of(study).items()}
        run = SimpleNamespace(
            dag_id=configuration.study, run_id="fuzz", run_type="manual", conf=dict(asked), partition_key=None
        )
        with _typed_connection(configuration):
            try:
                plan_of(study, {**defaults, **asked}, run)
            except SpecError as error:
                _check_words(str(error))
                return Planned(study, str(error))
        return Planned(study, "", self.results.started)

    def _typed(self, configuration: Configuration) -> None:
        """Type the configuration as `storebench run`. Raises AssertionError for another exit code than 0 and 2."""
        from click.testing import CliRunner

        from storebench.cli import main
        from storebench.planning.params import run_values_or_mistakes

        self._conf = None
        outcome = CliRunner().invoke(main, ["run", "--study", configuration.study, *configuration.arguments])
        if outcome.exception and not isinstance(outcome.exception, SystemExit):
            raise outcome.exception
        if outcome.exit_code not in (0, 2):
            raise AssertionError(f"exit code {outcome.exit_code}: {outcome.output[:300]}")
        if outcome.exit_code == 0:
            assert self._conf is not None, "it ended well, and no run was started"
            _, mistakes = run_values_or_mistakes(self.studies[configuration.study], self._conf)
            assert not mistakes, f"it starts a run whose plan refuses it: {mistakes}"


@dataclass(frozen=True)
class Planned:
    """The outcome of a plan: the reason of its refusal, or the run that the plan has recorded."""

    study: Any
    refusal: str
    started: Mapping[str, Any] | None = None


def _check_disk(study: Any, rows: int, dataset_bytes: int | None = None) -> None:
    """Check the disk, as the plan does; no S3 is asked for its bucket."""
    from storebench.planning.checks import check_disk

    if study.dataset:
        check_disk(rows * study.dataset.row_bytes)


def _check_words(text: str) -> None:
    if not text.strip() or "Traceback" in text or not re.search(r"[A-Za-z]{2}", text):
        raise AssertionError(f"a refusal without words: {text!r}")


@contextlib.contextmanager
def _typed_connection(configuration: Configuration) -> Iterator[None]:
    if not configuration.connection:
        yield
        return
    name, typed = configuration.connection
    with patch.dict(os.environ, {f"AIRFLOW_CONN_STOREBENCH_{name.upper()}": typed}):
        yield


def _normal(configuration: Configuration) -> None:
    """Read the connection as a pod does. Raises AssertionError for an unstable normal form, or an error with a secret."""
    from storebench.airflow import connections
    from storebench.connection import Connection
    from storebench.errors import SpecError

    assert configuration.connection
    name, _ = configuration.connection
    with _typed_connection(configuration):
        try:
            pod_connection = connections.pod(name)
        except SpecError as error:
            _check_words(str(error))
            assert configuration.secret not in str(error), f"it tells the secret: {error}"
            return
    pod_connection.addresses(1)
    again = Connection.from_json(name, pod_connection.to_json())
    assert again == pod_connection, f"the pod reads {again} where Airflow has {pod_connection}"


def _differing(planned: Planned, draft: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Describe how the draft differs from the plan; empty if they agree."""
    from storebench import redact

    mistakes = [mistake["text"] for mistake in draft["mistakes"]]
    if not planned.refusal:
        return f"only the draft refuses: {mistakes}" if mistakes else _plans_other(planned, draft, asked)
    if OUT_OF_SIGHT.match(planned.refusal) or planned.refusal in mistakes:
        return ""
    if not mistakes:
        return f"only the plan refuses: {planned.refusal}"
    # both report only the first of several contradictions
    several = all(mistake["parameter"] is None for mistake in draft["mistakes"])
    masked = redact.MASK in planned.refusal  # a secret of the typed connection is a word of the refusal, too
    return "" if several or masked else f"the plan refuses by {planned.refusal!r}, the draft by {mistakes}"


def _plans_other(planned: Planned, draft: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Describe how the plan of a run differs from an accepting draft."""
    study, started = planned.study, planned.started
    assert started is not None
    params = started["params"]
    arms = 2 if params["a_a"] else 1
    turns = Counter(turn.cell.key for turn in started["turns"] if turn.repeat > 0)
    drafted = {drafted_cell["key"]: drafted_cell["repeats"] * arms for drafted_cell in draft["cells"]}
    excluded = {cell.key for cell in started["skipped"]}
    if draft["cells_total"] != len({*turns, *excluded}):
        return (
            f"the draft has {draft['cells_total']} cells, the plan {len(turns)} and {len(excluded)} excluded"
        )
    if not excluded and any(turns[key] != count for key, count in drafted.items()):
        return "the draft has other repeats of a cell"
    if not excluded:
        operations = sum(len(study.operations_in(turn.cell)) for turn in started["turns"])
        if draft["operations"] != operations:
            return f"the draft has {draft['operations']} operations, the plan {operations}"
        for said_s in (draft["expected_s"], draft["expected_most_s"]):
            if not math.isclose(said_s, started["expected_s"], rel_tol=1e-9):
                return f"the draft expects {said_s} s, the plan {started['expected_s']} s"
    if draft["conf"] != json.loads(json.dumps({name: params[name] for name in asked})):
        return f"Airflow would get {draft['conf']}, and the plan means others by the same parameters"
    return ""


@click.command(help=__doc__)
@click.option("--configurations", "count", type=click.IntRange(1), default=CONFIGURATIONS, show_default=True)
@click.option("--seed", type=int, default=SEED, show_default=True, help="The same seed makes the same ones.")
def main(count: int, seed: int) -> None:
    """Try random configurations. Exit with 1 on a finding."""

    def progress(done: int) -> None:
        if done % 1000 == 0:
            click.echo(f"{done:,} of {count:,} configurations", err=True)

    with stand_ins() as fuzzer:
        tally = fuzzer.run(count, seed, progress)
    click.echo(f"the slowest: {tally.slowest}")
    counts = " ".join(f"{kind}={tally.findings[kind]}" for kind in KINDS)
    click.echo(
        f"configurations={count} seed={seed} taken={tally.taken} refused={tally.refused} {counts}"
        f" slowest_ms={tally.slowest_s * 1000:.0f}"
    )
    raise SystemExit(1 if tally.findings.total() else 0)


if __name__ == "__main__":
    main()
