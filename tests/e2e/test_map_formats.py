"""The study map_formats through Airflow and Kubernetes: a dataset for each benchmark, and a client of Python and a compiled one."""

import pytest

from tests.e2e.harness import run

CHOSEN = (
    "--stores",
    "skiff,arrow",
    "--clients",
    "python,compiled",
    "--axis",
    "benchmark=modify",
    "--rows",
    "2000",
)


@pytest.mark.timeout(900)
def test_both_clients_of_a_small_grid_are_verified():
    code, text, rows = run("--study", "map_formats", *CHOSEN)
    assert code == 0, text
    assert sorted((row["store"], row["client"], row["status"]) for row in rows) == [
        *(("arrow", client, "verified") for client in ("compiled", "python")),
        *(("skiff", client, "verified") for client in ("compiled", "python")),
    ]
    assert {row["rows"] for row in rows} == {2000}
