"""Documents, and the queries of stores of documents."""

import io
from datetime import UTC, datetime
from decimal import Decimal

import pytest
import smart_open

from storebench.dataset.schema import FIELD_NAMES, FIELDS
from storebench.errors import StoreRefused
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.queries.documents import documents
from storebench.stores.queries.elasticsearch import SEARCHES, Elasticsearch, rows_of
from storebench.stores.queries.mongodb import INDEXES, PIPELINES, MongoDB, filled
from storebench.stores.queries.questions import QUESTIONS, asked_of
from storebench.stores.queries.sql import cents, plain
from tests.unit.stores.queries.conftest import ROWS


def test_a_document_has_typed_values_and_no_nulls(made, monkeypatch):
    monkeypatch.setattr(smart_open, "open", lambda *_, **__: io.BytesIO(made[0]))
    source = Source(None, "b", "k")
    source.schema = FIELDS
    parts = list(documents(source, 1_000))
    assert [len(part) for part in parts] == [1_000] * (ROWS // 1_000)
    rows = [document for part in parts for document in part]
    assert [row["id"] for row in rows] == list(range(1_000_000_000, 1_000_000_000 + ROWS))
    nullable = {field.name for field in FIELDS if field.nullable}
    assert all(row.keys() >= {*FIELD_NAMES} - nullable for row in rows)
    assert any("due_date" not in row for row in rows) and not any(None in row.values() for row in rows)
    types = {
        name: type(rows[0][name])
        for name in ("total_amount", "order_date", "created_at", "is_active", "comment")
    }
    assert types == {
        "total_amount": float,
        "order_date": datetime,
        "created_at": datetime,
        "is_active": bool,
        "comment": str,
    }
    assert rows[0]["order_date"].tzinfo is UTC


def test_each_question_has_a_query_or_is_lacking():
    assert PIPELINES.keys() == {*QUESTIONS} == {*asked_of(MongoDB.lacks)}
    assert {*SEARCHES, "count", "point"} == {*asked_of(Elasticsearch.lacks)} == {*QUESTIONS} - {"join"}
    assert INDEXES.keys() == {*MongoDB.clients}


def test_a_pipeline_gets_the_collection_and_the_key():
    found = filled(PIPELINES["join"][1], {"COLLECTION": "c", "KEY": 5})
    assert found[0]["$lookup"]["from"] == "c" and PIPELINES["join"][1][0]["$lookup"]["from"] == "COLLECTION"
    assert filled(PIPELINES["point"][1], {"COLLECTION": "c", "KEY": 5})[0] == {"$match": {"_id": 5}}


ANSWER = {"timed_out": False, "_shards": {"failed": 0}, "hits": {"total": {"value": 3}}}


def test_an_answer_of_a_search_becomes_rows():
    quantity = {"quantity": {"value": 7.0}}
    assert rows_of("range", {**ANSWER, "aggregations": quantity}) == [[3, 7.0]]
    assert rows_of("sum", {**ANSWER, "aggregations": {"total": {"value": 9.0}}}) == [[9.0]]
    groups = {"groups": {"buckets": [{"key": "new", "doc_count": 2, **quantity}]}}
    assert rows_of("group_low", {**ANSWER, "aggregations": groups}) == [["new", 2, 7.0]]
    assert rows_of("distinct", {**ANSWER, "aggregations": groups}) == [[1]]
    hits = {"hits": [{"_source": {"id": 1, "total_amount": 5.25}}]}
    assert plain("top", rows_of("top", {**ANSWER, "hits": hits})) == [(1, 525)]


@pytest.mark.parametrize("part", [{"timed_out": True}, {"_shards": {"failed": 1}}])
def test_a_part_of_an_answer_is_refused(part):
    with pytest.raises(StoreRefused, match="answered sum only in part"):
        rows_of("sum", {**ANSWER, **part})


def test_values_are_made_plain_without_rounding():
    assert plain("sum", [[Decimal(5), 6.0, "x", None]]) == [(5, 6, "x", 0)]
    assert [cents(amount) for amount in (999_999.99, Decimal("100000.10"), "5.5")] == [
        99_999_999,
        10_000_010,
        550,
    ]
    with pytest.raises(ValueError, match="not a whole number"):
        plain("sum", [[5.5]])
    with pytest.raises(ValueError, match="more than two decimal places"):
        cents(5.555)
