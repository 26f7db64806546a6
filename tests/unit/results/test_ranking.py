"""Rankings of stores, and exclusions with their reasons."""

import io
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from storebench.answers.rankings import ranking_answer
from storebench.cli.output.ranking import as_markdown, print_medians, print_ranking, rows_of
from storebench.errors import SpecError
from storebench.results.database.measurements import value_of
from storebench.results.ranking.choice import ANY, Known, Question, choose
from storebench.results.ranking.rank import ranking_of
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord
from tests.unit.example import NAME, STUDY, cell

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
PARAMETERS = {"pod_cpu": "500m", "cpu_limit": False, "pod_memory": "8Gi"}
MACHINES = {
    "e1": {"cpus": 2, "cpu_model": "Example 9", "memory_gib": 24, "kernel": "6.1"},
    "e2": {"cpus": 2, "cpu_model": "Example 9", "memory_gib": 24, "kernel": "6.1", "image": "newer"},
    "e3": {"cpus": 64, "cpu_model": "Example 9", "memory_gib": 24, "kernel": "6.1"},
}
NOISE = (0.0, 0.01, -0.01, 0.005, -0.005, 0.002)


def row(of, value, repeat=1, run="r1", operation="write", hours=0, **changes):
    guarantee = {"durability": "disk" if operation == "write" else None, "delivers": None}
    return {
        "attempt_id": uuid.uuid4(),
        "study": NAME,
        "cell_key": of.key,
        "store": of.store,
        "run_id": run,
        "repeat": repeat,
        "operation": operation,
        "status": "verified",
        "disturbed": None,
        "not_judged": None,
        "error_kind": None,
        "metric": "only_s",
        "metrics": {"only_s": value, "rows_per_s": of.rows / value if value else None},
        "client_bound": False,
        "service_bound": None,
        "figures_cover": "client",
        "all_memory_working_set_peak_bytes": 100,
        "environment_hash": "e1",
        "server_name": "MongoDB",
        "server_version": "2",
        "code_version": "c",
        "parameters_hash": "p1",
        "parameters": PARAMETERS,
        "method_version": 2,
        "recorded_at": BEGUN + timedelta(hours=hours),
        **guarantee,
        **changes,
    }


def repeated(of, value, count=6, **changes):
    """Return rows of a run with nearly equal repeats."""
    return [row(of, value * (1 + NOISE[n % 6]), n + 1, **changes) for n in range(count)]


class Recorded:
    """A stand-in for `Queries` with fixed attempts; a cell without attempts was in a run, too."""

    def __init__(self, *rows, tried=()):
        self.rows = [one for some in rows for one in (some if isinstance(some, list) else [some])]
        self.tried = [one.key for one in tried]

    def study(self, name):
        return StudyRecord.of(STUDY).model_copy(update={"name": name})

    def cells_of_study(self, study, operation, metric=None):
        of_operation = [one for one in self.rows if one["operation"] == operation]
        measured = {one["cell_key"] for one in of_operation}
        reported = {one["cell_key"] for one in of_operation if value_of(one, metric) is not None}
        return [
            {"key": key, "measured": key in measured, "reported": key in reported}
            for key in sorted({*measured, *self.tried})
        ]

    def compared_at(self, keys, operation, metric):
        return [
            {**one, "value": value_of(one, metric)}
            for one in self.rows
            if one["cell_key"] in keys and one["operation"] == operation
        ]

    def compared_of_run(self, run_id, metric):
        return [
            {**one, "value": value_of(one, metric or one["metric"])}
            for one in self.rows
            if one["run_id"] == run_id
        ]

    def environments(self, hashes):
        return {name: MACHINES[name] for name in hashes}

    def machines(self, rows):
        return {}

    def study_names(self):
        return [NAME]


def ranked(*rows, tried=(), alike=True, **asked):
    return ranking_of(Recorded(*rows, tried=tried), Question(NAME, alike=alike, **asked))


def places(found):
    return [(line.place, line.measured.cell.store) for line in found.lines]


def reasons(found):
    return {
        one.measured.cell.store: [(why.reason, why.text) for why in one.reasons] for one in found.excluded
    }


MONGODB, ELASTIC, DELTA = cell("mongodb"), cell("elasticsearch"), cell("delta-rs")


def test_who_is_not_told_apart_from_the_best_shares_its_place():
    found = ranked(
        repeated(MONGODB, 2.0), repeated(ELASTIC, 2.02), repeated(DELTA, 4.0), row(cell("delta-kernel"), 9.0)
    )
    assert places(found) == [(1, "mongodb"), (1, "elasticsearch"), (1, "delta-kernel"), (4, "delta-rs")]
    best, same, single, last = found.lines
    assert best.against is None
    assert same.against.label == "the same"
    assert (single.against.label, single.summary.n) == ("cannot tell", 1)
    assert single.against.reason.startswith("too few")
    assert (last.against.label, last.against.relative_to_best) == ("worse", pytest.approx(2.0, rel=1e-6))
    assert last.against.verdict.interval.low == pytest.approx(2.0)
    assert (best.summary.median, best.summary.interval.low, best.summary.interval.high) == (
        pytest.approx(2.002),
        pytest.approx(1.98),
        pytest.approx(2.02),
    )


def test_those_behind_the_best_share_a_place_where_nothing_tells_them_apart():
    found = ranked(
        repeated(MONGODB, 1.0),
        repeated(ELASTIC, 3.0),
        repeated(DELTA, 3.01),
        repeated(cell("delta-kernel"), 9.0),
    )
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch"), (2, "delta-rs"), (4, "delta-kernel")]


def test_where_more_is_better_the_best_has_the_most():
    found = ranked(repeated(MONGODB, 1.0), repeated(ELASTIC, 2.0), metric="rows_per_s")
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    assert found.lines[0].summary.median == pytest.approx(1000, rel=0.01)
    assert (found.lines[1].against.label, found.lines[1].against.relative_to_best) == (
        "worse",
        pytest.approx(2.0, rel=1e-6),
    )


def test_a_metric_of_which_neither_way_is_better_ranks_nothing():
    with pytest.raises(SpecError, match="source_s has no better direction: rank by only_s, rows_per_s"):
        ranked(repeated(MONGODB, 1.0), metric="source_s")
    for asked, said in (({"metric": "nonesuch"}, "metric"), ({"operation": "nonesuch"}, "operation")):
        with pytest.raises(SpecError, match=f"Unknown {said} 'nonesuch'"):
            ranked(repeated(MONGODB, 1.0), **asked)


def test_several_runs_count_once_each_and_only_in_pairs_that_belong_together():
    """The machine was slower with each run; both cells had it alike."""
    runs = [
        repeated(of, seconds * (1 + n), run=f"r{n}", hours=n)
        for n in range(6)
        for of, seconds in ((MONGODB, 1.0), (ELASTIC, 1.5))
    ]
    found = ranked(*runs)
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    verdict = found.lines[1].against.verdict
    assert (verdict.units_before, verdict.noise.matched, found.lines[1].summary.n) == (6, True, 36)
    assert found.lines[1].against.reason is None and found.caution is None


def test_a_drift_between_single_runs_is_pointed_out():
    found = ranked(repeated(MONGODB, 1.0, run="a"), repeated(ELASTIC, 2.0, run="b"))
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    assert found.caution.startswith("One run on each side")


def test_a_limit_is_excluded_and_may_be_asked_for():
    rows = repeated(MONGODB, 2.0), repeated(cell("null"), 0.1, durability="none")
    found = ranked(*rows)
    assert places(found) == [(1, "mongodb")]
    assert [reason for reason, _ in reasons(found)["null"]] == ["floor"]
    assert found.excluded[0].measured.summary.median == pytest.approx(0.1, rel=0.01)
    both = ranked(*rows, included=frozenset({"floor"}))
    assert (places(both), both.question.guarantee) == ([(1, "null"), (2, "mongodb")], "disk")


def test_who_is_bound_by_its_client_is_excluded():
    bound = [{**one, "client_bound": one["repeat"] > 3} for one in repeated(ELASTIC, 1.0)]
    found = ranked(repeated(MONGODB, 2.0), bound)
    assert reasons(found)["elasticsearch"] == [
        ("client-bound", "its client was the limit, not the server: 3 of 6 attempts")
    ]
    few = [{**one, "client_bound": one["repeat"] > 4} for one in repeated(ELASTIC, 1.0)]
    found = ranked(repeated(MONGODB, 2.0), few)
    assert places(found) == [(1, "elasticsearch"), (2, "mongodb")]
    assert found.lines[0].remarks == ["2 of 6 client-bound"]
    assert places(ranked(repeated(MONGODB, 2.0), bound, included=frozenset({"client-bound"})))[0] == (
        1,
        "elasticsearch",
    )


def test_a_cell_whose_service_was_the_limit_is_excluded():
    bound = [{**one, "service_bound": one["repeat"] > 3} for one in repeated(ELASTIC, 1.0)]
    found = ranked(repeated(MONGODB, 2.0), bound)
    assert reasons(found)["elasticsearch"] == [
        ("service-bound", "the service in front of it was the limit, not the store: 3 of 6 attempts")
    ]
    few = [{**one, "service_bound": one["repeat"] > 4} for one in repeated(ELASTIC, 1.0)]
    found = ranked(repeated(MONGODB, 2.0), few)
    assert places(found) == [(1, "elasticsearch"), (2, "mongodb")]
    assert found.lines[0].remarks == ["2 of 6 service-bound"]
    both = ranked(repeated(MONGODB, 2.0), bound, included=frozenset({"service-bound"}))
    assert places(both)[0] == (1, "elasticsearch")


def test_who_guarantees_something_else_is_excluded_and_may_be_ranked_by_itself():
    rows = [
        repeated(MONGODB, 2.0),
        repeated(ELASTIC, 3.0),
        repeated(DELTA, 1.0, durability="s3"),
        repeated(cell("delta-kernel"), 0.5, durability="unknown"),
    ]
    found = ranked(*rows)
    assert (found.question.guarantee, list(found.guarantees)) == ("disk", ["disk", "s3"])
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    assert reasons(found) == {
        "delta-rs": [("unlike", "guarantees s3, and not disk")],
        "delta-kernel": [("unlike", "guarantees an unknown durability, and not disk")],
    }
    assert places(ranked(*rows, guarantee="s3")) == [(1, "delta-rs")]
    with pytest.raises(SpecError, match="Unknown guarantee 's4'"):
        ranked(*rows, guarantee="s4")


def differences(found):
    return {
        line.measured.cell.store: [(why.reason, why.text) for why in line.differences] for line in found.lines
    }


def test_all_stores_are_ranked_by_default_each_with_what_differs():
    bound = [{**one, "client_bound": True} for one in repeated(ELASTIC, 3.0)]
    found = ranked(
        repeated(MONGODB, 2.0),
        repeated(cell("delta-kernel"), 2.5),
        bound,
        row(DELTA, 1.0, durability="s3"),
        repeated(cell("null"), 0.1, durability="none"),
        alike=False,
    )
    assert [store for _, store in places(found)] == [
        *("delta-rs", "mongodb", "delta-kernel", "elasticsearch")
    ]
    assert found.question.guarantee is None and list(found.guarantees) == ["disk", "s3"]
    assert differences(found) == {
        "delta-rs": [
            ("unlike", "guarantees s3, and not disk"),
            ("few", "too few attempts for an interval: 1"),
        ],
        "mongodb": [],
        "delta-kernel": [],
        "elasticsearch": [("client-bound", "its client was the limit, not the server: 6 of 6 attempts")],
    }
    # a floor is no store: it is ranked only if it is named
    assert [reason for reason, _ in reasons(found)["null"]] == ["floor"]


def test_a_chosen_guarantee_ranks_only_its_cells_also_by_default():
    rows = repeated(MONGODB, 2.0), repeated(DELTA, 1.0, durability="s3")
    assert places(ranked(*rows, alike=False, guarantee="disk")) == [(1, "mongodb")]


def test_reads_are_ranked_with_those_that_deliver_the_same():
    found = ranked(
        repeated(MONGODB, 2.0, operation="read", delivers="dicts"),
        repeated(ELASTIC, 3.0, operation="read", delivers="dicts"),
        repeated(DELTA, 0.1, operation="read", delivers="Arrow"),
        operation="read",
    )
    assert places(found) == [(1, "mongodb"), (2, "elasticsearch")]
    assert reasons(found) == {"delta-rs": [("unlike", "delivers Arrow, and not dicts")]}


def test_of_as_many_of_each_guarantee_those_of_the_best_one_are_ranked():
    rows = repeated(MONGODB, 2.0), repeated(DELTA, 1.0, durability="s3")
    assert places(ranked(*rows)) == [(1, "delta-rs")]


def test_where_nothing_is_guaranteed_all_are_alike():
    found = ranked(repeated(MONGODB, 2.0, durability=None), repeated(DELTA, 1.0, durability=None))
    assert (places(found), found.question.guarantee) == ([(1, "delta-rs"), (2, "mongodb")], None)


@pytest.mark.parametrize("alike", [True, False])
def test_memory_of_a_client_is_not_ranked_with_that_of_an_engine(alike):
    found = ranked(
        repeated(MONGODB, 2.0),
        repeated(ELASTIC, 2.0, all_memory_working_set_peak_bytes=200),
        repeated(DELTA, 2.0, figures_cover="engine", all_memory_working_set_peak_bytes=50),
        metric="all_memory_working_set_peak_bytes",
        alike=alike,
    )
    assert places(found)[0] == (1, "mongodb")
    assert reasons(found) == {
        "delta-rs": [
            ("unlike", "guarantees disk, figures of the engine, and not disk, figures of the client")
        ]
    }


def test_what_was_only_disturbed_or_failed_has_no_place_whatever_is_asked_for():
    failed = {"status": "failed", "error_kind": "oom_killed", "metrics": {}, "environment_hash": None}
    rows = [
        repeated(MONGODB, 2.0),
        repeated(ELASTIC, 1.0, disturbed="throttled in 3 periods"),
        repeated(DELTA, 1.0, **failed),
    ]
    found = ranked(
        *rows, tried=[cell("delta-kernel")], included=frozenset({"floor", "client-bound", "unlike"})
    )
    assert places(found) == [(1, "mongodb")]
    assert reasons(found) == {
        "elasticsearch": [("disturbed", "only disturbed attempts: throttled in 3 periods")],
        "delta-rs": [("not verified", "no verified attempt: oom_killed")],
        "delta-kernel": [("not verified", "none")],
    }


def test_what_is_unsound_of_a_ranked_one_is_told_also_what_failed_before_it_knew_where_it_was():
    failed = row(MONGODB, None, 7, status="failed", error_kind="oom_killed", environment_hash=None)
    disturbed = row(MONGODB, 50.0, 8, disturbed="throttled in 3 periods")
    (line,) = ranked(repeated(MONGODB, 2.0), failed, disturbed).lines
    assert line.remarks == ["1 of 8 not verified", "1 of 8 disturbed"]
    assert (line.summary.n, line.summary.max) == (6, pytest.approx(2.02))


def test_attempts_that_nobody_has_judged_are_told_of_their_cell_and_of_all_that_are_compared_with_them():
    untold = repeated(MONGODB, 2.0, not_judged="its pod reported nothing about its node")
    best, other = ranked(untold, repeated(ELASTIC, 3.0)).lines
    assert best.remarks == ["6 of 6 not judged"]
    assert other.remarks == ["of the best, 6 of 6 not judged"]
    best, other = ranked(repeated(MONGODB, 2.0), repeated(ELASTIC, 3.0, not_judged="it took 20 ms")).lines
    assert (best.remarks, other.remarks) == ([], ["6 of 6 not judged"])


def test_only_what_was_measured_in_the_same_environment_is_ranked_and_another_one_may_be_asked_for():
    rows = [
        repeated(MONGODB, 2.0),
        repeated(ELASTIC, 3.0),
        repeated(DELTA, 0.1, environment_hash="e3"),
        repeated(MONGODB, 0.2, run="r2", environment_hash="e3", hours=5),
        repeated(ELASTIC, 1.0, run="r3", environment_hash="e2", hours=1),
    ]
    found = ranked(*rows)
    assert [one.cells for one in found.environments] == [2, 2]
    # as many cells in both: the newest
    newest, other = (one.id for one in found.environments)
    assert found.question.conditions == newest
    assert places(found) == [(1, "delta-rs"), (2, "mongodb")]
    assert reasons(found)["elasticsearch"][0][0] == "elsewhere"
    assert "2 CPUs (Example 9), 24 GiB, kernel 6.1" in reasons(found)["elasticsearch"][0][1]
    # another image is the same environment, and of a cell the newest one counts
    found = ranked(*rows, conditions=other)
    assert places(found) == [(1, "elasticsearch"), (2, "mongodb")]
    assert found.lines[0].summary.median == pytest.approx(1.0, rel=0.01)
    with pytest.raises(SpecError, match="Unknown environment 'x'"):
        ranked(*rows, conditions="x")


def test_other_parameters_are_another_environment():
    larger = {"parameters": {**PARAMETERS, "pod_cpu": "2"}, "parameters_hash": "p2"}
    found = ranked(repeated(MONGODB, 2.0), repeated(ELASTIC, 2.5), repeated(DELTA, 1.0, **larger))
    assert places(found)[0] == (1, "mongodb")
    assert reasons(found)["delta-rs"][0][0] == "elsewhere"


def choice(*cells, measured=(), **asked):
    known = [Known(one, not measured or one in measured) for one in cells]
    return choose(StudyRecord.of(STUDY), known, Question(NAME, **asked))


def at(store, batch, rows=1000, **axes):
    return cell(store, rows=rows, batch=batch, **axes)


def test_what_nobody_chose_is_what_most_cells_were_measured_at():
    few, many = at("mongodb", 10), [at("mongodb", 20), at("null", 20)]
    found = choice(few, *many)
    assert (found.axes, found.offered) == ({"batch": "20"}, {"batch": ["10", "20"]})
    assert found.cells == many
    assert choice(few, *many, axes={"batch": "10"}).cells == [few]
    assert choice(few, *many, axes={"batch": ANY}).cells == [few, *many]
    assert choice(few, *many, measured=[few]).axes == {"batch": "10"}


def test_an_axis_that_only_some_stores_have_is_how_they_are_driven():
    spark = [at("delta-spark", 10, executors=n) for n in (1, 2)]
    found = choice(at("mongodb", 10), *spark)
    assert found.axes == {"batch": "10", "executors": ANY}
    assert len(found.cells) == 3
    found = choice(at("mongodb", 10), *spark, axes={"executors": "2"})
    assert [one.store for one in found.cells] == ["mongodb", "delta-spark"]
    assert found.cells[1] == spark[1]


def test_the_dataset_is_chosen_as_the_axes_are():
    small, large = [at("mongodb", 10), at("null", 10)], at("mongodb", 10, rows=5000)
    assert choice(*small, large).rows == 1000
    assert choice(*small, large).datasets == [(5000, 42), (1000, 42)]
    assert choice(*small, large, rows=5000).cells == [large]
    with pytest.raises(SpecError, match=r"with 7 rows. There are 5,000 rows, seed 42; 1,000 rows, seed 42"):
        choice(*small, large, rows=7)


@pytest.mark.parametrize(
    ("axes", "said"),
    [({"nonesuch": "1"}, "Unknown axis 'nonesuch'"), ({"batch": "7"}, "Unknown value of the axis batch '7'")],
)
def test_what_was_never_measured_is_refused(axes, said):
    with pytest.raises(SpecError, match=said):
        choice(at("mongodb", 10), axes=axes)


def test_a_study_without_results_says_so():
    with pytest.raises(SpecError, match="no results of the study"):
        choice()


def test_what_is_printed_and_taken_away_is_the_same():
    recorded = Recorded(
        repeated(MONGODB, 2.0),
        repeated(DELTA, 4.0),
        repeated(cell("null"), 0.1, durability="none"),
        row(ELASTIC, 1.0, environment_hash="e3"),
    )
    found = ranking_of(recorded, Question(NAME, alike=True))
    console = Console(width=280, file=io.StringIO())
    print_ranking(console, found)
    text = console.file.getvalue()
    for said in (
        "only_s, s), lower is better",
        "rows 1,000, seed 42; batch 10; guarantee disk",
        "2.00 s",
        "1.98 to 2.02 s",
        "slower",
        "it is the floor: the client without a store",
        "Also measured in other environments",
    ):
        assert said in text
    answer = ranking_answer(recorded, found)
    assert [(one["place"], one["store"], one["verdict"]) for one in rows_of(answer)] == [
        (1, "mongodb", "the best"),
        (2, "delta-rs", "worse"),
        (None, "elasticsearch", None),
        (None, "null", None),
    ]
    assert (answer.environment, answer.axes) == (found.question.conditions, {"batch": "10"})
    assert answer.ranked[1].relative_to_best == pytest.approx(found.lines[1].against.relative_to_best)
    assert [one.store for one in answer.excluded] == ["elasticsearch", "null"]


def test_the_ranking_of_a_run_has_the_attempts_of_this_run_alone():
    rows = (
        repeated(MONGODB, 2.0, run="r1"),
        repeated(DELTA, 4.0, run="r1"),
        repeated(MONGODB, 9.0, run="r2"),
        repeated(ELASTIC, 1.0, run="r2"),
        row(MONGODB, 7.0, run="r1", operation="read"),
    )
    assert places(ranked(*rows, alike=False))[0][1] == "elasticsearch"
    found = ranked(*rows, alike=False, run="r1")
    assert places(found) == [(1, "mongodb"), (2, "delta-rs")]
    assert [line.measured.runs for line in found.lines] == [("r1",)] * 2
    assert found.lines[0].summary.median == pytest.approx(2.0, rel=0.01)
    with pytest.raises(SpecError, match="no results of the study"):
        ranked(*rows, run="r3")


def test_a_shared_place_is_marked_where_it_is_printed():
    console = Console(width=280, file=io.StringIO())
    print_ranking(console, ranked(*repeated(MONGODB, 2.0), *repeated(ELASTIC, 2.0), *repeated(DELTA, 4.0)))
    places = [line.split()[:2] for line in console.file.getvalue().splitlines()]
    assert [place for place in places if place[1:] in (["mongodb"], ["elasticsearch"], ["delta-rs"])] == [
        ["=1", "elasticsearch"],
        ["=1", "mongodb"],
        ["3", "delta-rs"],
    ]


def medians_across(name, *measured):
    """Return the lines of the table of medians with a column for each value of `name`."""
    console = Console(width=280, file=io.StringIO())
    found = ranking_of(Recorded(*measured), Question(NAME, axes={"batch": ANY}, alike=False))
    print_medians(console, found, name, "markdown")
    return console.file.getvalue().splitlines()


def test_medians_of_a_store_are_one_line_though_an_axis_applies_to_some_of_its_cells():
    apart, together = cell("delta-spark", batch="20", executors="1"), cell("delta-spark", batch="all")
    lines = medians_across("batch", *repeated(together, 2.0), *[row(apart, 4.0, n) for n in range(1, 7)])
    assert lines == [
        "| store | client | batch 20 | batch all |",
        "| --- | --- | --- | --- |",
        "| delta-spark | reference | 4.00 s | 2.00 s (1.98 to 2.02 s) |",
        "",
        "Axes with one value: executors 1.",
    ]


def test_a_table_for_a_page_has_guarantees_and_says_once_what_is_unsound():
    short = repeated(MONGODB, 2.0, not_judged="it took 3 ms")
    found = ranked(*short, *repeated(ELASTIC, 4.0, client_bound=True), alike=False)
    header, _, best, other = (line.strip("| ").split(" | ") for line in as_markdown(found).splitlines())
    assert header[-3:] == ["verdict", "guarantee", "unsound"]
    assert best[-2:] == ["disk", "6 of 6 not judged"] and other[-2:] == ["disk", "6 of 6 client-bound"]


def test_lines_of_medians_are_in_the_order_of_the_best_medians_though_a_noisy_cell_shares_the_first_place():
    noisy = [row(DELTA, value, n) for n, value in enumerate((1.0, 2.5, 9.0, 2.0, 9.0, 1.5), 1)]
    measured = (*repeated(MONGODB, 2.0), *noisy, *repeated(ELASTIC, 2.2))
    assert places(ranked(repeated(MONGODB, 2.0), noisy, repeated(ELASTIC, 2.2))) == [
        (1, "mongodb"),
        (1, "delta-rs"),
        (3, "elasticsearch"),
    ]
    lines = medians_across("batch", *measured)
    assert [line.split(" | ")[0] for line in lines[2:5]] == ["| mongodb", "| elasticsearch", "| delta-rs"]


def test_a_cell_without_a_median_has_the_reason_and_a_cell_without_the_axis_its_own_column():
    lines = medians_across(
        "executors",
        *repeated(cell("delta-spark", batch="10", executors="1"), 2.0),
        *repeated(cell(batch="10"), 4.0, environment_hash="e3"),
    )
    assert lines[0] == "| store | client | executors 1 | executors does not apply |"
    assert lines[2:4] == [
        "| delta-spark | reference | 2.00 s (1.98 to 2.02 s) |  |",
        "| mongodb | reference |  | elsewhere |",
    ]


def test_cells_that_differ_only_in_whether_an_axis_applies_keep_their_lines():
    one, other = cell("delta-spark", batch="10", executors="1"), cell("delta-spark", batch="10")
    lines = medians_across("batch", *repeated(one, 2.0), *repeated(other, 4.0))
    assert lines[0] == "| store | client | executors | batch 10 |" and len(lines) == 4


def test_a_ranking_of_nothing_says_so():
    console = Console(width=280, file=io.StringIO())
    print_ranking(console, ranked(row(MONGODB, None, status="failed", environment_hash=None)))
    assert "nothing can be ranked" in console.file.getvalue()


def test_one_cell_is_the_best_of_one():
    (line,) = ranked(row(Cell(NAME, "mongodb", "tuned", (), 1, 1), 3.0)).lines
    assert (line.place, line.against, line.summary.n, line.summary.interval) == (1, None, 1, None)
