import uuid

from storebench.answers.artifacts import artifacts_answer
from storebench.study.histogram import curve
from tests.unit.answers.test_figures import row


def latency(attempt, **counts):
    content = {"values": [float(value[1:]) for value in counts], "counts": list(counts.values())}
    return {"attempt_id": attempt["attempt_id"], "name": "latency_s", "content": content}


def rate(attempt, value):
    content = {"at_s": [0.5, 1.5], "values": [value, 2 * value]}
    return {"attempt_id": attempt["attempt_id"], "name": "rate_per_s", "content": content}


def test_the_counts_of_all_attempts_that_count_are_added():
    rows = [row(repeat=1), row(repeat=2), row(repeat=3, status="failed")]
    kept = [latency(rows[0], _1=90, _2=5), latency(rows[1], _2=4, _9=1), latency(rows[2], _99=100)]
    (found,) = artifacts_answer(rows, kept)
    assert (found.cell_key, found.operation, found.n) == (rows[0]["cell_key"], "write", 2)
    assert found.percentiles == {"latency_s": curve([{"values": [1.0, 2.0, 9.0], "counts": [90, 9, 1]}])}


def test_a_series_is_of_the_typical_attempt():
    rows = [row(repeat=number) for number in (1, 2, 3)]
    (found,) = artifacts_answer(rows, [rate(one, one["repeat"]) for one in rows])
    assert (found.series, found.percentiles) == ({"rate_per_s": [(0.5, 2), (1.5, 4)]}, {})
    assert found.series_of == rows[1]["attempt_id"]


def test_cells_without_any_are_excluded():
    rows = [row(), row(store="x", cell_key="s/x/reference/batch=10/rows=1/seed=1", attempt_id=uuid.uuid4())]
    assert [one.store for one in artifacts_answer(rows, [latency(rows[1], _1=1)])] == ["x"]
