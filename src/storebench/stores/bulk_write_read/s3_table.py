"""The base class of stores that keep a table as files in the dataset's bucket."""

from __future__ import annotations

from contextlib import suppress
from typing import ClassVar

from storebench import s3
from storebench.errors import StorebenchError
from storebench.protocol.figures import Cover
from storebench.stores.bulk_write_read.base import TableStore
from storebench.stores.files import Files, S3Files


class S3Table(TableStore):
    """A store with the files of a target's table below `tables/` in the dataset's bucket. Each write ends durable, so there is no barrier."""

    connection = "s3"
    figures_cover: ClassVar[Cover] = "engine"

    @property
    def key(self) -> str:
        """Return the key prefix of the table in the bucket."""
        return f"tables/{self.target}"

    def connect(self) -> None:
        """Check that the bucket answers, and record the name that the S3 server reports."""
        client, bucket = self.source.s3_client, self.source.bucket
        with s3.errors(client, bucket):
            answer = client.list_objects_v2(Bucket=bucket, MaxKeys=1)
        self._s3_server = answer["ResponseMetadata"]["HTTPHeaders"].get("server", "unknown")

    def prepare(self) -> None:
        self.drop()

    def barrier(self) -> None:
        pass

    def size_bytes(self) -> int | None:
        with suppress(StorebenchError):
            return self._files.disk_bytes(self.key)
        return None

    def drop(self) -> None:
        self._files.remove(self.key)

    @property
    def _files(self) -> Files:
        """The file system of the table."""
        return S3Files(self.source.s3_client, self.source.bucket)
