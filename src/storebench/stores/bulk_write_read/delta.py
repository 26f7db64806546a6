"""The base class of stores of Delta Lake tables: location in S3, removal, and verification without Spark."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from storebench import s3
from storebench.connection import Connection, tls
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.protocol.counters import Counter
from storebench.redact import redacted
from storebench.stores.base import Durability
from storebench.stores.bulk_write_read.base import MICROSECONDS, VERIFY_CHUNK_ROWS, finer, same_but_for_case
from storebench.stores.bulk_write_read.s3_table import S3Table
from storebench.stores.counters import delta as delta_counters

if TYPE_CHECKING:
    from deltalake import DeltaTable

MAX_ERROR_CHARACTERS = 300
COLUMN = re.compile(r"\w+")  # names that Parquet, Spark and both of Delta's readers accept without quotes


class DeltaStore(S3Table):
    """A store with a Delta table per target, below `tables/` in the dataset's bucket. A commit is durable, so there is no barrier.

    After a write, verification reads the files that delta-rs lists, with pyarrow. After a read, each store makes its own second pass.
    """

    counters: ClassVar[tuple[Counter, ...]] = delta_counters.COUNTERS

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        if name := next((field.name for field in schema if not COLUMN.fullmatch(field.name)), None):
            return f"the column {name!r} would need Delta Lake's column mapping: rename it to letters, digits and _"
        if same := same_but_for_case(schema):
            return f"Delta Lake takes columns whose names differ only in case, such as {same!r}, for one"
        if name := next((field.name for field in schema if finer(field, MICROSECONDS)), None):
            return f"the column {name!r} has timestamps with nanoseconds, and Delta Lake keeps microseconds. Round them, or make them text"
        return ""

    def uri(self, scheme: str = "s3") -> str:
        return f"{scheme}://{self.source.bucket}/{self.key}"

    def durability(self) -> Durability:
        return Durability("s3", "each commit is an acknowledged PUT")

    def read_counters(self) -> Mapping[str, float | str]:
        return {**super().read_counters(), **delta_counters.read(self._files, self.key)}

    def check_table(self) -> None:
        """Raise StoreRefused if the table does not exist."""
        client, bucket = self.source.s3_client, self.source.bucket
        with s3.errors(client, bucket, self.key):
            listing = client.list_objects_v2(Bucket=bucket, Prefix=f"{self.key}/_delta_log/", MaxKeys=1)
        if not listing.get("KeyCount"):
            raise StoreRefused(
                f"There is no Delta table at {self.uri()}: it was never written, or it was removed"
            )

    @property
    def storage_options(self) -> dict[str, str]:
        assert self.server is not None
        return storage_options(self.server)

    def files(self) -> int:
        """Count the data files of the table's version with delta-rs, so that a session of Spark meets the table first in its maintenance."""
        self.check_table()
        with self.table_errors():
            return len(self.open_table().file_uris())

    def count(self) -> int:
        """Count the rows in the Parquet files, not in the log's statistics."""
        with self.table_errors():
            return int(self.open_table().to_pyarrow_dataset().count_rows())

    def scan(self) -> Iterator[Mapping[str, Any]]:
        from pyarrow import parquet as pq

        from storebench.dataset.typed import canonical

        with self.table_errors():
            for part in self.open_table().to_pyarrow_dataset().get_fragments():
                # Spark writes timestamps as INT96. delta-rs returns wrong dates for INT96 outside the years 1678 to 2261.
                # No dataset of pyarrow, and no reading ahead: unless read to the end, these can crash the process at exit.
                file = pq.ParquetFile(part.open(), coerce_int96_timestamp_unit="us", pre_buffer=False)
                for batch in file.iter_batches(VERIFY_CHUNK_ROWS):
                    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                    yield canonical(columns, self.source.schema)

    def verified_by(self) -> str:
        return "pyarrow ParquetFile.iter_batches()"

    def open_table(self) -> DeltaTable:
        """Open the table with deltalake."""
        from deltalake import DeltaTable

        return DeltaTable(self.uri(), storage_options=self.storage_options)

    @contextmanager
    def table_errors(self) -> Iterator[None]:
        """Turn deltalake's errors, among them bare Exceptions, into StoreUnreachable or StoreRefused."""
        from deltalake.exceptions import DeltaError
        from pyarrow import ArrowException

        try:
            yield
        except Exception as error:
            if not isinstance(error, OSError | DeltaError | ArrowException) and type(error) is not Exception:
                raise
            reason = one_line(str(error))
            if "error sending request" in reason:
                more = self.server and tls.advice(str(error), self.server)
                raise StoreUnreachable(
                    f"S3 stopped answering at {self.uri()}: {reason}{more or '. Is it running, and reachable?'}"
                ) from error
            raise StoreRefused(f"delta-rs failed at {self.uri()}: {reason}") from error


def storage_options(server: Connection) -> dict[str, str]:
    """Return deltalake's options for an S3 connection. The library finds missing values as AWS's clients do.

    The environment has the connection's CA, since the library has no option for a CA.

    The connection's extra `delta_rs` (an object) adds options. A server without conditional puts needs
    `{"aws_s3_allow_unsafe_rename": "true"}`, which is safe here because each table has a single writer.
    """
    if file := tls.authority_file(server):
        os.environ["SSL_CERT_FILE"] = file
    endpoint = server.extra.get("endpoint_url") or ""
    options = {
        "aws_endpoint_url": endpoint,
        "aws_region": server.extra.get("region_name") or s3.DEFAULT_REGION,
        "aws_access_key_id": server.login,
        "aws_secret_access_key": server.password,
        "aws_session_token": str(server.extra.get(s3.TOKEN) or ""),
        "aws_allow_http": "true" if endpoint.startswith("http://") else "",
        "max_retries": "3",  # as in the project's S3 client
        **server.extra.get("delta_rs", {}),
    }
    return {name: value for name, value in options.items() if value}


def one_line(text: str) -> str:
    """Return an error of deltalake without colours, line breaks and S3's XML."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    if match := re.search(r"<Code>(.*?)</Code>(?:\s*<Message>(.*?)</Message>)?", text, re.DOTALL):
        text = f"S3: {match[1]}: {match[2] or ''}"
    return " ".join(redacted(text).replace("↳", " ").split())[:MAX_ERROR_CHARACTERS]
