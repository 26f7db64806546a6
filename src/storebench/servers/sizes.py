"""The sizes of a run's servers: its parameters, or axes of the same names, replace the sizes in the manifests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from storebench.errors import SpecError
from storebench.fields import CPU, HINTS, MEMORY, Field, Text, WholeNumber
from storebench.servers.topology import COPIES, SIZED, Topology

PREFIX = "server_"
MOST_COPIES = 100
NAME = r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?"


@dataclass(frozen=True)
class Sizes:
    """Sizes of the servers that hold the data. None means the topology's own size."""

    cpu: str | None = None
    memory: str | None = None
    disk: str | None = None
    storage_class: str | None = None
    copies: int | None = None

    @classmethod
    def of(cls, run_values: Mapping[str, Any], axes: Mapping[str, str]) -> Sizes:
        """Return the sizes of a cell with axis values `axes`, in a run whose parameters have the values `run_values`. Raises SpecError."""
        values = {}
        for name, field in FIELDS.items():
            value = axes.get(name, run_values.get(name))
            values[name.removeprefix(PREFIX)] = field.read(value)
        return cls(**values)

    def __str__(self) -> str:
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return " ".join(f"{PREFIX}{name}={value}" for name, value in values if value is not None)

    def copies_in(self, topology: Topology) -> int | None:
        """Return how many copies of the data the topology's servers hold: the most replicas of a StatefulSet that is labelled as one that
        holds data. None without such a StatefulSet.
        """
        replicas = []
        for stateful_set in topology.sets:
            labels = stateful_set["metadata"].get("labels", {})
            if SIZED in labels:
                copies = self.copies if COPIES in labels else None
                replicas.append(copies or stateful_set["spec"].get("replicas", 1))
        return max(replicas, default=None)

    def check(self, topology: Topology) -> None:
        """Check that the topology can have this number of copies. Raises SpecError."""
        if self.copies is None:
            return
        if not any(COPIES in stateful_set["metadata"]["labels"] for stateful_set in topology.sets):
            raise SpecError(f"{PREFIX}copies: the topology {topology} has a fixed number of copies")


def _text(title: str, text: str, pattern: str, hint: str, *examples: str) -> Text:
    return Text(
        title=title,
        text=f"{text} Empty: the topology's own.",
        pattern=pattern,
        hint=hint,
        examples=examples,
    )


# Parameters of a run, and names for axes of a study that compares sizes.
FIELDS: Mapping[str, Field] = {
    "server_cpu": _text(
        "CPU of a server",
        "Request and limit of each server that holds data, among the servers that the run provisions (**STORE@TOPOLOGY**).",
        CPU,
        HINTS[CPU],
        *("500m", "1", "2"),
    ),
    "server_memory": _text(
        "Memory of a server",
        "Request and limit of each server that holds data, among the servers that the run provisions.",
        MEMORY,
        HINTS[MEMORY],
        *("2Gi", "4Gi", "8Gi"),
    ),
    "server_disk": _text(
        "Disk of a server",
        "Volume of each server that holds data, among the servers that the run provisions.",
        MEMORY,
        "an amount of disk, such as 10Gi",
        *("10Gi", "100Gi"),
    ),
    "server_storage_class": _text(
        "Storage class of servers",
        "StorageClass of the volumes of the servers that the run provisions.",
        NAME,
        "the name of a StorageClass",
        "local-path",
    ),
    "server_copies": WholeNumber(
        title="Copies of a server",
        text="Number of nodes, or of members of each replica set, that hold the data. Some topologies have a fixed number."
        f" From 1 to {MOST_COPIES}. Empty: the topology's own.",
        minimum=1,
        maximum=MOST_COPIES,
        examples=(1, 3, 5),
    ),
}
