"""What servers that a run has brought use while an attempt at them is measured, as the agents in their containers tell it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from storebench.attempt.usage import CpuSeconds, sum_of
from storebench.errors import SpecError, StorebenchError
from storebench.servers.agent import Agent

AGENTS = "STOREBENCH_AGENTS"  # the addresses of the agents, by the names of their pods: a JSON object
TOKEN = "STOREBENCH_AGENT_TOKEN"  # the variable with it, in the servers' pods and in the client's
# Of a row of `usage`, and of what an agent tells.
FIGURES = (
    "cpu_s",
    "memory_working_set_peak_bytes",
    "throttled_s",
    "throttled_periods",
    "oom_kills",
    "read_bytes",
    "written_bytes",
    "data_bytes",
    "restarts",
)

T = TypeVar("T")


class Watch:
    """The agents of an attempt's servers; none, where the run has brought none, or does not measure them."""

    def __init__(self, agents: Sequence[Agent] = ()) -> None:
        self.agents = agents

    @classmethod
    def from_environment(cls) -> Watch:
        """As this pod was told; raises SpecError for what is no list of agents."""
        text = os.environ.get(AGENTS)
        if not text:
            return cls()
        token = os.environ.get(TOKEN)
        if not token:
            raise SpecError(f"{TOKEN} is not set: the pod got no Secret for its servers' agents")
        return cls([Agent(pod, host, token) for pod, host in json.loads(text).items()])

    def cpu_s(self) -> CpuSeconds | None:
        """CPU seconds of all servers so far, by machine; None where an agent does not tell them. Raises no error."""

        def told(agent: Agent) -> CpuSeconds | None:
            with suppress(StorebenchError):
                found = agent.cpu()
                return None if found.cpu_s is None else {found.boot_id: found.cpu_s}
            return None

        return sum_of(self._each(told))

    def begin(self) -> None:
        """From now on counts. Raises a StorebenchError where an agent does not answer: nothing is measured without its servers."""
        self._each(lambda agent: agent.begin())

    def end(self) -> tuple[list[dict[str, Any]], str | None]:
        """What each server has used since `begin`, as rows of `usage`; and why the figures are not complete, if they are not."""
        lacking: list[str] = []

        def used(agent: Agent) -> dict[str, Any]:
            row: dict[str, Any] = {"role": "server", "name": agent.pod}
            try:
                found = agent.end()
            except StorebenchError as error:
                lacking.append(str(error))
                return row
            return row | {name: getattr(found, name) for name in FIGURES}

        rows = self._each(used)
        return rows, "; ".join(lacking) or None

    def _each(self, call: Callable[[Agent], T]) -> list[T]:
        """At the same time, so that all count the same stretch."""
        if not self.agents:
            return []
        with ThreadPoolExecutor(len(self.agents)) as threads:
            return list(threads.map(call, self.agents))
