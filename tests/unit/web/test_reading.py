import pytest

from storebench.web.reading import rows_per_s


@pytest.mark.parametrize(
    ("status", "only_s", "rate"),
    [("verified", 4.0, 250), ("verified", 0.0, None), ("failed", 4.0, None), ("not_run", None, None)],
)
def test_rows_a_second_are_of_attempts_that_moved_all_rows(status, only_s, rate):
    assert rows_per_s({"status": status, "only_s": only_s, "rows": 1000}) == rate
