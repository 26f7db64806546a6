"""The study queries at the stack's servers: every store answers every question right, or lacks the question."""

import csv
import io

import pytest

from storebench.airflow.outcome.result_check import check_result
from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.queries import elasticsearch, mongodb, postgresql
from storebench.stores.queries.incoming import Batch
from storebench.stores.queries.questions import asked_of, metric_of
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of
from tests.integration.conftest import ROWS, SEED

STORES = [
    ("mongodb", "reference"),
    ("mongodb", "tuned"),
    ("elasticsearch", "reference"),
    ("postgresql", "reference"),
    ("postgresql", "tuned"),
]


@pytest.fixture(scope="module")
def study():
    return studies.find("queries")


@pytest.fixture
def attempt(connections, bucket, target, study):
    """Run an operation in this process; returns its result, checked against the study. The data is dropped at the end."""
    used = {}

    def attempt(store, client, operation, *, options=None, **axes):
        used[store] = client
        cell = Cell("queries", store, client, tuple(axes.items()), ROWS, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=store,
            client=client,
            axes=axes,
            options=options or {},
            rows=ROWS,
            seed=SEED,
            target=target,
            bucket=bucket,
            dataset=folder_of(study.dataset.id(ROWS, SEED)),
            results="results/",
        )
        tried = run.Attempt(spec, study.store(store), PhaseClock())
        tried.run()
        return tried.result

    yield attempt
    for store, client in used.items():
        attempt(store, client, "drop")


@pytest.mark.parametrize(("store", "client"), STORES)
def test_every_question_is_answered_right(attempt, study, store, client):
    kind = study.store(store)
    for operation in study.operations:
        result = attempt(store, client, operation.name)
        assert check_result(result, study, operation, kind.lacks).status == "verified", result.error
        if operation.name == "ask":
            asked = asked_of(kind.lacks)
            assert result.metrics["questions"] == len(asked) >= 9
            assert {metric_of(name) for name in asked} < result.metrics.keys()
            assert result.metrics.keys().isdisjoint(kind.lacks)
        else:
            assert result.durability == "disk"
        if operation.name == "load":
            assert result.data_bytes > ROWS * 100
    with pytest.raises(StoreRefused, match="an earlier try has deleted rows"):
        attempt(store, client, "delete")


@pytest.mark.parametrize(
    ("module", "name", "store", "wrong"),
    [
        (mongodb, "PIPELINES", "mongodb", (["n"], [{"$match": {"priority": {"$lt": 5}}}, {"$count": "n"}])),
        (
            elasticsearch,
            "SEARCHES",
            "elasticsearch",
            {
                "size": 0,
                "query": {"range": {"priority": {"lt": 5}}},
                "aggs": {"total": {"sum": {"field": "duration_ms"}}},
            },
        ),
        (
            postgresql.PostgreSQL,
            "statements",
            "postgresql",
            "SELECT SUM(duration_ms) FROM {table} WHERE priority < 5",
        ),
    ],
)
def test_a_wrong_answer_of_a_server_gets_no_figure(attempt, monkeypatch, module, name, store, wrong):
    attempt(store, "reference", "load")
    question = "count" if store == "mongodb" else "sum"
    monkeypatch.setattr(module, name, {**getattr(module, name), question: wrong})
    with pytest.raises(VerificationFailed, match=f"The answer to {question} is "):
        attempt(store, "reference", "ask")


INGEST = {"options": {"window_s": "1.2", "ingest_rate": "200"}, "concurrency": "2", "ingest": "on"}
SERVERS = ["mongodb", "elasticsearch", "postgresql"]


@pytest.mark.parametrize("store", SERVERS)
def test_several_clients_get_right_answers_while_rows_come_in(attempt, study, store):
    attempt(store, "reference", "load")
    result = attempt(store, "reference", "ask", **INGEST)
    operation, kind = study.operation("ask"), study.store(store)
    checked = check_result(result, study, operation, kind.lacks)
    assert checked.status == "verified", checked.error
    assert (
        f"of 2 clients to {len(asked_of(kind.lacks))} questions are right, each for the"
        in result.verification
    )
    assert result.metrics["queries_per_h"] > 0 < result.metrics["ingested_rows_per_s"] <= 200
    # Only the dataset's rows are left
    assert attempt(store, "reference", "delete", ingest="on").status == "verified"


@pytest.mark.parametrize("store", SERVERS)
def test_an_acknowledged_row_that_a_server_loses_fails_the_attempt(attempt, study, monkeypatch, store):
    attempt(store, "reference", "load")
    kind, append = study.store(store), study.store(store).append

    def lose(self, batch):
        first, *others = csv.reader(io.StringIO(batch.text.decode(), newline=""))
        text = io.StringIO(newline="")
        csv.writer(text).writerows([first, *others[:-1]])
        append(self, Batch(batch.rows - 1, text.getvalue().encode()))

    monkeypatch.setattr(kind, "append", lose)
    with pytest.raises(VerificationFailed, match="The answer to "):
        attempt(store, "reference", "ask", **INGEST)
