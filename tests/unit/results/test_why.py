"""The figures and settings that are candidates for what goes along with a verdict."""

import pytest

from storebench.cli.output.why import why_lines
from storebench.results.comparison.compare import compare, compare_values
from storebench.results.comparison.sides import By
from storebench.results.comparison.why import why
from storebench.results.database.queries import Queries
from storebench.study.cell import Cell
from tests.unit.results.test_implied import RECORD
from tests.unit.results.test_sides import CELLS, Recorded, row

REPEATS = range(1, 7)
NOISE = [0, 0.01, -0.02, 0.02, 0.01, -0.01]


class Accompanied(Recorded):
    """A stand-in for `Queries` whose attempts have figures: (kind, name, unit), and the values by attempt, None if unknown."""

    def __init__(self, rows, figures):
        super().__init__(*rows)
        self.figures = figures

    def accompanying(self, ids):
        return [
            {"attempt_id": attempt, "kind": kind, "name": name, "unit": unit, "value": values[attempt]}
            for attempt in ids
            for (kind, name, unit), values in self.figures.items()
            if values[attempt] is not None
        ]

    def profiled(self, keys):
        return []

    def axes_of(self, keys, *, everywhere):
        return {key: dict(Cell.from_key(key).axes) for key in keys}


def attempts(slower, **others):
    """Return the rows of run a, and of run b or of the second cell of run a (`others`), which takes `slower` times as long."""
    sides = ({}, {"run": "b", **others})
    return [
        row(side.get("run", "a"), n, factor * (1 + noise), side.get("cell", CELLS[0]), attempt_id=(name, n))
        for name, side, factor in zip("AB", sides, (1, slower), strict=True)
        for n, noise in zip(REPEATS, NOISE, strict=True)
    ]


def values(before, after):
    """Return the value of each attempt, with another noise than the metric's."""
    return {
        (name, n): mean * (1 + noise)
        for name, mean in (("A", before), ("B", after))
        for n, noise in zip(REPEATS, reversed(NOISE), strict=True)
    }


def found(queries, *sides):
    (only,) = why(queries, compare(queries, *sides)).values()
    return only


@pytest.mark.parametrize(("operation_s", "share"), [(1, 0.4), (20, None)])
def test_seconds_are_shares_of_a_metric_that_covers_its_operation(operation_s, share):
    figures = {
        ("phase", "operation", "s"): values(operation_s, 2 * operation_s),
        ("pods", "servers_cpu_s", "s"): values(0.2, 0.6),
    }
    one = found(Accompanied(attempts(2), figures), "a", "b")
    shares = {figure.name: association.share for figure, association in one.figures.items()}
    assert shares["servers_cpu_s"] == (share and pytest.approx(share, abs=0.02))


def test_phases_outside_of_the_metrics_time_are_not_looked_at():
    figures = {("phase", name, "s"): values(1, 3) for name in ("queued", "connect", "verify", "barrier")}
    one = found(Accompanied(attempts(2), figures), "a", "b")
    assert ([figure.name for figure in one.figures], one.looked_at) == (["barrier"], 1)


def test_a_figure_in_too_few_units_is_counted_and_not_tested():
    some = values(1, 9)
    some |= {("A", 1): None, ("A", 2): None}
    one = found(Accompanied(attempts(2), {("counter", "merges", ""): some}), "a", "b")
    assert (len(one.figures), one.looked_at, one.too_few) == (0, 0, 1)
    assert why_lines(one, "repeats", whole=False) == (
        ["0 of 0 figures that vary differ; 1 more have too few repeats"],
        0,
    )


def test_an_attempt_that_does_not_count_gives_no_figure():
    rows = attempts(2)
    rows += [row("b", n, 2.0, attempt_id=("B", n), disturbed="throttled") for n in (7, 8)]
    merges = values(5, 20) | {("B", 7): 0, ("B", 8): 0}
    one = found(Accompanied(rows, {("counter", "merges", ""): merges}), "a", "b")
    (merged,) = one.figures.values()
    assert merged.median_after == pytest.approx(20, rel=0.02)


def test_the_values_on_axes_differ_between_two_values_of_a_run():
    queries = Accompanied(attempts(2, run="a", cell=CELLS[1]), {})
    (one,) = why(queries, compare_values(queries, "a", By.of("batch=10,20"))).values()
    assert [difference.text for difference in one.differences] == ["batch: 10 -> 20"]


def test_an_axis_that_does_not_apply_to_a_store_has_its_implied_value():
    """The store null has the axis `pods`, and delta-rs does not. The implied value is 1."""

    class Several(Accompanied):
        def study(self, name):
            return RECORD

        axes_of = Queries.axes_of

    def differing(pods):
        null = CELLS[0].replace("/rows", f"{pods}/rows")
        other = CELLS[0].replace("null", "delta-rs")
        rows = attempts(2, run="a", cell=other)
        for one in rows[: len(REPEATS)]:
            one["cell_key"] = null
        queries = Several(rows, {})
        (one,) = why(queries, compare(queries, null, other)).values()
        return [difference.text for difference in one.differences]

    assert differing(pods="") == ["store: null -> delta-rs"]
    assert differing(pods="/pods=2") == ["store: null -> delta-rs", "pods: 2 -> 1"]


def test_sides_that_are_the_same_ask_for_no_figures():
    rows = attempts(1)
    queries = Accompanied(rows, None)  # would fail
    assert why(queries, compare(queries, "a", "b")) == {}


def test_few_lines_begin_with_settings_and_say_how_many_are_left_out():
    figures = {("counter", f"c{n}", ""): values(1, 3 + n) for n in range(6)}
    rows = attempts(2)
    for one in rows[len(REPEATS) :]:
        one["method_version"] = 3
    lines, more = why_lines(found(Accompanied(rows, figures), "a", "b"), "repeats", whole=False)
    assert [line.split(":")[0] for line in lines] == ["differs", "counter c5", "counter c4", "counter c3"]
    assert more == 3
    whole, none = why_lines(found(Accompanied(rows, figures), "a", "b"), "repeats", whole=True)
    assert (len(whole), none) == (1 + 6 + 1, 0)
