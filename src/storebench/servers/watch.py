"""Measure the servers that a run started during an attempt, by the agents in the servers' containers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from storebench.attempt.usage import CpuSeconds, sum_of
from storebench.errors import SpecError, StorebenchError
from storebench.servers.agent import Agent, Used

AGENTS = "STOREBENCH_AGENTS"  # the addresses of the agents, by the names of their pods: a JSON object
# The services in front of the store, by the names of their pods: a JSON object with the cores that the program in each can use, or null
# where it can use all that its container may.
SERVICES = "STOREBENCH_SERVICE_CORES"
LIMITED = "STOREBENCH_CPU_LIMITED"  # the pods of servers whose CPU limit the run asked for: a JSON array
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


@dataclass(frozen=True)
class Busiest:
    """The service in front of the store that was the nearest to its limit: cores that it kept busy, and cores that it can use."""

    cpu_share: float
    cores_usable: float


@dataclass(frozen=True)
class ServersUsed:
    """Figures of servers between two moments: a row of `usage` for each, the busiest service if any, and disturbances."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    busiest: Busiest | None = None
    disturbances: list[str] = field(default_factory=list)


class Watch:
    """The agents of an attempt's servers; none, where the run has brought none, or does not measure them.

    `services` are the pods with a service in front of the store, each with the cores that its program can use (None: all that its container
    may). `limited` are the pods whose CPU limit the run asked for.
    """

    def __init__(
        self,
        agents: Sequence[Agent] = (),
        services: Mapping[str, float | None] | None = None,
        limited: Collection[str] = (),
    ) -> None:
        self.agents = agents
        self._services = services or {}
        self._limited = limited

    @classmethod
    def from_environment(cls) -> Watch:
        """Read the list of agents from this pod's environment. Raises SpecError for an invalid list."""
        text = os.environ.get(AGENTS)
        if not text:
            return cls()
        token = os.environ.get(TOKEN)
        if not token:
            raise SpecError(f"{TOKEN} is not set: the pod got no Secret for its servers' agents")
        agents = [Agent(pod, host, token) for pod, host in json.loads(text).items()]
        services = json.loads(os.environ.get(SERVICES) or "{}")
        return cls(agents, services, json.loads(os.environ.get(LIMITED) or "[]"))

    def cpu_s(self) -> CpuSeconds | None:
        """CPU seconds of all servers so far, by machine; None where an agent does not tell them. Raises no error."""

        def told(agent: Agent) -> CpuSeconds | None:
            with suppress(StorebenchError):
                found = agent.cpu()
                return None if found.cpu_s is None else {found.boot_id: found.cpu_s}
            return None

        return sum_of(self._each(told))

    def begin(self) -> None:
        """Begin the measurement at each agent. Raises StorebenchError if an agent does not answer: an attempt needs its servers' figures."""
        self._each(lambda agent: agent.begin())

    def end(self) -> ServersUsed:
        """Return what each server has used since `begin`. Raises no error: a server whose agent does not answer is a disturbance."""
        found = list(zip(self.agents, self._each(_ended), strict=True))
        rows: list[dict[str, Any]] = []
        lacking, disturbances = [], []
        for agent, used in found:
            row: dict[str, Any] = {"role": "server", "name": agent.pod}
            if isinstance(used, StorebenchError):
                lacking.append(str(used))
            else:
                row |= {name: getattr(used, name) for name in FIGURES}
                if used.throttled_periods and agent.pod not in self._limited:
                    disturbances.append(f"{agent.pod} was throttled in {used.throttled_periods} periods")
            rows.append(row)
        if lacking:
            disturbances.insert(0, f"what its servers used is not known: {'; '.join(lacking)}")
        services = [
            one
            for agent, used in found
            if agent.pod in self._services
            and isinstance(used, Used)
            and (one := _of_service(used, self._services[agent.pod]))
        ]
        busiest = max(services, key=lambda one: one.cpu_share / one.cores_usable, default=None)
        return ServersUsed(rows, busiest, disturbances)

    def _each(self, call: Callable[[Agent], T]) -> list[T]:
        """At the same time, so that all count the same stretch."""
        if not self.agents:
            return []
        with ThreadPoolExecutor(len(self.agents)) as threads:
            return list(threads.map(call, self.agents))


def _ended(agent: Agent) -> Used | StorebenchError:
    try:
        return agent.end()
    except StorebenchError as error:
        return error


def _of_service(used: Used, cores: float | None) -> Busiest | None:
    """Return how busy a service was whose program can use so many `cores`; None if that is not known."""
    usable = used.cores_usable if cores is None else min(cores, used.cores_usable)
    if used.cpu_s is None or used.seconds <= 0 or usable <= 0:
        return None
    return Busiest(used.cpu_s / used.seconds, usable)
