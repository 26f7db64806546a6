"""Stream the rows of the dataset's CSV from S3 to a client."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.offsets import RowBytes, bytes_of, header_bytes
from storebench.dataset.schema import Field
from storebench.study.dataset import MANIFEST

if TYPE_CHECKING:
    import pyarrow as pa

Row = dict[str, str]


class Source:
    """The source of a dataset's rows. `schema` and `fields` need a call of `manifest` first, since a custom file has other columns.

    `rows`, `tables` and `batches` yield all rows, or the share that `take` selects.
    """

    _schema: Sequence[Field] | None = None
    share: range | None = None  # the numbers of the rows to yield; None: all rows
    _bytes: RowBytes | None = None  # the bytes that contain the share

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

    def take(self, share: range | None, manifest: Manifest) -> None:
        """Yield only the rows with the numbers in `share` from now on; None: all rows. S3 then sends no rows before the share, or
        at most 9,999 of a custom file, and stops soon after the share. Raises StoreRefused if the manifest does not say where rows begin.
        """
        self._bytes = bytes_of(manifest, share) if share else None
        self.share = share

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
        """Yield each row in its order as `csv.DictReader` does: every value is text, and a null is an empty text."""
        import smart_open

        if self.share is not None:
            yield from self._rows_of_share()
            return
        with smart_open.open(
            self._uri, encoding="utf-8", newline="", transport_params={"client": self.s3_client}
        ) as stream:
            yield from csv.DictReader(stream)

    def _rows_of_share(self) -> Iterator[Row]:
        with self._stream() as stream, io.TextIOWrapper(stream, "utf-8", newline="") as text:
            yield from self._of_share(csv.DictReader(text))

    def tables(self, rows: int | None) -> Iterator[pa.Table]:
        """Yield the rows as Arrow tables of `rows` rows each (None: one table), with the types of
        `storebench.dataset.typed.arrow_schema`. A null is null.
        """
        import pyarrow as pa

        from storebench.dataset.typed import arrow_schema, csv_reader

        schema = arrow_schema(self.schema)
        held: list[pa.RecordBatch] = []
        count = 0
        with self._stream() as stream:
            for batch in self._batches_of_share(csv_reader(stream, schema)):
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

    def _of_share(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Yield the rows of the share. `rows`: of all bytes that contain the share."""
        assert self.share is not None
        skip = self._bytes.skip if self._bytes else 0
        return itertools.islice(rows, skip, skip + len(self.share))

    def _batches_of_share(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.share is None:
            yield from batches
            return
        skip, left = self._bytes.skip if self._bytes else 0, len(self.share)
        for batch in batches:
            part = batch.slice(skip, left)
            skip, left = max(0, skip - batch.num_rows), left - part.num_rows
            if part.num_rows:
                yield part
            if not left:
                return

    @contextmanager
    def _stream(self) -> Iterator[Any]:
        """Open a binary file of the CSV, or of its header and the bytes that contain the share."""
        import smart_open

        found, options = self._bytes, {"client": self.s3_client}
        if self.share is None:
            with smart_open.open(self._uri, "rb", transport_params=options) as whole:
                yield whole
        elif found is None:  # an empty share
            yield io.BytesIO(header_bytes(self.fields))
        else:
            # S3 sends from the first byte on until the stream is closed: at most a buffer more than the share.
            options |= {"defer_seek": True}
            with smart_open.open(self._uri, "rb", transport_params=options) as part:
                part.seek(found.begin)
                yield io.BufferedReader(_WithHeader(header_bytes(self.fields), part, found.end - found.begin))


class _WithHeader(io.RawIOBase):
    """The header of a CSV, and after it the next `length` bytes of a stream."""

    def __init__(self, header: bytes, stream: Any, length: int) -> None:
        self._header, self._stream, self._left = header, stream, length

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._header:
            data, self._header = self._header[: len(buffer)], self._header[len(buffer) :]
        else:
            data = self._stream.read(min(len(buffer), self._left))
            self._left -= len(data)
        buffer[: len(data)] = data
        return len(data)
