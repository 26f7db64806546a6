"""The questions in standard SQL, and the base class of stores that take SQL."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar

from storebench.stores.queries.base import QueryStore
from storebench.stores.queries.questions import (
    DELETED_BELOW,
    FIRST_DAY,
    LAST_DAY,
    TEXT,
    TOP,
    Rows,
    first_incoming,
)

# `{table}`, `{key}` and `{first}` are replaced by the table's name, the id of the question `point`, and the id of the first incoming row.
STANDARD: Mapping[str, str] = {
    "count": "SELECT COUNT(*) FROM {table}",
    "sum": "SELECT SUM(duration_ms) FROM {table}",
    "range": "SELECT COUNT(*), SUM(quantity) FROM {table}"
    f" WHERE order_date BETWEEN DATE '{FIRST_DAY}' AND DATE '{LAST_DAY}'",
    "group_low": "SELECT status, COUNT(*), SUM(quantity) FROM {table} GROUP BY status ORDER BY status",
    "group_high": "SELECT device_id, COUNT(*) AS n, SUM(quantity) FROM {table} GROUP BY device_id"
    f" ORDER BY n DESC, device_id LIMIT {TOP}",
    "top": f"SELECT id, total_amount FROM {{table}} ORDER BY total_amount DESC, id LIMIT {TOP}",
    "distinct": "SELECT COUNT(DISTINCT quantity) FROM {table}",
    "contains": f"SELECT COUNT(*), SUM(quantity) FROM {{table}} WHERE comment LIKE '%{TEXT}%'",
    "point": "SELECT id, event_key, email FROM {table} WHERE id = {key}",
    "join": "SELECT COUNT(*), SUM(b.quantity) FROM {table} a JOIN {table} b ON a.last_name = b.last_name AND a.id < b.id",
    "delete": f"DELETE FROM {{table}} WHERE discount_rate < {DELETED_BELOW}",
    "take_back": "DELETE FROM {table} WHERE id >= {first}",
}


class SqlStore(QueryStore):
    """A store that takes SQL. `statements`: the store's statements by question."""

    statements: ClassVar[Mapping[str, str]] = STANDARD

    @property
    @abstractmethod
    def table(self) -> str:
        """Return the name of the table as it stands in statements."""

    @abstractmethod
    def fetch(self, statement: str) -> Sequence[Sequence[Any]]:
        """Return all rows of a query."""

    @abstractmethod
    def run(self, statement: str) -> None:
        """Run a statement that changes the table."""

    def statement(self, name: str) -> str:
        """Return the statement of a question, or of a deletion."""
        first = first_incoming(self.rows)
        return self.statements[name].format(table=self.table, key=self.key, first=first)

    def delete(self) -> None:
        self.run(self.statement("delete"))

    def take_back(self) -> None:
        self.run(self.statement("take_back"))

    def ask(self, question: str) -> Rows:
        return plain(question, self.fetch(self.statement(question)))


def plain(question: str, rows: Sequence[Sequence[Any]]) -> Rows:
    """Return the rows of an answer with integers and texts only. An amount of the question `top` becomes cents."""
    if question == "top":
        return [(int(id), cents(amount)) for id, amount in rows]
    return [tuple(whole(value) for value in row) for row in rows]


def cents(amount: float | Decimal | str) -> int:
    """Return an amount with two decimal places in cents. Raises ValueError for more places."""
    exact = Decimal(str(amount)) * 100
    if exact != (rounded := int(exact)):
        raise ValueError(f"{amount} has more than two decimal places")
    return rounded


def whole(value: Any) -> int | str:
    """Return a whole number of any numeric type as an integer, and a text as it is. NULL, the sum of no rows, is 0."""
    if isinstance(value, str):
        return value
    if value is None:
        return 0
    if value != (rounded := int(value)):
        raise ValueError(f"{value!r} is not a whole number")
    return rounded
