"""That the queries of docs/results.md answer what they say. In the real database."""

import re
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from storebench.grid import Cell
from storebench.results.summary import refresh
from tests.integration.recorded import STUDY

TEXT = (Path(__file__).parents[2] / "docs" / "results.md").read_text()


@pytest.fixture
def answer(database):
    """The rows of the documented query below the paragraph that begins so, of this seed's cells."""

    def answer(beginning, seed):
        query = re.search(rf"\n{beginning}.*?```sql\n(.*?);\n```", TEXT, re.DOTALL)[1]
        with psycopg.connect(database, row_factory=dict_row) as connection:
            found = re.sub(r" LIMIT \d+$", "", query)
            return [row for row in connection.execute(found).fetchall() if row["seed"] == seed]

    return answer


def spark(seed, executors):
    return Cell(STUDY, "delta-spark", "reference", (("batch", "all"), ("executors", executors)), 1000, seed)


PARAMS = {
    "pod_cpu": "500m",
    "cpu_limit": False,
    "pod_memory": "8Gi",
    "executor_cores": 1,
    "executor_cpu": "250m",
    "executor_memory": "1g",
    "executor_memory_overhead": "768m",
    "executor_encryption": True,
    "driver_memory": "2g",
}


def test_what_executors_gain_is_told_against_the_smallest_number_of_them(answer, repository, run, cells):
    seed = cells[0].seed
    took_s = {"1": 6.0, "2": 3.0, "4": 8.0}
    grid = [spark(seed, executors) for executors in took_s]
    run(grid, 1, lambda cell, turn: took_s[cell.value("executors")], params=PARAMS)
    refresh(repository, [cell.key for cell in grid])
    rows = answer("What executors gain", seed)
    assert {(row["operation"], row["executors"]): float(row["speedup"]) for row in rows} == {
        (operation, executors): speedup
        for operation in ("write", "read")
        for executors, speedup in ((1, 1.0), (2, 2.0), (4, 0.75))
    }


def test_the_fastest_is_ranked_among_those_with_the_same_rows_and_batch(answer, run, cells):
    seed = cells[0].seed

    def cell(store, batch, rows):
        return Cell(STUDY, store, "reference", (("batch", batch),), rows, seed)

    took_s = {
        cell("mongodb", "10", 20_000): 3.0,
        cell("elasticsearch", "10", 20_000): 2.0,
        cell("elasticsearch", "10", 5_000): 1.0,
        cell("mongodb", "all", 20_000): 0.5,
        cell("null", "10", 20_000): 0.1,
    }
    run(list(took_s), 1, lambda cell, turn: took_s[cell])
    rows = [row for row in answer("Which stores are fastest", seed) if row["operation"] == "write"]
    assert [(row["rows"], row["batch_size"], row["rank"], row["store"]) for row in rows] == [
        (5_000, "10", 1, "elasticsearch"),
        (20_000, "10", 1, "elasticsearch"),
        (20_000, "10", 2, "mongodb"),
        (20_000, "all", 1, "mongodb"),
    ]
