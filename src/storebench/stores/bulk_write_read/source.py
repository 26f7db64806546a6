"""The dataset as a client reads it: rows of the CSV, streamed from S3."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.schema import FIELDS, Field
from storebench.study.dataset import MANIFEST

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str]


class Source:
    """Streams the dataset's CSV. `schema` and `fields`, their names, are its columns, in order: those of a file of one's own once its
    `manifest` was read.
    """

    schema: Sequence[Field] = FIELDS
    fields: Sequence[str] = tuple(field.name for field in FIELDS)

    def __init__(self, s3_client: Any, bucket: str, key: str) -> None:
        self.s3_client = s3_client
        self.bucket, self.key = bucket, key
        self._uri = f"s3://{bucket}/{key}"

    @classmethod
    def of(cls, s3_client: Any, bucket: str, folder: str) -> Source:
        """The source of the dataset below this key."""
        return cls(s3_client, bucket, folder + CSV)

    def manifest(self) -> Manifest:
        """The dataset's manifest. Raises StoreUnreachable or StoreRefused that name S3 and the key."""
        found = Manifest.load(self.s3_client, self.bucket, self.key.removesuffix(CSV) + MANIFEST)
        self.schema, self.fields = found.schema, tuple(field.name for field in found.schema)
        return found

    def rows(self) -> Iterator[Row]:
        """Each row as `csv.DictReader` gives it, from the first: every value is text, a null is empty."""
        import smart_open

        with smart_open.open(
            self._uri, encoding="utf-8", newline="", transport_params={"client": self.s3_client}
        ) as stream:
            yield from csv.DictReader(stream)

    def tables(self, rows: int | None) -> Iterator[pa.Table]:
        """Yield the rows as Arrow tables of `rows` rows each (None: one table), with the types of
        `storebench.dataset.typed.arrow_schema`. A null is null.
        """
        import pyarrow as pa
        import smart_open

        from storebench.dataset.typed import arrow_schema, csv_reader

        schema = arrow_schema(self.schema)
        held: list[pa.RecordBatch] = []
        count = 0
        with smart_open.open(self._uri, "rb", transport_params={"client": self.s3_client}) as stream:
            for batch in csv_reader(stream, schema):
                while rows is not None and count + batch.num_rows >= rows:
                    held.append(batch.slice(0, rows - count))
                    batch = batch.slice(rows - count)
                    yield pa.Table.from_batches(held, schema)
                    held, count = [], 0
                if batch.num_rows:
                    held.append(batch)
                    count += batch.num_rows
        if held:
            yield pa.Table.from_batches(held, schema)

    def batches(self, rows: int) -> Iterator[list[Row]]:
        """Yield the rows in lists of `rows` rows; the last list may be shorter."""
        reader = self.rows()
        while batch := list(itertools.islice(reader, rows)):
            yield batch
