import pytest

from storebench.study.histogram import curve, merged


def test_histograms_are_merged_by_adding_their_counts():
    one, other = {"values": [2.0, 1.0], "counts": [3, 0]}, {"values": [2.0, 0.5], "counts": [1, 4]}
    assert merged([one, other]) == [(0.5, 4), (2.0, 4)]


def test_a_percentile_is_the_least_value_that_reaches_it():
    points = dict(curve([{"values": [3.0, 1.0, 2.0, 7.0], "counts": [9, 50, 41, 0]}]))
    assert (points[0], points[50], points[75], points[100]) == (1, 1, 2, 3)
    assert max(percentile for percentile, value in points.items() if value == 2) == pytest.approx(90)
    assert max(one for one in points if one < 100) < 99.1  # one in a hundred is the last that anybody has


@pytest.mark.parametrize(
    ("histogram", "points"),
    [
        ({"values": [], "counts": []}, []),
        ({"values": [1.0], "counts": [0]}, []),
        ({"values": [5.0], "counts": [1]}, [(0, 5), (10, 5), (100, 5)]),
    ],
)
def test_a_curve_of_next_to_nothing(histogram, points):
    assert curve([histogram]) == points


def test_a_million_values_are_a_hundred_points():
    assert 90 < len(curve([{"values": [0.001 * n for n in range(1000)], "counts": [1000] * 1000}])) < 110
