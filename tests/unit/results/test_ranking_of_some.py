"""Rankings by a metric that only the attempts at some values of an axis report."""

from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.results.database.measurements import scalars_of
from storebench.results.ranking.choice import ANY, Question
from storebench.results.ranking.rank import ranking_of
from storebench.study.model import Axis, Chart, Metric, Table
from storebench.study.record import StudyRecord
from tests.unit.example import NAME, STUDY, cell
from tests.unit.results.test_ranking import Recorded, places, reasons, repeated, row

STOP = Axis(
    name="stop",
    title="Stop",
    description="",
    pattern="none|short",
    hint="none or short",
    default=("none",),
    choices=("none", "short"),
    grid=("none",),
    where={"store": ("mongodb", "elasticsearch", "delta-rs")},
    implied="none",
)
METRICS = (*STUDY.metrics, Metric("again_s", "until it works again"), Metric("lost", "lost"))
RECORD = StudyRecord.of(
    replace(
        STUDY,
        axes=(*STUDY.axes, STOP),
        metrics=METRICS,
        charts=(*STUDY.charts, Chart("again_s", "store", ("write",))),
        tables=(Table("Stops", "stop", ("again_s", "lost"), ("write",)),),
    )
)


class Stopped(Recorded):
    """Results of a study whose axis `stop` brings metrics of its own."""

    def study(self, name):
        return RECORD


def stopped(store, again_s, stop="short", count=6):
    """Return repeats of a cell: its time to work again, or None in attempts that did not work again."""
    of = cell(store, batch="10", stop=stop)
    rows = repeated(of, 2.0, count)
    for one, seconds in zip(rows, again_s, strict=True):
        one["metrics"] = {**one["metrics"], **({} if seconds is None else {"again_s": seconds})}
    return rows


def ranked(*rows, **asked):
    return ranking_of(Stopped(*rows), Question(NAME, **{"metric": "again_s", **asked}))


SECONDS = (5.0, 5.1, 4.9, 5.0, 5.2, 4.8)
FAST, SLOW = stopped("mongodb", SECONDS), stopped("elasticsearch", [3 * one for one in SECONDS])
# more cells without the metric than with it
NONE = [repeated(cell(store, batch="10"), 1.0) for store in ("mongodb", "elasticsearch", "delta-rs", "null")]


def test_a_chart_or_a_table_says_which_operations_have_a_metric_that_no_operation_lists():
    assert scalars_of(RECORD, "write")[:5] == ["only_s", "rows_per_s", "source_s", "again_s", "lost"]
    assert not {"again_s", "lost"} & set(scalars_of(RECORD, "read"))
    with pytest.raises(SpecError, match="Unknown metric 'again_s'"):
        ranked(FAST, operation="read")


def test_the_values_at_which_the_metric_is_reported_are_the_default():
    found = ranked(FAST, SLOW, *NONE)
    assert found.chosen.axes["stop"] == "short"
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    assert found.lines[1].against.relative_to_best == pytest.approx(3.0, rel=0.1)
    # another metric has its own default
    assert ranked(FAST, SLOW, *NONE, metric="only_s").chosen.axes["stop"] == "none"


def test_a_cell_without_the_metric_is_excluded_with_the_reason_and_has_no_place():
    found = ranked(FAST, *NONE[1:], axes={"stop": ANY})
    assert places(found) == [(1, "mongodb")]
    why = [("not reported", "no attempt has reported this figure")]
    assert reasons(found) == {"elasticsearch": why, "delta-rs": why, "null": why}
    never = stopped("elasticsearch", [None] * 6)
    assert reasons(ranked(FAST, never))["elasticsearch"][0][0] == "not reported"


def test_zero_is_a_figure_and_not_the_same_as_none():
    found = ranked(FAST, stopped("elasticsearch", [0.0] * 6))
    assert places(found)[0] == (1, "elasticsearch")


def test_a_median_of_only_some_attempts_says_so():
    found = ranked(FAST, stopped("elasticsearch", [1.0, *[None] * 5]))
    by_store = {line.measured.cell.store: line.remarks for line in found.lines}
    assert by_store == {"mongodb": [], "elasticsearch": ["1 of 6 reported this figure"]}


def test_a_failed_attempt_is_not_ranked():
    failed = row(
        cell("elasticsearch", batch="10", stop="short"),
        1.0,
        status="failed",
        error_kind="broken_promise",
        metrics={"again_s": 0.1},
    )
    found = ranked(FAST, failed)
    assert places(found) == [(1, "mongodb")]
    assert reasons(found)["elasticsearch"] == [("not verified", "no verified attempt: broken_promise")]
