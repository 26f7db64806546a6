"""Two values of one run as the sides of a comparison, and runs in turns by one name."""

import pytest

from storebench.errors import SpecError
from storebench.results.comparison.compare import compare, compare_values
from storebench.results.comparison.sides import By, sides_of, values_of
from storebench.results.database.runs import Runs, Turns, in_turns
from tests.unit.results.test_sides import Recorded, row

REPEATS = range(1, 7)


def key(store="null", client="reference", batch="10"):
    return f"s/{store}/{client}/batch={batch}/rows=1/seed=1"


def rows(values, run="a"):
    """Return rows of each cell of a run. Each repeat is one percent slower than the previous repeat."""
    return [
        row(run, repeat, seconds * (1 + repeat / 100), cell, store=cell.split("/")[1])
        for cell, seconds in values.items()
        for repeat in REPEATS
    ]


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("store=null,mongodb", (key(), key(store="mongodb"))),
        ("client=reference,tuned", (key(), key(client="tuned"))),
        ("batch=10,20", (key(), key(batch="20"))),
    ],
)
def test_two_values_of_a_run_are_its_sides_round_by_round_whatever_tells_them_apart(text, cells):
    before, after = cells
    other = key(client="other", batch="30")
    found = compare_values(Recorded(*rows({before: 1.0, after: 2.0, other: 9.0})), "a", By.of(text))
    ((pair, verdict),) = found.verdicts.items()
    assert pair == (before, "write"), "A's cell stands for both"
    assert (verdict.label, verdict.ratio) == ("worse", pytest.approx(2))
    assert (found.design.units, found.design.matched, found.design.caution) == ("rounds", True, None)


def test_a_cell_that_has_no_counterpart_is_named():
    read = Recorded(*rows({key(): 1.0, key(batch="20"): 1.0, key(store="mongodb"): 1.0}))
    found = compare_values(read, "a", By.of("store=null,mongodb"))
    assert found.without == {(key(batch="20"), "write"): "B has none"}


def test_values_of_several_runs_are_matched_run_by_run():
    read = Recorded(*(one for run in "abcde" for one in rows({key(): 1.0, key(batch="20"): 1.1}, run)))
    sides = values_of(read, "a,b,c,d,e", By.of("batch=10,20"))
    assert (sides.design.units, sides.design.matched) == ("runs", True)


def test_what_a_run_that_goes_on_has_still_to_try_is_told_for_each_value():
    read = Recorded(*rows({key(): 1.0, key(batch="20"): 2.0}))
    read.to_come = {"a": [{"cell_key": key(batch="20"), "operation": "write", "repeat": 7}]}
    found = compare_values(read, "a", By.of("batch=10,20"))
    assert found.to_come == {(key(), "write"): ["B: 1 to come, in a run that goes on"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("store", "does not name two values"),
        ("store=a", "does not name two values"),
        ("store=a,b,c", "does not name two values"),
        ("store=a,a", "does not name two values"),
        ("store=null,mongo", "Unknown store 'mongo'. Did you mean mongodb"),
        ("size=1,2", "Unknown size '1'. There is none"),
    ],
)
def test_values_that_there_are_not_are_refused(text, words):
    read = Recorded(*rows({key(): 1.0, key(store="mongodb"): 1.0}))
    with pytest.raises(SpecError, match=words):
        compare_values(read, "a", By.of(text))


def test_a_cell_has_no_values():
    with pytest.raises(SpecError, match="name a run"):
        values_of(Recorded(*rows({key(): 1.0})), key(), By.of("batch=10,20"))


class InTurns(Recorded):
    """Records of runs with the page's names."""

    runs_of_turns = Runs.runs_of_turns

    def _runs_where(self, condition, study=None, prefix=""):
        runs = dict.fromkeys(row["run_id"] for row in self.rows)
        return [self.run_named(run) for run in runs if run.startswith(prefix)]


def name(turn, side, made="2026-11-25"):
    return f"turns__{made}__{turn:03}{side}"


def test_runs_in_turns_are_two_sides_by_their_names():
    read = InTurns(
        *(one for n in range(1, 6) for side in "BA" for one in rows({key(): 1.0}, name(n, side))),
        *rows({key(): 9.0}, name(6, "A")),  # the other side of it has not begun
        *rows({key(): 9.0}, name(1, "B", "2026-11-26")),
    )
    sides = sides_of(read, "turns:2026-11-25:A", "turns:2026-11-25:B")
    assert sides.before.runs == tuple(name(n, "A") for n in range(1, 6))
    assert sides.after.runs == tuple(name(n, "B") for n in range(1, 6))
    assert (sides.design.units, sides.design.matched, sides.design.caution) == ("turns", True, None)
    found = compare(read, "turns:2026-11-25:A", "turns:2026-11-25:B")
    assert [verdict.label for verdict in found.verdicts.values()] == ["the same"]


def test_turns_of_which_none_has_begun_or_that_are_no_name_say_so():
    with pytest.raises(SpecError, match="No run of the turns 1 has begun on both sides yet"):
        sides_of(InTurns(*rows({key(): 1.0}, name(1, "A", "1"))), "turns:1:A", "turns:1:B")
    for text in ("turns:1", "turns:1:C", "turns:%:A", "turns::A"):
        with pytest.raises(SpecError, match="is no side of runs in turns"):
            Turns.named(text)
    assert in_turns("turns:1:A") and not in_turns("s/turns__1__001A")
