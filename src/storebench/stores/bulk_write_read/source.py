"""Stream the rows of the dataset's CSV from S3 to a client."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.schema import Field
from storebench.study.dataset import MANIFEST

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str]


class Source:
    """The source of a dataset's rows. `schema` and `fields` need a call of `manifest` first, since a custom file has other columns."""

    _schema: Sequence[Field] | None = None

    def __init__(self, s3_client: Any, bucket: str, key: str) -> None:
        self.s3_client = s3_client
        self.bucket, self.key = bucket, key
        self._uri = f"s3://{bucket}/{key}"

    @classmethod
    def of(cls, s3_client: Any, bucket: str, folder: str) -> Source:
        """Create the source of the dataset below a key prefix. `folder`: the prefix."""
        return cls(s3_client, bucket, folder + CSV)

    def manifest(self) -> Manifest:
        """Return the dataset's manifest. Raises StoreUnreachable or StoreRefused with the address in S3."""
        manifest = Manifest.load(self.s3_client, self.bucket, self.key.removesuffix(CSV) + MANIFEST)
        self.schema = manifest.schema
        return manifest

    @property
    def schema(self) -> Sequence[Field]:
        """Return the fields of the columns in order. Raises RuntimeError before the manifest was read."""
        if self._schema is None:
            raise RuntimeError(
                "source.schema and source.fields are in the dataset's manifest: call source.manifest() before. The operation of a"
                " TableStore does so before it calls `prepare`"
            )
        return self._schema

    @schema.setter
    def schema(self, schema: Sequence[Field]) -> None:
        self._schema = schema

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the columns in order. Raises RuntimeError before the manifest was read."""
        return tuple(field.name for field in self.schema)

    def rows(self) -> Iterator[Row]:
        """Yield each row from the first as `csv.DictReader` does: every value is text, and a null is an empty text."""
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
