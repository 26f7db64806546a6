"""The specification of an attempt: one JSON text in the pod's environment, without any secret (docs/protocol.md)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from storebench import protocol
from storebench.errors import SpecError
from storebench.study.observing import COUNTERS, OFF, PROFILE, PROFILES

VARIABLE = "STOREBENCH_ATTEMPT"
CPU_LIMIT = "cpu_limit"  # an option of every store: "True" if the run asked for a CPU limit


@dataclass(frozen=True)
class AttemptSpec:
    """The specification of one pod's work: `operation` of a cell, on the data named `target` in the store. The drop is an operation, too.

    `axes`: the cell's values. `options`: the other parameters of the run that the study and the store ask for. `dataset` and `results`:
    prefixes of keys in the bucket, for the dataset and for a result that is too long for the termination message.
    """

    operation: str
    cell_key: str
    study: str
    store: str  # the store that does the work: the cell's store, or the store that fills it
    client: str
    axes: Mapping[str, str]
    rows: int
    seed: int
    target: str
    bucket: str
    dataset: str | None  # None: the study has no dataset
    results: str
    method_version: int = 1
    options: Mapping[str, str] = field(default_factory=dict)
    # For an operation that several pods do together: the rule of each metric by name (Metric.merge). The study's file is not in the pod
    merges: Mapping[str, str] = field(default_factory=dict)
    version: int = protocol.VERSION

    @property
    def cpu_limited(self) -> bool:
        """Return whether the run asked for a CPU limit of its pods."""
        return self.options.get(CPU_LIMIT) == str(True)

    @property
    def counted(self) -> bool:
        """Return whether the attempt reads the counters of its store: yes, unless the run asked for none."""
        return self.options.get(COUNTERS) != OFF

    @property
    def profile(self) -> str | None:
        """Return the profile of the client that the run asked for: cpu or wall; None for none."""
        asked = self.options.get(PROFILE)
        return asked if asked in PROFILES else None

    def to_json(self) -> str:
        """Return the specification as one line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> AttemptSpec:
        """Parse and check a specification. Raises SpecError with the mistake."""
        try:
            spec = cls(**json.loads(text))
        except (ValueError, TypeError) as error:
            raise SpecError(f"{VARIABLE} is not a valid attempt: {error}") from None
        if spec.version != protocol.VERSION:
            raise SpecError(
                f"{VARIABLE} is of protocol version {spec.version}, and this image knows {protocol.VERSION}: build it anew"
            )
        return spec
