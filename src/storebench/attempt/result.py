"""The result of an attempt: JSON in the pod's termination message (docs/protocol.md), or in S3 if the result is too long."""

# Without `from __future__ import annotations`: storebench.attempt.schema reads the types of the fields.

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Self

from storebench import protocol
from storebench.protocol.counters import SCHEMA as COUNTERS
from storebench.protocol.figures import FIGURES, USAGE, Figures, choices, schema_of
from storebench.protocol.profiles import SCHEMA as PROFILES
from storebench.redact import redacted
from storebench.version import code_version

# Texts that may repeat an error message of a client, with secrets in it.
FREE_TEXTS = (
    "error",
    "verification",
    *(name for name, figure in FIGURES.items() if figure.unit == "text" and not choices(Figures, name)),
)
UNTOLD = "its pod reported nothing about its node"  # the value of `not_judged` for a result without one
SECONDS = {"$ref": "#/$defs/seconds", "type": "number"}  # never null
SECONDS_BY_NAME = {"type": ["object", "null"], "additionalProperties": SECONDS}


def _short(value: float) -> float:
    # Significant digits, not decimals: these would cut a thousandth off a job of 300 us.
    return value if float(value).is_integer() else float(f"{value:.10g}")


def _lists(first: str, second: str, most: int, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of objects by name, each with two lists of at most `most` items. `item`: the schema of the second list's items."""
    numbers = {"type": "array", "maxItems": most}
    return {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": [first, second],
            "properties": {
                first: {**numbers, "items": {"type": "number"}},
                second: {**numbers, "items": item},
            },
        },
    }


@dataclass
class AttemptResult(Figures):
    """The figures of one attempt, with what else its pod reports. The metadata of a field is its JSON Schema."""

    version: Annotated[int, {"const": protocol.VERSION, "description": "version of this protocol"}] = (
        protocol.VERSION
    )
    # A drop that worked is verified. The rows of operations that did not begin have `not_run`
    status: Annotated[str, {"enum": ["verified", "failed"]}] = "failed"
    error_kind: Annotated[str | None, {"type": ["string", "null"], "pattern": "^[a-z_]+$"}] = None
    error: Annotated[str | None, {"type": ["string", "null"]}] = None
    verification: Annotated[
        str | None,
        {
            "type": ["string", "null"],
            "description": "subject and way of the verification; null if the verification failed",
        },
    ] = None
    metrics: Annotated[
        dict[str, float],
        {
            "type": "object",
            "additionalProperties": {"type": "number"},
            "description": "scalars of the study, by name",
        },
    ] = field(default_factory=dict)
    histograms: Annotated[
        dict[str, dict[str, list[float]]],
        {
            **_lists("values", "counts", 20000, {"type": "integer", "minimum": 0}),
            "description": "distributions by name: values in the metric's unit, and the count of each value",
        },
    ] = field(default_factory=dict)
    series: Annotated[
        dict[str, dict[str, list[float]]],
        {
            **_lists("at_s", "values", 10000, {"type": "number"}),
            "description": "series by name: seconds since the start of the operation, and the values at these times",
        },
    ] = field(default_factory=dict)
    stored: Annotated[
        dict[str, str] | None,
        {
            "type": ["object", "null"],
            "required": ["key", "sha256"],
            "properties": {
                "key": {"type": "string"},
                "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            },
            "description": "key and hash of the full result in S3, if the result did not fit",
        },
    ] = None
    phases: Annotated[
        dict[str, float],
        {
            "type": "object",
            "propertyNames": {"maxLength": 253},
            "additionalProperties": SECONDS,
            "description": "named parts of the attempt's time in their order, in seconds",
        },
    ] = field(default_factory=dict)
    environment: Annotated[
        dict[str, Any],
        {
            "type": "object",
            "properties": {
                "server_name": {"type": "string"},
                "server_version": {"type": "string"},
                "server_settings": {"type": "object"},
                "client_settings": {"type": "object"},
            },
            "description": "machine, server and settings; equal environments have equal descriptions",
        },
    ] = field(default_factory=dict)
    window: Annotated[
        dict[str, Any] | None,
        {
            "type": ["object", "null"],
            "required": ["seconds", "cores"],
            "properties": {
                "seconds": {**SECONDS, "description": "duration of the operation"},
                "cores": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 65536,
                    "description": "number of the node's cores",
                },
                "cpu_s": {"$ref": "#/$defs/seconds", "description": "CPU seconds of this pod"},
                "throttled_periods": {
                    "$ref": "#/$defs/count",
                    "description": "periods in which a CPU limit stopped this pod",
                },
                "stalled_s": {
                    **SECONDS_BY_NAME,
                    "description": "growth of total in /proc/pressure, by cpu_some, memory_some, memory_full, io_some, io_full",
                },
                "node_cpu_s": {
                    **SECONDS_BY_NAME,
                    "description": "growth of the first line of /proc/stat, by user, nice, system, idle, iowait, irq, softirq, steal",
                },
            },
            "description": "growth of the node's counters during the operation, by which the DAG judges disturbances",
        },
    ] = None
    data_bytes: Annotated[
        int | None, {"$ref": "#/$defs/bytes", "description": "disk space of the cell's data in the store"}
    ] = None
    usage: Annotated[
        list[dict[str, Any]],
        {
            "type": "array",
            "maxItems": 1000,
            "items": {
                "type": "object",
                "required": ["role", "name"],
                "properties": {
                    "role": {"enum": ["client", "executor", "server"]},
                    "name": {"type": "string", "maxLength": 253, "description": "unique within the role"},
                    **{name: schema_of(figure) for name, figure in USAGE.items()},
                },
            },
            "description": "figures of the other pods that did the operation, of pods that this pod has started, and of servers that the run has"
            " provisioned",
        },
    ] = field(default_factory=list)
    counters: Annotated[dict[str, dict[str, Any]], COUNTERS] = field(default_factory=dict)
    profiles: Annotated[dict[str, dict[str, Any]], PROFILES] = field(default_factory=dict)
    method_version: Annotated[
        int, {"type": "integer", "description": "ignored: the study's own version is recorded"}
    ] = 1
    code_version: Annotated[str, {"type": "string"}] = field(default_factory=code_version)

    def without_secrets(self) -> None:
        """Remove the secrets of this process's connections from all FREE_TEXTS."""
        for name in FREE_TEXTS:
            if text := getattr(self, name):
                setattr(self, name, redacted(text))
        for figure in (*self.counters.values(), *self.profiles.values()):
            if text := figure.get("unknown"):
                figure["unknown"] = redacted(text)

    def to_json(self) -> str:
        """Return the result as one line of JSON, with fractions rounded to ten significant digits."""
        data = {"version": self.version, "status": self.status, **asdict(self)}
        for name, value in data.items():
            if isinstance(value, float):
                data[name] = _short(value)
        for figures in ("phases", "metrics"):
            data[figures] = {name: _short(value) for name, value in data[figures].items()}
        return json.dumps(data, separators=(",", ":"), ensure_ascii=False)

    def size(self) -> int:
        """Return the size of the result's JSON in bytes."""
        return len(self.to_json().encode())

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Parse a termination message. A message without `not_judged` counts as not judged. Raises ValueError for any other text."""
        data = json.loads(text)
        if not isinstance(data, dict) or "status" not in data:
            raise ValueError("not an attempt's result")
        known = set(cls.__dataclass_fields__)
        fields = {name: value for name, value in data.items() if name in known}
        return cls(**{"not_judged": UNTOLD, **fields})
