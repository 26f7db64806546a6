"""The floor of each benchmark, measured: no job in any format is faster than that of `null`."""

import os
from pathlib import Path

import pytest

from storebench.stores.map_formats.dataset import _part
from storebench.stores.map_formats.runner import Jobs
from storebench.stores.map_formats.tables import BENCHMARKS, JOBS
from storebench.study import studies

ROWS, SEED, TURNS = 100_000, 7, 15
STUDY = studies.find("map_formats")
BIN = Path(os.environ.get("STOREBENCH_HOME", "/nowhere"), "bin")


@pytest.fixture
def job_on_path(monkeypatch):
    if not (BIN / "map-job").exists():
        pytest.fail(f"{BIN / 'map-job'} is missing: run these tests with `make unit`")
    monkeypatch.setenv("PATH", str(BIN), prepend=os.pathsep)


def job_of(store, client, benchmark, made):
    """Return a function that runs the first job of a cell, and returns its seconds. All jobs count as large as the first one."""
    cell = STUDY.store(store)(client=client, target="", connection=None, values={"benchmark": benchmark})
    cell.connect()
    outputs = {position: sizes_of(output) for position, output in made.outputs.items()}
    manifest = {"format_bytes": sizes_of(made.table), "output_bytes": outputs}
    data = b"" if benchmark == "write" else made.table.data[cell.encoding_of(manifest)]
    numbers = cell.written(manifest, ROWS)[0]
    access = "column" if client.endswith("-columns") else "row"

    def command(part, report):
        numbered = (str(number) for number in (numbers.start, numbers.stop, report))
        return "map-job", store.replace("-", "_"), benchmark, *numbered, "end", "direct", access

    def seconds():
        (ended,) = Jobs(1, 60).run([data], command)
        if store == "null":
            assert (
                len(ended.output) == min(size for found in outputs.values() for size in found.values()) / JOBS
            )
        return ended.seconds

    return seconds


def sizes_of(encoded):
    return {encoding: JOBS * len(data) for encoding, data in encoded.data.items()}


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_no_format_is_faster_than_the_floor_of_its_benchmark(job_on_path, benchmark):
    made = _part(benchmark, "random", ROWS, SEED, 0)
    jobs = {
        (store, client): job_of(store, client, benchmark, made)
        for store in STUDY.stores
        for client in STUDY.store(store).clients
        if client.startswith("compiled")
    }
    took_s = {name: [] for name in jobs}
    for _ in range(TURNS):  # in turns: a drift of the machine falls on all alike
        for name, seconds in jobs.items():
            took_s[name].append(seconds())
    # The fastest turn of each is compared: what else runs on the machine only makes a turn slower.
    fastest = {name: min(found) for name, found in took_s.items()}
    floor = fastest.pop(("null", "compiled"))
    assert len(fastest) == 6 and floor <= min(fastest.values()), (floor, fastest)
