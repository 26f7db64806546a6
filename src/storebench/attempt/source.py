"""The dataset as a client reads it: rows of the CSV, streamed from S3."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from storebench.dataset.schema import FIELDS

Row = dict[str, str]


class Source:
    """Streams the dataset's CSV. `fields` are its columns, in order."""

    fields: Sequence[str] = tuple(field.name for field in FIELDS)

    def __init__(self, s3_client: Any, bucket: str, key: str) -> None:
        self._s3_client = s3_client
        self._uri = f"s3://{bucket}/{key}"

    def rows(self) -> Iterator[Row]:
        """Each row as `csv.DictReader` gives it, from the first: every value is text, a null is empty."""
        import smart_open

        with smart_open.open(
            self._uri, encoding="utf-8", newline="", transport_params={"client": self._s3_client}
        ) as stream:
            yield from csv.DictReader(stream)

    def batches(self, rows: int) -> Iterator[list[Row]]:
        """The same in lists of `rows` rows; the last may be shorter."""
        reader = self.rows()
        while batch := list(itertools.islice(reader, rows)):
            yield batch
