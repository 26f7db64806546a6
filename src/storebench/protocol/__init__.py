"""What the DAG and a pod hand to each other, as JSON Schema: a pod may be written in any language (docs/protocol.md)."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

VERSION = 1
MESSAGE_BYTES = 4096  # Kubernetes' limit for a termination message
RESULT_BYTES = 4 * 2**20  # of a result that goes through S3
FOLDER = Path(__file__).parent


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of `specification`, `result`, `dataset` or `manifest`."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.v{VERSION}.json").read_text())
    return found


def problem(name: str, content: Any) -> str | None:
    """What makes `content` break the schema of that name, in a line; None where nothing does."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    if (where := _not_finite(content)) is not None:
        return f"{where.removeprefix('.') or 'it'} is not a finite number"
    error = best_match(Draft202012Validator(schema(name)).iter_errors(content))
    if error is None:
        return None
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {error.message}" if where else error.message


def _not_finite(content: Any) -> str | None:
    """Where there is a number such as NaN, which is no JSON, though Python's parser takes it."""
    if isinstance(content, float):
        return None if math.isfinite(content) else ""
    parts: Iterable[tuple[str, Any]] = ()
    if isinstance(content, dict):
        parts = ((f".{name}", value) for name, value in content.items())
    elif isinstance(content, list):
        parts = ((f"[{place}]", value) for place, value in enumerate(content))
    for name, value in parts:
        if (where := _not_finite(value)) is not None:
            return name + where
    return None
