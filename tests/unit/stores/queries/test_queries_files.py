"""The stores without a server, on files of this machine."""

import pytest

from storebench.airflow.outcome.result_check import check_result
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.queries import base
from storebench.stores.queries.duckdb import Duckdb
from storebench.stores.queries.questions import QUESTIONS, metric_of
from tests.unit.stores.queries.conftest import ROWS

STORES = ["duckdb", "duckdb-parquet"]


@pytest.mark.parametrize("name", STORES)
def test_a_store_loads_answers_and_deletes(attempt, study, name):
    store = study.store(name)
    for operation in study.operations:
        if operation.name not in store.operations:
            continue
        result = attempt(name, operation.name)
        assert (result.status, result.disturbed) == ("verified", None), result.error
        assert check_result(result, study, operation, store.lacks).status == "verified"
        assert result.metrics.keys() == {*operation.metrics}
    assert ("delete" in store.operations) == (name == "duckdb")


def test_the_figures_of_questions_are_medians_of_right_answers(attempt):
    attempt("duckdb", "load")
    result = attempt("duckdb", "ask")
    assert result.metrics["questions"] == len(QUESTIONS) == 10
    assert all(0 < result.metrics[metric_of(question)] < 60 for question in QUESTIONS)
    assert "6 answers to each of 10 questions are right" in result.verification


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_wrong_answer_gets_no_figure(attempt, question, monkeypatch):
    attempt("duckdb", "load")
    empty = Duckdb.statements[question].replace("{table}", "(FROM records LIMIT 0)")
    monkeypatch.setattr(Duckdb, "statements", {**Duckdb.statements, question: empty})
    with pytest.raises(VerificationFailed, match=f"The answer to {question} is "):
        attempt("duckdb", "ask")


def test_a_deletion_of_other_rows_is_not_verified(attempt, monkeypatch):
    attempt("duckdb", "load")
    wrong = "DELETE FROM {table} WHERE discount_rate <= 0.01"
    monkeypatch.setattr(
        Duckdb, "statements", {**Duckdb.statements, "delete": f"{wrong} OR id = {base.key_of(ROWS)}"}
    )
    with pytest.raises(VerificationFailed, match="After the deletion there are "):
        attempt("duckdb", "delete")
    with pytest.raises(StoreRefused, match="an earlier try has deleted rows"):
        attempt("duckdb", "delete")


@pytest.mark.parametrize("name", STORES)
def test_a_lost_volume_is_said(attempt, name):
    with pytest.raises(StoreRefused, match="What was written is not there"):
        attempt(name, "ask")


@pytest.mark.parametrize("name", STORES)
def test_a_load_replaces_what_an_earlier_try_left(attempt, name):
    attempt(name, "load")
    assert attempt(name, "load").status == "verified"


def test_a_lacking_question_has_no_figure_and_counts_as_600_seconds(attempt, study, monkeypatch):
    attempt("duckdb", "load")
    whole = attempt("duckdb", "ask")
    monkeypatch.setattr(Duckdb, "lacks", ("join_s",))
    result = attempt("duckdb", "ask")
    assert check_result(result, study, study.operation("ask"), Duckdb.lacks).status == "verified"
    assert "join_s" not in result.metrics and result.metrics["questions"] == 9
    assert result.metrics["geometric_mean_s"] > whole.metrics["geometric_mean_s"]
    assert result.verification.endswith("no answer to join")


def test_a_refused_question_is_named(attempt, monkeypatch):
    attempt("duckdb", "load")
    unknown = "SELECT SUM(nothing) FROM {table}"
    monkeypatch.setattr(Duckdb, "statements", {**Duckdb.statements, "sum": unknown})
    with pytest.raises(StoreRefused, match=r"^The question sum: DuckDB refused: .*nothing"):
        attempt("duckdb", "ask")
