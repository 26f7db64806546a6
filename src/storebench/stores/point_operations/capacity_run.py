"""Drive the search for the capacity: the load generators run a step, all parts add their counts, and the search chooses the next step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from storebench.stores.point_operations.capacity import Search
from storebench.stores.point_operations.generators import LEAD_S, Generators
from storebench.stores.point_operations.load_plan import Load, Step
from storebench.stores.point_operations.ramp import Agree, Tried

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt

POLL_S = 0.05
BUSY_SHARE = 0.9  # of the load generators' cores, as for `client_bound`


@dataclass(frozen=True)
class Found:
    """The finished steps of a search; at least one."""

    search: Search
    tried: Sequence[Tried]
    processes: int  # load generators of this part

    @property
    def steps(self) -> Sequence[Step]:
        """Return the finished steps."""
        return [tried.step for tried in self.tried]

    @property
    def counts(self) -> Step:
        """Return the step whose figures count: the last step, which confirmed the capacity."""
        return self.tried[-1].step

    @property
    def cores(self) -> float:
        """Return the cores that the load generators kept busy in the step that decided the result: the lowest rate that broke the limit."""
        deciding = [tried for tried in self.tried if tried.step.rate == self.search.high]
        return (deciding or self.tried)[-1].cores

    def report(self, attempt: Attempt) -> None:
        """Record the capacity, and mark a capacity that fell."""
        if self.search.high is not None:
            attempt.metric("broken_operations_per_s", self.search.high)
        if self.search.capacity is not None:
            attempt.metric("capacity_per_s", self.search.capacity)
        if self.search.changed:
            attempt.possibly_disturbed(
                f"the capacity fell during its search: {self.search.lost:.5g} a second held the limit, and then broke it"
            )

    def says(self) -> str:
        """Describe the bounds of the capacity, and whether the load generators were the limit."""
        said = (
            f"the capacity: {self.search.capacity:.5g} a second held the limit twice more, and {self.search.high:.5g} a second broke it;"
            f" {len(self.tried)} steps"
        )
        if self.cores >= BUSY_SHARE * self.processes:
            said += "; the load generators were at their own limit in the step that broke it, so the server's capacity is this or more"
        return said

    def problem(self) -> str | None:
        """Return why there is no capacity; None if there is."""
        return self.search.reason


def find_capacity(generators: Generators, load: Load, begin_s: float, agree: Agree) -> Found:
    """Run the steps of a search, and end the load.

    Each step begins after all requests of the step before have an answer. `begin_s`: the common begin on this part's clock. `agree`: the
    method of the attempt, by which all parts of the operation search together. Raises StoreRefused if a load generator ends early."""
    assert load.limits is not None
    search, tried = Search(load.limits), list[Tried]()
    generators.wait_until(begin_s + load.before_s)
    _settle(generators, load)
    while (probe := search.next) is not None:
        part = len(tried) + 1  # the first part is the warm-up
        from_s = agree(f"begin of step {part}", time.monotonic() - begin_s, max) + LEAD_S
        step = Step(probe.rate, from_s, from_s + probe.seconds)
        generators.step(from_s, probe.rate, probe.seconds)
        generators.wait_until(begin_s + step.from_s)
        at_s, cpu_s = time.monotonic(), generators.cpu_s()
        generators.wait_until(begin_s + step.to_s + load.slo_s)
        cores = (generators.cpu_s() - cpu_s) / (time.monotonic() - at_s)
        _settle(generators, load)
        answered = generators.answered(part)
        in_time, failed = agree(f"step {part}", [answered.in_time, answered.failed], _added)
        # Between two steps, when no request is in flight
        said = f"{in_time:,} requests answered in time, {failed:,} failed"
        print(f"step {part}: {probe.rate:.5g} per second for {probe.seconds:.3g} s: {said}", flush=True)
        tried.append(Tried(step, in_time, cores))
        search.tell(in_time, failed)
    generators.end()
    return Found(search, tried, load.processes)


def _settle(generators: Generators, load: Load) -> None:
    """Let no further planned request begin, and wait until all requests have an answer, or should have failed."""
    generators.drop()
    until_s = time.monotonic() + load.timeout_s
    while generators.answered(0).in_flight and time.monotonic() < until_s:
        generators.wait_until(time.monotonic() + POLL_S)


def _added(counts: list[Any]) -> list[int]:
    return [sum(column) for column in zip(*counts, strict=True)]
