"""The times that the shells of two stores print."""

import click
import pytest

from bench.shells import DUCKDB, PSQL


@pytest.mark.parametrize(
    ("kind", "line", "seconds"),
    [
        (PSQL, "Time: 0.046 ms\n", 0.000046),
        (PSQL, "Time: 4512.345 ms (00:04.512)\n", 4.512345),
        (DUCKDB, "Run Time (s): real 0.071 user 0.030423 sys 0.003660\n", 0.071),
        (DUCKDB, "Run Time (s): real 12.500 user 24.1 sys 0.000000\n", 12.5),
    ],
)
def test_a_shell_s_time_is_read_in_seconds(kind, line, seconds):
    assert kind.seconds(line) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("kind", "line", "said"),
    [
        (PSQL, 'ERROR:  relation "records" does not exist\n', 'relation "records" does not exist'),
        (DUCKDB, "Catalog Error: Table with name records does not exist!\n", "Catalog Error"),
        (DUCKDB, "", "it has ended"),
    ],
)
def test_another_line_is_an_error_that_shows_the_line(kind, line, said):
    with pytest.raises(click.ClickException, match=said):
        kind.seconds(line)
