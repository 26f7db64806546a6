"""Make a dataset from a custom file: a CSV or Parquet file in S3, or a folder of such files, becomes a CSV with a schema and manifest.

The copy has the same rows in canonical text (storebench.dataset.schema). So every store reads it as it reads the generated dataset, and a
file that changes meanwhile changes no run.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from storebench import protocol, s3
from storebench.dataset import custom_tables
from storebench.dataset.csv50 import CUSTOM_FILE
from storebench.dataset.custom_csv import Unusable
from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.offsets import RowOffsets
from storebench.dataset.upload import Parts, complete_manifest, put_manifest, send_csv, send_manifest
from storebench.errors import SpecError
from storebench.study import custom_files
from storebench.study.dataset import folder_of, seed_of

MADE_BY = "own 2"
PART_BYTES = 8 << 20  # S3 wants at least 5 MiB in all parts but the last
LARGE_PARTS = 1_000  # S3 takes 10,000: parts of a thousandth of all before reach its 5 TB with fewer


def make(client: Any, bucket: str, prefix: str, rows: int, seed: int, *, file: str) -> dict[str, Any]:
    """Make the dataset of a custom file `s3://bucket/key` or folder `s3://bucket/key/` in the dataset's pod (storebench.attempt.dataset).

    `seed` stands for the planned version of the file. Return the manifest of the dataset below `prefix`, without the offsets of rows, and
    without checksums and fields where these would be too long for the pod's termination message.
    Raises SpecError for a file that has changed, that has more rows than `rows`, or whose data no store could give back.
    """
    if prefix != (expected := folder_of(CUSTOM_FILE.id(seed))):
        raise SpecError(
            f"This image makes the dataset {expected}, not {prefix}: build it from the code that Airflow runs"
        )
    if existing := complete_manifest(client, bucket, prefix):
        print("found: it was there already", flush=True)
        return _short(_with_offsets(client, bucket, prefix, existing))
    files = custom_files.find(client, file)
    if seed_of(file, files.version, files.size) != seed:
        raise SpecError(f"{file} has changed since this run was planned. Start another run")
    with s3.errors(client, bucket, prefix + CSV), _read(client, file, files) as table:
        copy = _Copy(table, rows)
        send_csv(client, bucket, prefix, copy)
    if custom_files.find(client, file) != files:
        client.delete_object(Bucket=bucket, Key=prefix + CSV)
        raise SpecError(f"{file} has changed while it was read. Start another run")
    schema = [column.field() for column in table.columns]
    manifest = send_manifest(
        client,
        bucket,
        prefix,
        copy,
        seed=seed,
        generator_version=MADE_BY,
        schema=schema,
        file=file,
        offsets=copy.rows.offsets(),
    )
    print(f"{manifest.rows:,} rows, {manifest.bytes / 1e6:,.1f} MB", flush=True)
    return _short(manifest)


def _with_offsets(client: Any, bucket: str, prefix: str, manifest: Manifest) -> Manifest:
    """Return the manifest with the offsets of its rows. Add the offsets to a manifest of an earlier version; the CSV stays as it is."""
    if manifest.offsets is not None:
        return manifest
    from smart_open import s3 as objects

    print("finding the offsets of its rows", flush=True)
    rows = RowOffsets()
    with (
        s3.errors(client, bucket, prefix + CSV),
        objects.open(bucket, prefix + CSV, "rb", client=client) as stream,
    ):
        while data := stream.read(PART_BYTES):
            rows.update(data)
    manifest = replace(manifest, offsets=rows.offsets())
    put_manifest(client, bucket, prefix, manifest)
    return manifest


@contextmanager
def _read(client: Any, file: str, files: custom_files.Files) -> Iterator[custom_tables.Table]:
    """Open the table in the file or folder. Raises SpecError that names the file for what is no table."""
    try:
        with custom_tables.opened(client, files) as table:
            yield table
    except Unusable as error:
        raise SpecError(f"{file} cannot be the dataset: {error}") from None


class _Copy(Parts):
    """The parts of a custom file's copy."""

    def __init__(self, table: custom_tables.Table, max_rows: int) -> None:
        super().__init__([column.name for column in table.columns])
        self._table, self._max_rows = table, max_rows
        self.rows = RowOffsets()

    def __iter__(self) -> Iterator[bytes]:
        names = self.checksum.names
        held = bytearray(encoded([names]))
        for texts in self._table.chunks:
            self._add(names, texts)
            held += encoded(list(zip(*texts, strict=True)))
            if len(held) >= max(PART_BYTES, self.bytes // LARGE_PARTS):
                yield self._sent(held)
                held = bytearray()
        if not self.checksum.rows:
            raise Unusable("it has no rows")
        self._check_header()
        if held:
            yield self._sent(held)

    def _check_header(self) -> None:
        """Raise Unusable for a CSV whose first line reads as a row: each typed column has a name of its own type."""
        typed = [column for column in self._table.columns if column.field().type != "string"]
        if typed and all(column.has_name_of_its_type() for column in typed):
            raise Unusable(
                f"line 1 reads as a row, not as a header: the {typed[0].field().type} column has the name {typed[0].name!r}. Write the names"
                " of the columns into the first line, with a letter in each"
            )

    def _add(self, names: Sequence[str], texts: Sequence[Sequence[str]]) -> None:
        for column, values in zip(self._table.columns, texts, strict=True):
            column.update(values)
            if column.longest > csv.field_size_limit():  # which those who read the copy would not take
                raise Unusable(
                    f"the column {column.name!r} has a text of {column.longest:,} characters, and {csv.field_size_limit():,} are the most. Shorten it,"
                    " or leave the column out"
                )
        try:
            self.checksum.update(dict(zip(names, texts, strict=True)))
        except TypeError as error:  # a NUL, which some stores end a text at
            raise Unusable(str(error)) from None
        if self.checksum.rows > self._max_rows:
            raise Unusable(f"it has more than {self._max_rows:,} rows")

    def _sent(self, held: bytearray) -> bytes:
        part = bytes(held)
        self.count(part)
        self.rows.update(part)
        return part


def encoded(rows: Sequence[Sequence[str]]) -> bytes:
    """Return rows as CSV, quoted only where necessary.

    Python's writer does not quote a lone carriage return, which its reader takes for the end of a line: such rows are quoted whole.
    """
    text = _written(rows, csv.QUOTE_MINIMAL)
    return (_written(rows, csv.QUOTE_ALL) if "\r" in text else text).encode()


def _written(rows: Sequence[Sequence[str]], quoting: Any) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, quoting=quoting, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _short(manifest: Manifest) -> dict[str, Any]:
    message: dict[str, Any] = json.loads(manifest.to_json())
    message.pop("offsets", None)
    if len(json.dumps(message, separators=(",", ":")).encode()) > protocol.MESSAGE_BYTES:
        del message["fields"], message["schema"]
    return message
