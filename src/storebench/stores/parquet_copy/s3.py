"""The S3 server of the results, by S3A with its magic committer."""

from __future__ import annotations

from functools import cached_property

from storebench.s3 import java_cannot_address
from storebench.spark.filesystems import s3
from storebench.stores.base import Durability
from storebench.stores.files import S3Files
from storebench.stores.parquet_copy.base import ParquetStore


class S3(ParquetStore):
    """S3 by S3A. S3 checks uploads by its own checksums, which stay unchanged."""

    name = "s3"
    connection = "s3"

    @classmethod
    def cannot_address(cls, bucket: str) -> str:
        return java_cannot_address(bucket)

    @cached_property
    def file_system(self) -> s3.S3:
        assert self.server is not None
        return s3.S3(self.server, self.bucket, magic=True)

    @cached_property
    def files(self) -> S3Files:
        return S3Files(self._s3, self.bucket)

    @property
    def root(self) -> str:
        return f"tables/{self.target}"

    def durability(self) -> Durability:
        return Durability("s3", "each file is an acknowledged upload")
