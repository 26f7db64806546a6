"""What the DAG and a pod hand to each other, as JSON Schema: a pod may be written in any language (docs/protocol.md)."""

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
RESULT_BYTES = 4 * 2**20  # of a result that goes through S3
MOST_DEEP = 100  # objects and lists in one another
FOLDER = Path(__file__).parent
# In JSON, though in no text of Postgres: NUL, and half of a surrogate pair.
UNFIT = re.compile("[\0\ud800-\udfff]")
IN_NO_TEXT = "in no text: NUL, or half of a surrogate pair"


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of `specification`, `result`, `dataset` or `manifest`."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.v{VERSION}.json").read_text())
    return found


def read(text: str) -> Any:
    """What the JSON `text` means. Raises ValueError for what is none."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def storable(text: str) -> str:
    """The text with another character in the place of each that Postgres does not take."""
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


def problem(name: str, content: Any) -> str | None:
    """What makes `content` break the schema of that name, or is nothing that the database takes, in a line; None where nothing does."""
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
    """Where there is what the database cannot take, and what it is. Python's parser takes NaN, which is no JSON, and numbers of any size."""
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
        if found := _unfit(value, depth + 1):
            where, what = found
            return name + where, what
    return None
