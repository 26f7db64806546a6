"""The queries of docs/results.md, run in the real database."""

import json
import re
import uuid
from pathlib import Path

import psycopg
import pytest
from psycopg.rows import dict_row

from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.repository import run_id_of
from storebench.results.runs.summary import refresh
from storebench.servers.sizes import FIELDS
from storebench.study.order import turns
from tests.bulk import BULK, RANKED_BY, bulk_study, cell_at
from tests.integration.recorded import ENVIRONMENT, PARAMS, STUDY

TEXT = (Path(__file__).parents[2] / "docs" / "results.md").read_text()

BROUGHT = dict.fromkeys(FIELDS)  # servers that the run provisions, each as large as its topology has it


@pytest.fixture
def answer(database):
    """Return a function that runs the documented query below a paragraph, limited to this seed's cells."""

    def answer(beginning, seed):
        query = re.search(rf"\n{beginning}.*?```sql\n(.*?);\n```", TEXT, re.DOTALL)[1]
        with psycopg.connect(database, row_factory=dict_row) as connection:
            found = re.sub(r" LIMIT \d+$", "", query).replace(BULK, STUDY)
            rows = connection.execute(found).fetchall()
        return [
            row
            for row in rows
            if row.get("seed") == seed or row.get("cell_key", "").endswith(f"/seed={seed}")
        ]

    return answer


def test_what_executors_gain_is_told_against_the_smallest_number_of_them(answer, repository, run, cells):
    seed = cells[0].seed
    took_s = {"1": 6.0, "2": 3.0, "4": 8.0}
    grid = [cell_at("delta-spark", seed, batch="all", executors=executors) for executors in took_s]
    run(grid, 1, lambda cell, turn: took_s[cell.value("executors")])
    refresh(repository, [cell.key for cell in grid])
    rows = answer("The speed-up by executors", seed)
    assert {(row["operation"], int(row["executors"])): float(row["speedup"]) for row in rows} == {
        (operation, executors): speedup
        for operation in ("write", "read")
        for executors, speedup in ((1, 1.0), (2, 2.0), (4, 0.75))
    }


def cell(seed, store, batch="10", rows=20_000):
    return cell_at(store, seed, rows, batch=batch)


@pytest.fixture
def ranking(answer, cells):
    """Return the ranking of this test's cells: (rank, store, n, median) for each group of rows, batch and conditions."""

    def ranking(operation="write"):
        groups = {}
        for row in answer("The fastest stores", cells[0].seed):
            if row["operation"] == operation:
                group = row["rows"], row["batch"], json.dumps(row["conditions"], sort_keys=True)
                groups.setdefault(group, []).append((row["rank"], row["store"], row["n"], row["median"]))
        return sorted(groups.values())

    return ranking


def test_the_fastest_is_ranked_among_those_with_the_same_rows_and_batch(answer, run, cells):
    seed = cells[0].seed
    took_s = {
        cell(seed, "mongodb"): 3.0,
        cell(seed, "elasticsearch"): 2.0,
        cell(seed, "elasticsearch", rows=5_000): 1.0,
        cell(seed, "mongodb", batch="all"): 0.5,
        cell(seed, "null"): 0.1,
    }
    run(list(took_s), 1, lambda cell, turn: took_s[cell])
    rows = [row for row in answer("The fastest stores", seed) if row["operation"] == "write"]
    assert [(row["rows"], row["batch"], row["rank"], row["store"]) for row in rows] == [
        (5_000, "10", 1, "elasticsearch"),
        (20_000, "10", 1, "elasticsearch"),
        (20_000, "10", 2, "mongodb"),
        (20_000, "all", 1, "mongodb"),
    ]


@pytest.mark.parametrize(
    "newest",
    [
        {"status": "not_run", "error_kind": "not_run", "error": "stopped"},
        {"status": "failed", "error_kind": "killed", "error": "x"},
        {
            "status": "verified",
            "metrics": dict.fromkeys(RANKED_BY.values(), 9.0),
            "total_s": 9.0,
            "disturbed": "throttled in 3 periods",
        },
    ],
    ids=["not run", "failed", "disturbed"],
)
def test_a_store_keeps_its_rank_by_its_median_whatever_came_of_a_later_attempt(
    answer, ranking, database, repository, run, cells, newest
):
    mongodb, elasticsearch = (cell(cells[0].seed, store) for store in ("mongodb", "elasticsearch"))
    run([mongodb], 5, lambda cell, turn: [0.4, 0.5, 0.9, 0.6, 0.3][turn.repeat - 1])
    run([elasticsearch], 1, lambda cell, turn: 0.7)
    refresh(repository, [mongodb.key, elasticsearch.key])
    later = f"manual__{uuid.uuid4().hex}"
    repository.start_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=later,
        params={},
        turns=turns({mongodb: 1}, 1),
        order_seed=1,
        skipped={},
    )
    for operation in ("write", "read"):
        key = AttemptKey(run_id_of(STUDY, later), mongodb.key, 1, operation, 0)
        repository.add_attempt(
            key,
            AttemptResult(**newest),
            PodRecord(),
            phases={},
            metric=RANKED_BY[operation],
            target=None,
            dataset=None,
        )
    assert ranking() == [[(1, "mongodb", 5, 0.5), (2, "elasticsearch", 1, 0.7)]]
    rows_per_s = answer("Rows per second", cells[0].seed)
    assert [(row["n"], int(row["rows_per_s"])) for row in rows_per_s] == [(5, 40_000), (1, 28_571)] * 2
    with psycopg.connect(database, row_factory=dict_row) as connection:
        found = connection.execute(
            "SELECT status, disturbed, batch FROM storebench.bulk_write_read_newest WHERE cell_key = %s",
            (mongodb.key,),
        ).fetchall()
    assert found == [{"status": newest["status"], "disturbed": newest.get("disturbed"), "batch": "10"}] * 2


@pytest.mark.parametrize(
    ("operation", "other"),
    [
        ("write", {"figures": lambda cell, operation: {"durability": "memory"}}),
        ("read", {"figures": lambda cell, operation: {"delivers": "bytes"}}),
        ("write", {"params": {**PARAMS, "pod_cpu": "2"}}),
        ("read", {"params": {**PARAMS, "cache": "cold"}}),
        ("read", {"params": {**PARAMS, **BROUGHT, "server_memory": "2Gi"}}),
        ("read", {"environment": {**ENVIRONMENT, "cpus": 64}}),
    ],
    ids=["durability", "delivers", "parameters", "the study's own", "servers' sizes", "machine"],
)
def test_only_what_is_alike_is_ranked_together(ranking, run, cells, operation, other):
    mongodb, elasticsearch = (cell(cells[0].seed, store) for store in ("mongodb", "elasticsearch"))
    run([mongodb], 1, lambda cell, turn: 2.0)
    run([elasticsearch], 1, lambda cell, turn: 1.0, **other)
    assert ranking(operation) == [[(1, "elasticsearch", 1, 1.0)], [(1, "mongodb", 1, 2.0)]]


def test_options_of_one_store_servers_and_versions_that_differ_are_ranked_together(ranking, run, cells):
    mongodb, elasticsearch = (cell(cells[0].seed, store) for store in ("mongodb", "elasticsearch"))
    delta = cell(cells[0].seed, "delta-spark")
    run([mongodb], 1, lambda cell, turn: 2.0)
    run([delta], 1, lambda cell, turn: 3.0)
    run(
        [elasticsearch],
        1,
        lambda cell, turn: 1.0,
        environment={**ENVIRONMENT, "server_name": "Elasticsearch", "packages": {"elasticsearch": "8"}},
        params={**PARAMS, **BROUGHT},
    )
    assert ranking() == [[(1, "elasticsearch", 1, 1.0), (2, "mongodb", 1, 2.0), (3, "delta-spark", 1, 3.0)]]


@pytest.mark.parametrize("beginning", ["The fastest stores", "One cell over time"])
def test_parameters_are_told(database, beginning):
    query = re.search(rf"\n{beginning}.*?```sql\n(.*?);\n```", TEXT, re.DOTALL)[1]
    with psycopg.connect(database) as connection:
        assert "parameters" in {column.name for column in connection.execute(query).description}
