"""Measure the time that Airflow and Kubernetes add to a measurement.

1. `only_s` of pods' writes relative to the same loop in a bare script (bench/bare_write.py). A turn is pod, script, script, pod, so that a
   steady drift of the machine affects both alike.
2. The seconds of each attempt outside its own work: runs through Airflow relative to a loop of `kubectl run --attach --rm` with the same
   image, specification and cluster, in turns.

Needs the embedded stack: `make bench-overhead`.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from storebench.airflow.kubernetes.placement import Placement
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.cli.airflow_api import Airflow
from storebench.cli.environment import airflow_login
from storebench.connection import variable
from storebench.dataset.manifest import dataset_key
from storebench.planning.conf import axis_values_of
from storebench.results.database.queries import counts
from storebench.results.database.repository import Repository, run_id_of
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of
from storebench.study.model import Study

STUDY, SEED = "bulk_write_read", 42
BATCH_ROWS = 10_000
NULL_ROWS = 1_000
HOME = Path(os.environ.get("STOREBENCH_HOME", ""))


@cache
def study() -> Study:
    """Return the measured study."""
    return studies.find(STUDY)


def axes_of(given: Sequence[str], **default: str) -> dict[str, list[str]]:
    """Return the values of the study's axes. `given`: as for `storebench run --axis`. `default`: values of other axes."""
    return {
        **{name: value.split(",") for name, value in default.items()},
        **axis_values_of(" ".join(given), study()),
    }


class Bench:
    """The stack that `make up` started."""

    def __init__(self) -> None:
        self.airflow = Airflow(*airflow_login())
        self.repository = Repository(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"])
        self.s3 = os.environ["AIRFLOW_CONN_STOREBENCH_S3"]
        self.bucket = json.loads(self.s3)["extra"]["bucket"]
        kubernetes = json.loads(os.environ["AIRFLOW_CONN_STOREBENCH_KUBERNETES"])
        self.placement = Placement.from_extra(kubernetes["extra"])

    def run(self, **conf: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Start a run through Airflow. Return its rows of results and its task instances."""
        run_id = self.airflow.trigger(STUDY, {"seed": SEED, "clients": ["reference"], **conf})
        state = self.airflow.wait(STUDY, run_id, partial(click.echo, err=True))
        if state != "success":
            raise click.ClickException(f"run {run_id} ended as {state}")
        rows = self.repository.results(run=run_id_of(STUDY, run_id))
        return rows, self.airflow.task_instances(STUDY, run_id)

    def bare_write_s(self, rows: int) -> float:
        # Debian's Python as in the image: other builds of Python have another speed
        python = "/usr/bin/python3"
        site = next(Path(sys.prefix, "lib").glob("python*/site-packages"))
        uri = f"s3://{self.bucket}/{dataset_key(rows, SEED)}"
        script = Path(__file__).with_name("bare_write.py")
        process = subprocess.run(
            [python, str(script), uri, str(BATCH_ROWS)],
            env={**os.environ, "PYTHONPATH": str(site)},
            check=True,
            capture_output=True,
            text=True,
        )
        return float(process.stdout)

    def airflow_overhead_s(self, attempts: int) -> tuple[list[float], list[dict[str, Any]]]:
        """Return the seconds between the starts of consecutive attempts' tasks, minus the pod's own time, and the rows."""
        rows, tasks = self.run(stores=["null"], batch=["all"], rows=NULL_ROWS, repeats=attempts // 2)
        started = {(t["task_id"], t["map_index"]): datetime.fromisoformat(t["start_date"]) for t in tasks}
        order = self.repository.recorded_turns(rows[0]["run_id"])
        indexes = {turn.repeat: index for index, turn in enumerate(order)}
        following = {"write": "read", "read": "drop"}
        overheads = []
        for row in rows:
            index, operation = indexes[row["repeat"]], row["operation"]
            cycle = started[f"cell.{following[operation]}", index] - started[f"cell.{operation}", index]
            overheads.append(cycle.total_seconds() - row["total_s"])
        return overheads, self.repository.phases([row["attempt_id"] for row in rows])

    def kubectl_overhead_s(self, attempts: int) -> list[float]:
        """Return the seconds that `kubectl run --attach --rm` adds to each attempt: its wall time minus the pod's own time.

        A pod that ends before kubectl has attached leaves no output: the median of other pods' times replaces its time.
        """
        timings = [self._kubectl_s(operation) for operation in ("write", "read") * (attempts // 2)]
        usual_s = statistics.median(total_s for _, total_s in timings if total_s is not None)
        return [wall_s - (usual_s if total_s is None else total_s) for wall_s, total_s in timings]

    def _kubectl_s(self, operation: str) -> tuple[float, float | None]:
        """Return the wall time of an attempt in seconds, and the pod's own time, None without its output."""
        cell = Cell(STUDY, "null", "reference", (("batch", "all"),), NULL_ROWS, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=cell.store,
            client=cell.client,
            axes=dict(cell.axes),
            rows=cell.rows,
            seed=cell.seed,
            target="storebench_bench",
            bucket=self.bucket,
            dataset=folder_of(str(study().dataset_of(cell))),
            results="results/storebench_bench/",
            method_version=study().method_version,
        )
        name = f"bench-{uuid.uuid4().hex[:8]}"
        command = [
            str(HOME / "run" / "bin" / "kubectl"),
            f"--kubeconfig={HOME / 'run' / 'kubernetes' / 'admin.kubeconfig'}",
            f"--cache-dir={HOME / 'run' / 'kubectl'}",  # the default is ~/.kube
            "--namespace=storebench",
            "run",
            name,
            "--attach",
            "--rm",
            "--restart=Never",
            "--quiet",
            "--image-pull-policy=IfNotPresent",
            f"--image={os.environ['STOREBENCH_IMAGE_PYTHON']}",
            "--override-type=strategic",
            f"--overrides={json.dumps(self.placement.template(name, name))}",
            f"--env={VARIABLE}={spec.to_json()}",
            f"--env={variable('s3')}={self.s3}",
            "--",
            "attempt",
        ]
        began = time.perf_counter()
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        wall_s = time.perf_counter() - began
        total = re.search(r'"total_s":([0-9.]+)', process.stdout)
        return wall_s, float(total[1]) if total else None


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--rounds", type=click.IntRange(1), default=7, show_default=True, help="Turns of each comparison."
)
@click.option(
    "--rows", type=click.IntRange(1), default=200_000, show_default=True, help="Rows of the writes."
)
@click.option(
    "--attempts", type=click.IntRange(2), default=8, show_default=True, help="Attempts in a turn; even."
)
def main(rounds: int, rows: int, attempts: int) -> None:
    """Print the time that Airflow and Kubernetes add to a measurement, in seconds and as ratios."""
    console, bench = Console(width=100), Bench()
    bench.run(stores=["mongodb"], batch=[str(BATCH_ROWS)], rows=rows)  # warms up, and makes the dataset
    bench.run(stores=["null"], batch=["all"], rows=NULL_ROWS)

    table = Table(title=f"only_s of writes of {rows:,} rows in batches of {BATCH_ROWS:,}, MongoDB protocol")
    for heading in ("turn", "pod, s", "bare script, s", "ratio"):
        table.add_column(heading, justify="right")
    ratios = []
    for turn in range(1, rounds + 1):

        def pod() -> float:
            results, _ = bench.run(stores=["mongodb"], batch=[str(BATCH_ROWS)], rows=rows)
            writes = [row for row in results if row["operation"] == "write" and counts(row)]
            if not writes:
                raise click.ClickException(f"the write was disturbed: {results[0]['disturbed']}")
            return float(writes[0]["metrics"]["only_s"])

        pods_s, bares_s = [pod()], [bench.bare_write_s(rows), bench.bare_write_s(rows)]
        pods_s.append(pod())
        ratios.append(sum(pods_s) / sum(bares_s))
        each_s = (" ".join(f"{value:.2f}" for value in both) for both in (pods_s, bares_s))
        table.add_row(str(turn), *each_s, f"{ratios[-1]:.3f}")
        console.print(f"turn {turn} of {rounds}: ratio {ratios[-1]:.3f}")
    console.print(table)

    by_airflow: list[float] = []
    by_kubectl: list[float] = []
    phases: dict[str, list[float]] = {}
    pod_turns = (rounds + 1) // 2  # pods' times scatter less
    for turn in range(1, pod_turns + 1):
        seconds, phase_rows = bench.airflow_overhead_s(attempts)
        by_airflow += seconds
        for phase in phase_rows:
            phases.setdefault(phase["name"], []).append(phase["seconds"])
        by_kubectl += bench.kubectl_overhead_s(attempts)
        console.print(f"turn {turn} of {pod_turns}: {len(by_airflow)} attempts each")
    table = Table(title="Seconds of an attempt outside the pod's own process")
    for heading in ("by", "n", "median, s", "min, s", "max, s"):
        table.add_column(heading, justify="right")
    for name, values in (("Airflow", by_airflow), ("kubectl run --attach --rm", by_kubectl)):
        table.add_row(name, str(len(values)), *(f"{f(values):.2f}" for f in (statistics.median, min, max)))
    console.print(table)
    table = Table(title="Phases of the attempts by Airflow, null store (those of Kubernetes: 1 s resolution)")
    for heading in ("phase", "mean, s"):
        table.add_column(heading, justify="right")
    for name, values in phases.items():
        table.add_row(name, f"{statistics.mean(values):.3f}")
    console.print(table)
    overhead_s = statistics.median(by_airflow)
    print(
        f"ratio_to_bare={statistics.median(ratios):.3f}"
        f" overhead_ratio_to_kubectl={overhead_s / statistics.median(by_kubectl):.3f}"
        f" overhead_s_per_attempt={overhead_s:.2f}"
    )


if __name__ == "__main__":
    main()
