import uuid
from dataclasses import replace

import pytest

from storebench.cli.output.sentences import Larger, figures_of, sentences, times_the_best
from storebench.results.forecast.fixed import Fixed, fixed_of
from storebench.study.model import Metric, Operation
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell


def row(
    store, took_s, operation="read", kind="dicts", client="reference", rest_s=0.0, rows=20_000, **changes
):
    return {
        "attempt_id": uuid.uuid4(),
        "store": store,
        "error_kind": None,
        "error": None,
        "perhaps_disturbed": None,
        "client_bound": None,
        "service_bound": None,
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


def compared(rows, fixed=None, larger=None, study=STUDY, operations=("write", "read")):
    """Return the ratio to the best of each compared figure by store, and the sentences about the run."""
    record = StudyRecord.of(study)
    figures = figures_of(rows, operations, record, fixed or {})
    ratios = {
        f"{cell.store} {operation}": round(ratio, 2)
        for (cell, operation), ratio in times_the_best(figures).items()
    }
    return ratios, sentences(rows, figures, record, larger, "storebench results", "storebench ranking")


ONCE = "Each operation was measured once: without an interval, a small difference may be chance."


def test_only_reads_that_deliver_the_same_are_compared():
    ratios, (once, pairs) = compared(
        [
            row("mongodb", 2.0),
            row("elasticsearch", 5.0),
            row("delta-rs", 0.1, kind="Arrow"),
            row("delta-kernel", 4.0, kind="rows in the JVM"),
        ]
    )
    assert ratios == {"mongodb read": 1.0, "elasticsearch read": 2.5}
    assert once == ONCE
    assert (
        pairs
        == "5 of 6 pairs are not compared: the delivered form differs (5); `storebench ranking` lists the cells."
    )


def test_figures_are_sorted_by_operation_and_workload_and_then_the_best_first_with_floors_last():
    study = replace(STUDY, axes=(replace(STUDY.axes[0], workload=True), *STUDY.axes[1:]))
    seconds = {("mongodb", "all"): 8.0, ("mongodb", "10"): 1.0, ("null", "10"): 0.5}
    seconds |= {("elasticsearch", "10"): 2.0, ("elasticsearch", "all"): 4.0}
    rows = [
        row(store, took_s, cell_key=cell(store, batch=batch).key)
        for (store, batch), took_s in seconds.items()
    ]
    rows.append(row("mongodb", 9.0, "write", cell_key=cell(batch="10").key))
    figures = figures_of(rows, ("write", "read"), StudyRecord.of(study), {})
    assert [(one.operation, one.cell.value("batch"), one.cell.store, one.median) for one in figures] == [
        ("write", "10", "mongodb", 9.0),
        ("read", "all", "elasticsearch", 4.0),
        ("read", "all", "mongodb", 8.0),
        ("read", "10", "mongodb", 1.0),
        ("read", "10", "elasticsearch", 2.0),
        ("read", "10", "null", 0.5),
    ]
    ratios = times_the_best(figures)
    assert sorted(ratios.values()) == [1.0, 1.0, 2.0, 2.0], (
        "a workload and a floor are compared with no other"
    )


@pytest.mark.parametrize("kind", [None, "unknown"])
def test_what_is_not_known_to_promise_the_same_is_not_compared(kind):
    rows = [row("mongodb", 2.0, "write", kind), row("elasticsearch", 5.0, "write", kind)]
    ratios, (_, pairs) = compared([*rows, row("delta-rs", 1.0, "write", "s3")])
    assert ratios == {}
    assert pairs.startswith("3 of 3 pairs are not compared: a guarantee is unknown (3); ")


def test_writes_are_compared_with_those_of_the_same_durability():
    writes = {"mongodb": "disk", "elasticsearch": "disk", "delta-rs": "s3"}
    ratios, (_, pairs) = compared(
        [row(store, n, "write", kind) for n, (store, kind) in enumerate(writes.items(), 2)]
    )
    assert ratios == {"mongodb write": 1.0, "elasticsearch write": 1.5}
    assert pairs.startswith("2 of 3 pairs are not compared: durability differs (2); ")


def test_the_best_is_called_so_only_where_intervals_tell_it_from_all_others():
    six = [2.0, 2.1, 2.0, 2.1, 2.0, 2.1]
    slower = repeated("elasticsearch", *(3 * value for value in six))
    assert compared([*repeated("mongodb", *six), *slower])[1] == [
        "Best, as the intervals show: read mongodb."
    ]
    few = compared([*repeated("mongodb", *six[:5]), *slower[:5]])[1]
    assert few == [
        "The figures are medians of at most 5 attempts: fewer than 6 have no interval, and a small difference may be chance."
    ]
    near = repeated("elasticsearch", *(value + 0.05 for value in six))
    overlap = "No cell is the best: the intervals of the best cells overlap."
    assert compared([*repeated("mongodb", *six), *near])[1] == [overlap]
    arrow = repeated("delta-rs", *(value / 9 for value in six), kind="Arrow")
    best, pairs = compared([*repeated("mongodb", *six), *slower, *arrow])[1]
    assert best == "Best, as the intervals show: read mongodb as dicts." and pairs.startswith("2 of 3 pairs")
    short = {(slower[0]["cell_key"], "read"): Fixed(9.0, None)}
    third = repeated("null@x", 9.0) + repeated("delta-kernel", *(4 * value for value in six))
    (sentence, _) = compared([*repeated("mongodb", *six), *slower, *third], short)[1]
    assert sentence == overlap, "a cell that is too short to judge might be better"


def test_the_best_cells_of_many_operations_are_counted():
    study = replace(STUDY, axes=(replace(STUDY.axes[0], workload=True), *STUDY.axes[1:]))
    rows = [
        row(store, seconds, cell_key=cell(store, batch=batch).key)
        for batch in ("all", "1000", "10", "20", "30")
        for store, seconds in (("mongodb", 1.0), ("elasticsearch", 2.0))
        for _ in range(6)
    ]
    (best,) = compared(rows, study=study)[1]
    assert best.startswith("Best, as the intervals show: read batch=1000 mongodb (batch=1000); ")
    assert best.endswith("; and 2 more.")


def test_a_time_that_is_mostly_a_fixed_cost_is_not_compared_and_the_larger_preset_is_named():
    """An example is a Spark session's first query of 20,000 rows beside a client without a JVM."""
    slow = row("delta-spark", 25.0, "write", "s3")
    rows = [slow, row("delta-rs", 0.5, "write", "s3"), row("delta-kernel", 2.0, "write", "s3")]
    key = slow["cell_key"], "write"
    fixed = {key: Fixed(12.0, 23.5)}
    ratios, (_, pairs) = compared(rows, fixed, Larger("study", 1_000_000))
    assert ratios == {"delta-rs write": 1.0, "delta-kernel write": 4.0}
    assert pairs == (
        "2 of 3 pairs are not compared: mostly a fixed cost (2; the preset study has 1,000,000 rows);"
        " `storebench ranking` lists the cells."
    )
    assert "preset" not in compared(rows, fixed, Larger("study", 20_000))[1][1]
    assert compared(rows, {key: Fixed(12.0, 2.0)})[0]["delta-spark write"] == 50.0


def test_a_time_that_is_short_beside_its_pods_start_is_not_compared_if_its_fixed_part_is_not_known():
    rows = [row("delta-rs", 0.1, "write", "s3"), row("delta-spark", 25.0, "write", "s3")]
    small, large = ((one["cell_key"], "write") for one in rows)
    ratios, (_, pairs) = compared(rows, {small: Fixed(1.0, 0.01), large: Fixed(12.0, None)})
    assert ratios == {} and pairs.startswith("1 of 1 pair is not compared: too short to judge (1); ")
    ratios, rest = compared(rows, {small: Fixed(1.0, 0.01), large: Fixed(5.0, None)})
    assert ratios["delta-spark write"] == 250.0 and rest == [ONCE]


def test_reasons_are_counted_with_the_most_frequent_first():
    rows = [row(store, 2.0, "write", "disk") for store in ("mongodb", "elasticsearch", "null@a")]
    rows += [row("delta-rs", 0.1, "write", "s3"), row("delta-spark", 25.0, "write", "s3")]
    fixed = {(rows[-1]["cell_key"], "write"): Fixed(12.0, None)}
    _, (_, pairs) = compared(rows, fixed)
    assert pairs.startswith("5 of 6 pairs are not compared: durability differs (4), too short to judge (1); ")


def test_a_run_has_at_most_five_sentences():
    rows = [row("mongodb", 2.0, not_judged="short", client_bound=True), row("elasticsearch", 5.0)]
    rows += [
        row("delta-rs", 0.1, kind="Arrow", service_bound=True),
        row("delta-kernel", 1.0, status="failed"),
    ]
    found = compared(rows)[1]
    assert found == [
        "1 of 4 attempts does not count: delta-kernel read: failed.",
        ONCE,
        "2 of 3 pairs are not compared: the delivered form differs (2); `storebench ranking` lists the cells.",
        "1 of 4 attempts is not judged: other work on the node may have disturbed it.",
        "Not the store but the client limits mongodb read; the service limits delta-rs read.",
    ]


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
    """Compare the figures of writes that state neither delivery nor durability, as `compared` does."""
    operations = (Operation("write", (metric.name,)), Operation("read", (metric.name,)))
    study = replace(STUDY, operations=operations, metrics=(metric,), charts=())
    rows = [
        row("", 1.0, "write", None, cell_key=one.key, metrics={} if value is None else {metric.name: value})
        for one, values in figures.items()
        for value in values
    ]
    return compared(rows, study=study)


def test_where_more_is_better_the_best_cell_has_most():
    figures = {
        cell("mongodb", batch="1"): [4000.0],
        cell("elasticsearch", batch="10"): [1000.0, 1000.0, 9000.0],
        cell("null", batch="1"): [90_000.0],
    }
    assert ranked(figures)[0] == {"mongodb write": 1.0, "elasticsearch write": 0.25}
    six = [200.0, 210.0, 200.0, 210.0, 200.0, 210.0]
    apart = {cell("mongodb"): six, cell("elasticsearch"): [value / 3 for value in six]}
    assert ranked(apart)[1] == ["Best, as the intervals show: write mongodb."]


def test_where_neither_way_is_better_nothing_is_compared():
    figures = {cell("mongodb"): [3.0] * 6, cell("elasticsearch"): [2.0] * 6}
    ratios, (pairs,) = ranked(figures, Metric("depth", "of the queue", "neither"))
    assert ratios == {} and "1 of 1 pair is not compared: no value is better (1)" in pairs


def test_a_figure_of_zero_is_no_factor():
    size = Metric("peak_bytes", "most memory")
    assert ranked({cell("mongodb"): [5.0], cell("elasticsearch"): [0.0]}, size)[0] == {}


def test_a_run_without_figures_has_only_the_reason():
    assert compared([row("mongodb", 1.0, status="failed", error_kind="oom", error="more memory")])[1] == [
        "1 of 1 attempt does not count: mongodb read: oom: more memory."
    ]
    several = [row("mongodb", 1.0, status="not_run"), row("mongodb", 1.0, "write", status="failed")]
    assert compared(several)[1] == [
        "2 of 2 attempts do not count, for example mongodb read: not run. `storebench results` lists each reason."
    ]
