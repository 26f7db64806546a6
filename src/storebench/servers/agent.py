"""The client of the agents in servers' containers, which report figures, empty caches and cause faults. docs/servers-agent.md describes the answers.

The agent is the Go program in agent/. It answers with JSON over HTTP on the pod network, to clients that have its token.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from storebench import http_client
from storebench.connection.typed import host_list
from storebench.errors import StorebenchError, StoreRefused, StoreUnreachable

PORT = 9110
# The limit of a call without work. The figures include the size of the data, which may be in very many files.
TIMEOUT_S = 60.0
# The limit of the agent's work besides the waits with limits of their own: it writes changed pages to disk, and ends killed processes.
WORK_TIMEOUT_S = 600.0
MAX_ANSWER_BYTES = 65_536

T = TypeVar("T")


class AgentUnreachable(StoreUnreachable):
    """The error of a pod in which no agent answers."""


class AgentRefused(StoreRefused):
    """The error of an agent that refuses or fails. `status`: the HTTP status, such as 401 wrong token, 409 not now, 503 about to end."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Figures:
    """A container's counters at one moment. None: not known; `notes` has the reason.

    A source, "cgroup" or "processes", says which counter has counted the bytes. Times are in ISO 8601, with the time zone.
    """

    version: str
    cpu_s: float | None
    memory_working_set_bytes: int | None
    memory_working_set_peak_bytes: int | None  # since the last begin, sampled every 100 ms
    throttled_s: float | None
    throttled_periods: int | None
    oom_kills: int | None
    read_bytes: int | None
    read_bytes_source: str | None
    written_bytes: int | None
    written_bytes_source: str | None
    data_bytes: int | None  # size of the data on disk
    restarts: int  # restarts of the server by the agent
    server_pid: int | None  # in the container; None: the server does not run
    started_at: str  # start of the server
    agent_started_at: str  # start of the container
    agent_cpu_s: float  # part of cpu_s
    agent_rss_bytes: int
    notes: list[str]


@dataclass(frozen=True)
class Cpu:
    """The CPU seconds of a container so far, agent included, and the boot id of its machine; None or "" if not known."""

    cpu_s: float | None
    boot_id: str


@dataclass(frozen=True)
class Used:
    """A container's figures from `begin` to `end`, agent included. None: not known; `notes` has the reason."""

    seconds: float
    cpu_s: float | None
    cores_usable: float  # cores of the node, up to the container's CPU limit
    memory_working_set_peak_bytes: int | None
    throttled_s: float | None
    throttled_periods: int | None
    oom_kills: int | None
    read_bytes: int | None
    read_bytes_source: str | None
    written_bytes: int | None
    written_bytes_source: str | None
    data_bytes: int | None  # at the end
    data_added_bytes: int | None
    restarts: int
    agent_cpu_s: float  # part of cpu_s
    agent_rss_bytes: int  # at the end
    notes: list[str]


@dataclass(frozen=True)
class Residence:
    """The share of the data's files that is in the page cache."""

    resident_bytes: int
    total_bytes: int
    files: int


@dataclass(frozen=True)
class Stopped:
    """A server that was stopped. `killed`: TERM was not enough. `exit_code`: 128 + the signal's number if a signal has ended the server."""

    stop_s: float
    exit_code: int
    killed: bool


@dataclass(frozen=True)
class Dropped:
    """The page cache before and after the data's files were dropped from it. Pages that a process has mapped stay."""

    drop_s: float
    resident_before_bytes: int
    resident_after_drop_bytes: int
    total_bytes: int
    files: int


@dataclass(frozen=True)
class Started:
    """A server that answers `ready_s` seconds after its start."""

    ready_s: float


@dataclass(frozen=True)
class Cold(Started, Dropped, Stopped):
    """A server that was stopped, whose files were dropped, and that answers again. `resident_after_bytes`: its data in the page cache."""

    resident_after_bytes: int


@dataclass(frozen=True)
class Caused:
    """A fault that has ended: the moments of its begin and end, and of the server's first answer. `*_after_s`: seconds from the receipt of
    the request, by the agent's monotonic clock. `*_at`: the agent's wall clock, in ISO 8601.
    """

    began_after_s: float
    ended_after_s: float
    ready_after_s: float
    began_at: str
    ended_at: str
    ready_at: str
    exit_code: int | None  # of the server; None: the fault does not end the server
    filled_bytes: int | None  # None: the fault does not fill the disk


@dataclass(frozen=True)
class Agent:
    """The agent in the pod named `pod`, at the address `host`. Each call raises AgentUnreachable or AgentRefused."""

    pod: str
    host: str
    token: str = field(repr=False)
    port: int = PORT

    def version(self) -> str:
        """Return the agent's version. This call needs no token."""
        return _read(_Health, self._ask("GET", "/v1/health"), self.pod).version

    def cpu(self) -> Cpu:
        """Return the container's CPU figures, without the costly figures of data files."""
        return _read(Cpu, self._ask("GET", "/v1/cpu"), self.pod)

    def figures(self) -> Figures:
        return _read(Figures, self._ask("GET", "/v1/figures"), self.pod)

    def copies(self) -> str:
        """Return whether all copies of the data are whole, by the topology's command: "whole", "incomplete", "none" (the data has no copies)
        or "unknown" (the topology declares no command).
        """
        return _read(_Copies, self._ask("GET", "/v1/copies"), self.pod).copies

    def begin(self) -> None:
        """Reset the peak and record the counters, for the comparison in `end`."""
        self._ask("POST", "/v1/begin")

    def end(self) -> Used:
        """Return the container's figures since `begin`. The agent answers 409 without a `begin`, as after the container's restart."""
        return _read(Used, self._ask("POST", "/v1/end"), self.pod)

    def resident(self) -> Residence:
        return _read(Residence, self._ask("GET", "/v1/resident", timeout_s=WORK_TIMEOUT_S), self.pod)

    def cold(self, stop_timeout_s: float = 60, ready_timeout_s: float = 300) -> Cold:
        """Stop the server, drop its files from the page cache, start the server, and wait until it answers.

        The server gets KILL if it has not ended `stop_timeout_s` seconds after TERM. A server that does not answer in time goes on.
        """
        limits = {"stop_timeout_s": stop_timeout_s, "ready_timeout_s": ready_timeout_s}
        timeout_s = stop_timeout_s + ready_timeout_s + WORK_TIMEOUT_S
        return _read(Cold, self._ask("POST", "/v1/cold", limits, timeout_s), self.pod)

    def lukewarm(self) -> Dropped:
        """Drop the server's files from the page cache. The server stays running, or stopped."""
        return _read(Dropped, self._ask("POST", "/v1/lukewarm", timeout_s=WORK_TIMEOUT_S), self.pod)

    def stop(self, stop_timeout_s: float = 60) -> Stopped:
        limits = {"stop_timeout_s": stop_timeout_s}
        return _read(Stopped, self._ask("POST", "/v1/stop", limits, stop_timeout_s + TIMEOUT_S), self.pod)

    def start(self, ready_timeout_s: float = 300) -> Started:
        limits = {"ready_timeout_s": ready_timeout_s}
        return _read(Started, self._ask("POST", "/v1/start", limits, ready_timeout_s + TIMEOUT_S), self.pod)

    def fault(
        self, fault: str, for_s: float, stop_timeout_s: float = 60, ready_timeout_s: float = 300
    ) -> Caused:
        """Cause the fault `kill`, `restart`, `pause`, `partition` or `disk_full`, end the fault after `for_s` seconds, and wait until the server answers.
        Or run a command for maintenance that the server's topology declares, for at most `for_s` seconds.

        A server that does not answer within `ready_timeout_s` goes on, and the call raises AgentRefused with the status 504.
        """
        body: dict[str, float | str] = {
            "fault": fault,
            "for_s": for_s,
            "stop_timeout_s": stop_timeout_s,
            "ready_timeout_s": ready_timeout_s,
        }
        timeout_s = stop_timeout_s + for_s + ready_timeout_s + WORK_TIMEOUT_S
        return _read(Caused, self._ask("POST", "/v1/fault", body, timeout_s), self.pod)

    def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, float | str] | None = None,
        timeout_s: float | None = None,
    ) -> Any:
        try:
            response = http_client.ask(
                method,
                f"http://{host_list([(self.host, self.port)])}{path}",
                timeout_s=timeout_s or TIMEOUT_S,
                headers={"Authorization": f"Bearer {self.token}"},
                body=None if body is None else json.dumps(body),
                most_bytes=MAX_ANSWER_BYTES + 1,
            )
        except http_client.NoAnswer as error:
            raise AgentUnreachable(
                f"The agent of the server in pod {self.pod} does not answer {method} {path} at {self.host}:{self.port}"
                f" ({error}). See whether the pod runs and how its container has ended"
                f" (kubectl describe pod {self.pod}), and whether a NetworkPolicy lets this pod reach it"
            ) from error
        answer = _json(response.body)
        if response.status != 200:
            raise AgentRefused(self._refusal(path, response.status, answer), response.status)
        if not isinstance(answer, dict):
            raise AgentRefused(
                f"Another program than the agent answers {path} in pod {self.pod} at port {self.port}: {response.body[:80]!r}."
                " See whether the server's container has agent as its command, and no other program at that port",
                response.status,
            )
        return answer

    def _refusal(self, path: str, status: int, answer: Any) -> str:
        if status == 401:
            return (
                f"The agent of the server in pod {self.pod} refuses this run's token: the server belongs to another run,"
                " or its Secret has changed since it was started. Remove the servers and start the run again"
            )
        title, detail = "no reason", ""
        if isinstance(answer, dict):
            title, detail = str(answer.get("title", title)), str(answer.get("detail", detail))
        return (
            f"The agent of the server in pod {self.pod} refuses {path} ({status}): {title}. {detail}".rstrip()
        )


def cold_together(
    agents: Sequence[Agent], stop_timeout_s: float = 60, ready_timeout_s: float = 300
) -> dict[str, Cold]:
    """Make all servers of a set cold. Returns the figures by pod.

    Stops all servers before dropping any files, and drops all files before starting any server: no running server can fill the cache of
    another one again. After an error, starts the stopped servers again.
    """
    with ThreadPoolExecutor(max(1, len(agents)), thread_name_prefix="agent") as pool:

        def each(step: Callable[[Agent], T]) -> list[T]:
            futures = [pool.submit(step, agent) for agent in agents]
            wait(futures)  # also after an error: the next step must not meet an agent that is still busy
            return [future.result() for future in futures]

        before = each(Agent.resident)
        try:
            stopped = each(lambda agent: agent.stop(stop_timeout_s))
            dropped = [
                replace(cache, resident_before_bytes=earlier.resident_bytes)
                for cache, earlier in zip(each(Agent.lukewarm), before, strict=True)
            ]
        except StorebenchError:
            each(lambda agent: _start_again(agent, ready_timeout_s))
            raise
        started = each(lambda agent: agent.start(ready_timeout_s))
        after = each(Agent.resident)
    return {
        agent.pod: Cold(
            **(vars(stopped[i]) | vars(dropped[i]) | vars(started[i])),
            resident_after_bytes=after[i].resident_bytes,
        )
        for i, agent in enumerate(agents)
    }


def _start_again(agent: Agent, ready_timeout_s: float) -> None:
    with suppress(AgentUnreachable, AgentRefused):  # the agent of a running server refuses, too
        agent.start(ready_timeout_s)


@dataclass(frozen=True)
class _Health:
    version: str


@dataclass(frozen=True)
class _Copies:
    copies: str


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read(kind: type[T], answer: Mapping[str, Any], pod: str) -> T:
    """Return the answer as a dataclass. Excludes entries that only newer agents have. Raises AgentRefused for an invalid entry."""
    hints = typing.get_type_hints(kind)
    values = {}
    for name in (entry.name for entry in fields(kind)):  # type: ignore[arg-type]
        if name not in answer or not _is(answer[name], hints[name]):
            raise AgentRefused(
                f"The agent of the server in pod {pod} gives no valid {name!r}: {answer.get(name)!r}."
                " Give the agent's image the version that this Storebench has",
                200,
            )
        values[name] = answer[name]
    return kind(**values)


def _is(value: Any, hint: Any) -> bool:
    if isinstance(hint, types.UnionType):
        return any(_is(value, member) for member in typing.get_args(hint))
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, typing.get_origin(hint) or hint)
