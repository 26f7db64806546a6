import io

import pytest
from rich.console import Console

from storebench.cli.output.prices import print_prices
from storebench.results.forecast.price import COVERS, GIB, prices

ROW = {
    "cell_key": "s/mongodb/reference/rows=1/seed=1",
    "operation": "write",
    "status": "verified",
    "disturbed": None,
    "figures_cover": "client",
    "dataset_id": "v1/rows=1/seed=1",
    "dataset_bytes": 500_000_000,
    "work_total_s": 1800.0,
    "total_s": 4000.0,  # with the verification
    "all_cpu_s": 3600.0,
    "all_memory_working_set_peak_bytes": 4 * GIB,
}


def test_hours_and_price_are_for_each_gb_of_the_dataset():
    (price,) = prices([ROW], cpu_hour=0.05, gib_hour=0.01)
    assert price.cpu_hours == pytest.approx(2)  # one core hour for half a GB
    assert price.memory_gib_hours == pytest.approx(4)  # 4 GiB for half an hour for half a GB
    assert price.cost == pytest.approx(2 * 0.05 + 4 * 0.01)


def test_of_a_study_without_a_dataset_they_are_for_each_attempt():
    row = {**ROW, "dataset_id": None, "dataset_bytes": None}
    (price,) = prices([row], cpu_hour=0.05, gib_hour=0.01)
    assert (price.n, price.per, price.cpu_hours, price.memory_gib_hours) == (1, "attempt", 1.0, 2.0)
    assert price.cost == pytest.approx(1 * 0.05 + 2 * 0.01)
    console = Console(width=200, file=io.StringIO())
    print_prices(console, [price], "EUR", {})
    assert "EUR/attempt" in console.file.getvalue() and "/GB" not in console.file.getvalue()


def test_a_cell_that_never_had_its_dataset_is_priced_as_the_others_of_its_study():
    never = {**ROW, "cell_key": "s/null/reference/rows=1/seed=1", "dataset_id": None, "dataset_bytes": None}
    assert [(price.per, price.n) for price in prices([ROW, never], 1, 1)] == [("GB", 1), ("GB", 0)]


def test_what_is_not_verified_or_was_disturbed_has_no_price_but_is_counted():
    failed = {**ROW, "status": "failed", "all_cpu_s": None, "work_total_s": None, "figures_cover": None}
    disturbed = {**ROW, "disturbed": "throttled", "all_cpu_s": 9e9}
    dear = {**ROW, "all_cpu_s": 7200.0}
    (price,) = prices([failed, disturbed, ROW, dear, dear], 1, 0)
    assert (price.n, price.excluded, price.cpu_hours) == (3, 2, pytest.approx(4))
    for figure in ("all_cpu_s", "work_total_s"):
        unknown = {**ROW, figure: None}
        assert [(price.n, price.excluded) for price in prices([ROW, unknown], 1, 1)] == [(1, 1)]
    (nothing,) = prices([failed], 1, 1)
    assert nothing.cost is None


def test_the_cheapest_of_an_operation_comes_first_and_what_has_no_price_last():
    dear = {**ROW, "cell_key": "s/dear/reference/rows=1/seed=1", "all_cpu_s": 9000.0}
    none = {**ROW, "cell_key": "s/none/reference/rows=1/seed=1", "status": "failed"}
    assert [price.cell_key for price in prices([none, dear, ROW], 1, 1)] == [
        ROW["cell_key"],
        dear["cell_key"],
        none["cell_key"],
    ]


def test_prices_too_small_for_four_places_have_their_digits():
    small = {**ROW, "dataset_id": None, "dataset_bytes": None, "all_cpu_s": 0.02, "work_total_s": 0.01}
    console = Console(width=200, file=io.StringIO())
    print_prices(console, prices([small], cpu_hour=0.05, gib_hour=0.01), "EUR", {})
    assert "0.00000556" in console.file.getvalue() and "0.000000389" in console.file.getvalue()
    assert "0.0000 " not in console.file.getvalue()


def test_a_client_is_never_ranked_beside_an_engine():
    engine = {**ROW, "cell_key": "s/delta-rs/reference/rows=1/seed=1", "figures_cover": "engine"}
    rows = [engine, {**engine, "operation": "read"}, {**ROW, "all_cpu_s": 1e6}]
    found = prices(rows, 1, 1)
    assert [price.figures_cover for price in found] == ["client", "engine", "engine"], "the dear client first"
    console = Console(width=200, file=io.StringIO())
    print_prices(console, found, "EUR", {})
    text = console.file.getvalue()
    assert text.index(COVERS["client"]) < text.index("mongodb") < text.index(COVERS["engine"])
    assert text.count("EUR/GB") == 2
