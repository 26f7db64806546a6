"""Read and remove results in S3 that did not fit into a pod's termination message."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from storebench import protocol, s3
from storebench.attempt.overflow import without
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.errors import BadResult, StorebenchError
from storebench.patience import patiently
from storebench.protocol.figures import FIGURES

# The fields that `storebench-agent pod` (agent/pod.go) adds to a message.
ADDED = ("window", *(name for name, figure in FIGURES.items() if figure.by_agent))


def full_result(
    result: AttemptResult, spec: AttemptSpec, connect: Callable[[], Any], patience_s: float = 0
) -> AttemptResult:
    """Return the pod's whole result: read from S3 if `result` names an object there. `connect` makes the S3 client if one is needed.

    Where the object is missing or differs from the pod's, the result becomes a failure with the figures that fitted into the message.
    `patience_s`: for how many seconds to ask S3 again while it does not answer.
    """
    if result.stored is None:
        return result
    bucket, key, sha256 = spec.bucket, result.stored.get("key", ""), result.stored.get("sha256")
    retrying = patiently(patience_s)
    try:
        if not key.startswith(spec.results):  # a pod must not choose other objects to be read and removed
            raise StorebenchError(f"{key!r} is not a key of this attempt")
        client = connect()
        content = retrying(_read, client, bucket, key, sha256)
        try:
            text = content.decode()
            wrong = protocol.problem("result", protocol.read(text))
        except ValueError as error:
            raise BadResult(f"it is no JSON: {error}") from None
        if wrong:
            raise BadResult(f"it is not as docs/protocol.md has it: {wrong}")
        full = AttemptResult.from_json(text)
        return replace(full, stored=result.stored, **_added(result, full))
    except BadResult as error:
        return without(result, error.kind, str(error))
    except StorebenchError as error:
        return without(result, "infrastructure", str(error))


def _added(message: AttemptResult, full: AttemptResult) -> dict[str, Any]:
    """Return the figures that only the message has: the agent adds them after the pod's program has put the full result into S3."""
    return {name: getattr(message, name) for name in ADDED if getattr(full, name) is None}


def discard(
    result: AttemptResult, spec: AttemptSpec, connect: Callable[[], Any], patience_s: float = 0
) -> None:
    """Remove the object in S3 of a result that `full_result` has returned. Called once the result is recorded."""
    if result.stored is None:
        return
    bucket, key = spec.bucket, result.stored["key"]
    try:
        patiently(patience_s)(_remove, connect(), bucket, key)
    except StorebenchError as error:
        print(f"s3://{bucket}/{key} could not be removed: {error}", flush=True)


def _read(client: Any, bucket: str, key: str, sha256: str | None) -> bytes:
    with s3.errors(client, bucket, key):
        size_bytes = s3.size(client, bucket, key)
        if size_bytes is not None and size_bytes > protocol.RESULT_BYTES:
            raise BadResult(f"it has {size_bytes:,} bytes, and may have {protocol.RESULT_BYTES:,}")
        content = s3.read(client, bucket, key)
    if content is None:
        raise StorebenchError(f"s3://{bucket}/{key} is not there")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise StorebenchError(f"s3://{bucket}/{key} is not what the pod wrote: its SHA-256 differs")
    return content


def _remove(client: Any, bucket: str, key: str) -> None:
    with s3.errors(client, bucket, key):
        client.delete_object(Bucket=bucket, Key=key)
