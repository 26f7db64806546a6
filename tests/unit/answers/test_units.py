"""The formatter of figures, by the table that tests the page's formatter, too."""

import json
import math
import random
from pathlib import Path

import pytest

from storebench.answers.units import SCALES, column, compared, figure_text, ratio_text

PAGE = Path(__file__).parents[3] / "src" / "storebench" / "web" / "page" / "tests"
TABLE = json.loads((PAGE / "figures.json").read_text())


@pytest.mark.parametrize("line", TABLE["figures"], ids=lambda line: line["text"])
def test_a_figure_has_three_significant_digits_and_a_unit(line):
    assert figure_text(line["value"], line["unit"]) == line["text"]


@pytest.mark.parametrize("line", TABLE["columns"], ids=lambda line: " ".join(line["texts"]))
def test_figures_that_are_compared_share_a_unit_within_a_factor_of_a_thousand(line):
    values = line["values"]
    assert column(values, [line["unit"]] * len(values)) == line["texts"]


@pytest.mark.parametrize("line", TABLE["intervals"], ids=lambda line: line["text"])
def test_an_interval_has_the_unit_of_its_median(line):
    figures = compared(line["unit"], [line["median"]])
    assert figures.interval(line["low"], line["high"], line["median"]) == line["text"]


@pytest.mark.parametrize("line", TABLE["ratios"], ids=lambda line: line["text"])
def test_a_small_ratio_keeps_its_digits(line):
    assert ratio_text(line["value"]) == line["text"]


def test_what_was_not_measured_is_a_dash_beside_figures_and_alone():
    assert column([None, 0.002, None], ["s", "s", "rows/s"]) == ["-", "2.00 ms", "-"]
    assert figure_text(None, "s") == "-" == figure_text(None, None)


def test_figures_of_other_units_are_not_compared():
    assert column([0.002, 5000.0, 3.0], ["s", "bytes", None]) == ["2.00 ms", "5.00 kB", "3"]


@pytest.mark.parametrize("unit", ["s", "bytes", "bytes/s", "rows/s"])
def test_no_digit_vanishes_whatever_the_size(unit):
    scales = {one.unit: one for one in SCALES.get(unit, ())}
    draw = random.Random(7)
    for _ in range(5000):
        value = draw.choice([-1, 1]) * 10 ** draw.uniform(-11, 14)
        number, name = figure_text(value, unit).split()
        scale = scales.get(name)
        back = float(number.replace(",", "")) * (scale.by / scale.times if scale else 1)
        assert math.isclose(back, value, rel_tol=0.00501)
