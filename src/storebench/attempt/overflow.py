"""Shorten results that are longer than a termination message. S3 keeps the whole result until the operator has read it.

The message then has the figures, the parts of the texts that fit, and the key and the SHA-256 of the whole result.
"""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import replace

from storebench import protocol, s3
from storebench.attempt.result import AttemptResult
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.errors import BadResult, StorebenchError

METRICS = 30  # number of metrics that stay in a shortened message
TEXTS = ("error", "disturbed", "perhaps_disturbed", "not_judged", "verification")


def fitting(result: AttemptResult, spec: AttemptSpec | None) -> AttemptResult:
    """Return the result for the termination message. A result that does not fit is written to S3, and a shortened result is returned.

    Raises a StorebenchError if the result cannot be written to S3.
    """
    if result.size() <= protocol.MESSAGE_BYTES:
        return result
    content = result.to_json().encode()
    if len(content) > protocol.RESULT_BYTES:
        raise BadResult(
            f"The result has {len(content):,} bytes, and may have {protocol.RESULT_BYTES:,}: fewer points in its histograms and series"
        )
    try:
        if spec is None:
            raise StorebenchError("the specification names no bucket")
        key = f"{spec.results}{uuid.uuid4().hex}.json"
        client = s3.client_for(Connection.from_environment("s3"))
        with s3.errors(client, spec.bucket, key):
            client.put_object(Bucket=spec.bucket, Key=key, Body=content)
    except StorebenchError:
        raise
    except Exception as error:  # the caller keeps the figures that fit
        raise StorebenchError(f"{type(error).__name__}: {error}") from error
    return _shortened(result, {"key": key, "sha256": hashlib.sha256(content).hexdigest()})


def without(result: AttemptResult, kind: str, why: str) -> AttemptResult:
    """Shorten a result that could not be written to S3. A verified result becomes failed, for the reason `kind` and `why`."""
    reason = f"The result did not fit into a termination message, and the rest of it is lost: {why}"
    if result.status == "verified":
        return _shortened(replace(result, status="failed", error_kind=kind, error=reason))
    return _shortened(result, note=f" [{reason}]")


def _shortened(result: AttemptResult, stored: dict[str, str] | None = None, note: str = "") -> AttemptResult:
    """Shorten a result to its figures, the parts of its texts that fit, and a note. `stored`: key and SHA-256 of the whole result."""
    short = replace(
        result, environment={}, usage=[], counters={}, profiles={}, histograms={}, series={}, stored=stored
    )
    short.metrics = dict(list(result.metrics.items())[:METRICS])
    texts = {name: text[: protocol.MESSAGE_BYTES] for name in TEXTS if (text := getattr(result, name))}
    if result.error is not None:
        short.error = texts.get("error", "") + note
    while short.size() > protocol.MESSAGE_BYTES and any(texts.values()):
        longest = max(texts, key=lambda name: len(texts[name]))
        texts[longest] = texts[longest][: len(texts[longest]) * 3 // 4]
        setattr(short, longest, texts[longest] + (note if longest == "error" else ""))
    return short
