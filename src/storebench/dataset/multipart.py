"""Send an object to S3 in parts, as a multipart upload of one process or of several pods."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

WORKERS = 4  # parts that are sent at the same time

Sent = list[dict[str, Any]]  # number and ETag of each sent part


class Multipart:
    """A multipart upload of an object. `upload_id`: S3's id of the upload, which several pods may share."""

    def __init__(self, client: Any, bucket: str, key: str, upload_id: str) -> None:
        self._client = client
        self._place = {"Bucket": bucket, "Key": key, "UploadId": upload_id}
        self.upload_id = upload_id

    @classmethod
    def create(cls, client: Any, bucket: str, key: str) -> Multipart:
        """Begin an upload. Raises boto3's errors."""
        answer = client.create_multipart_upload(Bucket=bucket, Key=key, ContentType="text/csv; charset=utf-8")
        return cls(client, bucket, key, answer["UploadId"])

    @contextmanager
    def aborted_on_failure(self) -> Iterator[None]:
        """Abort the upload whatever is raised within the context."""
        try:
            yield
        except BaseException:
            with suppress(Exception):  # the error before this one says more
                self._client.abort_multipart_upload(**self._place)
            raise

    def send(self, bodies: Iterator[bytes | bytearray], workers: int = WORKERS, first: int = 1) -> Sent:
        """Send parts, `workers` at a time, each taken from the iterator only when it can be sent. `first`: the number of the first part.

        Return the sent parts in order. Whatever is raised, also by the iterator, all threads have ended first.
        """
        numbered, lock, stop = enumerate(bodies, first), threading.Lock(), threading.Event()
        sent: Sent = []

        def send() -> None:
            try:
                while not stop.is_set():
                    with lock:  # one thread makes the next part while the others send theirs
                        number, body = next(numbered, (0, b""))
                    if not number:
                        return
                    answer = self._client.upload_part(**self._place, PartNumber=number, Body=body)
                    sent.append({"PartNumber": number, "ETag": answer["ETag"]})
            except BaseException:
                stop.set()
                raise

        with ThreadPoolExecutor(workers, thread_name_prefix="upload") as pool:
            try:
                for thread in [pool.submit(send) for _ in range(workers)]:
                    thread.result()
            finally:
                stop.set()  # if this thread is interrupted, the others end after the part that they are sending
        return sorted(sent, key=lambda part: part["PartNumber"])

    def complete(self, sent: Sent) -> None:
        """Make the object of all parts, in the order of their numbers. Raises boto3's errors."""
        self._client.complete_multipart_upload(**self._place, MultipartUpload={"Parts": sent})


def upload(
    client: Any, bucket: str, key: str, bodies: Iterator[bytes | bytearray], workers: int = WORKERS
) -> None:
    """Send an object in parts as `Multipart.send` does. Whatever is raised, the multipart upload is aborted."""
    multipart = Multipart.create(client, bucket, key)
    with multipart.aborted_on_failure():
        multipart.complete(multipart.send(bodies, workers))
