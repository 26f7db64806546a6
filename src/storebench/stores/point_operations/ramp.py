"""Run a ramp: its rates rise until the latency breaks the limit. The result is the rate of the step before."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storebench.stores.point_operations.generators import Generators
from storebench.stores.point_operations.load_plan import MAX_RATE, PERCENT, Load, Step

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt

Agree = Callable[[str, Any, Callable[[list[Any]], Any]], Any]  # Attempt.agree


@dataclass(frozen=True)
class Tried:
    """A finished step."""

    step: Step
    in_time: int  # number of requests answered within the limit
    cores: float  # number of cores that the load generators of this part kept busy

    @property
    def held(self) -> bool:
        """Return whether the 99th percentile was within the limit."""
        return self.step.holds(self.in_time)


@dataclass(frozen=True)
class Climb:
    """The finished steps of a ramp; at least one."""

    tried: Sequence[Tried]
    slo_s: float

    @property
    def broken(self) -> Tried | None:
        """Return the step that broke the limit; None if no step did."""
        return None if self.tried[-1].held else self.tried[-1]

    @property
    def steps(self) -> Sequence[Step]:
        """Return the finished steps."""
        return [tried.step for tried in self.tried]

    @property
    def counts(self) -> Step:
        """Return the step whose figures count: the last step within the limit, or the only step."""
        held = [tried.step for tried in self.tried if tried.held]
        return held[-1] if held else self.tried[0].step

    @property
    def cores(self) -> float:
        """Return the cores that the load generators kept busy in the last step, which decided the result."""
        return self.tried[-1].cores

    def report(self, attempt: Attempt) -> None:
        """Record the rate that broke the limit."""
        if self.broken:
            attempt.metric("broken_operations_per_s", self.broken.step.rate)

    def says(self) -> str:
        """Describe the rates between which the store's limit lies."""
        return f"the ramp: {self._share(self.tried[-2])}, {self._share(self.tried[-1])}"

    def problem(self) -> str | None:
        """Return why no step was within the limit; None if a step was."""
        if not self.broken:
            return f"No rate up to {MAX_RATE:,} a second broke the limit of {1000 * self.slo_s:g} ms: ask for a lower slo_ms"
        if len(self.tried) == 1:
            return (
                f"The first rate of the ramp breaks the limit: {self._share(self.tried[0])}, and {PERCENT} % must be."
                " Ask for a lower first_rate, or for a higher slo_ms"
            )
        return None

    def _share(self, tried: Tried) -> str:
        share = tried.in_time / tried.step.request_count
        return f"at {tried.step.rate:.5g} a second {share:.2%} were answered within {1000 * self.slo_s:g} ms"


def climb(generators: Generators, load: Load, begin_s: float, agree: Agree) -> Climb:
    """Run the steps until a step breaks the limit, and end the load.

    A step is judged when its last requests can no longer be answered in time. The next step has begun by then. `agree`: the method of the
    attempt, by which all parts of the operation judge a step alike. Raises StoreRefused if a load generator ends early."""
    tried: list[Tried] = []
    generators.wait_until(begin_s + load.before_s)
    at_s, cpu_s = time.monotonic(), generators.cpu_s()
    for part, step in enumerate(load.steps, start=1):  # the first part is the warm-up
        generators.wait_until(begin_s + step.to_s + load.slo_s)
        in_time = agree(f"step {part}", generators.answered(part).in_time, sum)
        before_s, before_cpu_s = at_s, cpu_s
        at_s, cpu_s = time.monotonic(), generators.cpu_s()
        tried.append(Tried(step, in_time, (cpu_s - before_cpu_s) / (at_s - before_s)))
        if not tried[-1].held:
            break
    generators.end()
    return Climb(tried, load.slo_s)
