"""Compute the right answers from the dataset's definition, without any store."""

from __future__ import annotations

import csv
import heapq
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from storebench.dataset.schema import FIELD_NAMES
from storebench.errors import VerificationFailed
from storebench.stores.queries.questions import (
    DELETED_BELOW,
    FIRST_DAY,
    LAST_DAY,
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


def answers_for(manifest: Manifest, key: int) -> Answers:
    """Generate the dataset of a manifest, and answer all questions by reading its CSV row by row.

    `key`: the id of the question `point`. Raises VerificationFailed if the definition of the dataset differs from the manifest.
    """
    return answers_of(_rows_of(manifest), key)


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


def answers_of(rows: Iterable[Sequence[str]], key: int) -> Answers:
    """Answer all questions about rows in ascending order of their ids. A row: the texts of all fields."""
    count = total = in_range = range_quantity = found = found_quantity = 0
    pairs = pairs_quantity = deleted = deleted_ms = 0
    statuses, status_quantity = Counter[str](), Counter[str]()
    devices, device_quantity = Counter[str](), Counter[str]()
    earlier = Counter[str]()  # rows so far by last_name
    quantities: set[int] = set()
    amounts: list[tuple[int, int]] = []  # the largest: cents, and the negative id
    point: Rows = []
    identity, event, day, status, many, amount, last, rate, text, mail, how_many, ms = (
        PLACE[name]
        for name in (
            *("id", "event_key", "order_date", "status", "device_id", "total_amount", "last_name"),
            *("discount_rate", "comment", "email", "quantity", "duration_ms"),
        )
    )
    for row in rows:
        id, quantity, duration_ms = int(row[identity]), int(row[how_many]), int(row[ms])
        count += 1
        total += duration_ms
        if FIRST_DAY <= row[day] <= LAST_DAY:
            in_range += 1
            range_quantity += quantity
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
            found += 1
            found_quantity += quantity
        if id == key:
            point = [(id, row[event], row[mail])]
        pairs += earlier[row[last]]
        pairs_quantity += earlier[row[last]] * quantity
        earlier[row[last]] += 1
        if float(row[rate]) < DELETED_BELOW:
            deleted += 1
            deleted_ms += duration_ms
    largest_groups = heapq.nsmallest(TOP, ((-n, device) for device, n in devices.items()))
    return Answers(
        {
            "count": [(count,)],
            "sum": [(total,)],
            "range": [(in_range, range_quantity)],
            "group_low": [(name, statuses[name], status_quantity[name]) for name in sorted(statuses)],
            "group_high": [(device, -n, device_quantity[device]) for n, device in largest_groups],
            "top": [(-id, cents) for cents, id in sorted(amounts, reverse=True)],
            "distinct": [(len(quantities),)],
            "contains": [(found, found_quantity)],
            "point": point,
            "join": [(pairs, pairs_quantity)],
        },
        deleted,
        (count - deleted, total - deleted_ms),
    )


def compare(question: str, given: Rows, right: Rows) -> None:
    """Compare a store's answer with the right answer. Raises VerificationFailed with both."""
    if given != right:
        raise VerificationFailed(f"The answer to {question} is {_shown(given)}, and not {_shown(right)}")


def _shown(rows: Rows) -> str:
    text = str(rows)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…"
