"""A store to begin with: each batch is an object in S3, with a line of JSON for each row."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from storebench import s3
from storebench.attempt.clock import OperationClock
from storebench.stores.base import Server
from storebench.stores.bulk_write_read.base import VERIFY_CHUNK_ROWS, TableStore, columns
from storebench.stores.bulk_write_read.source import Row


class Toy(TableStore):
    """One folder per target, below `toy/` in the bucket of the dataset. What S3 has acknowledged, it keeps."""

    name = "toy"
    connection = "s3"  # `self.server` is the Airflow Connection storebench_s3
    packages = ("boto3",)  # whose versions are recorded with each attempt

    def connect(self) -> None:
        assert self.server is not None
        self._client, self._bucket = s3.client_for(self.server), self.source.bucket
        self._folder = f"toy/{self.target}"  # the target's name is unique
        with self._errors():
            answer = self._client.list_objects_v2(Bucket=self._bucket, MaxKeys=1)
        self._server_name = answer["ResponseMetadata"]["HTTPHeaders"].get("server", "unknown")

    def describe(self) -> Server:
        return Server(self._server_name, "unknown")  # S3 has no call that tells a version

    def prepare(self) -> None:
        self.drop()

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with self._errors():
            if batch is None:
                with clock.operation():  # pulls from the source itself, whose time is taken out
                    return self._put(0, clock.source(self.source.rows()))
            rows = 0
            for number, part in enumerate(clock.source(self.source.batches(batch))):
                with clock.operation():
                    rows += self._put(number, part)
            return rows

    def barrier(self) -> None:
        pass

    def read(self, clock: OperationClock) -> int:
        with self._errors(), clock.operation():
            return sum(1 for _ in self._rows())

    def count(self) -> int:
        with self._errors():
            return sum(len(self._lines(key)) for key in self._keys())

    def scan(self) -> Iterator[Mapping[str, Sequence[str]]]:
        with self._errors():
            rows = self._rows()
            while chunk := list(itertools.islice(rows, VERIFY_CHUNK_ROWS)):
                yield columns(chunk, self.source.fields)

    def drop(self) -> None:
        with self._errors():
            for key in self._keys():
                self._client.delete_object(Bucket=self._bucket, Key=key)

    def close(self) -> None:
        self._client.close()

    def _put(self, number: int, rows: Iterable[Row]) -> int:
        lines = [json.dumps(row) for row in rows]
        key = f"{self._folder}/{number:06}.jsonl"
        self._client.put_object(Bucket=self._bucket, Key=key, Body="\n".join(lines).encode())
        return len(lines)

    def _rows(self) -> Iterator[Row]:
        for key in self._keys():
            yield from map(json.loads, self._lines(key))

    def _lines(self, key: str) -> list[bytes]:
        body: bytes = self._client.get_object(Bucket=self._bucket, Key=key)["Body"].read()
        return body.splitlines()

    def _keys(self) -> list[str]:
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=f"{self._folder}/"
        )
        return [item["Key"] for page in pages for item in page.get("Contents", [])]

    def _errors(self) -> AbstractContextManager[None]:
        """Whatever S3 says becomes StoreUnreachable or StoreRefused: a row in the results that says what to do."""
        return s3.errors(self._client, self._bucket, self._folder)
