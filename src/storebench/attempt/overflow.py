"""A result that is longer than a termination message can be: the whole is in S3 until the operator has read it.

The message then has the figures, as much of the error's text as fits, and where the whole is: its key and its SHA-256.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace

from storebench import s3
from storebench.attempt.result import MAX_BYTES, AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.errors import StorebenchError


def fitting(result: AttemptResult, spec: AttemptSpec | None) -> AttemptResult:
    """What goes into the termination message: the result, or what of it fits, once the whole is in S3.

    Raises a StorebenchError where it cannot be put there.
    """
    if result.size() <= MAX_BYTES:
        return result
    content = result.to_json().encode()
    try:
        if spec is None:
            raise StorebenchError("the specification names no bucket")
        key = f"{folder(spec)}{uuid.uuid4().hex}.json"
        client = s3.client_for(Connection.from_environment("s3"))
        with s3.errors(client, spec.dataset_bucket, key):
            client.put_object(Bucket=spec.dataset_bucket, Key=key, Body=content)
    except StorebenchError:
        raise
    except Exception as error:  # the figures that fit are kept
        raise StorebenchError(f"{type(error).__name__}: {error}") from error
    return _shortened(result, {"key": key, "sha256": hashlib.sha256(content).hexdigest()})


def without(result: AttemptResult, kind: str, why: str) -> AttemptResult:
    """The figures that fit of a result whose whole is lost: it has failed, for this reason if for no other."""
    reason = f"The result did not fit into a termination message, and the rest of it is lost: {why}"
    if result.status == "verified":
        return _shortened(replace(result, status="failed", error_kind=kind, error=reason))
    return _shortened(result, note=f" [{reason}]")


def folder(spec: AttemptSpec) -> str:
    """What the keys of this attempt's results begin with, and of no other's."""
    return f"results/{spec.target}/{spec.operation}-"


def _shortened(result: AttemptResult, stored: dict[str, str] | None = None, note: str = "") -> AttemptResult:
    """The figures, as much of the error's text as fits, and a note to it."""
    short = replace(result, environment={}, executors=[], stored=stored)
    if result.error is not None:
        error = result.error[:MAX_BYTES]
        short.error = error + note
        while error and short.size() > MAX_BYTES:
            error = error[: len(error) * 3 // 4]
            short.error = error + note
    return short
