"""Parse the names of runs in turns: alternating runs of the two sides of a comparison.

The page names these runs like `turns__ID__003B`: the third run of side B. `turns:ID:A` and `turns:ID:B` name all runs of a side, in all
arguments that take names of runs.
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
        """Parse a name `turns:ID:A` or `turns:ID:B`. Raises SpecError for any other text."""
        if not (found := NAME.fullmatch(name)):
            raise SpecError(f"{name!r} is no side of runs in turns: turns:ID:A or turns:ID:B")
        return cls(found["id"], found["side"])

    @property
    def run_prefix(self) -> str:
        """Return the common prefix of the names of both sides' runs."""
        return f"turns__{self.id}__"

    def of(self, names: Iterable[str]) -> list[str]:
        """Return the names of this side's runs in order, limited to turns whose run of the other side is also in `names`."""
        found: dict[int, dict[str, str]] = {}
        for name in names:
            if (run := RUN.fullmatch(name)) and run["id"] == self.id:
                found.setdefault(int(run["turn"]), {})[run["side"]] = name
        return [sides[self.side] for _, sides in sorted(found.items()) if len(sides) == 2]


def in_turns(name: str) -> bool:
    """Return whether a name is the name of runs in turns."""
    return name.startswith(PREFIX)
