"""Compress profiles: sampled stacks in the folded format, and the JSON Schema of profiles in a result.

The folded format has a line for each stack: the functions from the outermost to the innermost, separated by semicolons, then a space and
the number of samples.
"""

from __future__ import annotations

import base64
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

NAME = re.compile("[a-z][a-z0-9_]{0,99}")
OF_WALL = (
    "_wall"  # ends the name of a profile that also counts threads that wait: it is no profile of CPU time
)
MOST_PROFILES = 10  # of an attempt
STACKS_BYTES = 256 * 2**10  # the most bytes of the compressed stacks of a profile
FOLDED_BYTES = 16 * 2**20  # the most bytes of the stacks of a profile that are read
_LINE = re.compile(r"(.*\S) (\d{1,15})")
# The whole text: the database would refuse the row of an attempt for a text that it cannot decode
_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
_GZIP = 16 + zlib.MAX_WBITS  # zlib reads the frame of gzip, too

SCHEMA: dict[str, Any] = {
    "type": "object",
    "maxProperties": MOST_PROFILES,
    "propertyNames": {"pattern": f"^{NAME.pattern}$"},
    "additionalProperties": {
        "type": "object",
        "required": ["sampler", "hz"],
        "properties": {
            "sampler": {
                "type": "string",
                "maxLength": 253,
                "description": "program that sampled, with its version",
            },
            "hz": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": 10**6,
                "description": "samples per second and thread",
            },
            "samples": {
                "$ref": "#/$defs/count",
                "description": "number of samples, including dropped samples",
            },
            "dropped_samples": {
                "$ref": "#/$defs/count",
                "description": "samples of rare stacks that did not fit",
            },
            "stacks": {
                "type": ["string", "null"],
                "maxLength": STACKS_BYTES * 4 // 3 + 4,
                "pattern": _BASE64,
                "description": "stacks in the folded format, compressed by gzip, in base64",
            },
            "unknown": {
                "type": ["string", "null"],
                "maxLength": 4096,
                "description": "reason why there are no stacks",
            },
        },
    },
    "description": "sampled stacks of the operation, by the name of what was sampled, such as `python`; with `_wall` at the end if threads that wait were sampled, too",
}


def stacks_of(folded: str) -> Counter[str]:
    """Return the number of samples by stack. Lines that are not in the folded format are ignored."""
    stacks: Counter[str] = Counter()
    for line in folded.splitlines():
        if found := _LINE.fullmatch(line.strip()):
            stacks[found[1]] += int(found[2])
    return stacks


def folded_of(stacks: Mapping[str, int]) -> str:
    """Return the stacks in the folded format, sorted by stack."""
    return "".join(f"{stack} {samples}\n" for stack, samples in sorted(stacks.items()))


def packed(stacks: Mapping[str, int], most_bytes: int = STACKS_BYTES) -> tuple[str, int]:
    """Compress stacks to at most `most_bytes`. Return them as base64, and the number of samples of the rarest stacks that did not fit."""
    kept = sorted(stacks.items(), key=lambda item: (-item[1], item[0]))
    while len(content := gzip.compress(folded_of(dict(kept)).encode(), mtime=0)) > most_bytes:
        kept = kept[: len(kept) * 3 // 4]
    dropped = sum(stacks.values()) - sum(samples for _, samples in kept)
    return base64.b64encode(content).decode(), dropped


def unpacked(content: bytes) -> str:
    """Return compressed stacks in the folded format, at most FOLDED_BYTES. Raises ValueError for bytes that are not compressed text."""
    try:
        return zlib.decompressobj(_GZIP).decompress(content, FOLDED_BYTES).decode(errors="replace")
    except zlib.error as error:
        raise ValueError(f"no compressed stacks: {error}") from None
