"""Let the parts of an operation begin together, agree, and leave their results with the leader."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

from storebench.attempt.parts.clocks import Offset, error_s
from storebench.attempt.parts.follower import Follower
from storebench.attempt.parts.interrupt import Interrupt
from storebench.attempt.parts.leader import Leader, Member
from storebench.attempt.parts.merge import PartResult, merge
from storebench.attempt.parts.part import Part
from storebench.attempt.parts.spans import Span, Spans
from storebench.attempt.result import AttemptResult
from storebench.attempt.usage import CpuSeconds
from storebench.errors import BadResult, SpecError, StorebenchError

T = TypeVar("T")

STEPS = ("begin", "ended", "result")  # names that `agree` cannot have
SLACK_S = 0.5  # between the answer to the slowest part and the common begin: each part reads the counters of its node
SPIN_S = 0.001  # the last part of a wait, which `sleep` would overrun


class Parts:
    """The parts of an undivided operation: only this pod."""

    part = Part()
    divided = False

    def begin(self, lead_s: float) -> float:
        """Wait until all parts are ready. Return the second of the common begin on this pod's monotonic clock."""
        return time.monotonic() + lead_s

    def agree(self, name: str, value: Any, decide: Callable[[list[Any]], Any]) -> Any:
        """Return the leader's decision about the values of all parts."""
        return decide([value])

    def spare(self, name: str) -> None:
        """Let the leader answer the step `name` with None to the parts that have come: the operation needs no other part."""

    def leave(self, value: Any) -> list[Any] | None:
        """Leave this part's value with the leader, where no result is merged. Return all values on the leader, else None."""
        return [value]

    def ready(self, last: Callable[[], None]) -> None:
        """Agree on the common begin if the store has not. The leader calls `last` when all parts are ready, before the common begin."""
        last()

    def wait(self, early_s: float = 0.0) -> None:
        """Wait for the common begin. `early_s`: return so many seconds before it, and let a later call wait for the begin."""

    def ended(self, span: Span) -> CpuSeconds:
        """Wait until the operations of all parts have ended. Return the CPU seconds of the other parts by machine."""
        return {}

    def gather(self, result: AttemptResult, tally: Any, rules: Mapping[str, str]) -> list[Any] | None:
        """Merge all parts' results into the leader's `result`. Return all tallies on the leader, else None."""
        return [tally]

    def verified(self, text: str) -> str:
        """Return the verification of this part. `text`: the store's statement. Raises BadResult if the results were not gathered."""
        return text

    def close(self, failed: StorebenchError | None = None) -> None:
        """End the exchange with the other parts. `failed`: the error that ends this part."""

    def shorten(self, result: AttemptResult) -> None:
        """Remove from a follower's result the long parts, which only the leader's result needs."""


class Divided(Parts):
    """The parts of an operation that several pods do together."""

    divided = True

    def __init__(self, part: Part, interrupt: Interrupt) -> None:
        self.part, self._interrupt = part, interrupt
        self._begin_s: float | None = None  # the agreed begin, until it has come
        self._gathered = False

    def ready(self, last: Callable[[], None]) -> None:
        if self._begin_s is None:
            self._begin_s = self.begin(0.0)

    def wait(self, early_s: float = 0.0) -> None:
        if self._begin_s is not None:
            wait_until(self._begin_s - early_s)
            self._begin_s = self._begin_s if early_s else None

    def verified(self, text: str) -> str:
        if not self._gathered:
            raise BadResult(
                "The store did not gather the results of the parts: `operate` of a divided operation calls `attempt.gather`"
            )
        return text

    def _close(self, side: Leader | Follower, failed: StorebenchError | None) -> None:
        self._interrupt.end()
        side.close({"error_kind": failed.kind, "error": str(failed)} if failed else None)


class Leading(Divided):
    """The leader's parts: the leader's own part, and the followers."""

    def __init__(self, part: Part, leader: Leader, interrupt: Interrupt) -> None:
        super().__init__(part, interrupt)
        self._leader = leader
        self._common_begin_s = 0.0
        self._offsets: list[Offset] = []  # of the followers, as of the begin
        self._spans: Spans | None = None

    def ready(self, last: Callable[[], None]) -> None:
        if self._begin_s is None:
            self._agree_begin(0.0, last)
        else:
            last()

    def begin(self, lead_s: float) -> float:
        return self._agree_begin(lead_s, lambda: None)

    def _agree_begin(self, lead_s: float, last: Callable[[], None]) -> float:
        said, members = self._leader.collect("begin"), self._leader.members()
        last()
        leads_s = [
            lead_s,
            *(_read("begin", member, value, float) for member, value in zip(members, said, strict=True)),
        ]
        self._offsets = [self._leader.offset(member) for member in members]
        slowest_s = max(2 * offset.error_s for offset in self._offsets)
        begin_s = time.monotonic() + SLACK_S + slowest_s + max(leads_s)
        for member, offset in zip(members, self._offsets, strict=True):
            self._leader.answer(member, "begin", begin_s + offset.seconds)
        self._common_begin_s = self._begin_s = begin_s
        return begin_s

    def agree(self, name: str, value: Any, decide: Callable[[list[Any]], Any]) -> Any:
        check_step(name)
        # The leader gets the same value as the followers: without tuples and with texts as names
        decision = json.loads(json.dumps(decide([value, *self._leader.collect(name)])))
        for member in self._leader.members():
            self._leader.answer(member, name, decision)
        return decision

    def spare(self, name: str) -> None:
        check_step(name)
        self._leader.spare(name)

    def leave(self, value: Any) -> list[Any] | None:
        left = self._leader.collect("result")
        self._leader.dismiss()
        self._gathered = True
        return [value, *left]

    def ended(self, span: Span) -> CpuSeconds:
        said, members = self._leader.collect("ended"), self._leader.members()
        followers = [
            _read("ended", member, value, lambda value: Span(**value)).earlier(offset.seconds)
            for member, value, offset in zip(members, said, self._offsets, strict=True)
        ]
        errors_s = [
            error_s(before, self._leader.offset(member))
            for member, before in zip(members, self._offsets, strict=True)
        ]
        self._spans = Spans([span, *followers], self._common_begin_s, max(errors_s))
        cpu_s = self._spans.cpu_s()
        for member in members:
            self._leader.answer(member, "ended", {"cpu_s": cpu_s})
        return without(cpu_s, span)

    def gather(self, result: AttemptResult, tally: Any, rules: Mapping[str, str]) -> list[Any] | None:
        left, members = self._leader.collect("result"), self._leader.members()
        parts = [
            _read("result", member, said, partial(_part_result, member))
            for member, said in zip(members, left, strict=True)
        ]
        merge(result, parts, rules, self._spans)
        self._leader.dismiss()
        self._gathered = True
        return [tally, *(said["tally"] for said in left)]

    def close(self, failed: StorebenchError | None = None) -> None:
        self._close(self._leader, failed)


class Following(Divided):
    """A follower's parts: its own part, and the leader."""

    def __init__(self, part: Part, follower: Follower, interrupt: Interrupt) -> None:
        super().__init__(part, interrupt)
        self._follower = follower

    def begin(self, lead_s: float) -> float:
        begin_s = float(self._follower.ask("begin", lead_s))
        self._begin_s = begin_s
        return begin_s

    def agree(self, name: str, value: Any, decide: Callable[[list[Any]], Any]) -> Any:
        check_step(name)
        return self._follower.ask(name, value)

    def leave(self, value: Any) -> list[Any] | None:
        self._follower.ask("result", value)
        self._gathered = True
        return None

    def ended(self, span: Span) -> CpuSeconds:
        return without(self._follower.ask("ended", vars(span))["cpu_s"], span)

    def gather(self, result: AttemptResult, tally: Any, rules: Mapping[str, str]) -> list[Any] | None:
        result.without_secrets()
        self._follower.ask("result", {"result": asdict(result), "tally": tally})
        self._gathered = True
        return None

    def shorten(self, result: AttemptResult) -> None:
        result.environment, result.usage, result.histograms, result.series = {}, [], {}, {}

    def verified(self, text: str) -> str:
        return f"part {self.part.number} of {self.part.count}: {super().verified(text)}"

    def close(self, failed: StorebenchError | None = None) -> None:
        self._close(self._follower, failed)


def wait_until(at_s: float) -> None:
    """Return at a second of the monotonic clock."""
    while (left_s := at_s - time.monotonic()) > 0:
        if left_s > SPIN_S:
            time.sleep(left_s - SPIN_S)


def without(cpu_s: CpuSeconds, own: Span) -> CpuSeconds:
    """Return the CPU seconds of all parts per machine without this part's."""
    return {**cpu_s, own.boot_id: max(0.0, cpu_s.get(own.boot_id, 0.0) - own.cpu_s)}


def check_step(name: str) -> None:
    """Raise SpecError for the name of a step that this module uses itself."""
    if name in STEPS:
        raise SpecError(
            f"agree({name!r}, …): the steps {', '.join(STEPS)} are the parts' own. Use another name"
        )


def _read(step: str, member: Member, said: Any, read: Callable[[Any], T]) -> T:
    """Return what a follower said for a step, as `read` understands it. Raises BadResult for anything else."""
    try:
        return read(said)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadResult(
            f"Part {member.number} (pod {member.pod}) said for the step {step!r} what the protocol does not know: {error!r}"
        ) from None


def _part_result(member: Member, said: Any) -> PartResult:
    known = {
        name: value for name, value in said["result"].items() if name in AttemptResult.__dataclass_fields__
    }
    said["tally"]  # a missing tally is a KeyError
    return PartResult(
        member.number, member.pod or f"part-{member.number}", member.node, AttemptResult(**known)
    )
