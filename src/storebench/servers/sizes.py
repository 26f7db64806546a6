"""How large the servers of a run are: what its parameters, or an axis of the same names, say in place of the manifests."""

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
    def of(cls, params: Mapping[str, Any], axes: Mapping[str, str]) -> Sizes:
        """Return the sizes of a cell with axis values `axes`, in a run with parameters `params`. Raises SpecError for an invalid value."""
        asked = {}
        for name, field in FIELDS.items():
            value = axes.get(name, params.get(name))
            asked[name.removeprefix(PREFIX)] = field.read(value)
        return cls(**asked)

    def __str__(self) -> str:
        said = ((one.name, getattr(self, one.name)) for one in fields(self))
        return " ".join(f"{PREFIX}{name}={value}" for name, value in said if value is not None)

    def copies_in(self, topology: Topology) -> int | None:
        """Return how many copies of the data the topology's servers hold: the most replicas of a StatefulSet that holds data. None if no
        StatefulSet says that it holds data."""
        found = []
        for one in topology.sets:
            labels = one["metadata"].get("labels", {})
            if SIZED in labels:
                asked = self.copies if COPIES in labels else None
                found.append(asked or one["spec"].get("replicas", 1))
        return max(found, default=None)

    def check(self, topology: Topology) -> None:
        """Raises SpecError for another number of copies where the topology has only one."""
        if self.copies is not None and not any(COPIES in one["metadata"]["labels"] for one in topology.sets):
            raise SpecError(
                f"{PREFIX}copies: the topology {topology} is made for the number of copies that it has"
            )


def _text(title: str, text: str, pattern: str, hint: str, *examples: str) -> Text:
    return Text(
        title=title,
        text=f"{text} Empty: as the topology has it.",
        pattern=pattern,
        hint=hint,
        examples=examples,
    )


# Parameters of a run, and names for axes of a study that compares sizes.
FIELDS: Mapping[str, Field] = {
    "server_cpu": _text(
        "CPU of a server",
        "Of servers that the run brings (**STORE@TOPOLOGY**): request and limit of each one that holds data.",
        CPU,
        HINTS[CPU],
        *("500m", "1", "2"),
    ),
    "server_memory": _text(
        "Memory of a server",
        "Of servers that the run brings: request and limit of each one that holds data.",
        MEMORY,
        HINTS[MEMORY],
        *("2Gi", "4Gi", "8Gi"),
    ),
    "server_disk": _text(
        "Disk of a server",
        "Of servers that the run brings: the volume of each one that holds data.",
        MEMORY,
        "an amount of disk, such as 10Gi",
        *("10Gi", "100Gi"),
    ),
    "server_storage_class": _text(
        "Storage class of servers",
        "Of servers that the run brings: the StorageClass of their volumes.",
        NAME,
        "the name of a StorageClass",
        "local-path",
    ),
    "server_copies": WholeNumber(
        title="Copies of a server",
        text="Of servers that the run brings: how many nodes, or members of each replica set, hold the data."
        f" From 1 to {MOST_COPIES}. Empty: as the topology has it.",
        minimum=1,
        maximum=MOST_COPIES,
        examples=(1, 3, 5),
    ),
}
