"""The JSON that the DAG and a pod exchange, as JSON Schema: a pod may be written in any language (docs/protocol.md)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

VERSION = 1
MESSAGE_BYTES = 4096  # Kubernetes' limit for a termination message
RESULT_BYTES = 4 * 2**20  # the limit of a result that goes through S3
MOST_DEEP = 100  # the limit of nested objects and lists
FOLDER = Path(__file__).parent
# Characters that JSON allows and a text of Postgres cannot have: NUL, and half of a surrogate pair.
UNFIT = re.compile("[\0\ud800-\udfff]")
IN_NO_TEXT = "in no text: NUL, or half of a surrogate pair"


@cache
def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of `specification`, `result`, `dataset` or `manifest`."""
    content: dict[str, Any] = json.loads((FOLDER / f"{name}.v{VERSION}.json").read_text())
    return content


def read(text: str) -> Any:
    """Return the value of a JSON text. Raises ValueError for any other text."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def storable(text: str) -> str:
    """Replace each character that Postgres does not take."""
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def problem(name: str, content: Any) -> str | None:
    """Return in one line why `content` breaks the schema `name` or cannot be stored in the database; None if it is valid."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    if unfit := _unfit(content):
        where, what = unfit
        return f"{where.removeprefix('.') or 'it'} {what}"
    error = best_match(Draft202012Validator(schema(name)).iter_errors(content))
    if error is None:
        return None
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {error.message}" if where else error.message


def _unfit(content: Any, depth: int = 0) -> tuple[str, str] | None:
    """Return the path and the problem of the first value that the database cannot store.

    Python's parser accepts NaN, which is no JSON, and numbers of any size.
    """
    if isinstance(content, str):
        return ("", f"has a character that is {IN_NO_TEXT}") if UNFIT.search(content) else None
    if isinstance(content, int | float):
        return None if abs(content) <= sys.float_info.max else ("", "is not a finite number")
    if depth > MOST_DEEP:
        return "", "is nested too deeply"
    parts: Iterable[tuple[str, Any]] = ()
    if isinstance(content, dict):
        if unfit := next(filter(UNFIT.search, content), None):
            return "", f"has the name {unfit!r} with a character that is {IN_NO_TEXT}"
        parts = ((f".{name}", value) for name, value in content.items())
    elif isinstance(content, list):
        parts = ((f"[{place}]", value) for place, value in enumerate(content))
    for name, value in parts:
        if inner := _unfit(value, depth + 1):
            where, what = inner
            return name + where, what
    return None
