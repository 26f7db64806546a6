"""Put a dataset into S3: its CSV in parts, and then its manifest. Generate the dataset part by part, never whole in memory or on disk."""

from __future__ import annotations

import hashlib
import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from storebench import s3
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.csv50 import CSV50
from storebench.dataset.generate import GENERATOR_VERSION, check, generate_chunk, header
from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.schema import FIELD_NAMES, FIELDS, SCHEMA_VERSION, Field
from storebench.errors import SpecError, StoreRefused
from storebench.study.dataset import MANIFEST, folder_of

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
    """Return the manifest of the dataset, and whether the dataset was generated now. A complete dataset is not generated again.

    Memory is bounded by the parts that are under way: one for each of the `workers` threads (default 4) and one in the
    making. `progress` gets a line for people about ten times. Raises SpecError for rows or a seed out of range,
    StoreUnreachable where S3 does not answer, StoreRefused where it does not do what it should (wrong key, no bucket).
    Whatever is raised, an interrupt too, no part is left behind.
    """
    check(rows, seed)
    folder = folder_of(CSV50.id(rows, seed))
    existing = complete_manifest(client, bucket, folder)
    if existing and (existing.rows, existing.seed) == (rows, seed):
        return existing, False
    parts = _Generated(rows, seed, progress)
    send_csv(client, bucket, folder, parts, workers or WORKERS)
    return send_manifest(client, bucket, folder, parts, seed=seed, generator_version=GENERATOR_VERSION), True


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


class Parts(ABC):
    """The parts of a dataset's CSV. Iterating over the parts counts their bytes, SHA-256 and checksum for the manifest."""

    def __init__(self, names: Sequence[str] = FIELD_NAMES) -> None:
        self.bytes = 0
        self.sha256 = hashlib.sha256()
        self.checksum = TableChecksum(names)

    @abstractmethod
    def __iter__(self) -> Iterator[bytes | bytearray]:
        """Yield the parts in their order."""

    def count(self, part: bytes | bytearray) -> None:
        """Count the bytes of a part."""
        self.sha256.update(part)
        self.bytes += len(part)


def complete_manifest(client: Any, bucket: str, folder: str) -> Manifest | None:
    """Return the manifest of a complete dataset in this folder of S3; None if the dataset has to be made."""
    with s3.errors(client, bucket, folder + MANIFEST):
        text = s3.read(client, bucket, folder + MANIFEST)
        size = s3.size(client, bucket, folder + CSV)
    try:
        manifest = Manifest.from_json((text or b"").decode())
    except ValueError:
        return None  # the manifest is missing, of another version, or damaged
    return manifest if manifest.bytes == size else None


def send_csv(client: Any, bucket: str, folder: str, parts: Parts, workers: int = WORKERS) -> None:
    """Write the CSV of a dataset. Raises StoreRefused if S3 holds another number of bytes than was sent."""
    key = folder + CSV
    with s3.errors(client, bucket, key):
        # An old manifest must not stay beside new data
        client.delete_object(Bucket=bucket, Key=folder + MANIFEST)
        upload(client, bucket, key, iter(parts), workers)
        written = s3.size(client, bucket, key)
    if written != parts.bytes:
        raise StoreRefused(f"s3://{bucket}/{key} has {written or 0:,} bytes, but {parts.bytes:,} were sent")


def send_manifest(
    client: Any,
    bucket: str,
    folder: str,
    parts: Parts,
    *,
    seed: int,
    generator_version: str,
    schema: Sequence[Field] = FIELDS,
    file: str | None = None,
    offsets: Sequence[int] | None = None,
) -> Manifest:
    """Write the manifest of a dataset whose CSV has these parts, and return the manifest. `file`: the custom file that became the CSV.
    `offsets`: of the rows of a custom file (storebench.dataset.offsets)."""
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        rows=parts.checksum.rows,
        seed=seed,
        bytes=parts.bytes,
        sha256=parts.sha256.hexdigest(),
        fields=parts.checksum.fields,
        row_sum=parts.checksum.row_sum,
        generator_version=generator_version,
        bucket=bucket,
        key=folder + CSV,
        schema=schema,
        file=file,
        offsets=offsets,
    )
    put_manifest(client, bucket, folder, manifest)
    return manifest


def put_manifest(client: Any, bucket: str, folder: str, manifest: Manifest) -> None:
    """Write the manifest into a dataset's folder of S3."""
    with s3.errors(client, bucket, folder + MANIFEST):
        client.put_object(
            Bucket=bucket,
            Key=folder + MANIFEST,
            Body=manifest.to_json().encode(),
            ContentType="application/json",
        )


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
    """Yield the parts of a dataset as they are uploaded. SHA-256 and checksums are computed, and dropped."""
    return iter(_Generated(rows, seed, None))


class _Generated(Parts):
    """The parts of a generated dataset."""

    def __init__(self, rows: int, seed: int, progress: Progress | None) -> None:
        super().__init__()
        self.rows = rows
        self.seed = seed
        self._progress = progress or (lambda text: None)

    def __iter__(self) -> Iterator[bytes | bytearray]:
        part_rows = max(PART_ROWS, math.ceil(self.rows / MAX_PARTS))
        step = max(self.rows // 10, part_rows)
        reported = 0
        for start in range(0, self.rows, part_rows):
            stop = min(start + part_rows, self.rows)
            chunk = generate_chunk(self.seed, start, stop)
            part = chunk.csv if start else header() + chunk.csv
            self.count(part)
            self.checksum.add(chunk.checksums)
            yield part
            if stop - reported >= step or stop == self.rows:
                reported = stop
                self._progress(f"{stop:,} of {self.rows:,} rows, {self.bytes / 1e6:,.0f} MB")
