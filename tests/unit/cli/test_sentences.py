import uuid
from dataclasses import replace

import pytest

from storebench.cli.output.sentences import Larger, sentences
from storebench.results.forecast.fixed import Fixed, fixed_of
from storebench.study.model import Metric, Operation
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell


def row(
    store, took_s, operation="read", kind="dicts", client="reference", rest_s=0.0, rows=20_000, **changes
):
    return {
        "attempt_id": uuid.uuid4(),
        "cell_key": f"s/{store}/{client}/batch=all/rows={rows}/seed=42",
        "operation": operation,
        "status": "verified",
        "disturbed": None,
        "not_judged": None,
        "delivers": kind if operation == "read" else None,
        "durability": kind if operation == "write" else None,
        "metric": "only_s",
        "value": took_s,
        "unit": "s",
        "metrics": {"only_s": took_s},
        "total_s": took_s + 0.5 + rest_s,
    } | changes


def repeated(store, *took_s, **of):
    return [row(store, one_s, **of) for one_s in took_s]


def said(rows, fixed=None, larger=None):
    """Return the sentences, with sentences about stores by store."""
    lines = sentences(rows, ["write", "read"], StudyRecord.of(STUDY), fixed or {}, larger)
    stores = {one["cell_key"].split("/")[1] for one in rows}
    return {line.partition(":")[0]: line.partition(": ")[2] for line in lines[: len(stores)]}, lines[
        len(stores) :
    ]


def test_only_reads_that_deliver_the_same_are_compared():
    found, remarks = said(
        [
            row("mongodb", 2.0),
            row("elasticsearch", 5.0),
            row("delta-rs", 0.1, kind="Arrow"),
            row("delta-kernel", 4.0, kind="rows in the JVM"),
        ]
    )
    assert found == {
        "mongodb": "read 2.00 s as dicts.",
        "elasticsearch": "read 5.00 s as dicts, 2.5 times as long as mongodb.",
        "delta-rs": "read 100 ms as Arrow.",
        "delta-kernel": "read 4.00 s as rows in the JVM.",
    }
    assert remarks == []


def test_a_store_whose_clients_deliver_different_things_has_a_time_for_each():
    found, _ = said([row("mongodb", 2.0), row("mongodb", 1.0, kind="raw BSON", client="tuned")])
    assert found == {"mongodb": "read 2.00 s (reference) as dicts; read 1.00 s (tuned) as raw BSON."}


def test_each_workload_has_figures_of_its_own_and_none_stands_for_the_others():
    study = replace(STUDY, axes=(replace(STUDY.axes[0], workload=True), *STUDY.axes[1:]))
    figures = {("mongodb", "all"): 8.0, ("mongodb", "10"): 1.0, ("null", "10"): 0.5}
    figures |= {("elasticsearch", "10"): 2.0, ("elasticsearch", "all"): 4.0}
    rows = [
        row(store, took_s, cell_key=cell(store, batch=batch).key)
        for (store, batch), took_s in figures.items()
    ]
    assert sentences(rows, ["read"], StudyRecord.of(study), {}) == [
        "elasticsearch: read 4.00 s (batch=all); read 2.00 s (batch=10), 2.0 times as long as mongodb.",
        "mongodb: read 8.00 s (batch=all), 2.0 times as long as elasticsearch; read 1.00 s (batch=10).",
        "null: floor, the client without a store: read 500 ms (batch=10).",
    ]


def test_an_axis_of_no_workloads_has_one_best_cell():
    rows = [
        row("mongodb", took_s, cell_key=cell(batch=batch).key)
        for batch, took_s in (("10", 1.0), ("all", 8.0))
    ]
    assert sentences(rows, ["read"], StudyRecord.of(STUDY), {}) == ["mongodb: read 1.00 s (batch=10)."]


@pytest.mark.parametrize("kind", [None, "unknown"])
def test_what_is_not_known_to_promise_the_same_is_not_compared(kind):
    rows = [row("mongodb", 2.0, "write", kind), row("elasticsearch", 5.0, "write", kind)]
    found, _ = said([*rows, row("delta-rs", 1.0, "write", "s3")])
    assert found.pop("delta-rs") == "write 1.00 s with durability s3."
    assert found == {"mongodb": "write 2.00 s.", "elasticsearch": "write 5.00 s."}


def test_writes_are_compared_with_those_of_the_same_durability():
    writes = {"mongodb": "disk", "elasticsearch": "disk", "delta-rs": "s3"}
    found, _ = said([row(store, n, "write", kind) for n, (store, kind) in enumerate(writes.items(), 2)])
    assert found["elasticsearch"] == "write 3.00 s with durability disk, 1.5 times as long as mongodb."
    assert found["delta-rs"] == "write 4.00 s with durability s3."


def test_the_fastest_is_called_so_only_where_intervals_tell_it_from_all_others():
    six = [2.0, 2.1, 2.0, 2.1, 2.0, 2.1]
    slower = repeated("elasticsearch", *(3 * value for value in six))
    assert said([*repeated("mongodb", *six), *slower])[0]["mongodb"] == "read 2.05 s, the fastest of 2."
    assert said([*repeated("mongodb", *six[:5]), *slower])[0] == {
        "mongodb": "read 2.00 s.",
        "elasticsearch": "read 6.15 s, 3.1 times as long as mongodb.",
    }
    near = repeated("elasticsearch", *(value + 0.05 for value in six))
    assert said([*repeated("mongodb", *six), *near])[0] == {
        "mongodb": "read 2.05 s.",
        "elasticsearch": "read 2.10 s, not told apart from mongodb.",
    }


def test_a_time_that_is_mostly_a_fixed_cost_is_compared_with_nothing_and_says_so():
    """An example is a Spark session's first query of 20,000 rows beside a client without a JVM."""
    slow = row("delta-spark", 25.0, "write", "s3")
    rows = [slow, row("delta-rs", 0.5, "write", "s3"), row("delta-kernel", 2.0, "write", "s3")]
    key = slow["cell_key"], "write"
    fixed = {key: Fixed(12.0, 23.5)}
    found, remarks = said(rows, fixed, Larger("study", 1_000_000))
    assert found == {
        "delta-spark": "write 25.0 s, of which about 23.5 s are a fixed cost.",
        "delta-rs": "write 500 ms.",
        "delta-kernel": "write 2.00 s, 4.0 times as long as delta-rs.",
    }
    assert remarks[0].startswith("A fixed cost, such as that of a new session's first query, does not grow")
    assert remarks[1:] == ["The preset study has 1,000,000 rows."]
    assert said(rows, fixed, Larger("study", 20_000))[1] == remarks[:1]
    assert "50 times as long as delta-rs" in said(rows, {key: Fixed(12.0, 2.0)})[0]["delta-spark"]


def test_a_time_that_is_short_beside_its_pods_start_is_compared_with_nothing_if_its_fixed_part_is_not_known():
    rows = [row("delta-rs", 0.1, "write", "s3"), row("delta-spark", 25.0, "write", "s3")]
    small, large = ((one["cell_key"], "write") for one in rows)
    plain = {"delta-rs": "write 100 ms.", "delta-spark": "write 25.0 s."}
    found, (remark,) = said(rows, {small: Fixed(1.0, 0.01), large: Fixed(12.0, None)})
    assert found == plain
    assert remark.startswith("Short beside the starts of their pods") and "cost: delta-spark write." in remark
    found, remarks = said(rows, {small: Fixed(1.0, 0.01), large: Fixed(5.0, None)})
    assert found["delta-spark"] == "write 25.0 s, 250 times as long as delta-rs." and remarks == []


def test_no_remark_is_made_of_what_would_be_compared_with_nothing_anyway():
    alone = row("delta-spark", 25.0, "write", "s3")
    rows = [alone, row("mongodb", 2.0, "write", "disk")]
    assert said(rows, {(alone["cell_key"], "write"): Fixed(12.0, None)})[1] == []


def test_a_time_that_is_the_same_to_the_tenth_is_as_long():
    found, _ = said([row("mongodb", 18.68), row("elasticsearch", 18.69)])
    assert found["elasticsearch"] == "read 18.7 s, as long as mongodb."


class Measured:
    """Further measurements: the seconds of each attempt's operation and second pass, and cells with other numbers of rows."""

    def __init__(self, rows, passes=None, sizes=()):
        self.rows, self.passes, self.sizes = rows, passes or {}, sizes

    def phases(self, ids):
        found = [("source", one["attempt_id"], 0.5) for one in self.rows]
        found += [("operation", one["attempt_id"], one["metrics"]["only_s"]) for one in self.rows]
        found += [("verify", one, took_s) for one, took_s in self.passes.items()]
        return [
            {"attempt_id": one, "name": name, "seconds": took_s} for name, one, took_s in found if one in ids
        ]

    def seconds_by_rows(self, keys):
        return [
            {"cell_key": key, "operation": operation, "metric": "only_s", "rows": rows, "seconds": took_s}
            for key in keys
            for operation, rows, took_s in self.sizes
        ]


def fixed_parts(*rows, passes=None, sizes=()):
    return fixed_of(Measured(rows, passes, sizes), rows)


def test_what_a_read_takes_longer_than_its_second_pass_is_fixed():
    first, other = row("delta-spark", 25.0, rest_s=14.0), row("mongodb", 1.0, rest_s=3.0)
    passes = {first["attempt_id"]: 4.0, other["attempt_id"]: 2.0}
    assert fixed_parts(first, other, passes=passes) == {
        (first["cell_key"], "read"): Fixed(10.0, 21.0),
        (other["cell_key"], "read"): Fixed(1.0, 0.0),
    }


def test_a_write_that_is_ranked_by_its_barrier_too_has_its_fixed_part_told_by_numbers_of_rows():
    write = {**row("elasticsearch", 30.0, "write", "disk", rest_s=4.0), "value": 36.0}

    class WithBarrier(Measured):
        def phases(self, ids):
            return [*super().phases(ids), {"attempt_id": ids[0], "name": "barrier", "seconds": 6.0}]

    sizes = [("write", 20_000, 16.0), ("write", 100_000, 56.0)]
    (found,) = fixed_of(WithBarrier([write], sizes=sizes), [write]).values()
    assert found.fixed_s == pytest.approx(6.0)
    assert fixed_of(WithBarrier([write], sizes=sizes), [{**write, "value": 40.0}]) == {}, "of other phases"


def test_what_verifies_a_write_is_no_second_pass_of_it():
    write = row("delta-spark", 25.0, "write", "s3", rest_s=14.0)
    (found,) = fixed_parts(write, passes={write["attempt_id"]: 4.0}).values()
    assert found == Fixed(10.0, None)


@pytest.mark.parametrize(
    ("larger", "fixed_s"), [((100_000, 29.0), 24.0), ((100_000, 125.0), 0.0), ((40_000, 25.5), None)]
)
def test_two_numbers_of_rows_far_apart_tell_the_fixed_part_of_a_write(larger, fixed_s):
    write = row("delta-spark", 25.0, "write", "s3", rest_s=12.0)
    (found,) = fixed_parts(write, sizes=[("write", 20_000, 25.0), ("write", *larger)]).values()
    assert found == Fixed(12.0, fixed_s if fixed_s is None else pytest.approx(fixed_s))


def test_nothing_tells_the_fixed_part_of_a_write_that_was_measured_alone_or_of_what_does_not_count():
    write = row("delta-spark", 25.0, "write", "s3")
    (found,) = fixed_parts(write, sizes=[("write", 20_000, 25.0)]).values()
    assert found == Fixed(0.0, None)
    failed = row("delta-spark", 25.0, status="failed")
    assert fixed_parts(failed, passes={failed["attempt_id"]: 4.0}) == {}


@pytest.mark.parametrize(
    "ranking", [{"metric": "p99_s", "value": 0.002}, {"metric": "puts_per_s", "unit": "puts/s"}]
)
def test_what_is_not_ranked_by_how_long_it_took_has_no_fixed_part(ranking):
    """A latency is short beside the start of a pod, and says nothing of it; a rate is no time."""
    assert fixed_parts(row("mongodb", 25.0, rest_s=12.0, **ranking)) == {}


RATE = Metric("puts_per_s", "puts a second", "higher")


def ranked(figures, metric=RATE):
    """Return the sentences of a study whose writes have these figures, and state neither delivery nor durability."""
    operations = (Operation("write", (metric.name,)), Operation("read", (metric.name,)))
    study = StudyRecord.of(replace(STUDY, operations=operations, metrics=(metric,), charts=()))
    rows = [
        row("", 1.0, "write", None, cell_key=one.key, metrics={} if value is None else {metric.name: value})
        for one, values in figures.items()
        for value in values
    ]
    return sentences(rows, ["write"], study, {})


def test_where_more_is_better_the_best_cell_has_most_and_others_are_told_how_much_it_has():
    figures = {
        cell("mongodb", batch="1"): [4000.0],
        cell("mongodb", batch="10"): [2000.0],
        cell("elasticsearch", batch="1"): [500.0],
        cell("elasticsearch", batch="10"): [1000.0, 1000.0, 9000.0],
        cell("null", batch="1"): [90_000.0],
    }
    assert ranked(figures) == [
        "elasticsearch: write 1,000 puts/s (batch=10); mongodb has 4.0 times as much.",
        "mongodb: write 4,000 puts/s (batch=1).",
        "null: floor, the client without a store: write 90,000 puts/s (batch=1).",
    ]


def test_the_best_is_called_so_only_where_intervals_tell_it_from_all_others():
    six = [200.0, 210.0, 200.0, 210.0, 200.0, 210.0]
    apart = {cell("mongodb"): six, cell("elasticsearch"): [value / 3 for value in six]}
    assert ranked(apart)[1] == "mongodb: write 205 puts/s, the best of 2."
    near = {cell("mongodb"): six, cell("elasticsearch"): [value - 5 for value in six]}
    assert ranked(near) == [
        "elasticsearch: write 200 puts/s, not told apart from mongodb.",
        "mongodb: write 205 puts/s.",
    ]


def test_what_is_no_time_is_not_called_fast_or_long():
    size = Metric("peak_bytes", "most memory")
    assert ranked({cell("mongodb"): [100.0], cell("elasticsearch"): [2500.0]}, size) == [
        "elasticsearch: write 2.50 kB, 25 times that of mongodb.",
        "mongodb: write 100 B.",
    ]
    assert ranked({cell("mongodb"): [100.0], cell("elasticsearch"): [101.0]}, size)[0] == (
        "elasticsearch: write 101 B, as much as mongodb."
    )


def test_where_neither_way_is_better_nothing_is_ranked():
    figures = {cell("mongodb"): [3.0] * 6, cell("elasticsearch"): [2.0] * 6}
    assert ranked(figures, Metric("depth", "of the queue", "neither")) == [
        "elasticsearch: write 2.",
        "mongodb: write 3.",
    ]


def test_a_figure_of_zero_is_no_factor():
    assert ranked({cell("mongodb"): [5.0], cell("elasticsearch"): [0.0]}) == [
        "elasticsearch: write 0 puts/s.",
        "mongodb: write 5.00 puts/s.",
    ]


def test_the_only_store_is_compared_with_none_and_one_without_a_figure_says_so():
    assert ranked({cell("mongodb"): [5.0], cell("elasticsearch"): [None]}) == [
        "elasticsearch: nothing is verified and undisturbed.",
        "mongodb: write 5.00 puts/s.",
    ]


def test_cells_of_other_axes_are_told_apart_by_those_that_they_have():
    figures = {cell("mongodb", batch="1"): [2.0], cell("delta-spark", batch="all", executors="2"): [1.0]}
    assert ranked(figures) == [
        "delta-spark: write 1.00 puts/s (batch=all); mongodb has 2.0 times as much.",
        "mongodb: write 2.00 puts/s (batch=1).",
    ]


def test_what_nobody_has_judged_is_named():
    rows = [
        row("mongodb", 2.0),
        row("elasticsearch", 5.0),
        row("elasticsearch", 5.1, not_judged="it took 20 ms"),
    ]
    found, remarks = said(rows)
    assert found["mongodb"] == "read 2.00 s."
    assert remarks == [
        "Not judged: elasticsearch read. Others on the node may have disturbed these attempts, and nobody can say."
    ]
