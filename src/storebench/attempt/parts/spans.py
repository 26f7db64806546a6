"""Describe when each part of an operation worked, on the leader's clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storebench.attempt.usage import CpuSeconds, sum_of

MOST_SKEW_SHARE = 0.01  # of the span: a larger skew may have changed the operation's figures


@dataclass(frozen=True)
class Span:
    """The operation of a part: its begin and end in seconds, the CPU seconds of its pod, and its machine's boot id."""

    begin_s: float
    end_s: float
    cpu_s: float
    boot_id: str

    def earlier(self, seconds: float) -> Span:
        """Return the span on a clock that is `seconds` behind."""
        return Span(self.begin_s - seconds, self.end_s - seconds, self.cpu_s, self.boot_id)


@dataclass(frozen=True)
class Spans:
    """The spans of all parts by number, on the leader's clock. `begin_s`: the common begin. `error_s`: the largest error of a clock."""

    parts: Sequence[Span]
    begin_s: float
    error_s: float

    def delay_s(self, number: int) -> float:
        """Return the seconds from the common begin to the begin of a part."""
        return max(0.0, self.parts[number].begin_s - self.begin_s)

    def waited_s(self, number: int) -> float:
        """Return the seconds from the end of a part to the end of the last part."""
        return max(span.end_s for span in self.parts) - self.parts[number].end_s

    def skew_s(self) -> float:
        """Return the largest possible difference between the begins of two parts in seconds."""
        begins = [span.begin_s for span in self.parts]
        return max(begins) - min(begins) + self.error_s

    def seconds(self) -> float:
        """Return the seconds from the first begin to the last end."""
        return max(span.end_s for span in self.parts) - min(span.begin_s for span in self.parts)

    def cpu_s(self) -> CpuSeconds:
        """Sum the CPU seconds of all parts per machine."""
        return sum_of({span.boot_id: span.cpu_s} for span in self.parts) or {}

    def doubt(self) -> str | None:
        """Return why the parts' begins may have changed the figures; None if the parts began at nearly the same time."""
        skew_s, span_s = self.skew_s(), self.seconds()
        if skew_s <= MOST_SKEW_SHARE * span_s:
            return None
        return (
            f"the {len(self.parts)} parts began up to {1000 * skew_s:.3g} ms apart, which is more than"
            f" {MOST_SKEW_SHARE:.0%} of the operation's {span_s:.3g} s"
        )
