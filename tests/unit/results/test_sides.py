"""What counts as one unit of a side, and what a comparison, its exit code and a plan make of it."""

import json

import pytest

from storebench.errors import SpecError
from storebench.results.compare import compare, compare_arms
from storebench.results.repeats import plan_json, plan_repeats, plan_text
from storebench.results.sides import arms_of, sides_of
from storebench.results.verdicts import as_json, exit_code

CELLS = tuple(f"s/null/reference/batch={size}/rows=1/seed=1" for size in (10, 20))


def row(run, repeat, seconds, cell=CELLS[0], **others):
    return {
        "run_id": run,
        "cell_key": cell,
        "store": "null",
        "operation": "write",
        "repeat": repeat,
        "arm": None,
        "status": "verified",
        "write_only_s": seconds,
        "client_bound": False,
        "method_version": 2,
        "code_version": "1",
        "environment_hash": None,
        "disturbed": None,
        "delivers": None,
        "durability": None,
        "durability_stated": None,
        "parameters": None,
        **others,
    }


class Recorded:
    """As `Queries`, with these rows."""

    def __init__(self, *rows):
        self.rows = rows

    def run_named(self, name):
        if name not in {row["run_id"] for row in self.rows}:
            raise SpecError(f"There is no run {name!r}")
        return {"id": name}

    def attempts_of_run(self, run):
        return [row for row in self.rows if row["run_id"] == run]

    def attempts_of_cells(self, keys):
        return [row for row in self.rows if row["cell_key"] in keys]

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


def test_repeats_count_alone_where_each_side_has_one_run_and_a_drift_is_pointed_out():
    rows = [row(run, repeat, float(repeat)) for run in ("a", "b") for repeat in (1, 2, 3)]
    sides = sides_of(Recorded(*rows), "a", "b")
    assert (sides.design.units, sides.design.matched) == ("repeats", False)
    assert pair_of(sides).before == [[1.0], [2.0], [3.0]]
    assert "a drift of the machine between the two runs cannot be told" in sides.design.caution.lower()


def test_as_many_runs_on_both_sides_are_turns_in_the_order_in_which_they_are_named():
    rows = [row("a1", 1, 1.0), row("a1", 2, 2.0), row("a2", 1, 3.0), row("b1", 1, 5.0), row("b2", 1, 7.0)]
    sides = sides_of(Recorded(*rows), "a2,a1", "b2,b1")
    assert (sides.design.units, sides.design.matched, sides.design.caution) == ("turns", True, None)
    pair = pair_of(sides)
    assert (pair.before, pair.after, pair.matched) == ([[3.0], [1.0, 2.0]], [[7.0], [5.0]], True)


def test_a_turn_that_one_side_failed_at_is_left_out():
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
    found = compare(Recorded(*turns(4)), "a0,a1,a2,a3", "b0,b1,b2,b3")
    (verdict,) = found.verdicts.values()
    assert (verdict.label, verdict.n_before, verdict.units_before) == ("slower", 8, 4)
    said = json.loads(as_json(found))
    assert (said["units"], said["matched"], said["caution"]) == ("turns", True, None)


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
        (1.0, 0.3, 5, 6, "could hide a slowdown of 10 %: write s/null"),
        (1.08, 0.01, 3, 6, "B may be slower by up to 1"),
        (1.0, 0.01, 1, 6, "too few repeats"),
    ],
)
def test_no_green_without_evidence(slowdown, noise, repeats, code, said):
    found = compare(Recorded(*single_runs(slowdown, noise, repeats)), "a", "b")
    found_code, lines = exit_code(found, 0.1)
    assert found_code == code
    assert said is None if not lines else said in lines[0]
    assert bool(lines) == bool(code)


def test_what_one_side_failed_at_could_hide_everything_and_what_it_never_tried_nothing():
    rows = single_runs(1.0)
    tried = [row("a", 1, 1.0, CELLS[1]), row("b", 1, None, CELLS[1], status="failed")]
    code, (line,) = exit_code(compare(Recorded(*rows, *tried), "a", "b"), 0.1)
    assert code == 6 and "B has no verified attempt" in line
    assert exit_code(compare(Recorded(*rows, tried[0]), "a", "b"), 0.1) == (0, [])
    nothing = [row("a", 1, 1.0), row("b", 1, 1.0, CELLS[1])]
    assert exit_code(compare(Recorded(*nothing), "a", "b"), 0.1) == (6, ["nothing could be compared"])


def test_a_plan_is_made_from_the_noise_within_a_run_between_runs_or_of_turns():
    rows = turns(5, repeats=4, noise=0.03)
    within = plan_repeats(Recorded(*rows), "a0", None, difference=0.2)
    between = plan_repeats(Recorded(*rows), "a0,a1,a2,a3,a4", None, difference=0.2)
    of_turns = plan_repeats(
        Recorded(*rows), "a0,a1,a2,a3,a4", "b0,b1,b2,b3,b4", difference=0.2, pairs=within.pairs
    )
    assert (within.units, between.units, of_turns.units) == ("repeats", "runs", "turns")
    assert within.caution and not between.caution and not of_turns.caution
    assert of_turns.needed <= within.needed < between.needed, "the machine drifts"
    assert plan_repeats(Recorded(*rows), "a0", None, difference=0.1).needed > within.needed
    assert plan_repeats(Recorded(*rows), "a0", None, difference=0.2, pairs=500).needed > within.needed


def test_a_plan_is_for_the_noisiest_cell_and_says_what_it_does_not_know():
    noisy = [row("a", repeat, 1 + repeat / 5, CELLS[1]) for repeat in (1, 2, 3)]
    once = row("a", 1, 1.0, CELLS[1], operation="read", read_only_s=1.0)
    plan = plan_repeats(Recorded(*single_runs(1.0), *noisy, once), "a", None, difference=0.2)
    assert [one.needed for one in plan.cells] == [plan.cells[0].needed, plan.needed, None]
    assert plan.cells[0].needed < plan.needed and plan.cells[2].noise is None
    text = plan_text(plan)
    assert text.startswith(f"{plan.needed} repeats on each side tell a slowdown of 20 % with a chance of 90%")
    assert "among 3 pairs" in text and text.endswith("the noise of 1 operations is not known")
    assert json.loads(plan_json(plan))["needed"] == plan.needed


def test_a_plan_without_noise_or_for_less_than_the_margin_is_refused():
    with pytest.raises(SpecError, match="noise is not known"):
        plan_repeats(Recorded(row("a", 1, 1.0)), "a", None, difference=0.2)
    with pytest.raises(SpecError, match="A difference of 5 % does not count with a margin of 5 %"):
        plan_repeats(Recorded(*single_runs(1.0)), "a", None, difference=0.05)
