"""The unit of a side, and its effect on a comparison, an exit code and a plan."""

import pytest

from storebench.answers.repeats import plan_answer
from storebench.cli.output.comparison import exit_code
from storebench.cli.output.repeats import plan_text
from storebench.errors import SpecError
from storebench.results.comparison.compare import compare, compare_arms
from storebench.results.comparison.repeats import plan_repeats
from storebench.results.comparison.sides import arms_of, sides_of
from storebench.results.database.measurements import value_of
from storebench.results.database.queries import Queries
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY

CELLS = tuple(f"s/null/reference/batch={size}/rows=1/seed=1" for size in (10, 20))


def row(run, repeat, seconds, cell=CELLS[0], **others):
    return {
        "run_id": run,
        "study": "s",
        "cell_key": cell,
        "store": "null",
        "operation": "write",
        "repeat": repeat,
        "arm": None,
        "status": "verified",
        "metric": "only_s",
        "metrics": {} if seconds is None else {"only_s": seconds},
        "client_bound": False,
        "service_bound": None,
        "method_version": 2,
        "code_version": "1",
        "environment_hash": None,
        "parameters_hash": None,
        "disturbed": None,
        "not_judged": None,
        "delivers": None,
        "durability": None,
        "durability_stated": None,
        "parameters": None,
        **others,
    }


def with_value(row, metric):
    return {**row, "value": value_of(row, metric or row["metric"])}


class Recorded:
    """A stand-in for `Queries` with fixed rows; `to_come` are the gaps of running runs, by run name."""

    def __init__(self, *rows, to_come=None):
        self.rows, self.to_come = rows, to_come or {}

    def run_named(self, name, study=None):
        if study not in (None, "s") or name not in {row["run_id"] for row in self.rows}:
            raise SpecError(f"There is no run {name!r}")
        return {
            "id": name,
            "airflow_run_id": name,
            "study": "s",
            "state": "running" if name in self.to_come else "success",
        }

    def open_runs(self):
        return [self.run_named(name) for name in self.to_come]

    def gaps(self, run):
        return self.to_come[run]

    def compared_of_run(self, run, metric):
        return [with_value(row, metric) for row in self.rows if row["run_id"] == run]

    def compared_of_cell(self, key, metric):
        return [with_value(row, metric) for row in self.rows if row["cell_key"] == key]

    def reported(self, rows, metric=None):
        return Queries.reported(self, rows, metric)

    def study(self, name):
        return StudyRecord.of(STUDY)

    def environments(self, hashes):
        return {}


def turns(count, repeats=2, slowdown=1.2, noise=0.01):
    """Runs a0, b0, a1, b1, …, of a machine that drifts."""
    return [
        row(f"{side}{n}", repeat, (1 + n) * factor * (1 + noise * ((3 * n + repeat) % 4)))
        for n in range(count)
        for side, factor in (("a", 1), ("b", slowdown))
        for repeat in range(1, repeats + 1)
    ]


def pair_of(sides):
    (pair,) = sides.pairs()[0].values()
    return pair


def test_a_comparison_says_of_which_side_attempts_were_not_judged():
    rows = [row(run, n, 1.0 + n / 100) for run in ("a", "b") for n in range(1, 6)]
    for one in rows[5:7]:
        one["not_judged"] = "its pod reported nothing about its node"
    found = compare(Recorded(*rows), "a", "b")
    assert found.remarks[CELLS[0], "write"] == ["B: 2 of 5 not judged"]


def test_repeats_count_alone_where_each_side_has_one_run_and_a_drift_is_pointed_out():
    rows = [row(run, repeat, float(repeat)) for run in ("a", "b") for repeat in (1, 2, 3)]
    sides = sides_of(Recorded(*rows), "a", "b")
    assert (sides.design.units, sides.design.matched) == ("repeats", False)
    assert pair_of(sides).before == [[1.0], [2.0], [3.0]]
    assert (
        "a drift of the machine between the two runs looks like a difference" in sides.design.caution.lower()
    )


def test_both_sides_are_of_the_study_that_is_asked_for():
    rows = [row(run, 1, 1.0) for run in ("a", "b")]
    assert sides_of(Recorded(*rows), "a", "b", study="s").pairs()[0]
    for find in (
        lambda: sides_of(Recorded(*rows), "a", "b", study="t"),
        lambda: arms_of(Recorded(*rows), "a", study="t"),
    ):
        with pytest.raises(SpecError, match="There is no run 'a'"):
            find()


def test_as_many_runs_on_both_sides_are_turns_in_the_order_in_which_they_are_named():
    rows = [row("a1", 1, 1.0), row("a1", 2, 2.0), row("a2", 1, 3.0), row("b1", 1, 5.0), row("b2", 1, 7.0)]
    sides = sides_of(Recorded(*rows), "a2,a1", "b2,b1")
    assert (sides.design.units, sides.design.matched, sides.design.caution) == ("turns", True, None)
    pair = pair_of(sides)
    assert (pair.before, pair.after, pair.matched) == ([[3.0], [1.0, 2.0]], [[7.0], [5.0]], True)


def test_a_turn_that_one_side_failed_at_is_excluded():
    rows = [row(f"{side}{n}", 1, n + 1.0) for side in "ab" for n in range(3)]
    rows[4]["status"] = "failed"  # b1
    pair = pair_of(sides_of(Recorded(*rows), "a0,a1,a2", "b0,b1,b2"))
    assert (pair.before, pair.after) == ([[1.0], [3.0]], [[1.0], [3.0]])
    rows[0]["status"] = rows[5]["status"] = "failed"  # a0, b2
    _, without = sides_of(Recorded(*rows), "a0,a1,a2", "b0,b1,b2").pairs()
    assert list(without.values()) == ["none of the turns has both A and B verified"]


def test_another_number_of_runs_is_compared_run_by_run_unmatched():
    rows = [row(run, repeat, float(repeat)) for run in ("a1", "a2", "a3", "b1", "b2") for repeat in (1, 2)]
    sides = sides_of(Recorded(*rows), "a1,a2,a3", "b1,b2")
    assert (sides.design.units, sides.design.matched) == ("runs", False)
    assert (len(pair_of(sides).before), len(pair_of(sides).after)) == (3, 2)


def test_the_arms_of_one_run_are_matched_by_round():
    rows = [row("a", repeat, float(repeat), arm="BA"[repeat % 2]) for repeat in (4, 1, 2, 3)]
    for arm in ("kept", None):  # without arms: its odd repeats and its even ones
        asked = [{**one, "arm": one["arm"] and arm and one["arm"]} for one in rows]
        sides = arms_of(Recorded(*asked), "a")
        assert (sides.design.units, sides.design.matched) == ("rounds", True)
        assert (pair_of(sides).before, pair_of(sides).after) == ([[1.0], [3.0]], [[2.0], [4.0]])
    with pytest.raises(SpecError, match="one run"):
        compare_arms(Recorded(*rows, row("b", 1, 1.0)), "a,b")


def cell_rows(runs, seconds=(1.0, 2.0), repeats=(1, 2)):
    return [
        row(run, repeat, seconds[CELLS.index(cell)] + n / 10 + repeat / 100, cell)
        for n, (run, cells) in enumerate(runs.items())
        for cell in cells
        for repeat in repeats
    ]


def test_the_whole_ids_of_several_runs_are_no_cell():
    rows = [row(f"s/{run}", 1, 1.0) for run in ("a1", "a2", "a3", "b1", "b2", "b3")]
    sides = sides_of(Recorded(*rows), "s/a1,s/a2,s/a3", "s/b1,s/b2,s/b3")
    assert (sides.design.units, sides.before.is_cell) == ("turns", False)


def test_two_cells_are_matched_by_the_runs_that_have_both():
    rows = cell_rows({"one": CELLS, "two": CELLS, "three": CELLS[:1]})
    sides = sides_of(Recorded(*rows), *CELLS)
    assert (sides.design.units, sides.design.matched) == ("runs", True)
    assert [len(pair_of(sides).before), len(pair_of(sides).after)] == [2, 2]


def test_two_cells_of_one_run_are_matched_by_its_rounds():
    sides = sides_of(Recorded(*cell_rows({"one": CELLS})), *CELLS)
    assert (sides.design.units, sides.design.matched, sides.design.caution) == ("rounds", True, None)


def test_two_cells_of_other_runs_are_compared_run_by_run():
    rows = cell_rows({"one": CELLS[:1], "two": CELLS[:1], "three": CELLS[1:], "four": CELLS[1:]})
    sides = sides_of(Recorded(*rows), *CELLS)
    assert (sides.design.units, sides.design.matched) == ("runs", False)
    single = sides_of(Recorded(*cell_rows({"one": CELLS[:1], "two": CELLS[1:]})), *CELLS)
    assert single.design.units == "repeats" and single.design.caution


def test_turns_find_what_the_drift_hides():
    found = compare(Recorded(*turns(5)), "a0,a1,a2,a3,a4", "b0,b1,b2,b3,b4")
    (verdict,) = found.verdicts.values()
    assert (verdict.label, verdict.n_before, verdict.units_before) == ("worse", 10, 5)
    assert (found.design.units, found.design.matched, found.design.caution) == ("turns", True, None)


def single_runs(slowdown, noise=0.01, repeats=5):
    return [
        row(run, repeat, factor * (1 + noise * (repeat % 4)))
        for run, factor in (("a", 1), ("b", slowdown))
        for repeat in range(1, repeats + 1)
    ]


@pytest.mark.parametrize(
    ("slowdown", "noise", "repeats", "code", "said"),
    [
        (1.0, 0.01, 5, 0, None),
        (1.3, 0.01, 5, 1, "1 operations are slower by more than 10 %"),
        (1.0, 0.3, 5, 6, "could hide a change for the worse of 10 %: write s/null"),
        (1.08, 0.02, 5, 6, "B may be slower by up to 1"),
        (1.3, 0.01, 4, 6, "too few repeats (A has 4, B 4; 5 at least)"),
        (1.0, 0.01, 1, 6, "too few repeats"),
    ],
)
def test_no_green_without_evidence(slowdown, noise, repeats, code, said):
    found = compare(Recorded(*single_runs(slowdown, noise, repeats)), "a", "b")
    found_code, lines = exit_code(found, 0.1, single_runs=True)
    assert found_code == code
    assert said is None if not lines else said in lines[0]
    assert bool(lines) == bool(code)


def gate(*rows, **recorded):
    """Return the exit code and messages of a comparison of the single runs a and b with --single-runs."""
    return exit_code(compare(Recorded(*rows, **recorded), "a", "b"), 0.1, single_runs=True)


@pytest.mark.parametrize(("slowdown", "code", "more"), [(1.0, 0, 0), (1.3, 1, 1)])
def test_a_gate_between_single_runs_cannot_tell_unless_one_says_that_one_knows(slowdown, code, more):
    found = compare(Recorded(*single_runs(slowdown)), "a", "b")
    refused, lines = exit_code(found, 0.1)
    assert refused == 6 and len(lines) == 1 + more
    assert "a drift of the machine" in lines[0] and "--single-runs" in lines[0]
    assert exit_code(found, 0.1, single_runs=True)[0] == code
    sides = (",".join(f"{side}{n}" for n in range(5)) for side in "ab")
    in_turns = compare(Recorded(*turns(5, slowdown=slowdown)), *sides)
    assert exit_code(in_turns, 0.1)[0] == code, "turns need no such word"


def test_what_b_failed_at_or_lacks_could_hide_everything_and_what_a_lacks_nothing():
    rows = single_runs(1.0)
    tried = [row("a", 1, 1.0, CELLS[1]), row("b", 1, None, CELLS[1], status="failed")]
    code, (line,) = gate(*rows, *tried)
    assert code == 6 and "B has no verified attempt" in line
    code, (line,) = gate(*rows, tried[0])
    assert code == 6 and line.endswith(f"write {CELLS[1]}: B has none")
    assert gate(*rows, row("b", 1, 1.0, CELLS[1])) == (0, [])
    nothing = [row("a", 1, 1.0), row("b", 1, 1.0, CELLS[1])]
    code, lines = gate(*nothing)
    assert code == 6 and lines[-1] == "nothing could be compared"


def gap(repeat, cell=CELLS[0], **others):
    return {"cell_key": cell, "operation": "write", "repeat": repeat, "arm": None, **others}


def test_a_run_that_goes_on_has_shown_nothing_yet():
    """Neither of the cell that is half done, nor of the one that neither side has tried."""
    rows = single_runs(1.0)
    assert gate(*rows) == (0, [])
    to_come = {"b": [gap(0), gap(6), gap(7), gap(1, CELLS[1])]}  # of which the first is a warm-up
    found = compare(Recorded(*rows, to_come=to_come), "a", "b")
    code, lines = exit_code(found, 0.1, single_runs=True)
    assert (
        code,
        [line.removeprefix("could hide a change for the worse of 10 %: write ") for line in lines],
    ) == (
        6,
        [
            f"{CELLS[0]}: B: 2 to come, in a run that goes on",
            f"{CELLS[1]}: B: 1 to come, in a run that goes on",
            "the run b still goes on: compare again when it has ended (`storebench runs` says if it was stopped)",
        ],
    )
    assert found.remarks[CELLS[0], "write"] == ["B: 2 to come, in a run that goes on"]
    assert found.without == {(CELLS[1], "write"): "A has none, B has none"}
    assert found.going_on == ("b",)
    assert gate(*rows, to_come={"a": []})[0] == 6, "it was started again"
    of_all = compare(Recorded(*rows, to_come=to_come), "a", "b", metric="only_s")
    assert of_all.to_come == found.to_come
    others = {"b": [gap(6, operation="read"), gap(7, operation="unheard of")]}
    of_one = compare(Recorded(*rows, to_come=others), "a", "b", metric="only_s")
    assert list(of_one.to_come) == [(CELLS[0], "read")], "what does not report the metric is not to come"


def test_attempts_that_were_ranked_by_different_metrics_are_compared_only_by_one_that_is_named():
    metrics = {"only_s": 1.0, "source_s": 2.0}
    before = [row("a", repeat, 1.0, metrics=metrics) for repeat in range(1, 7)]
    after = [row("b", repeat, 1.0, metrics=metrics, metric="source_s") for repeat in range(1, 7)]
    found = compare(Recorded(*before, *after), "a", "b")
    reason = "its attempts are ranked by only_s and source_s: compare by one of them"
    assert found.without == {(CELLS[0], "write"): reason} and found.verdicts == {}
    assert exit_code(found, 0.1, single_runs=True)[0] == 6
    assert list(compare(Recorded(*before, *after), "a", "b", metric="only_s").verdicts) == [
        (CELLS[0], "write")
    ]


def test_of_cells_and_arms_only_what_is_theirs_is_to_come():
    rows = cell_rows({"one": CELLS, "two": CELLS})
    other = "s/null/reference/batch=30/rows=1/seed=1"
    found = compare(Recorded(*rows, to_come={"two": [gap(3, other)]}), *CELLS)
    assert (found.to_come, found.going_on) == ({}, ())
    found = compare(Recorded(*rows, to_come={"two": [gap(3, CELLS[1])]}), *CELLS)
    assert found.to_come == {("", "write"): ["B: 1 to come, in a run that goes on"]}
    assert found.going_on == ("two",)
    arms = [row("a", repeat, 1.0, arm="BA"[repeat % 2]) for repeat in (1, 2, 3)]
    found = compare_arms(Recorded(*arms, to_come={"a": [gap(4, arm="B")]}), "a")
    assert found.to_come == {(CELLS[0], "write"): ["B: 1 to come, in a run that goes on"]}
    assert found.going_on == ("a",)


def in_rates(rows):
    """Return the attempts with rates per second instead of seconds."""
    return [
        {**row, "metric": "rows_per_s", "metrics": {"rows_per_s": 1000 / row["metrics"]["only_s"]}}
        for row in rows
    ]


@pytest.mark.parametrize(
    ("slowdown", "noise", "repeats", "code", "said"),
    [
        (1.0, 0.01, 5, 0, None),
        (0.7, 0.01, 5, 0, None),
        (1.3, 0.01, 5, 1, "1 operations are worse by more than 10 %"),
        (1.0, 0.3, 5, 6, "B may be worse by up to"),
        (1.0, 0.01, 1, 6, "too few repeats"),
    ],
)
def test_of_a_rate_less_is_worse(slowdown, noise, repeats, code, said):
    """And a drop is as bad as the slowdown that it comes from: half the rate is worse by 100 %."""
    times = single_runs(slowdown, noise, repeats)
    found, same = (compare(Recorded(*rows), "a", "b") for rows in (in_rates(times), times))
    found_code, lines = exit_code(found, 0.1, single_runs=True)
    assert found_code == code == exit_code(same, 0.1, single_runs=True)[0]
    assert said is None if not lines else said in lines[0]
    (rate,), (seconds,) = found.verdicts.values(), same.verdicts.values()
    assert rate.worse_by == pytest.approx(seconds.worse_by)
    assert rate.worse_by_at_most == (
        None if seconds.worse_by_at_most is None else pytest.approx(seconds.worse_by_at_most)
    )


def test_a_rate_that_rises_is_better_and_one_that_falls_is_worse():
    falls, rises = (compare(Recorded(*in_rates(single_runs(s))), "a", "b") for s in (1.5, 0.5))
    assert [verdict.label for verdict in falls.verdicts.values()] == ["worse"]
    assert [verdict.label for verdict in rises.verdicts.values()] == ["better"]
    (key,) = falls.verdicts
    assert list(falls.regressions(0.1)) == [key] and rises.regressions(0.1) == {}
    assert falls.regressions(0.6) == {}, "the same work takes half as long again"
    assert list(falls.could_hide(0.1)) == [key] and rises.could_hide(0.1) == {}


def test_where_neither_way_is_better_nothing_is_worse_and_nothing_hidden():
    neither = [
        {**row, "metric": "source_s", "metrics": {"source_s": row["metrics"]["only_s"]}}
        for row in single_runs(1.5)
    ]
    found = compare(Recorded(*neither), "a", "b")
    assert [verdict.label for verdict in found.verdicts.values()] == ["higher"]
    assert found.regressions(0.1) == {} == found.could_hide(0.1)
    assert exit_code(found, 0.1, single_runs=True) == (0, [])


def test_what_failed_before_it_reported_anything_does_not_count():
    rows = in_rates(single_runs(1.5, repeats=6))
    rows[0] |= {"status": "failed", "metrics": {}}
    (verdict,) = compare(Recorded(*rows), "a", "b").verdicts.values()
    assert (verdict.label, verdict.n_before) == ("worse", 5)


def test_a_metric_that_the_study_has_not_is_refused_with_those_that_it_has():
    with pytest.raises(SpecError, match=r"Unknown metric 'puts_per_s'.*rows_per_s"):
        compare(Recorded(*single_runs(1.0)), "a", "b", metric="puts_per_s")


def test_another_metric_takes_the_place_of_the_one_that_ranks_the_operation():
    rows = [{**row, "work_total_s": 10.0 + row["repeat"] / 100} for row in single_runs(1.5)]
    assert [verdict.label for verdict in compare(Recorded(*rows), "a", "b").verdicts.values()] == ["worse"]
    for found in (
        compare(Recorded(*rows), "a", "b", metric="work_total_s"),
        compare_arms(Recorded(*rows), "a", metric="work_total_s"),
    ):
        (verdict,) = found.verdicts.values()
        assert verdict.label != "worse" and verdict.median_before == pytest.approx(10.03, abs=0.02)
    memory = [{**row, "all_memory_working_set_peak_bytes": 100 * row["metrics"]["only_s"]} for row in rows]
    found = compare(Recorded(*memory), "a", "b", metric="all_memory_working_set_peak_bytes")
    assert [verdict.label for verdict in found.verdicts.values()] == ["worse"]


def test_what_failed_before_it_had_the_metric_could_hide_everything():
    rows = [{**row, "all_cpu_s": row["metrics"]["only_s"]} for row in single_runs(1.0)]
    for lost in rows[5:]:
        lost |= {"status": "failed", "all_cpu_s": None}
    found = compare(Recorded(*rows), "a", "b", metric="all_cpu_s")
    code, lines = exit_code(found, 0.1, single_runs=True)
    assert code == 6 and "B has no verified attempt" in lines[0]


def test_a_plan_is_made_from_the_noise_within_a_run_between_runs_or_of_turns():
    rows = turns(5, repeats=4, noise=0.03)
    within = plan_repeats(Recorded(*rows), "a0", None, difference=0.2)
    between = plan_repeats(Recorded(*rows), "a0,a1,a2,a3,a4", None, difference=0.2)
    of_turns = plan_repeats(
        Recorded(*rows), "a0,a1,a2,a3,a4", "b0,b1,b2,b3,b4", difference=0.2, pairs=within.pairs
    )
    assert (within.units, between.units, of_turns.units) == ("repeats", "runs", "turns")
    assert within.caution and not between.caution and not of_turns.caution
    assert of_turns.units_needed <= within.units_needed < between.units_needed, "the machine drifts"
    assert plan_repeats(Recorded(*rows), "a0", None, difference=0.1).units_needed > within.units_needed
    assert (
        plan_repeats(Recorded(*rows), "a0", None, difference=0.2, pairs=500).units_needed
        > within.units_needed
    )


def test_a_plan_is_for_the_metric_that_is_asked_for():
    rows = [
        row("a", repeat, 1 + repeat / 100, metrics={"only_s": 1 + repeat / 100, "rows_per_s": 50.0 * repeat})
        for repeat in (1, 2, 3, 4)
    ]
    ranking, rate = (
        plan_repeats(Recorded(*rows), "a", None, difference=0.2, metric=metric)
        for metric in (None, "rows_per_s")
    )
    assert [one.metric for plan in (ranking, rate) for one in plan.cells] == ["only_s", "rows_per_s"]
    assert rate.cells[0].noise > 10 * ranking.cells[0].noise and rate.units_needed > ranking.units_needed
    with pytest.raises(SpecError, match="Unknown metric 'rows'"):
        plan_repeats(Recorded(*rows), "a", None, difference=0.2, metric="rows")


def test_a_plan_is_for_the_noisiest_cell_and_says_what_it_does_not_know():
    noisy = [row("a", repeat, 1 + repeat / 5, CELLS[1]) for repeat in (1, 2, 3)]
    once = row("a", 1, 1.0, CELLS[1], operation="read")
    plan = plan_repeats(Recorded(*single_runs(1.0), *noisy, once), "a", None, difference=0.2)
    assert [one.units_needed for one in plan.cells] == [plan.cells[0].units_needed, plan.units_needed, None]
    assert plan.cells[0].units_needed < plan.units_needed and plan.cells[2].noise is None
    text = plan_text(plan)
    assert text.startswith(
        f"{plan.units_needed} repeats on each side tell a difference of 20 % with a chance of 90%"
    )
    assert "among 3 pairs" in text and text.endswith("the noise of 1 operations is not known")
    answer = plan_answer(plan)
    assert (answer.units_needed, answer.difference_percent, answer.margin_percent) == (
        plan.units_needed,
        20,
        5,
    )
    assert [one.units_needed for one in answer.operations] == [one.units_needed for one in plan.cells]
    assert [one.cell_key for one in answer.operations] == [one.cell for one in plan.cells]


def test_a_plan_without_noise_or_for_less_than_the_margin_is_refused():
    with pytest.raises(SpecError, match="noise is unknown"):
        plan_repeats(Recorded(row("a", 1, 1.0)), "a", None, difference=0.2)
    with pytest.raises(SpecError, match="A difference of 5 % does not count with a margin of 5 %"):
        plan_repeats(Recorded(*single_runs(1.0)), "a", None, difference=0.05)
