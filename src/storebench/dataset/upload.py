"""Puts a dataset into S3, unless it is there: generated part by part, never whole in memory or on disk."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from storebench import s3
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.csv50 import CSV50
from storebench.dataset.generate import GENERATOR_VERSION, check, generate_chunk, header
from storebench.dataset.manifest import Manifest, dataset_key, manifest_key
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import SpecError, StoreRefused
from storebench.study.dataset import folder_of

Progress = Callable[[str], None]

WORKERS = 4  # parts that are sent at the same time
PART_ROWS = 20_000  # about 9 MiB; S3 wants at least 5 MiB in all parts but the last
MAX_PARTS = 10_000  # S3's limit for one object


def ensure_dataset(
    client: Any,
    bucket: str,
    rows: int,
    seed: int,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Manifest, bool]:
    """The manifest of the dataset, and whether it was generated now; otherwise a complete one was there.

    Memory is bounded by the parts that are under way: one for each of the `workers` threads (default 4) and one in the
    making. `progress` gets a line for people about ten times. Raises SpecError for rows or a seed out of range,
    StoreUnreachable where S3 does not answer, StoreRefused where it does not do what it should (wrong key, no bucket).
    Whatever is raised, an interrupt too, no part is left behind.
    """
    check(rows, seed)
    key = dataset_key(rows, seed)
    if existing := _find(client, bucket, rows, seed):
        return existing, False
    source = _Source(rows, seed, progress)
    with s3.errors(client, bucket, key):
        # an old manifest must not stay beside new data
        client.delete_object(Bucket=bucket, Key=manifest_key(rows, seed))
        upload(client, bucket, key, iter(source), workers or WORKERS)
        written = client.head_object(Bucket=bucket, Key=key)["ContentLength"]
    if written != source.bytes:
        raise StoreRefused(f"s3://{bucket}/{key} has {written:,} bytes, but {source.bytes:,} were sent")
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        rows=rows,
        seed=seed,
        bytes=source.bytes,
        sha256=source.sha256.hexdigest(),
        fields=source.checksums.fields,
        row_sum=source.checksums.row_sum,
        generator_version=GENERATOR_VERSION,
        bucket=bucket,
        key=key,
    )
    with s3.errors(client, bucket, manifest_key(rows, seed)):
        client.put_object(
            Bucket=bucket,
            Key=manifest_key(rows, seed),
            Body=manifest.to_json().encode(),
            ContentType="application/json",
        )
    return manifest, True


def make(client: Any, bucket: str, prefix: str, rows: int, seed: int) -> dict[str, Any]:
    """Make the dataset in the dataset's pod (storebench.attempt.dataset) and return the manifest of the dataset below `prefix`."""
    if prefix != (expected := folder_of(CSV50.id(rows, seed))):
        raise SpecError(
            f"This image makes the dataset {expected}, not {prefix}: build it from the code that Airflow runs"
        )
    manifest, created = ensure_dataset(
        client, bucket, rows, seed, progress=lambda text: print(text, flush=True)
    )
    print("generated" if created else "found: it was there already", flush=True)
    message: dict[str, Any] = json.loads(manifest.to_json())
    return message


def upload(
    client: Any, bucket: str, key: str, bodies: Iterator[bytes | bytearray], workers: int = WORKERS
) -> None:
    """Send the parts of an object, `workers` at a time, each taken from the iterator only when it can be sent.

    Whatever is raised, also by the iterator, the multipart upload is aborted first and all threads have ended.
    """
    upload_id = client.create_multipart_upload(Bucket=bucket, Key=key, ContentType="text/csv; charset=utf-8")[
        "UploadId"
    ]
    place = {"Bucket": bucket, "Key": key, "UploadId": upload_id}
    numbered, lock, stop = enumerate(bodies, 1), threading.Lock(), threading.Event()
    sent: list[dict[str, Any]] = []

    def send() -> None:
        try:
            while not stop.is_set():
                with lock:  # one thread makes the next part while the others send theirs
                    number, body = next(numbered, (0, b""))
                if not number:
                    return
                answer = client.upload_part(**place, PartNumber=number, Body=body)
                sent.append({"PartNumber": number, "ETag": answer["ETag"]})
        except BaseException:
            stop.set()
            raise

    try:
        with ThreadPoolExecutor(workers, thread_name_prefix="upload") as pool:
            try:
                for thread in [pool.submit(send) for _ in range(workers)]:
                    thread.result()
            finally:
                stop.set()  # if this thread is interrupted, the others end after the part that they are sending
        sent.sort(key=lambda part: part["PartNumber"])
        client.complete_multipart_upload(**place, MultipartUpload={"Parts": sent})
    except BaseException:
        with suppress(Exception):  # the error before this one says more
            client.abort_multipart_upload(**place)
        raise


def parts(rows: int, seed: int) -> Iterator[bytes | bytearray]:
    """The parts of a dataset as they are uploaded, SHA-256 and checksums made and dropped."""
    return iter(_Source(rows, seed, None))


class _Source:
    """Iterates over the dataset's parts, and adds up what its manifest says of them."""

    def __init__(self, rows: int, seed: int, progress: Progress | None) -> None:
        self.rows = rows
        self.seed = seed
        self.bytes = 0
        self.sha256 = hashlib.sha256()
        self.checksums = TableChecksum()
        self._progress = progress or (lambda text: None)

    def __iter__(self) -> Iterator[bytes | bytearray]:
        part_rows = max(PART_ROWS, math.ceil(self.rows / MAX_PARTS))
        step = max(self.rows // 10, part_rows)
        reported = 0
        for start in range(0, self.rows, part_rows):
            stop = min(start + part_rows, self.rows)
            chunk = generate_chunk(self.seed, start, stop)
            part = chunk.csv if start else header() + chunk.csv
            self.sha256.update(part)
            self.bytes += len(part)
            self.checksums.add(chunk.checksums)
            yield part
            if stop - reported >= step or stop == self.rows:
                reported = stop
                self._progress(f"{stop:,} of {self.rows:,} rows, {self.bytes / 1e6:,.0f} MB")


def _find(client: Any, bucket: str, rows: int, seed: int) -> Manifest | None:
    """The manifest of a complete dataset that is there already."""
    place = manifest_key(rows, seed)
    with s3.errors(client, bucket, place):
        text = s3.read(client, bucket, place)
        size = s3.size(client, bucket, dataset_key(rows, seed))
    try:
        manifest = Manifest.from_json((text or b"").decode())
    except ValueError:
        return None  # it is of another version, or damaged, and is written again
    matches = (manifest.rows, manifest.seed, manifest.bytes) == (rows, seed, size)
    return manifest if matches else None
