"""The printed output of a comparison."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from storebench.answers.comparisons import comparison_answer
from storebench.cli.output.comparison import exit_code, print_comparison
from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.units import Design
from storebench.results.statistics import power
from storebench.results.statistics.verdicts import Pair, verdicts_of
from tests.unit.example import cell

KEY = (cell().key, "write")
from storebench.study.cell import Cell


class NothingElse:
    """A stand-in for `Queries` without machines and runs."""

    def machines(self, rows):
        return {}

    def runs_counted(self, ids):
        return []

    def operations_of_runs(self, ids):
        return set()

    def axes_of(self, keys):
        return {key: dict(Cell.from_key(key).axes) for key in keys}


@pytest.fixture
def without_a_ratio():
    """Return verdicts of a figure that is 0 on both sides."""
    found = verdicts_of({KEY: Pair([[0.0]] * 5, [[0.0]] * 5)})
    return Comparison(
        power.explained(found, units="repeats", margin=0.05),
        {},
        {KEY: []},
        [],
        Design("repeats", (str, str)),
        frozenset(),
        {KEY: {"metric": "barrier_s", "unit": "s"}},
        {},
        (),
        ({}, {}),
        {KEY: (KEY[0], KEY[0])},
        ((), ()),
        0.05,
    )


def test_sides_share_a_unit_and_small_ratios_and_chances_keep_their_digits(without_a_ratio):
    found = verdicts_of(
        {KEY: Pair([[1e-3 + n * 1e-6] for n in range(9)], [[4e-6 + n * 1e-9] for n in range(9)])}
    )
    console = Console(width=280, file=io.StringIO())
    print_comparison(console, replace(without_a_ratio, verdicts=found), {}, noise=False)
    text = console.file.getvalue()
    for words in ("1.00 ms", "0.00400 ms", "0.00399", "< 0.0001"):
        assert words in text


def test_figures_that_have_no_ratio_cannot_be_told_apart_and_are_never_shown_to_be_no_worse(without_a_ratio):
    console = Console(width=280, file=io.StringIO())
    print_comparison(console, without_a_ratio, {}, noise=True)
    text = console.file.getvalue()
    assert "cannot tell" in text and power.NO_RATIO in text and "noise floor" not in text
    answer = comparison_answer(NothingElse(), without_a_ratio)
    (told,) = answer.verdicts
    assert (told.verdict, told.ratio, told.reason) == ("cannot tell", None, power.NO_RATIO)
    assert (told.cell_key, told.cell_key_after, answer.margin_percent) == (KEY[0], KEY[0], 5)
    code, (line,) = exit_code(without_a_ratio, 0.1)
    assert code == 6 and power.NO_RATIO in line
