"""Histograms and series of attempts, as `storebench results` prints them."""

import csv
import io
import uuid

import pytest
from rich.console import Console

from storebench.answers.artifacts import histograms_answer, series_answer
from storebench.cli.output.artifacts import histograms_csv, print_histograms, print_series, series_csv
from storebench.errors import SpecError
from storebench.results.runs.artifacts import attempts_with_artifact
from storebench.study.model import Metric
from storebench.study.record import StudyRecord
from tests.unit.example import cell

STUDY = StudyRecord(
    name="s",
    metrics=(
        Metric("only_s", "time"),
        Metric("latency_s", "latency", kind="histogram"),
        Metric("rate_per_s", "rate", kind="series"),
    ),
)
FEW = {"values": [0.001, 0.5], "counts": [99, 1]}
MANY = {"values": [0.001, 0.25], "counts": [1, 899]}
SERIES = {"at_s": [0, 1.5], "values": [90, 110]}


def row(repeat=1, try_number=1, **changes):
    return {
        "attempt_id": uuid.uuid4(),
        "study": "s",
        "run_id": "s/r",
        "run": "r",
        "cell_key": cell().key,
        "operation": "write",
        "repeat": repeat,
        "try_number": try_number,
        "warm_up": repeat == 0,
        "status": "verified",
        "disturbed": None,
    } | changes


class Recorded:
    """A stand-in for `Queries` with contents of attempts, by name."""

    def __init__(self, contents):
        self.contents = contents

    def study(self, name):
        return STUDY

    def artifacts(self, ids):
        return [
            {"attempt_id": one, "name": name, "content": content}
            for one in ids
            for name, content in self.contents.get(one, {}).items()
        ]


def found(rows, contents, kind="histogram", metric="latency_s"):
    recorded = Recorded({one["attempt_id"]: content for one, content in zip(rows, contents, strict=True)})
    return attempts_with_artifact(recorded, rows, kind, metric)


def test_the_attempts_of_a_cell_are_merged_by_their_counts_and_not_averaged():
    rows = [row(1), row(2)]
    (one,) = histograms_answer(found(rows, [{"latency_s": FEW}, {"latency_s": MANY}]), "latency_s").root
    assert (one.n, one.count, one.metric, one.store) == (2, 1000, "latency_s", cell().store)
    assert list(zip(one.values, one.counts, strict=True)) == [(0.001, 100), (0.25, 899), (0.5, 1)]
    assert [one.percentile(percent) for percent in (10, 50, 99.9, 100)] == [0.001, 0.25, 0.25, 0.5]
    console = Console(width=200, file=io.StringIO())
    print_histograms(console, [one], {})
    text = console.file.getvalue()
    assert "p99.9" in text and "250 ms" in text and "1,000" in text
    assert list(csv.DictReader(io.StringIO(histograms_csv([one]))))[0]["count"] == "100"


def test_only_what_counts_is_merged():
    rows = [
        row(1, status="failed"),
        row(1, 2),
        row(0),
        row(2, disturbed="throttled"),
        row(3),
        row(4),
    ]
    contents = [
        {"latency_s": MANY},
        {"latency_s": FEW},
        *({"latency_s": MANY},) * 2,
        {},
        {"rate_per_s": SERIES},
    ]
    (one,) = histograms_answer(found(rows, contents), "latency_s").root
    assert (one.n, one.counts) == (1, [99, 1])


def test_a_series_is_told_point_by_point_of_each_attempt():
    attempts = found([row(1), row(2)], [{"rate_per_s": SERIES}] * 2, "series", "rate_per_s")
    answer = series_answer(attempts, "rate_per_s").root
    rows = list(csv.DictReader(io.StringIO(series_csv(answer))))
    assert [(one["repeat"], one["at_s"], one["value"]) for one in rows] == [
        ("1", "0.0", "90.0"),
        ("1", "1.5", "110.0"),
        ("2", "0.0", "90.0"),
        ("2", "1.5", "110.0"),
    ]
    console = Console(width=200, file=io.StringIO())
    print_series(console, answer, {})
    assert "110 rate/s" in console.file.getvalue()


@pytest.mark.parametrize(
    ("kind", "metric", "words"),
    [
        ("histogram", "latency", "Unknown histogram 'latency'. Did you mean latency_s?"),
        ("histogram", "rate_per_s", "Unknown histogram 'rate_per_s'"),
        ("series", "only_s", "Unknown series 'only_s'"),
    ],
)
def test_a_metric_that_is_none_of_that_kind_is_refused(kind, metric, words):
    with pytest.raises(SpecError) as refused:
        found([row()], [{}], kind, metric)
    assert words in str(refused.value)
