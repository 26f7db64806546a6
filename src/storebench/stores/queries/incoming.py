"""The rows that come in while clients ask questions, and their writer."""

from __future__ import annotations

import csv
import io
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storebench.dataset.generate import generate_chunk, header
from storebench.stores.queries.answers import PLACE

if TYPE_CHECKING:
    import pyarrow as pa

PERIOD_S = 0.5  # between two batches
LEAST_ROWS = 100  # of the dataset: then it has all values of status, and ten groups of device_id
# Incoming rows have the lowest amount, and devices that no other row has and that sort last: they change no answer of ten largest.
AMOUNT, DEVICE = "100000.00", "new-{id}"


@dataclass(frozen=True)
class Batch:
    """Rows that come in together, as CSV with a header."""

    rows: int
    text: bytes

    def table(self) -> pa.Table:
        """Return the rows as an Arrow table with the types of `Source.tables`."""
        import pyarrow as pa

        from storebench.dataset.schema import FIELDS
        from storebench.dataset.typed import arrow_schema, csv_reader

        schema = arrow_schema(FIELDS)
        return pa.Table.from_batches(list(csv_reader(io.BytesIO(self.text), schema)), schema)


class Incoming:
    """Rows that follow the dataset's rows. This class has none; Writer has.

    `sent`: number of rows that the writer has begun to append. `acknowledged`: number of rows that a store has acknowledged. `failed`: is set if
    the writer fails, and when nobody waits for rows any more.
    """

    def __init__(self) -> None:
        self.sent = self.acknowledged = 0
        self.failed = threading.Event()

    def rows(self, start: int, stop: int) -> Iterator[list[str]]:
        """Yield the texts of all fields of the incoming rows with these numbers."""
        return iter(())

    def begin(self) -> None:
        """Begin to append rows."""

    def end(self) -> None:
        """Stop, after the acknowledgement of the last batch. Raises the writer's error."""


class Writer(Incoming):
    """A thread that appends a batch of rows every PERIOD_S seconds. A batch that is late is appended at once.

    `in_time`: number of rows that were acknowledged when the last client had ended. `due`: number of rows that were due at that time.
    `longest_s`: the longest time from the moment when a batch was due to its acknowledgement.
    """

    def __init__(self, append: Callable[[Batch], Any], first: int, seed: int, rows_per_s: int) -> None:
        """`append`: appends a batch to the store. `first`: number of rows of the dataset."""
        super().__init__()
        self._append, self._first, self._seed = append, first, seed
        self._batch_rows = max(1, round(rows_per_s * PERIOD_S))
        self.in_time = self.due = 0
        self.longest_s = 0.0
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def rows(self, start: int, stop: int) -> Iterator[list[str]]:
        if start == stop:
            return
        chunk = generate_chunk(self._seed, self._first + start, self._first + stop)
        for row in csv.reader(io.StringIO(chunk.csv.decode(), newline="")):
            row[PLACE["total_amount"]] = AMOUNT
            row[PLACE["device_id"]] = DEVICE.format(id=row[PLACE["id"]])
            yield row

    @property
    def behind(self) -> bool:
        """Return whether more than one batch was late at the end: the writer then did not reach its rate."""
        return self.due - self.in_time > self._batch_rows

    def begin(self) -> None:
        self._began_s = time.perf_counter()
        self._thread.start()

    def end(self) -> None:
        self.in_time = self.acknowledged
        self.due = int((time.perf_counter() - self._began_s) / PERIOD_S) * self._batch_rows
        self._stop.set()
        self._thread.join()
        if self._error:
            raise self._error

    def _run(self) -> None:
        number = 0
        try:
            while True:
                batch = self._batch(number)
                number += 1
                due_s = self._began_s + number * PERIOD_S
                if self._stop.wait(max(0.0, due_s - time.perf_counter())):
                    return
                self.sent += batch.rows
                self._append(batch)
                self.acknowledged += batch.rows
                self.longest_s = max(self.longest_s, time.perf_counter() - due_s)
        except Exception as error:  # noqa: BLE001 - raised by `end`, in the thread of the attempt
            self._error = error
            self.failed.set()

    def _batch(self, number: int) -> Batch:
        """Return a batch. The writer makes the batch while it waits."""
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows(
            self.rows(number * self._batch_rows, (number + 1) * self._batch_rows)
        )
        return Batch(self._batch_rows, header() + text.getvalue().encode())
