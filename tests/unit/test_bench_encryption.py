import pytest

from bench.encryption import TURN, ratios, table


def rows(operation, *seconds):
    return [{"operation": operation, f"{operation}_only_s": s, "all_cpu_s": 2 * s} for s in seconds]


def test_the_ratio_is_of_the_medians_with_encryption_and_without():
    key = ("all", "read")
    found = {(key, True): rows("read", 1.0, 1.5, 9.0), (key, False): rows("read", 1.0, 1.2, 1.1)}
    assert ratios(found) == {key: pytest.approx(1.5 / 1.1)}
    assert table("title", key, found).row_count == 2


def test_a_steady_drift_falls_on_both_alike():
    places = {on: sum(place for place, each in enumerate(TURN) if each is on) for on in (True, False)}
    assert places[True] == places[False]
