"""The choice of runs that differ only in the size of servers."""

import uuid
from datetime import UTC, datetime

import pytest

from storebench.fields import amount_of
from storebench.results.forecast.curve import NONE_COUNTS, alike, offered_of, points_of
from storebench.study.model import Chart, Metric
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell

RECORD = StudyRecord.of(STUDY)
ENVIRONMENTS = {
    "e": {"cpus": 2, "kernel": "6.1", "image": "i"},
    "new": {"cpus": 2, "kernel": "6.1", "image": "j"},
}


def attempt(server_cpu, run, at=None, hour=0, **changes):
    parameters = {"pod_cpu": "1", "cpu_limit": False, "pod_memory": "8Gi", "server_cpu": server_cpu}
    return {
        "attempt_id": uuid.uuid4(),
        "run_id": run,
        "cell_key": (at or cell("mongodb@one")).key,
        "operation": "write",
        "status": "verified",
        "disturbed": None,
        "client_bound": False,
        "value": 100.0,
        "delivers": None,
        "durability": "disk",
        "server_name": "FerretDB",
        "server_version": "2",
        "environment_hash": "e",
        "method_version": 2,
        "dataset_id": "d",
        "servers_cpu_s": None,
        "servers_memory_working_set_peak_bytes": None,
        "recorded_at": datetime(2026, 1, 1, hour, tzinfo=UTC),
        **changes,
        "parameters": {**parameters, **changes.get("parameters", {})},
    }


def found(*rows):
    """Return the points as (store, cores, runs), and the reasons of exclusions by run."""
    cells, excluded = alike(RECORD, rows, ENVIRONMENTS)
    points = [
        (point.figures.cell_key.split("/")[1], point.cores, {row["run_id"] for row in point.figures.attempts})
        for point in points_of(cells, {})
    ]
    return points, {run: exclusion.reason for exclusion in excluded for run in exclusion.runs}


def test_sizes_of_a_store_are_a_line_and_runs_of_one_size_a_point():
    early = {**attempt("1", "a", status="failed", value=None), "parameters": None}
    cells, excluded = alike(
        RECORD, [attempt("1", "a"), early, attempt("250m", "b"), attempt("1", "c")], ENVIRONMENTS
    )
    small, large = points_of(cells, {})
    assert (small.cores, small.figures.n, large.cores, large.figures.n) == (0.25, 1, 1, 2)
    assert large.figures.excluded == 1 and excluded == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"durability": "memory"}, "guarantee memory, not disk"),
        ({"method_version": 1}, "method_version 1, not 2"),
        ({"server_version": "3"}, "server FerretDB 3, not FerretDB 2"),
        ({"environment_hash": "new"}, "image j, not i"),
        ({"parameters": {"server_copies": 3}}, "server_copies 3, not unset"),
        ({"at": cell("mongodb@one", seed=7)}, "seed 7, not 42"),
        ({"status": "failed", "value": None}, NONE_COUNTS),
        ({"client_bound": True}, NONE_COUNTS),
    ],
)
def test_runs_that_differ_otherwise_are_excluded_with_the_difference(changes, reason):
    points, excluded = found(attempt("1", "a"), attempt("2", "b"), attempt("4", "c", hour=1, **changes))
    assert [cores for _, cores, _ in points] == [1, 2]
    assert excluded == {"c": reason}


def test_of_conditions_with_as_many_sizes_the_newest_are_kept():
    points, excluded = found(attempt("1", "old"), attempt("2", "new", hour=1, method_version=3))
    assert points == [("mongodb@one", 2, {"new"})] and excluded == {"old": "method_version 2, not 3"}


def test_stores_with_other_options_and_servers_are_lines_of_one_chart():
    other = {"at": cell("elasticsearch@one"), "server_name": "Elasticsearch"}
    rows = [attempt(cores, cores, **changes) for changes in ({}, other) for cores in ("1", "2")]
    assert [(store, cores) for store, cores, _ in found(*rows)[0]] == [
        ("mongodb@one", 1),
        ("mongodb@one", 2),
        ("elasticsearch@one", 1),
        ("elasticsearch@one", 2),
    ]


def test_a_size_that_is_an_axis_is_no_other_line():
    rows = [attempt(None, "a", cell("mongodb@one", batch="10", server_cpu=cores)) for cores in ("1", "2")]
    cells, _ = alike(RECORD, rows, ENVIRONMENTS)
    assert {point.line for point in points_of(cells, {})} == {cell("mongodb@one").key}


def test_a_metric_that_some_cells_report_is_offered_where_a_chart_shows_it():
    rare = Metric("capacity_per_s", "capacity", "higher")
    changes = {"metrics": (*STUDY.metrics, rare), "charts": (Chart("capacity_per_s", "store", ("read",)),)}
    offered = offered_of(RECORD.model_copy(update=changes))
    assert {name: [metric.name for metric in metrics] for name, metrics in offered.items()} == {
        "write": ["rows_per_s"],
        "read": ["rows_per_s", "capacity_per_s"],
    }


@pytest.mark.parametrize(
    ("quantity", "amount"), [("250m", 0.25), ("0.5", 0.5), ("2", 2), ("1.5Gi", 1.5 * 2**30), ("2G", 2e9)]
)
def test_quantities_are_amounts(quantity, amount):
    assert amount_of(quantity) == amount
