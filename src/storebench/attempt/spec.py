"""The specification of an attempt: one JSON text in the pod's environment, without any secret (docs/protocol.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from storebench import protocol
from storebench.errors import SpecError

VARIABLE = "STOREBENCH_ATTEMPT"
CPU_LIMIT = "cpu_limit"  # an option of every store: whether the run asked for a CPU limit


@dataclass(frozen=True)
class AttemptSpec:
    """What one pod has to do: `operation` of a cell, on the data kept as `target`. The operation may be the drop, which removes that.

    `axes` are the cell's values; `options` the other parameters of the run that the study and the store ask for. The dataset is below the
    key `dataset` in the bucket. A result that is too long for its message goes below the key `results`.
    """

    operation: str
    cell_key: str
    study: str
    store: str  # which does it: the cell's, or the one that fills the cell's
    client: str
    axes: Mapping[str, str]
    rows: int
    seed: int
    target: str
    bucket: str
    dataset: str | None  # none: the study has no dataset
    results: str
    method_version: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    version: int = protocol.VERSION

    @property
    def cpu_limited(self) -> bool:
        """Whether the run asked for a CPU limit of its pods."""
        return self.options.get(CPU_LIMIT) == str(True)

    def to_json(self) -> str:
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> AttemptSpec:
        """Parse and check; raises SpecError that says what is wrong."""
        try:
            spec = cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise SpecError(f"{VARIABLE} is not a valid attempt: {error}") from None
        if spec.version != protocol.VERSION:
            raise SpecError(
                f"{VARIABLE} is of protocol version {spec.version}, and this image knows {protocol.VERSION}: build it anew"
            )
        return spec
