"""A grid of twelve cells, five of them done by hand; the end-to-end tests fill a smaller one."""

from tests.e2e.test_backfill import airflow, fill, study

__all__ = ["airflow", "study"]


def test_twelve_cells(airflow, study, say):
    values = [str(100 * number) for number in range(1, 13)]
    fill(airflow, study, values, by_hand=values[2:9:2] + values[-1:], new="1300")
    say(
        "12 cells, 5 by hand: a backfill ran exactly the other 7, a second one none, a third one the value that was added"
    )
