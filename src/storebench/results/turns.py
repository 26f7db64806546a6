"""Runs that are made in turns, and are the two sides of one comparison: by their names they are known.

The page calls them `turns__ID__003B`: the third run of side B. Together they are named `turns:ID:A` and `turns:ID:B`, wherever a run or
several can be named.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from storebench.errors import SpecError

NAME = re.compile(r"turns:(?P<id>[0-9A-Za-z.-]{1,100}):(?P<side>[AB])")
RUN = re.compile(r"turns__(?P<id>[0-9A-Za-z.-]{1,100})__(?P<turn>[0-9]{1,4})(?P<side>[AB])")
PREFIX = "turns:"


@dataclass(frozen=True)
class Turns:
    """A side of runs in turns."""

    id: str
    side: str

    @classmethod
    def named(cls, name: str) -> Turns:
        """Raises SpecError for a text that is no such name."""
        if not (found := NAME.fullmatch(name)):
            raise SpecError(f"{name!r} is no side of runs in turns: turns:ID:A or turns:ID:B")
        return cls(found["id"], found["side"])

    @property
    def run_prefix(self) -> str:
        """How the names of the runs of both sides begin."""
        return f"turns__{self.id}__"

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the names of this side's runs in order, if the other side's run of the same turn is among the names."""
        found: dict[int, dict[str, str]] = {}
        for name in names:
            if (run := RUN.fullmatch(name)) and run["id"] == self.id:
                found.setdefault(int(run["turn"]), {})[run["side"]] = name
        return [sides[self.side] for _, sides in sorted(found.items()) if len(sides) == 2]


def in_turns(name: str) -> bool:
    """Return whether a name is the name of runs in turns."""
    return name.startswith(PREFIX)
