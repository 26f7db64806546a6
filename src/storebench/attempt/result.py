"""What an attempt hands back: JSON of at most 4096 bytes in the pod's termination message."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from storebench import METHOD_VERSION, __version__

MAX_BYTES = 4096  # the limit of Kubernetes
MAX_MESSAGE_CHARACTERS = 1000


@dataclass
class AttemptResult:
    """The figures of one attempt. A figure that was not measured is None, never 0."""

    status: str = "failed"  # verified | failed; a drop that worked is verified
    error_kind: str | None = None
    error: str | None = None
    rows: int | None = None
    operation_s: float | None = None
    source_s: float | None = None
    barrier_s: float | None = None
    total_s: float | None = None
    memory_peak_bytes: int | None = None
    memory_working_set_peak_bytes: int | None = None
    memory_limit_bytes: int | None = None
    cpu_s: float | None = None
    throttled_s: float | None = None
    throttled_periods: int | None = None
    oom_kills: int | None = None
    client_cpu_share: float | None = None  # cores that the client kept busy
    client_cores_usable: float | None = None  # that it could have; None where the engine is in the pod
    figures_cover: str | None = None
    durability: str | None = None  # of a write
    durability_stated: str | None = None
    disturbed: str | None = None
    node_cpu_some_share: float | None = None
    node_memory_some_share: float | None = None
    node_memory_full_share: float | None = None
    node_io_some_share: float | None = None
    node_io_full_share: float | None = None
    node_steal_share: float | None = None
    node_others_cores: float | None = None
    executors: list[dict[str, Any]] = field(default_factory=list)  # figures of each executor pod
    phases: dict[str, float] = field(default_factory=dict)  # name -> seconds, in order
    environment: dict[str, Any] = field(default_factory=dict)
    method_version: int = METHOD_VERSION
    code_version: str = __version__

    def to_json(self) -> str:
        """At most MAX_BYTES bytes: a longer text of an error, then server settings, then each executor's figures are cut."""
        data = asdict(self)
        if data["error"]:
            data["error"] = data["error"][:MAX_MESSAGE_CHARACTERS]
        for name, value in data.items():
            if isinstance(value, float):
                data[name] = round(value, 6)
        data["phases"] = {name: round(seconds, 6) for name, seconds in self.phases.items()}
        text = _dump(data)
        if len(text.encode()) > MAX_BYTES:
            data["environment"] = {**data["environment"], "server_settings": {"cut": "too long"}}
            text = _dump(data)
        if len(text.encode()) > MAX_BYTES and self.executors:
            data["executors"] = [_total(self.executors)]
            text = _dump(data)
        if len(text.encode()) > MAX_BYTES and data["error"]:
            data["error"] = data["error"].encode("ascii", "replace").decode()[:500]
            text = _dump(data)
        return text

    @classmethod
    def from_json(cls, text: str) -> AttemptResult:
        """Parse a termination message; raises ValueError for anything else."""
        data = json.loads(text)
        if not isinstance(data, dict) or "status" not in data:
            raise ValueError("not an attempt's result")
        known = set(cls.__dataclass_fields__)
        return cls(**{name: value for name, value in data.items() if name in known})


def _total(executors: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of many executors' figures, where there is no room for each."""
    names = [name for name in executors[0] if name != "executor"]
    total = {name: sum(each[name] or 0 for each in executors) for name in names}
    return {"executor": f"all {len(executors)}", "pods": len(executors), **total}


def _dump(data: dict[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)
