"""Compare the functions of the profiles that belong to both sides of a verdict.

A profiled attempt never counts. So profiles are looked for beside the attempts that count, among attempts under the same conditions.
"""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain

from storebench.protocol.profiles import OF_WALL, stacks_of, unpacked
from storebench.results.comparison.sides import Key
from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries
from storebench.results.statistics.associations import LEAST_SHARE
from storebench.results.statistics.verdicts import Pair, Verdict, medians_of

FUNCTION = "function"  # the kind of such a figure
MOST = 20  # functions of a verdict that are looked at
# Attempts that are alike in these columns differ only in what was observed: the parameter `profile` is in no hash.
CONDITIONS = ("cell_key", "operation", "environment_hash", "parameters_hash", "code_version")
PROCESS = "process "  # begins the frame of a child process
# Stacks of a thread or of a process beside the client's own thread
_BESIDE = re.compile(rf"{PROCESS}|(.*;)?(Thread\.)?_bootstrap \(threading\.py\)")
# A stack beside the client's own thread whose share of the time differs less only lasts as long as the operation
ALIKE = 1.2

TwoSides = tuple[Sequence[Row], Sequence[Row]]
Seconds = dict[str, float]  # of an attempt, by stack or by function


def functions_of(queries: Queries, told: Mapping[Key, TwoSides]) -> dict[Key, dict[str, Pair]]:
    """Return the seconds in each function itself, without the functions that it called, for each pair with comparable profiles.

    `told`: the attempts that count. A unit is a profiled attempt of the newest profiled run of a side. Both sides need a profile of the
    same name: if there are some of wall time, profiles of CPU time are ignored. The same attempts on both sides give no pair.
    """
    cells = dict.fromkeys(row["cell_key"] for sides in told.values() for side in sides for row in side)
    known: dict[tuple[object, ...], list[Row]] = {}
    for row in queries.profiled(list(cells)):
        known.setdefault(_conditions(row), []).append(row)
    chosen = {key: _chosen(known, sides) for key, sides in told.items()}
    ids = {row["attempt_id"] for names in chosen.values() for pair in names.values() for row in chain(*pair)}
    taken = {(row["attempt_id"], row["name"]): row for row in queries.profiles(list(ids))} if ids else {}
    return {
        key: {
            function: pair
            for name, sides in names.items()
            for function, pair in _pairs(name, sides, taken).items()
        }
        for key, names in chosen.items()
    }


def heaviest(pairs: Mapping[str, Pair], verdict: Verdict) -> dict[str, Pair]:
    """Return the MOST functions with the most seconds, without functions whose seconds cannot cover LEAST_SHARE of the difference.

    The seconds of the longer side decide, not the difference of the sides: so the choice does not favour chance differences.
    """
    assert verdict.mean_before is not None and verdict.mean_after is not None
    least = LEAST_SHARE * abs(verdict.mean_after - verdict.mean_before)
    longest = {name: max(map(max, medians_of(pair))) for name, pair in pairs.items()}
    names = sorted(longest, key=lambda name: (-longest[name], name))
    return {name: pairs[name] for name in names[:MOST] if longest[name] >= least}


def _conditions(row: Row) -> tuple[object, ...]:
    return tuple(row[name] for name in CONDITIONS)


def _chosen(
    known: Mapping[tuple[object, ...], Sequence[Row]], sides: TwoSides
) -> dict[str, tuple[list[Row], list[Row]]]:
    """Return the profiled attempts of both sides by the name of the profile."""
    before, after = (
        _newest(row for alike in dict.fromkeys(map(_conditions, side)) for row in known.get(alike, ()))
        for side in sides
    )
    found = {
        name: (before[name], after[name])
        for name in before
        if name in after and _ids(before[name]).isdisjoint(_ids(after[name]))
    }
    return {name: pair for name, pair in found.items() if name.endswith(OF_WALL)} or found


def _newest(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the newest try of each repeat of the newest run, by the name of the profile."""
    names: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row["recorded_at"]):
        names.setdefault(row["name"], []).append(row)
    return {
        name: list({row["repeat"]: row for row in alike if row["run_id"] == alike[-1]["run_id"]}.values())
        for name, alike in names.items()
    }


def _ids(rows: Iterable[Row]) -> set[uuid.UUID]:
    return {row["attempt_id"] for row in rows}


def _pairs(
    name: str, sides: tuple[list[Row], list[Row]], taken: Mapping[tuple[uuid.UUID, str], Row]
) -> dict[str, Pair]:
    """Return the pair of each function of a profile. A function that an attempt's profile lacks took 0 s."""
    before, after = (
        [_seconds(taken[key]) for row in side if (key := (row["attempt_id"], name)) in taken]
        for side in sides
    )
    lasting = _lasting(before, after) if name.endswith(OF_WALL) else set()
    first, second = ([_own(stacks, lasting) for stacks in side if stacks] for side in (before, after))
    if not first or not second:
        return {}
    return {
        function: Pair(
            [[one.get(function, 0.0)] for one in first], [[one.get(function, 0.0)] for one in second]
        )
        for function in dict.fromkeys(chain(*first, *second))
    }


def _seconds(profile: Row) -> Seconds:
    """Return the seconds of each stack; an empty mapping for a profile that cannot be read."""
    with suppress(ValueError):
        return {stack: n / profile["hz"] for stack, n in stacks_of(unpacked(profile["stacks"])).items()}
    return {}


def _lasting(*sides: Sequence[Seconds]) -> set[str]:
    """Return the stacks beside the client's own thread that have the same share of the time on both sides: a monitor, or an idle worker.

    Such a thread waits as long as the operation lasts, so that its seconds would cover every difference.
    """
    shares = []
    for side in sides:
        own_s = sum(s for stacks in side for stack, s in stacks.items() if not _BESIDE.match(stack))
        of_stack: defaultdict[str, float] = defaultdict(float)
        for stacks in side:
            for stack, s in stacks.items():
                if own_s and _BESIDE.match(stack):
                    of_stack[stack] += s / own_s
        shares.append(of_stack)
    before, after = shares
    return {
        stack
        for stack in before.keys() & after.keys()
        if max(before[stack], after[stack]) <= ALIKE * min(before[stack], after[stack])
    }


def _own(stacks: Seconds, lasting: set[str]) -> Seconds:
    """Return the seconds of each innermost function. Native calls, such as a sleep, have no frame: they belong to their caller."""
    functions: Seconds = {}
    for stack, seconds in stacks.items():
        function = stack.rpartition(";")[2]
        if stack not in lasting and not function.startswith(PROCESS):
            functions[function] = functions.get(function, 0.0) + seconds
    return functions
