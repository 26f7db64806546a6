"""Define the questions of the study: names, texts, and the constants in their conditions."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.dataset.layout import ROW_ID_BASE

Rows = list[tuple[int | str, ...]]  # an answer: its rows in the question's order

# By name in the order of asking: the question's text, and the columns of its answer.
QUESTIONS: dict[str, str] = {
    "count": "count the rows",
    "sum": "sum of duration_ms",
    "range": "rows of a year by order_date: their count, sum of quantity",
    "group_low": "group by status (6 values): count, sum of quantity",
    "group_high": "group by device_id (up to a million values): ten largest groups, with sum of quantity",
    "top": "ten rows with the largest total_amount",
    "distinct": "number of distinct values of quantity",
    "contains": "rows whose comment contains a text: their count, sum of quantity",
    "point": "three fields of the row with an id",
    "join": "join with itself on last_name: pairs of rows, sum of quantity of the later row",
}
FIRST_DAY, LAST_DAY = "2020-01-01", "2020-12-31"
TOP = 10
TEXT = "got lost"  # whole words in one case, so that a search for words finds the same rows
DELETED_BELOW = 0.01  # the discount_rate of deleted rows: 1 % of all rows


def metric_of(question: str) -> str:
    """Return the name of a question's metric."""
    return f"{question}_s"


def p99_of(question: str) -> str:
    """Return the name of the metric of a question's 99th percentile."""
    return f"{question}_p99_s"


def key_of(rows: int) -> int:
    """Return the id that the question `point` asks for, of a dataset with `rows` rows: two thirds into the dataset."""
    return ROW_ID_BASE + rows * 2 // 3


def first_incoming(rows: int) -> int:
    """Return the id of the first row that comes in beyond a dataset with `rows` rows."""
    return ROW_ID_BASE + rows


def asked_of(lacks: Sequence[str]) -> list[str]:
    """Return the questions of a store. `lacks`: the metrics that the store does not report."""
    return [name for name in QUESTIONS if metric_of(name) not in lacks]
