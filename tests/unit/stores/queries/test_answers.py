"""The right answers, compared with DuckDB, and with one row missing."""

import csv
import io

import pytest

from storebench.dataset.generate import generate_chunk
from storebench.dataset.manifest import Manifest
from storebench.errors import VerificationFailed
from storebench.stores.queries.answers import PLACE, Tally, compare, tally_of
from storebench.stores.queries.questions import (
    DELETED_BELOW,
    FIRST_DAY,
    LAST_DAY,
    QUESTIONS,
    TEXT,
    key_of,
)
from tests.unit.stores.queries.conftest import ROWS, SEED

KEY = key_of(ROWS)


@pytest.fixture(scope="module")
def rows():
    chunk = generate_chunk(SEED, 0, ROWS)
    return list(csv.reader(io.StringIO(chunk.csv.decode(), newline="")))


def answers_of(rows):
    tally = Tally(KEY)
    tally.add(rows)
    return tally.answers()


@pytest.fixture(scope="module")
def right(rows):
    return answers_of(rows)


def value(row, name):
    return row[PLACE[name]]


def test_the_answers_are_those_of_plain_python(rows, right):
    """Each answer again, by another way than the single pass over the rows."""
    ids = [int(value(row, "id")) for row in rows]
    quantities = {id: int(value(row, "quantity")) for id, row in zip(ids, rows, strict=True)}
    year = [id for id, row in zip(ids, rows, strict=True) if value(row, "order_date")[:4] == FIRST_DAY[:4]]
    assert right.of["count"] == [(ROWS,)]
    assert right.of["range"] == [(len(year), sum(quantities[id] for id in year))]
    assert right.of["distinct"] == [(len(set(quantities.values())),)]
    by_amount = sorted(rows, key=lambda row: (-float(value(row, "total_amount")), int(value(row, "id"))))
    assert right.of["top"] == [
        (int(value(row, "id")), round(float(value(row, "total_amount")) * 100)) for row in by_amount[:10]
    ]
    assert sum(n for _, n, _ in right.of["group_low"]) == ROWS and len(right.of["group_low"]) == 6
    assert sum(quantity for *_, quantity in right.of["group_low"]) == sum(quantities.values())
    pairs = [
        quantities[ids[later]]
        for later in range(ROWS)
        for earlier in range(later)
        if value(rows[earlier], "last_name") == value(rows[later], "last_name")
    ]
    assert right.of["join"] == [(len(pairs), sum(pairs))] and len(pairs) > 10
    assert right.of["point"] == [
        (KEY, *(value(rows[ROWS * 2 // 3], name) for name in ("event_key", "email")))
    ]
    assert right.remaining[0] + right.deleted == ROWS and right.deleted == pytest.approx(ROWS / 100, rel=0.5)


def test_the_conditions_mean_what_the_questions_say(rows):
    assert (FIRST_DAY[4:], LAST_DAY[4:]) == ("-01-01", "-12-31") and FIRST_DAY[:4] == LAST_DAY[:4]
    # A search for words must find what a search for a part of a text finds
    found = [value(row, "comment") for row in rows if TEXT in value(row, "comment")]
    assert len(found) > ROWS / 100
    assert all(f" {TEXT}," in comment for comment in found)
    # A double and a decimal must agree about the rows below the limit
    assert {
        value(row, "discount_rate") for row in rows if float(value(row, "discount_rate")) < DELETED_BELOW
    } == {value(row, "discount_rate") for row in rows if value(row, "discount_rate") < "0.0100"}


# By question: whether a row is one that the answer depends on
MATTERS = {
    "count": lambda row, right: True,
    "sum": lambda row, right: True,
    "range": lambda row, right: value(row, "order_date").startswith(FIRST_DAY[:4]),
    "group_low": lambda row, right: True,
    "group_high": lambda row, right: value(row, "device_id") == right.of["group_high"][-1][0],
    "top": lambda row, right: int(value(row, "id")) == right.of["top"][-1][0],
    "distinct": None,
    "contains": lambda row, right: TEXT in value(row, "comment"),
    "point": lambda row, right: int(value(row, "id")) == KEY,
    "join": None,
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_missing_row_changes_the_answer(rows, right, question):
    field = {"distinct": "quantity", "join": "last_name"}.get(question)
    if field:  # a value that only one row has; or that at least two have
        values = [value(row, field) for row in rows]
        wanted = 1 if question == "distinct" else 2
        missing = next(n for n, text in enumerate(values) if values.count(text) == wanted)
    else:
        missing = next(n for n, row in enumerate(rows) if MATTERS[question](row, right))
    wrong = answers_of([*rows[:missing], *rows[missing + 1 :]])
    with pytest.raises(VerificationFailed, match=f"^The answer to {question} is .*, and not "):
        compare(question, wrong.of[question], right.of[question])
    compare(question, right.of[question], answers_of(rows).of[question])


def test_the_definition_must_be_that_of_the_manifest(made):
    _, manifest = made
    assert tally_of(manifest, KEY).answer("count") == [(ROWS,)]
    other = Manifest(**{**vars(manifest), "seed": SEED + 1})
    with pytest.raises(VerificationFailed, match="This code defines another dataset than S3 has: field"):
        tally_of(other, KEY)
