"""What all stores of Delta Lake tables share: where a table is in S3, and its removal."""

from __future__ import annotations

from typing import Any

from storebench import s3
from storebench.errors import StoreRefused
from storebench.stores.base import Store


class DeltaStore(Store):
    """One table per target, below `tables/` in the bucket of the dataset. A commit is durable: there is no barrier."""

    connection = "s3"

    @property
    def key(self) -> str:
        """The table's folder in the bucket."""
        return f"tables/{self.target}"

    def uri(self, scheme: str = "s3") -> str:
        return f"{scheme}://{self.source.bucket}/{self.key}"

    def prepare(self) -> None:
        self.drop()

    def barrier(self) -> None:
        pass

    def check_table(self) -> None:
        """Raises StoreRefused where there is no table to read."""
        client, bucket = self.source.s3_client, self.source.bucket
        with s3.errors(client, bucket, self.key):
            found = client.list_objects_v2(Bucket=bucket, Prefix=f"{self.key}/_delta_log/", MaxKeys=1)
        if not found.get("KeyCount"):
            raise StoreRefused(
                f"There is no Delta table at {self.uri()}: it was never written, or removed since"
            )

    def drop(self) -> None:
        client, bucket = self.source.s3_client, self.source.bucket
        with s3.errors(client, bucket, self.key):
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{self.key}/")
            for page in pages:
                keys: list[Any] = [{"Key": item["Key"]} for item in page.get("Contents", [])]
                if keys:
                    client.delete_objects(Bucket=bucket, Delete={"Objects": keys, "Quiet": True})
