import pytest

from storebench.attempt.parts.clocks import Offset, Ping, error_s, estimate


def ping(there_s, back_s, offset_s, sent_s=50.0):
    """A round trip to a clock that is `offset_s` ahead."""
    return Ping(sent_s, sent_s + there_s + back_s, sent_s + there_s + offset_s)


@pytest.mark.parametrize("offset_s", [0.0, 1000.0, -0.25])
def test_the_shortest_round_trip_gives_the_offset(offset_s):
    found = estimate([ping(0.5, 0.1, offset_s), ping(0.001, 0.001, offset_s), ping(0.1, 0.9, offset_s)])
    assert found.seconds == pytest.approx(offset_s)
    assert found.error_s == pytest.approx(0.001)


@pytest.mark.parametrize(("there_s", "back_s"), [(0.3, 0.1), (0.0, 0.4), (0.4, 0.0)])
def test_an_uneven_round_trip_errs_by_no_more_than_its_half(there_s, back_s):
    found = estimate([ping(there_s, back_s, 7.0)])
    assert abs(found.seconds - 7.0) <= found.error_s + 1e-9
    assert found.error_s == pytest.approx(0.2)


def test_the_drift_of_a_clock_is_part_of_its_error():
    assert error_s(Offset(5.0, 0.001), Offset(5.02, 0.003)) == pytest.approx(0.021)
