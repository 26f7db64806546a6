"""Measure the load generator of the study point_operations: `make bench-load`. Needs two cores and no stack.

A service that does nothing answers the requests on 127.0.0.1, on its own core.

1. The latencies of an open load, while the service stops for 0.2 s of each 2 s, relative to a raw log of the same requests with their
planned starts and their ends.
2. The requests per second that a core drives: the project's closed load, its open load, and the smallest users of Locust, run by Locust.
The service counts the requests. The figure of the open load is the largest rate that it keeps. Other processes disturb the sides
differently, so each rate is divided by the load generator's share of its core.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import click
import numpy as np
import psutil
from rich.console import Console
from rich.table import Table

from bench.raw_log import RAW_LOG
from storebench.attempt.parts.part import Part
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.stores.point_operations import generators
from storebench.stores.point_operations.distribution import histogram, percentile
from storebench.stores.point_operations.load_plan import Load
from storebench.stores.point_operations.mongodb import MongoDB
from storebench.stores.point_operations.requests import PERCENTILES, Requests

if TYPE_CHECKING:
    from storebench.stores.point_operations.requests import Numbers

USERS, WARMUP_S, SEED = 50, 2.0, 1
STALL_S, EVERY_S, RATE = 0.2, 2.0, 400
MAX_ERROR = 0.01
ALL_AT_ONCE = 100_000  # a rate that no load generator reaches
KEPT, STEP, STEPS = (
    0.99,
    0.95,
    20,
)  # the answered share of a kept rate, and the factor between tried rates
RAW_PROGRAM = "from gevent import monkey; monkey.patch_all(); from bench import raw_log; raw_log.main()"
VALUES = {
    "users": str(USERS),
    "spawn_rate": "100",
    "warmup_s": str(WARMUP_S),
    "request_timeout_s": "10",
    "max_error_share": "0.01",
    "load_processes": "1",
    "read_share": "0",
}


class NullService:
    """The service on its own core."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.port, self.process = int(process.stdout.readline()), psutil.Process(process.pid)

    def answered(self) -> int:
        """Return the number of answered requests."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/count", timeout=10) as answer:
            return int(answer.read())


@contextmanager
def null_service(core: int, *, stall_s: float = 0.0) -> Iterator[NullService]:
    command = [sys.executable, "-m", "bench.null_service", str(stall_s), str(EVERY_S)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        os.sched_setaffinity(process.pid, {core})
        try:
            yield NullService(process)
        finally:
            process.kill()


@contextmanager
def load_generator(
    service: NullService, folder: Path, rate: float, seconds: float
) -> Iterator[tuple[generators.Generators, float, Load]]:
    """Run the project's load generator, which writes entities through the service. Yield it with the second of its begin and its load.

    `rate`: requests per second; 0 for the closed load.
    """
    shape = {"load": "open", "rate": str(rate)} if rate else {"rate": "1"}
    values = {**VALUES, **shape, "duration_s": str(seconds)}
    store = MongoDB(
        client="rest",
        target="storebench_bench",
        connection=Connection(
            "mongodb", "127.0.0.1", extra={"services": {"rest": f"127.0.0.1:{service.port}"}}
        ),
        values=values,
        operation="write",
    )
    spec = AttemptSpec(
        operation="write",
        cell_key="",
        study="point_operations",
        store="mongodb",
        client="rest",
        axes={},
        rows=0,
        seed=SEED,
        target="storebench_bench",
        bucket="",
        dataset=None,
        results="",
    )
    load = Load.of(values)
    with generators.Generators(list(store.jobs(spec, load, folder, Part()))) as running:
        begin_s = time.monotonic() + generators.LEAD_S
        running.begin(begin_s)
        yield running, begin_s, load


def ended(running: generators.Generators, began_s: float, load: Load) -> Requests:
    """Wait for the end of the generators, and return the load's requests."""
    from_s = began_s + load.before_s
    files = running.files(load.timeout_s)
    return Requests.of(files, began_s, from_s, from_s + load.duration_s)


# 1. Latencies


def errors(
    sent: Requests, raw: Numbers, rate: float, began_s: float
) -> dict[str, tuple[float, float, float]]:
    """Return each percentile of the latency: of the load, of its histogram, and of the raw log.

    `raw`: a row with the start of each request, and a row with the ends, in seconds. The planned starts follow from the rate."""
    order = np.argsort(raw[0], kind="stable")
    meant_s = np.arange(len(order)) / rate
    measured = (meant_s >= sent.measured_from_s) & (meant_s < sent.measured_to_s)
    wanted = np.sort((raw[1][order] - began_s - meant_s)[measured])
    ordered = sent.latencies()
    counts = histogram(ordered)
    of_histogram = np.repeat(sorted(counts), [counts[value] for value in sorted(counts)])
    return {
        name: (
            percentile(ordered, percent),
            percentile(of_histogram, percent),
            float(np.percentile(wanted, percent, method="inverted_cdf")),
        )
        for name, percent in PERCENTILES.items()
    }


def compare_latencies(cores: tuple[int, int], seconds: float, console: Console) -> float:
    """Print the percentiles, and return the largest difference of a percentile."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        file = folder / "raw.npy"
        service = stack.enter_context(null_service(cores[1], stall_s=STALL_S))
        stack.enter_context(patch.object(generators, "PROGRAM", RAW_PROGRAM))
        stack.enter_context(patch.dict(os.environ, {RAW_LOG: str(file)}))
        running, began_s, load = stack.enter_context(load_generator(service, folder, RATE, seconds))
        sent = ended(running, began_s, load)
        sides = errors(sent, np.load(file), RATE, began_s)
    served = sent.latencies(served=True)
    table = Table(title=f"{RATE} requests a second for {seconds:g} s, latencies in ms")
    for heading in ("%", "open load", "its histogram", "raw log", "service time"):
        table.add_column(heading, justify="right")
    for metric, values in sides.items():
        percent = PERCENTILES[metric]
        shown = (*values, percentile(served, percent))
        table.add_row(f"{percent:g}", *(f"{1000 * value:.2f}" for value in shown))
    console.print(table)
    return max(abs(value / raw - 1) for *ours, raw in sides.values() for value in ours)


# 2. Rates


@dataclass(frozen=True)
class Driven:
    """The rate that a load generator reached, and the CPU cores that it needed."""

    rate: float  # requests per second
    core_share: float  # of the load generator's core
    service_share: float  # of the service's core

    @property
    def per_core(self) -> float:
        """Return the requests per CPU second of the load generator."""
        return self.rate / self.core_share


def driven(service: NullService, seconds: float, cpu_s: Callable[[], float]) -> Driven:
    """Count the answers of the service for `seconds`, and return the rate and CPU cores."""

    def so_far() -> tuple[float, float, float, float]:
        times = service.process.cpu_times()
        return time.monotonic(), service.answered(), cpu_s(), times.user + times.system

    before = so_far()
    time.sleep(seconds)
    took_s, answered, used_s, served_s = (now - then for now, then in zip(so_far(), before, strict=True))
    return Driven(answered / took_s, used_s / took_s, served_s / took_s)


def of_project(service: NullService, rate: float, seconds: float) -> tuple[Driven, Requests]:
    with (
        tempfile.TemporaryDirectory() as folder,
        load_generator(service, Path(folder), rate, seconds) as (running, began_s, load),
    ):
        running.wait_until(began_s + load.before_s)
        rates = driven(service, seconds - 0.1, running.cpu_s)
        return rates, ended(running, began_s, load)


def of_locust(service: NullService, user: str, seconds: float) -> Driven:
    """Measure Locust, started as in Locust's documentation."""
    command = [sys.executable, "-m", "locust", "--locustfile", "bench/plain_locust.py", user, "--headless"]
    command += [
        "--users",
        str(USERS),
        "--spawn-rate",
        str(USERS),
        "--host",
        f"http://127.0.0.1:{service.port}",
    ]
    before = service.answered()
    with subprocess.Popen(
        [*command, "--run-time", "60s", "--only-summary"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            until_s = time.monotonic() + generators.READY_TIMEOUT_S
            while service.answered() == before:
                if process.poll() is not None or time.monotonic() > until_s:
                    raise click.ClickException("Locust has sent nothing")
                time.sleep(0.2)
            time.sleep(1 + WARMUP_S)  # all users exist after a second
            used = psutil.Process(process.pid)
            return driven(service, seconds, lambda: sum(used.cpu_times()[:2]))
        finally:
            process.kill()


def largest_kept(service: NullService, rate: float, seconds: float) -> tuple[Driven, float]:
    """Return the largest rate that an open load keeps, and the 99th percentile of its latency in seconds.

    `rate`: an upper limit, the rate of a load that is far behind its schedule."""
    for _ in range(STEPS):
        rates, log = of_project(service, rate, seconds)
        if rates.rate >= KEPT * rate:
            return rates, percentile(log.latencies(), 99)
        rate *= STEP
    raise click.ClickException(f"The open load does not even keep {rate / STEP:.0f} requests a second")


def compare_rates(cores: tuple[int, int], seconds: float, console: Console) -> Mapping[str, float]:
    with null_service(cores[1]) as service:
        sides = {"the project's closed load": of_project(service, 0, seconds)[0]}
        behind, _ = of_project(service, ALL_AT_ONCE, seconds)
        sides["the project's open load, far behind its rate"] = behind
        sides["Locust's HttpUser"] = of_locust(service, "Plain", seconds)
        sides["Locust's FastHttpUser"] = of_locust(service, "Fast", seconds)
        kept, p99_s = largest_kept(service, behind.rate, seconds)
        sides["the project's open load that keeps its rate"] = kept
    table = Table(title=f"What one core drives, {USERS} users")
    headings = ("load generator", "requests/s", "its core, %", "requests/s per core", "the service's core, %")
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "load generator" else "right")
    for name, side in sides.items():
        table.add_row(
            name,
            f"{side.rate:,.0f}",
            f"{100 * side.core_share:.0f}",
            f"{side.per_core:,.0f}",
            f"{100 * side.service_share:.0f}",
        )
    console.print(table)
    console.print(f"99 % of the open load that keeps its rate: {1000 * p99_s:.1f} ms")
    return {"open": kept.per_core, "locust": sides["Locust's HttpUser"].per_core}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--seconds",
    type=click.IntRange(2, 60),
    default=5,
    show_default=True,
    help="How long each load is measured.",
)
def main(seconds: int) -> None:
    """Measure latencies and rates of the load generator."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise click.ClickException("It needs two cores: one for the load generator, one for what answers it")
    # Child processes inherit the core.
    os.sched_setaffinity(0, {cores[0]})
    console = Console(width=110)
    error = compare_latencies((cores[0], cores[1]), seconds, console)
    rates = compare_rates((cores[0], cores[1]), seconds, console)
    print(
        f"open_rate_per_core={rates['open']:.0f} locust_rate_per_core={rates['locust']:.0f} percentile_error={error:.4f}"
    )
    if error > MAX_ERROR:
        raise click.ClickException(f"The percentiles may differ by {MAX_ERROR:.0%}")


if __name__ == "__main__":
    main()
