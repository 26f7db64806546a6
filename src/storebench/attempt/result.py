"""The result of an attempt: JSON in the pod's termination message (docs/protocol.md), or in S3 if the result is too long."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from storebench import protocol
from storebench.redact import redacted
from storebench.version import code_version

FREE_TEXTS = (
    "error",
    "verification",
    "disturbed",
    "perhaps_disturbed",
    "not_judged",
)  # texts that may repeat an error message of a client, with secrets in it
UNTOLD = "its pod told nothing of its node"  # the value of `not_judged` for a result without one


def _short(value: float) -> float:
    # Significant digits, not decimals: these would cut a thousandth off a job of 300 us.
    return value if float(value).is_integer() else float(f"{value:.10g}")


@dataclass
class AttemptResult:
    """The figures of one attempt. A figure that was not measured is None, never 0."""

    status: str = "failed"  # verified | failed; a drop that worked is verified
    error_kind: str | None = None
    error: str | None = None
    verification: str | None = None  # the subject and way of the verification; None if it failed
    metrics: dict[str, float] = field(default_factory=dict)  # scalars by the study's names
    histograms: dict[str, dict[str, list[float]]] = field(
        default_factory=dict
    )  # by name: `values` and their `counts`
    series: dict[str, dict[str, list[float]]] = field(
        default_factory=dict
    )  # by name: `at_s`, seconds, and the `values` at these times
    delivers: str | None = None  # the form in which the operation hands data to the program
    total_s: float | None = None
    memory_peak_bytes: int | None = None
    memory_working_set_peak_bytes: int | None = None
    memory_limit_bytes: int | None = None
    cpu_s: float | None = None
    throttled_s: float | None = None
    throttled_periods: int | None = None
    oom_kills: int | None = None
    client_cpu_share: float | None = None  # number of cores that the client kept busy
    client_cores_usable: float | None = None  # None if the engine is in the pod
    service_cpu_share: float | None = None  # cores that the busiest service before the store kept busy
    service_cores_usable: float | None = None  # None if there is no service
    figures_cover: str | None = None
    durability: str | None = None  # durability of the written data
    durability_stated: str | None = None
    disturbed: str | None = None
    perhaps_disturbed: str | None = None  # by work that may be the store's own
    not_judged: str | None = None  # why disturbances cannot be judged; None: they were judged
    window: dict[str, Any] | None = (
        None  # growth of the node's counters during the operation, for the judgement
    )
    node_cpu_some_share: float | None = None
    node_memory_some_share: float | None = None
    node_memory_full_share: float | None = None
    node_io_some_share: float | None = None
    node_io_full_share: float | None = None
    node_steal_share: float | None = None
    node_others_cores: float | None = None
    node_strangers_cores: float | None = None
    data_bytes: int | None = None  # disk space of the cell's data in the store
    usage: list[dict[str, Any]] = field(
        default_factory=list
    )  # figures of each pod that this pod started, with role and name
    phases: dict[str, float] = field(default_factory=dict)  # name -> seconds, in order
    environment: dict[str, Any] = field(default_factory=dict)
    stored: dict[str, str] | None = None  # key and sha256 of the whole result in S3, if it did not fit
    version: int = protocol.VERSION
    method_version: int = 1  # of the study
    code_version: str = field(default_factory=code_version)

    def without_secrets(self) -> None:
        """Remove the secrets of this process's connections from all FREE_TEXTS."""
        for name in FREE_TEXTS:
            if text := getattr(self, name):
                setattr(self, name, redacted(text))

    def to_json(self) -> str:
        """Return the result as one line of JSON, with fractions rounded to ten significant digits."""
        data = asdict(self)
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
    def from_json(cls, text: str) -> AttemptResult:
        """Parse a termination message. A message without `not_judged` counts as not judged. Raises ValueError for any other text."""
        data = json.loads(text)
        if not isinstance(data, dict) or "status" not in data:
            raise ValueError("not an attempt's result")
        known = set(cls.__dataclass_fields__)
        fields = {name: value for name, value in data.items() if name in known}
        return cls(**{"not_judged": UNTOLD, **fields})
