"""Put a dataset into S3: its CSV in parts, and then its manifest. Generate the dataset part by part, never whole in memory or on disk.

Several pods can do this together: each generates and sends a contiguous range of the parts.
"""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from storebench import s3
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.csv50 import CSV50
from storebench.dataset.generate import GENERATOR_VERSION, check, generate_chunk, header
from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.multipart import WORKERS, Multipart, Sent, upload
from storebench.dataset.schema import FIELD_NAMES, FIELDS, SCHEMA_VERSION, Field
from storebench.dataset.together import SentRange, Together, read_back
from storebench.errors import SpecError, StoreRefused
from storebench.study.dataset import MANIFEST, folder_of

Progress = Callable[[str], None]

PART_ROWS = 20_000  # about 9 MiB; S3 wants at least 5 MiB in all parts but the last
MAX_PARTS = 10_000  # S3's limit for one object
UPLOAD = "upload"  # the step in which the leader of several pods gives them the id of the upload


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
    parts = Generated(rows, seed, progress)
    send_csv(client, bucket, folder, parts, workers or WORKERS)
    return send_manifest(client, bucket, folder, parts, seed=seed, generator_version=GENERATOR_VERSION), True


def make(
    client: Any, bucket: str, prefix: str, rows: int, seed: int, *, together: Together | None = None
) -> dict[str, Any] | None:
    """Make the dataset in the dataset's pod (storebench.attempt.dataset) and return the manifest of the dataset below `prefix`.

    `together`: the pods that make the dataset together; then only the leader returns the manifest, and the other pods return None.
    """
    if prefix != (expected := folder_of(CSV50.id(rows, seed))):
        raise SpecError(
            f"This image makes the dataset {expected}, not {prefix}: build it from the code that Airflow runs"
        )

    def progress(text: str) -> None:
        print(text, flush=True)

    if together and not together.part.leads:
        help_with_dataset(client, bucket, rows, seed, together, progress=progress)
        return None
    if together:
        manifest, created = lead_dataset(client, bucket, rows, seed, together, progress=progress)
    else:
        manifest, created = ensure_dataset(client, bucket, rows, seed, progress=progress)
    print("generated" if created else "found: it was there already", flush=True)
    message: dict[str, Any] = json.loads(manifest.to_json())
    return message


def lead_dataset(
    client: Any,
    bucket: str,
    rows: int,
    seed: int,
    together: Together,
    workers: int | None = None,
    progress: Progress | None = None,
) -> tuple[Manifest, bool]:
    """Do the leader's part of `ensure_dataset` by several pods. The bytes and the manifest are the same as those of one pod.

    A complete dataset needs no other pods: the leader does not wait for them. Whatever is raised, no part and no CSV is left behind.
    """
    check(rows, seed)
    folder = folder_of(CSV50.id(rows, seed))
    existing = complete_manifest(client, bucket, folder)
    if existing and (existing.rows, existing.seed) == (rows, seed):
        together.spare(UPLOAD)
        return existing, False
    key, parts = folder + CSV, Generated(rows, seed, progress, together)
    with s3.errors(client, bucket, key):
        client.delete_object(Bucket=bucket, Key=folder + MANIFEST)
        multipart = Multipart.create(client, bucket, key)
        with multipart.aborted_on_failure():
            together.agree(UPLOAD, multipart.upload_id, lambda ids: ids[0])
            sent = multipart.send(iter(parts), workers or WORKERS, parts.first)
            left = together.leave(parts.left(sent)) or []
            multipart.complete([part for share in left for part in share["sent"]])
        try:
            parts.checksum, ranges = TableChecksum(), list[SentRange]()
            for share in left:
                parts.checksum.add(TableChecksum.from_json(share["checksum"]))
                ranges.append(SentRange(share["bytes"], share["crc32"]))
            parts.bytes = sum(sent_range.bytes for sent_range in ranges)
            check_size(client, bucket, key, parts.bytes)
            parts.progress("reading the whole back for its SHA-256")
            sha256 = read_back(client, bucket, key, ranges)
        except BaseException:
            with suppress(Exception):
                client.delete_object(Bucket=bucket, Key=key)
            raise
    return send_manifest(
        client, bucket, folder, parts, seed=seed, generator_version=GENERATOR_VERSION, sha256=sha256
    ), True


def help_with_dataset(
    client: Any,
    bucket: str,
    rows: int,
    seed: int,
    together: Together,
    workers: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Do another pod's part of `lead_dataset`: generate and send its share. Nothing is to do if the dataset is complete."""
    check(rows, seed)
    key, parts = folder_of(CSV50.id(rows, seed)) + CSV, Generated(rows, seed, progress, together)
    upload_id = together.agree(UPLOAD, None, lambda ids: ids[0])
    if upload_id is None:
        return
    multipart = Multipart(client, bucket, key, upload_id)
    # S3 may accept a part while the leader aborts the upload: each pod aborts it after its own parts
    with s3.errors(client, bucket, key), multipart.aborted_on_failure():
        sent = multipart.send(iter(parts), workers or WORKERS, parts.first)
        together.leave(parts.left(sent))


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
        check_size(client, bucket, key, parts.bytes)


def check_size(client: Any, bucket: str, key: str, sent_bytes: int) -> None:
    """Raise StoreRefused if S3 holds another number of bytes than was sent."""
    written = s3.size(client, bucket, key)
    if written != sent_bytes:
        raise StoreRefused(f"s3://{bucket}/{key} has {written or 0:,} bytes, but {sent_bytes:,} were sent")


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
    sha256: str | None = None,
) -> Manifest:
    """Write the manifest of a dataset whose CSV has these parts, and return the manifest. `file`: the custom file that became the CSV.
    `offsets`: of the rows of a custom file (storebench.dataset.offsets). `sha256`: of the whole CSV, if its parts did not count it."""
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        rows=parts.checksum.rows,
        seed=seed,
        bytes=parts.bytes,
        sha256=sha256 or parts.sha256.hexdigest(),
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


def parts(rows: int, seed: int) -> Iterator[bytes | bytearray]:
    """Yield the parts of a dataset as they are uploaded. SHA-256 and checksums are computed, and dropped."""
    return iter(Generated(rows, seed, None))


class Generated(Parts):
    """The parts of a generated dataset, or one pod's share of these parts.

    `together`: the pods that share the parts. A share has a CRC-32 and no SHA-256, which cannot be computed from shares.
    """

    def __init__(
        self, rows: int, seed: int, progress: Progress | None, together: Together | None = None
    ) -> None:
        super().__init__()
        self.rows = rows
        self.seed = seed
        self.progress = progress or (lambda text: None)
        self._part_rows = max(PART_ROWS, math.ceil(rows / MAX_PARTS))
        numbers = range(math.ceil(rows / self._part_rows))
        self._numbers = together.part.share(len(numbers)) if together else numbers
        self._is_shared = together is not None
        self._crc32 = 0

    @property
    def first(self) -> int:
        """Return the number of the first part in the multipart upload, which counts from 1."""
        return self._numbers.start + 1

    def count(self, part: bytes | bytearray) -> None:
        if self._is_shared:
            self._crc32 = zlib.crc32(part, self._crc32)
            self.bytes += len(part)
        else:
            super().count(part)

    def left(self, sent: Sent) -> dict[str, Any]:
        """Return what the leader needs to know about this share as a JSON object. `sent`: the parts that S3 has."""
        return {
            "sent": sent,
            "bytes": self.bytes,
            "crc32": self._crc32,
            "checksum": self.checksum.to_json(),
        }

    def __iter__(self) -> Iterator[bytes | bytearray]:
        starts = range(self._numbers.start * self._part_rows, self.rows, self._part_rows)
        starts = starts[: len(self._numbers)]
        total = min(self._numbers.stop * self._part_rows, self.rows) - starts.start if starts else 0
        step = max(total // 10, self._part_rows)
        reported = 0
        for start in starts:
            stop = min(start + self._part_rows, self.rows)
            chunk = generate_chunk(self.seed, start, stop)
            part = chunk.csv if start else header() + chunk.csv
            self.count(part)
            self.checksum.add(chunk.checksums)
            yield part
            if (done := stop - starts.start) - reported >= step or done == total:
                reported = done
                self.progress(f"{done:,} of {total:,} rows, {self.bytes / 1e6:,.0f} MB")
