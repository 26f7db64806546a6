"""Runs that would decide an open comparison, and comparisons that no run can decide."""

import re

import pytest

from storebench.results.comparison.compare import compare, compare_values
from storebench.results.comparison.deciding import BOTH, MOST, deciding
from storebench.results.comparison.sides import By
from tests.unit.results.test_sides import CELLS, Recorded, row

CODE = "0.1.0+g1"
PARAMS = {
    "rows": 1,
    "seed": 1,
    "stores": ["null", "mongodb"],
    "pod_memory": "8Gi",
    "repeats": 10,
    "a_a": True,
}
LARGE, SMALL = ({**PARAMS, "pod_memory": size} for size in ("8Gi", "2Gi"))
NOISY = (1.0, 1.05, 0.96, 1.02, 1.0, 1.07, 0.94)


def side(run, values=NOISY, cell=CELLS[0], **others):
    found = {"code_version": CODE, "environment_hash": "e", "parameters_hash": "p", **others}
    return [row(run, repeat, value, cell, **found) for repeat, value in enumerate(values, 1)]


def decided(before, after, params=(LARGE, SMALL), code=CODE):
    found = compare(Recorded(*before, *after), "a", "b")
    return deciding(found, ([{"params": params[0]}], [{"params": params[1]}]), code, by_value=False)


def test_two_runs_that_parameters_tell_apart_are_measured_in_turns_as_often_as_would_do():
    found = decided(side("a"), side("b", parameters_hash="q"))
    assert found.refused is None and found.pairs == 1
    assert 7 < found.turns < MOST, "as many as the verdict's reason says"
    assert [part.side for part in found.parts] == ["A", "B"]
    assert [part.params["pod_memory"] for part in found.parts] == ["8Gi", "2Gi"]
    for part in found.parts:
        asked = {name: part.params[name] for name in ("stores", "clients", "batch", "rows", "seed")}
        assert asked == {"stores": ["null"], "clients": ["reference"], "batch": ["10"], "rows": 1, "seed": 1}
        once = {name: part.params[name] for name in ("repeats", "a_a", "skip_done", "precision_percent")}
        assert once == {"repeats": 1, "a_a": False, "skip_done": False, "precision_percent": None}


def test_the_turns_are_those_that_the_reason_of_the_verdict_names():
    before, after = side("a"), side("b", parameters_hash="q")
    (verdict,) = compare(Recorded(*before, *after), "a", "b").verdicts.values()
    assert verdict.enough == decided(before, after).turns
    assert f"about {verdict.enough:,} repeats would do" in verdict.reason


def test_only_what_cannot_be_told_is_measured():
    clear = [*side("a", [1.0] * 6, CELLS[1]), *side("b", [2.0, 2.1] * 3, CELLS[1], parameters_hash="q")]
    found = decided([*side("a"), *clear[:6]], [*side("b", parameters_hash="q"), *clear[6:]])
    assert found.pairs == 1
    assert found.parts[0].params["batch"] == ["10"]


def test_where_the_noise_is_not_known_the_least_number_of_turns_is_a_beginning():
    found = decided(side("a", [1.0]), side("b", [1.1], parameters_hash="q"))
    assert found.turns == 5 and "the least that can decide" in found.notes[0]


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ({"code_version": "0.1.0+g0"}, {"parameters_hash": "q"}, "so A cannot be measured any more"),
        (
            {"code_version": "0.1.0+g0"},
            {"code_version": "0.0.9"},
            r"A by 0.1.0\+g0, B by 0.0.9. A run measures only the present code, 0.1.0\+g1: so A and B cannot",
        ),
        ({"environment_hash": "other"}, {}, "A run has only the present environment"),
        ({}, {}, "differ in nothing that a run could make differ"),
    ],
)
def test_what_cannot_be_measured_any_more_is_said(before, after, words):
    found = decided(side("a", **before), side("b", **after))
    assert found.parts == () and found.turns > 0
    assert re.search(words, found.refused), found.refused


def test_sides_of_one_older_code_can_be_measured_by_the_present_one_which_is_said():
    found = decided(side("a"), side("b", parameters_hash="q"), code="0.2.0")
    assert found.refused is None and len(found.parts) == 2
    assert found.notes == [
        f"These were measured by the code {CODE}. Both sides will be measured by the present one, 0.2.0"
    ]
    other = decided(side("a"), side("b", parameters_hash="q", environment_hash="other"))
    assert "and is no parameter, will not differ" in other.notes[0]


def test_two_values_of_a_run_are_measured_in_the_rounds_of_one_run():
    rows = [*side("a"), *side("a", [1.04, 1.0, 1.06, 0.95, 1.03, 1.0, 1.02], CELLS[1])]
    found = compare_values(Recorded(*rows), "a", By.of("batch=10,20"))
    what = deciding(found, ([{"params": PARAMS}], [{"params": PARAMS}]), "0.2.0", by_value=True)
    (part,) = what.parts
    assert part.side == BOTH and part.params["batch"] == ["10", "20"]
    assert part.params["repeats"] == what.turns == max(v.enough for v in found.verdicts.values())
    assert "by the present one, 0.2.0" in what.notes[0]


def test_what_no_number_of_turns_would_tell_is_hopeless():
    found = decided(side("a", [0.0] * 6), side("b", [1.0] * 6, parameters_hash="q"))
    assert (found.refused, found.parts) == ("More repeats would not decide any verdict", ())
    assert "cannot be compared by their ratio" in found.hopeless[0]


def test_what_could_be_told_needs_nothing():
    found = decided(side("a", [1.0, 1.01] * 3), side("b", [2.0, 2.01] * 3, parameters_hash="q"))
    assert (found.pairs, found.refused) == (0, "No verdict is undecided")


def test_there_are_no_more_turns_than_a_run_can_have_repeats():
    wild = [1.0, 3.0, 0.4, 2.0, 0.5, 1.5, 4.0, 0.3]
    found = decided(side("a", wild), side("b", [1.1 * value for value in wild], parameters_hash="q"))
    assert found.turns in (0, MOST) and (found.hopeless or "the most" in found.notes[0])
