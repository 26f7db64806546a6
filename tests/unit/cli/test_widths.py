"""The commands' tables fit into terminals of any usual width."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from storebench.cli.output.comparison import print_comparison
from storebench.cli.output.grid import print_grid
from storebench.cli.output.prices import print_prices
from storebench.cli.output.repeats import print_plan
from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.repeats import Needed, Plan
from storebench.results.comparison.units import Design
from storebench.results.forecast.missing import GridCell
from storebench.results.forecast.price import Price
from storebench.results.statistics.verdicts import Pair, verdicts_of
from tests.unit.example import cell

CELLS = [
    cell("delta-spark", batch="100000", executors="4", rows=1_000_000),
    cell("mongodb@a_server_with_a_long_name", "tuned", batch="100000", rows=20_000),
]
NAMES = (
    "delta-spark",
    "mongodb@a_server_with_a_long_name",
    "reference",
    "tuned",
    "100000",
    "1,000,000",
    "20,000",
)


@pytest.fixture(params=[80, 100, 120, 280])
def console(request):
    return Console(width=request.param, file=io.StringIO())


def whole(console, *values):
    text = console.file.getvalue()
    for value in (*NAMES, *values):
        assert value in text
    assert "…" not in text


def test_compare(console):
    pair = Pair([[1.0, 1.01, 1.02, 1.0, 1.01]], [[2.0, 2.02, 2.04, 2.0, 2.02]])
    sides = Pair(*([[value] for value in side[0]] for side in (pair.before, pair.after)))
    found = verdicts_of({(CELLS[0].key, "write"): sides, (CELLS[1].key, "read"): sides}, margin=0.05)
    remarks = {key: [] for key in found}
    of = {key: {"metric": "only_s", "unit": "s"} for key in found}
    comparison = Comparison(
        found,
        {},
        remarks,
        [],
        Design("repeats", (str, str)),
        frozenset(),
        of,
        {},
        (),
        ({}, {}),
        {},
        ((), ()),
        0.05,
    )
    print_comparison(console, comparison, {}, noise=False)
    whole(console, "write", "read", "2.000", "slower")


def test_compare_of_two_cells_has_no_cell_to_tell_apart(console):
    sides = Pair([[1.0], [1.01], [1.02], [1.0], [1.01]], [[2.0], [2.02], [2.04], [2.0], [2.02]])
    found = verdicts_of({("", "write"): sides}, margin=0.05)
    of = {("", "write"): {"metric": "only_s", "unit": "s"}}
    comparison = Comparison(
        found,
        {},
        {("", "write"): []},
        [],
        Design("repeats", (str, str)),
        frozenset(),
        of,
        {},
        (),
        ({}, {}),
        {},
        ((), ()),
        0.05,
    )
    print_comparison(console, comparison, {}, noise=False)
    assert "store" not in console.file.getvalue() and "slower" in console.file.getvalue()


def test_price(console):
    prices = [
        Price("client", cell.key, operation, 12, 3, "GB", 1.2345, 12.3456, 0.1234)
        for cell in CELLS
        for operation in ("write", "read")
    ]
    print_prices(console, prices, "EUR", {})
    whole(console, "EUR/GB", "0.123", "write", "read", "12", "3")


def test_plan_repeats(console):
    cells = [
        Needed(CELLS[0].key, CELLS[0].key, "write", "only_s", 12, 0.034, None),
        Needed(CELLS[1].key, CELLS[1].key, "read", "only_s", 5, None, 17),
    ]
    print_plan(console, Plan(17, "repeats", 0.1, 0.05, 2, cells, "One run on each side"), {})
    whole(console, "3.4%", "more than", "measured repeats", "needed repeats", "One run on each side")


def test_grid(console):
    dates = [datetime(2001 + n, 2, 3, 1, tzinfo=UTC) for n in range(2)]
    keys = ["delta-standalone/reference/batch=100000/executors=4", "mongodb/tuned/batch=all"]
    cells = [
        GridCell(cell, key, date, n, 0, 0, 3)
        for n, (cell, key, date) in enumerate(zip(CELLS, keys, dates, strict=True))
    ]
    print_grid(console, cells)
    text = console.file.getvalue()
    for value in (*keys, "2001-02-03T01:00:00", "2002-02-03T01:00:00", "missing", "verified once"):
        assert value in text
