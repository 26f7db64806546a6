"""Measure a run's servers during an attempt, through the agents in the servers' containers."""

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
from storebench.protocol.figures import USAGE
from storebench.servers.agent import Agent, Used

SET = "STOREBENCH_SERVERS_SET"  # the id of the set of servers that the run has provisioned for this pod; not set for other servers
AGENTS = "STOREBENCH_AGENTS"  # the addresses of the agents, by the names of their pods: a JSON object
# The services in front of the store, by the names of their pods: a JSON object with the cores that each service's program can use, or null
# for all cores that its container may use.
SERVICES = "STOREBENCH_SERVICE_CORES"
LIMITED = "STOREBENCH_CPU_LIMITED"  # the pods of servers whose CPU limit the run asked for: a JSON array
HOLDING = (
    "STOREBENCH_DATA_SERVERS"  # the pods of servers that hold data, in the topology's order: a JSON array
)
TOKEN = "STOREBENCH_AGENT_TOKEN"  # the agents' token, in the servers' pods and in the client's pod
PASSWORD = "STOREBENCH_SERVERS_PASSWORD"  # the password of the set, in the client's pod
# The figures of an agent that become columns of a row of `usage`.
FIGURES = tuple(name for name in USAGE if name in Used.__dataclass_fields__)

T = TypeVar("T")


@dataclass(frozen=True)
class Busiest:
    """The service in front of the store that was nearest to its limit. `cpu_share`: the cores that it kept busy."""

    cpu_share: float
    cores_usable: float


@dataclass(frozen=True)
class ServersUsed:
    """The figures of servers between two moments: a row of `usage` for each server, the busiest service, and disturbances."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    busiest: Busiest | None = None
    disturbances: list[str] = field(default_factory=list)


class Watch:
    """The agents of an attempt's servers; empty where the run has provisioned no servers, or does not measure them.

    `services`: the cores that each service in front of the store can use, by pod (None: all cores that its container may use).
    `limited`: the pods whose CPU limit the run asked for. `holding`: the pods that hold data. `set_id`: the set of servers.
    """

    def __init__(
        self,
        agents: Sequence[Agent] = (),
        services: Mapping[str, float | None] | None = None,
        limited: Collection[str] = (),
        holding: Sequence[str] = (),
        set_id: str = "",
    ) -> None:
        self.agents = agents
        self._services = services or {}
        self._limited = limited
        self._holding = holding
        self._set_id = set_id

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
        limited, holding = (json.loads(os.environ.get(name) or "[]") for name in (LIMITED, HOLDING))
        return cls(agents, services, limited, holding, os.environ.get(SET, ""))

    def agent_of(self, server: str) -> Agent:
        """Return the agent of a server by the server's name in the topology, such as `cassandra-1`; the agent of the first server that
        holds data for an empty name. Raises SpecError without such a server.
        """
        pod = pod_of(server, self._set_id) if server else next(iter(self._holding), "")
        found = next((agent for agent in self.agents if agent.pod == pod), None)
        if found is None:
            known = ", ".join(agent.pod for agent in self.agents) or "none"
            raise SpecError(
                f"There is no agent of the server {server or pod!r}. The servers with agents: {known}"
            )
        return found

    def cpu_s(self) -> CpuSeconds | None:
        """Return the CPU seconds of all servers so far, by machine; None if an agent does not report them. Raises no error."""

        def seconds_of(agent: Agent) -> CpuSeconds | None:
            with suppress(StorebenchError):
                cpu = agent.cpu()
                return None if cpu.cpu_s is None else {cpu.boot_id: cpu.cpu_s}
            return None

        return sum_of(self._each(seconds_of))

    def copies_whole(self) -> bool | None:
        """Return whether all copies of the data are whole; None if no server has a command that tells, or if the data has no copies.

        The first server with such a command decides. If a server does not answer, not all copies are whole: no error is raised.
        """
        for agent in self.agents:
            try:
                state = agent.copies()
            except StorebenchError:
                return False
            if state != "unknown":
                return None if state == "none" else state == "whole"
        return None

    def begin(self) -> None:
        """Begin the measurement at each agent. Raises StorebenchError if an agent does not answer: an attempt needs all figures."""
        self._each(lambda agent: agent.begin())

    def end(self) -> ServersUsed:
        """Return each server's figures since `begin`. Raises no error: a server whose agent does not answer is a disturbance."""
        answers = list(zip(self.agents, self._each(_ended), strict=True))
        rows: list[dict[str, Any]] = []
        lacking, disturbances = [], []
        for agent, used in answers:
            row: dict[str, Any] = {"role": "server", "name": agent.pod}
            if isinstance(used, StorebenchError):
                lacking.append(str(used))
            else:
                row |= {name: getattr(used, name) for name in FIGURES}
                if used.throttled_periods and agent.pod not in self._limited:
                    disturbances.append(f"{agent.pod} was throttled in {used.throttled_periods} periods")
            rows.append(row)
        if lacking:
            disturbances.insert(0, f"the figures of its servers are not known: {'; '.join(lacking)}")
        services = [
            service
            for agent, used in answers
            if agent.pod in self._services
            and isinstance(used, Used)
            and (service := _of_service(used, self._services[agent.pod]))
        ]
        busiest = max(services, key=lambda service: service.cpu_share / service.cores_usable, default=None)
        return ServersUsed(rows, busiest, disturbances)

    def _each(self, call: Callable[[Agent], T]) -> list[T]:
        """Call all agents at the same time, so that all count the same stretch of time."""
        if not self.agents:
            return []
        with ThreadPoolExecutor(len(self.agents)) as threads:
            return list(threads.map(call, self.agents))


def pod_of(server: str, set_id: str) -> str:
    """Return the name of the pod of a server in a set of servers. `server`: its name in the topology, such as `cassandra-1`."""
    name, _, number = server.rpartition("-")
    return f"{name}-{set_id}-{number}"


def _ended(agent: Agent) -> Used | StorebenchError:
    try:
        return agent.end()
    except StorebenchError as error:
        return error


def _of_service(used: Used, cores: float | None) -> Busiest | None:
    """Return how busy a service was; None if not known. `cores`: the cores that its program can use (None: its container's)."""
    usable = used.cores_usable if cores is None else min(cores, used.cores_usable)
    if used.cpu_s is None or used.seconds <= 0 or usable <= 0:
        return None
    return Busiest(used.cpu_s / used.seconds, usable)
