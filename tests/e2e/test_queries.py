"""The study queries through Airflow and Kubernetes: each store once, with few rows."""

import pytest

from storebench.stores.queries.questions import QUESTIONS
from storebench.study import studies
from tests.e2e.harness import NAMESPACE, run


@pytest.mark.timeout(900)
def test_each_store_answers_right(cluster):
    stores = studies.find("queries").stores
    code, text, rows = run(
        "--study", "queries", "--stores", ",".join(stores), "--clients", "reference", "--rows", "1000"
    )
    assert code == 0, text
    assert {(row["store"], row["operation"]) for row in rows} == {
        (store, operation)
        for store in stores
        for operation in studies.find("queries").store(store).operations
    }
    for row in rows:
        assert row["status"] == "verified", row["error"]
        if row["operation"] == "ask":
            lacks = studies.find("queries").store(row["store"]).lacks
            assert row["metrics"]["questions"] == len(QUESTIONS) - len(lacks)
            assert row["metrics"]["geometric_mean_s"] > 0
    assert cluster.list_namespaced_persistent_volume_claim(NAMESPACE).items == []


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("axes", "words"),
    [
        (("concurrency=2", "ingest=on"), "answers of 2 clients to 10 questions are right, each for the rows"),
        (("cache=cold",), "5 answers to each of 10 questions are right; cold: before each answer"),
    ],
)
def test_clickhouse_answers_several_clients_and_from_disk(axes, words):
    """Only the image has this engine: no other test asks it in these ways."""
    chosen = [text for axis in axes for text in ("--axis", axis)]
    code, text, rows = run(
        *("--study", "queries", "--stores", "chdb", "--rows", "1000", "--param", "window_s=2", *chosen)
    )
    assert code == 0, text
    (asked,) = (row for row in rows if row["operation"] == "ask")
    assert words in asked["verification"]
