"""Compute the right answers from the dataset's definition, without any store."""

from __future__ import annotations

import csv
import heapq
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storebench.dataset.schema import FIELD_NAMES
from storebench.errors import VerificationFailed
from storebench.stores.queries.questions import (
    DELETED_BELOW,
    FIRST_DAY,
    LAST_DAY,
    QUESTIONS,
    TEXT,
    TOP,
    Rows,
)

if TYPE_CHECKING:
    from storebench.dataset.manifest import Manifest

CHUNK_ROWS = 20_000
SHOWN_CHARACTERS = 300  # of an answer in an error
PLACE = {name: place for place, name in enumerate(FIELD_NAMES)}


@dataclass(frozen=True)
class Answers:
    """The right answers to all questions, and the rows that `delete` removes and leaves.

    `remaining`: count of rows and sum of duration_ms after the deletion.
    """

    of: Mapping[str, Rows]
    deleted: int
    remaining: tuple[int, int]


def tally_of(manifest: Manifest, key: int) -> Tally:
    """Generate the dataset of a manifest, and return the tally of its rows.

    `key`: the id of the question `point`. Raises VerificationFailed if the definition of the dataset differs from the manifest.
    """
    tally = Tally(key)
    tally.add(_rows_of(manifest))
    return tally


def _rows_of(manifest: Manifest) -> Iterator[list[str]]:
    """Yield the fields of each row by the generator, and compare the checksums of all rows with the manifest at the end."""
    from storebench.dataset.checksum import TableChecksum
    from storebench.dataset.generate import generate_chunk

    total = TableChecksum()
    for start in range(0, manifest.rows, CHUNK_ROWS):
        chunk = generate_chunk(manifest.seed, start, min(manifest.rows, start + CHUNK_ROWS))
        total.add(chunk.checksums)
        yield from csv.reader(io.StringIO(chunk.csv.decode(), newline=""))
    if differences := total.diff(manifest):
        raise VerificationFailed(
            f"This code defines another dataset than S3 has: {'; '.join(differences[:5])}"
        )


class Tally:
    """The right answers about the rows that were added so far."""

    def __init__(self, key: int) -> None:
        """`key`: the id of the question `point`."""
        self._key = key
        self._count = self._total = self._in_range = self._range_quantity = self._found = 0
        self._found_quantity = self._pairs = self._pairs_quantity = self._deleted = self._deleted_ms = 0
        self._statuses, self._status_quantity = Counter[str](), Counter[str]()
        self._devices, self._device_quantity = Counter[str](), Counter[str]()
        self._earlier = Counter[str]()  # rows so far by last_name
        self._quantities: set[int] = set()
        self._amounts: list[tuple[int, int]] = []  # the largest: cents, and the negative id
        self._point: Rows = []

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """Add rows in ascending order of their ids. A row: the texts of all fields."""
        statuses, status_quantity = self._statuses, self._status_quantity
        devices, device_quantity = self._devices, self._device_quantity
        earlier, quantities, amounts = self._earlier, self._quantities, self._amounts
        identity, event, day, status, many, amount, last, rate, text, mail, how_many, ms = (
            PLACE[name]
            for name in (
                *("id", "event_key", "order_date", "status", "device_id", "total_amount", "last_name"),
                *("discount_rate", "comment", "email", "quantity", "duration_ms"),
            )
        )
        for row in rows:
            id, quantity, duration_ms = int(row[identity]), int(row[how_many]), int(row[ms])
            self._count += 1
            self._total += duration_ms
            if FIRST_DAY <= row[day] <= LAST_DAY:
                self._in_range += 1
                self._range_quantity += quantity
            statuses[row[status]] += 1
            status_quantity[row[status]] += quantity
            devices[row[many]] += 1
            device_quantity[row[many]] += quantity
            largest = (int(row[amount].replace(".", "")), -id)
            if len(amounts) < TOP:
                heapq.heappush(amounts, largest)
            else:
                heapq.heappushpop(amounts, largest)
            quantities.add(quantity)
            if TEXT in row[text]:
                self._found += 1
                self._found_quantity += quantity
            if id == self._key:
                self._point = [(id, row[event], row[mail])]
            self._pairs += earlier[row[last]]
            self._pairs_quantity += earlier[row[last]] * quantity
            earlier[row[last]] += 1
            if float(row[rate]) < DELETED_BELOW:
                self._deleted += 1
                self._deleted_ms += duration_ms

    def answer(self, question: str) -> Rows:
        """Return the right answer to a question. Raises KeyError for an unknown question."""
        answers: Mapping[str, Callable[[], Rows]] = {
            "count": lambda: [(self._count,)],
            "sum": lambda: [(self._total,)],
            "range": lambda: [(self._in_range, self._range_quantity)],
            "group_low": lambda: [
                (name, self._statuses[name], self._status_quantity[name]) for name in sorted(self._statuses)
            ],
            "group_high": self._largest_groups,
            "top": lambda: [(-id, cents) for cents, id in sorted(self._amounts, reverse=True)],
            "distinct": lambda: [(len(self._quantities),)],
            "contains": lambda: [(self._found, self._found_quantity)],
            "point": lambda: self._point,
            "join": lambda: [(self._pairs, self._pairs_quantity)],
        }
        return answers[question]()

    def answers(self) -> Answers:
        """Return all right answers."""
        return Answers(
            {question: self.answer(question) for question in QUESTIONS},
            self._deleted,
            (self._count - self._deleted, self._total - self._deleted_ms),
        )

    def _largest_groups(self) -> Rows:
        largest = heapq.nsmallest(TOP, ((-n, device) for device, n in self._devices.items()))
        return [(device, -n, self._device_quantity[device]) for n, device in largest]


def compare(question: str, given: Rows, right: Rows, most: Rows | None = None) -> None:
    """Compare a store's answer with the right answer.

    `most`: the right answer after all rows that may have come in while the store answered; `right` is then the answer before. Each integer
    must lie between both, and each text must be the same. Raises VerificationFailed with the answers.
    """
    if _between(given, right, right if most is None else most):
        return
    between = "" if most in (None, right) else f" to {_shown(most)}"
    raise VerificationFailed(f"The answer to {question} is {_shown(given)}, and not {_shown(right)}{between}")


def _between(given: Rows, least: Rows, most: Rows) -> bool:
    if not len(given) == len(least) == len(most):
        return False
    return all(
        len(row) == len(low) == len(high) and all(map(_value_between, row, low, high))
        for row, low, high in zip(given, least, most, strict=True)
    )


def _value_between(value: int | str, least: int | str, most: int | str) -> bool:
    if isinstance(value, int) and isinstance(least, int) and isinstance(most, int):
        return least <= value <= most
    return value == least == most


def _shown(rows: Rows | None) -> str:
    text = str(rows)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
