import pytest

from storebench.results.price import GIB, prices

ROW = {
    "cell_key": "s/mongodb/reference/rows=1/seed=1",
    "operation": "write",
    "status": "verified",
    "dataset_bytes": 500_000_000,
    "total_s": 1800.0,
    "all_cpu_s": 3600.0,
    "all_memory_working_set_peak_bytes": 4 * GIB,
}


def test_hours_and_price_are_for_each_gb_of_the_dataset():
    (price,) = prices([ROW], cpu_hour=0.05, gib_hour=0.01)
    assert price.cpu_hours_per_gb == pytest.approx(2)  # one core hour for half a GB
    assert price.memory_gib_hours_per_gb == pytest.approx(4)  # 4 GiB for half an hour for half a GB
    assert price.cost_per_gb == pytest.approx(2 * 0.05 + 4 * 0.01)


def test_what_is_not_verified_has_no_price_but_is_counted():
    failed = {**ROW, "status": "failed", "all_cpu_s": None, "total_s": None}
    (price,) = prices([ROW, {**ROW, "all_cpu_s": 7200.0}, {**ROW, "all_cpu_s": 7200.0}, failed], 1, 0)
    assert (price.n, price.not_verified, price.cpu_hours_per_gb) == (3, 1, pytest.approx(4))
    (nothing,) = prices([failed], 1, 1)
    assert nothing.cost_per_gb is None


def test_the_cheapest_of_an_operation_comes_first_and_what_has_no_price_last():
    dear = {**ROW, "cell_key": "s/dear/reference/rows=1/seed=1", "all_cpu_s": 9000.0}
    none = {**ROW, "cell_key": "s/none/reference/rows=1/seed=1", "status": "failed"}
    assert [price.cell_key for price in prices([none, dear, ROW], 1, 1)] == [
        ROW["cell_key"],
        dear["cell_key"],
        none["cell_key"],
    ]
