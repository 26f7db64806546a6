"""Declare the faults of servers, and the parameters of a run that ask for a fault. Pods import this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from storebench.fields import Field, Number, Text
from storebench.study.reserved import FAULT

NO_FAULT = "none"
# Commands of the server itself, which a topology declares (storebench.servers.topology). The command decides how long each lasts.
MAINTENANCE: Mapping[str, str] = {
    "compact": "the server's own command that merges its data",
    "backup": "the server's own command that makes a backup",
    "repair": "the server's own command that makes the copies of the data equal",
}
UNHARMED = "a maintenance ends no process and removes no data"  # what a store guarantees under a maintenance
PARTITION = "partition"
# What a server guarantees under a fault that ends no process
KEEPS_MEMORY: Mapping[str, str] = {
    "pause": "a paused server keeps its memory",
    PARTITION: "a server that is cut off keeps its memory",
}
# What the agents of servers can do, and what it means.
FAULTS: Mapping[str, str] = {
    "kill": "SIGKILL to the server, which is started again after `fault_for_s`",
    "pause": "the server is stopped for `fault_for_s` with SIGSTOP, and continues",
    "restart": "an orderly end of the server, which is started again after `fault_for_s`",
    PARTITION: "the server is cut off from the other servers and from the clients for `fault_for_s`, and is then reconnected",
    "disk_full": "the file system of the server's data is full for `fault_for_s`",
    **MAINTENANCE,
}
LONGEST_S = 3_600  # the most seconds of a fault
AFTERWARDS_S = 10.0  # the least seconds of a load after the planned end of a fault, to see the recovery
# A server pod of a topology: the name of its StatefulSet, and its number
SERVER = r"([a-z0-9]([a-z0-9-]*[a-z0-9])?-[0-9]{1,3})?"

PARAMS: Mapping[str, Field] = {
    "fault_server": Text(
        title="Server of the fault",
        text="The server pod of the topology that has the fault, such as **cassandra-1**. Empty: the first server that holds data.",
        default="",
        pattern=SERVER,
        hint="empty, or the name of a server pod, such as cassandra-1",
        examples=("", "cassandra-1"),
        earlier="",
    ),
    "fault_after_s": Number(
        title="Begin of the fault, s",
        text="Seconds from the end of the warm-up, or from the begin of an operation without a warm-up, to the fault.",
        default=1,
        maximum=LONGEST_S,
        examples=(1, 10),
        earlier=1,
    ),
    "fault_for_s": Number(
        title="Duration of the fault, s",
        text="Seconds that the server is down, paused, cut off or full. The start of the server takes additional time. "
        f"A maintenance ({', '.join(MAINTENANCE)}) lasts as long as its command.",
        default=5,
        maximum=LONGEST_S,
        examples=(1, 5, 30),
        earlier=5,
    ),
    "fault_url": Text(
        title="Webhook of the fault",
        text="For your own servers: the URL of a program that causes the fault. The program gets a POST of a JSON object with **fault**,"
        " **server** and **for_s**, and answers when the fault has ended. Empty: the agents of provisioned servers cause the fault.",
        default="",
        pattern=r"(https?://[^\s/]\S*)?",
        hint="empty, or a URL that begins with http:// or https://",
        examples=("", "http://192.0.2.7:8000/fault"),
        earlier="",
    ),
}


@dataclass(frozen=True)
class Fault:
    """The fault of a cell. `server`: a pod of the topology; empty for the first server that holds data. `url`: a webhook, or empty."""

    name: str
    server: str
    after_s: float  # seconds from the end of the warm-up, or from the begin of an operation without one
    for_s: float  # 0 for a maintenance, which lasts as long as its command
    url: str

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Fault | None:
        """Return the fault that a run's parameters and a cell's axes ask for; None for no fault. Raises SpecError for an invalid parameter."""
        name = values.get(FAULT, NO_FAULT)
        if name == NO_FAULT:
            return None
        given = {param: field.read(values.get(param, field.default)) for param, field in PARAMS.items()}
        if name in MAINTENANCE:
            given["fault_for_s"] = 0.0
        return cls(name, *(given[f"fault_{part}"] for part in ("server", "after_s", "for_s", "url")))

    @property
    def is_maintenance(self) -> bool:
        """Return whether the fault is a command of the server itself."""
        return self.name in MAINTENANCE

    @property
    def changes_network(self) -> bool:
        """Return whether an agent cuts off the pod of its server, which needs a capability that other faults do not need."""
        return self.name == PARTITION and not self.url

    @property
    def least_s(self) -> float:
        """Return the least seconds of a load with this fault, from the end of the warm-up."""
        return self.after_s + self.for_s + AFTERWARDS_S
