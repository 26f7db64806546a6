"""Puts the dataset into S3 by multipart upload, with memory that does not grow with rows."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from storebench import s3
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.generate import ESTIMATED_ROW_BYTES, check, generate, header
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StorebenchError

PART_BYTES = 9_000_000
MAX_PARTS = 10_000  # of S3
UPLOADS = 4  # at a time

Progress = Callable[[str], None]


def ensure_dataset(
    client: Any, bucket: str, rows: int, seed: int, *, workers: int | None = None, progress: Progress | None = None
) -> tuple[Manifest, bool]:
    """Generate the dataset into `bucket`, unless a complete one is there; returns its manifest and whether it was made.

    `workers` threads generate (default: one for each processor), `progress` gets a line now and then. Raises
    SpecError for bad rows or seed, StoreUnreachable or StoreRefused where S3 does not do its part; a multipart upload
    that was begun is then aborted.
    """
    check(rows, seed)
    manifest = _existing(client, bucket, rows, seed)
    if manifest is not None:
        return manifest, False
    key = dataset_key(rows, seed)
    with s3.errors(client, bucket, key):
        manifest = upload(client, bucket, key, rows, seed, workers or os.cpu_count() or 1, progress or (lambda _: None))
        client.put_object(Bucket=bucket, Key=manifest_key(rows, seed), Body=manifest.to_json().encode())
    return manifest, True


def _existing(client: Any, bucket: str, rows: int, seed: int) -> Manifest | None:
    """The manifest of a complete dataset: both objects are there, and they fit."""
    s3.check_bucket(client, bucket)
    try:
        manifest = Manifest.load(client, bucket, manifest_key(rows, seed))
        with s3.errors(client, bucket, dataset_key(rows, seed)):
            head = client.head_object(Bucket=bucket, Key=dataset_key(rows, seed))
    except StorebenchError:
        return None
    fits = (manifest.rows, manifest.seed, manifest.bytes) == (rows, seed, head["ContentLength"])
    return manifest if fits else None


def upload(
    client: Any, bucket: str, key: str, rows: int, seed: int, workers: int, progress: Progress
) -> Manifest:
    """Generate and upload; at most `workers` + UPLOADS parts are in memory."""
    digest, checksum, size = hashlib.sha256(), TableChecksum(), 0
    started = client.create_multipart_upload(Bucket=bucket, Key=key, ContentType="text/csv; charset=utf-8")
    place = {"Bucket": bucket, "Key": key, "UploadId": started["UploadId"]}

    def put(number: int, body: bytes) -> dict[str, Any]:
        answer = client.upload_part(**place, PartNumber=number, Body=body)
        return {"PartNumber": number, "ETag": answer["ETag"]}

    try:
        with ThreadPoolExecutor(workers) as generators, ThreadPoolExecutor(UPLOADS) as uploaders:
            parts: list[dict[str, Any]] = []
            pending: deque[Future[dict[str, Any]]] = deque()
            chunks = _ahead(generators, _ranges(rows), seed, workers)
            for number, chunk in enumerate(chunks, 1):
                body = header() + chunk.csv if number == 1 else chunk.csv
                if len(pending) >= UPLOADS:
                    parts.append(pending.popleft().result())
                pending.append(uploaders.submit(put, number, body))
                digest.update(body)
                checksum.add(chunk.checksum)
                size += len(body)
                if number % 10 == 0:
                    progress(f"{checksum.rows:,} of {rows:,} rows, {size / 1e6:,.0f} MB")
            parts += [future.result() for future in pending]
        client.complete_multipart_upload(**place, MultipartUpload={"Parts": parts})
    except BaseException:  # an interrupt, too, leaves nothing behind
        client.abort_multipart_upload(**place)
        raise
    return Manifest(SCHEMA_VERSION, rows, seed, size, digest.hexdigest(), checksum.fields, checksum.row_sum)


def _ranges(rows: int) -> Iterator[tuple[int, int]]:
    """The rows of each part: about PART_BYTES, more where there would be too many parts."""
    step = max(PART_BYTES // ESTIMATED_ROW_BYTES, -(-rows // MAX_PARTS))
    for start in range(0, rows, step):
        yield start, min(start + step, rows)


def _ahead(pool: ThreadPoolExecutor, ranges: Iterator[tuple[int, int]], seed: int, ahead: int) -> Iterator[Any]:
    """The chunks in order, `ahead` of them being generated."""
    pending: deque[Future[Any]] = deque()
    for start, stop in ranges:
        pending.append(pool.submit(generate, seed, start, stop))
        if len(pending) > ahead:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()
