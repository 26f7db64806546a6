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
