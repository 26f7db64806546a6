"""Read back from S3 the object that several pods have sent together, and describe how these pods exchange values."""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from storebench.errors import StoreRefused

RANGE_BYTES = 16 << 20  # of a request: a broken connection repeats at most this
READERS = 4  # ranges that are read at the same time: one connection is slower than the hash


class Share(Protocol):
    """The share of the work that a pod does (storebench.attempt.parts.part)."""

    @property
    def leads(self) -> bool:
        """Return whether the pod is the leader."""

    def share(self, total: int) -> range:
        """Return this pod's contiguous share of the numbers below `total`."""


class Together(Protocol):
    """The pods that make a dataset together (storebench.attempt.parts.parts)."""

    @property
    def part(self) -> Share:
        """Return the share of this pod."""

    def agree(self, name: str, value: Any, decide: Callable[[list[Any]], Any]) -> Any:
        """Return the leader's decision about the values of all pods."""

    def spare(self, name: str) -> None:
        """Let the leader answer the step `name` with None, because the other pods have nothing to do."""

    def leave(self, value: Any) -> list[Any] | None:
        """Leave this pod's value with the leader. Return the values of all pods on the leader, else None."""


@dataclass(frozen=True)
class SentRange:
    """Contiguous bytes that one pod has sent: their number and their CRC-32."""

    bytes: int
    crc32: int


def read_back(client: Any, bucket: str, key: str, ranges: Sequence[SentRange]) -> str:
    """Read an object from S3, compare the CRC-32 of each range with that of the sent bytes, and return the SHA-256 of the whole object.

    Raises StoreRefused if S3 returns other bytes than were sent, and boto3's errors.
    """
    sha256, position = hashlib.sha256(), 0
    for number, sent in enumerate(ranges):
        crc32 = 0
        for data in _read(client, bucket, key, position, position + sent.bytes):
            sha256.update(data)
            crc32 = zlib.crc32(data, crc32)
        if crc32 != sent.crc32:
            raise StoreRefused(
                f"s3://{bucket}/{key} has other bytes from {position:,} to {position + sent.bytes:,} than part {number} of {len(ranges)} has"
                " sent: S3 does not keep what it accepts"
            )
        position += sent.bytes
    return sha256.hexdigest()


def _read(client: Any, bucket: str, key: str, begin: int, end: int) -> Iterator[bytes]:
    """Yield the bytes from `begin` to `end` of an object in order, with READERS requests at a time."""

    def read(first: int) -> bytes:
        last = min(first + RANGE_BYTES, end) - 1
        answer = client.get_object(Bucket=bucket, Key=key, Range=f"bytes={first}-{last}")
        data: bytes = answer["Body"].read()
        return data

    with ThreadPoolExecutor(READERS, thread_name_prefix="read-back") as pool:
        reading: deque[Future[bytes]] = deque()
        try:
            for first in range(begin, end, RANGE_BYTES):
                reading.append(pool.submit(read, first))
                if len(reading) == READERS:
                    yield reading.popleft().result()
            while reading:
                yield reading.popleft().result()
        finally:
            for future in reading:
                future.cancel()
