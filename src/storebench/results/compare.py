"""Compares two runs, two cells, or the two arms of one run: verdicts, and all that differs between the sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.errors import SpecError
from storebench.grid import Cell
from storebench.order import ARMS
from storebench.results import statistics
from storebench.results.database import Row
from storebench.results.queries import Queries, counts, verified_s
from storebench.results.statistics import SLOWER, Verdict

Key = tuple[str, str]  # cell's key, operation


@dataclass(frozen=True)
class Comparison:
    """Verdicts by cell and operation, and what a reader must know of them."""

    verdicts: dict[Key, Verdict]
    without: dict[Key, str]  # the reasons why there is no verdict
    # What is unsound: attempts that failed, were disturbed, or that their client bound; sides of different durability, or that deliver
    # different things.
    remarks: dict[Key, list[str]]
    differences: list[str]  # between the environments, parameters, codes and method versions of the two sides

    def regressions(self, beyond: float) -> dict[Key, Verdict]:
        """What is slower by more than this share: 0.1 is 10 %."""
        return {
            key: verdict
            for key, verdict in self.verdicts.items()
            if verdict.label == SLOWER and verdict.ratio > 1 + beyond
        }


def compare(
    queries: Queries,
    before: str,
    after: str,
    *,
    margin: float = statistics.MARGIN,
) -> Comparison:
    """Two runs cell by cell, or two cells given by their keys, over all runs.

    A run is a name for `Queries.run_named`; several, with commas between them, count as one. Raises SpecError for a name that
    is neither, or for a run and a cell.
    """
    (are_cells, rows_before), (also_cells, rows_after) = _attempts(queries, before), _attempts(queries, after)
    if are_cells != also_cells:
        raise SpecError("Compare two runs or two cells, not a run and a cell")
    return _compared(queries, rows_before, rows_after, are_cells, margin)


def compare_arms(
    queries: Queries,
    run: str,
    *,
    margin: float = statistics.MARGIN,
) -> Comparison:
    """One run against itself: the arms A and B of an A/A run, or of any other its odd repeats and its even ones."""
    rows = queries.attempts_of_run(queries.run_named(run)["id"])
    first, second = ([row for row in rows if (row["arm"] or "BA"[row["repeat"] % 2]) == arm] for arm in ARMS)
    return _compared(queries, first, second, False, margin)


def _attempts(queries: Queries, name: str) -> tuple[bool, list[dict[str, Any]]]:
    """Whether it is a cell, and its attempts."""
    try:
        cell = Cell.from_key(name)
    except (SpecError, ValueError):
        runs = dict.fromkeys(queries.run_named(one)["id"] for one in name.split(","))
        return False, [row for run in runs for row in queries.attempts_of_run(run)]
    rows = queries.attempts_of_cells([cell.key])
    if not rows:
        raise SpecError(
            f"There is no attempt of the cell {name!r}: `storebench grid` lists cells and their state"
        )
    return True, rows


def _compared(
    queries: Queries,
    before: Sequence[Row],
    after: Sequence[Row],
    are_cells: bool,
    margin: float,
) -> Comparison:
    groups = [_grouped(rows, are_cells) for rows in (before, after)]
    pairs: dict[Key, tuple[list[float], list[float]]] = {}
    without: dict[Key, str] = {}
    for key in dict.fromkeys([*groups[0], *groups[1]]):
        seconds = tuple(verified_s(group.get(key, [])) for group in groups)
        lacking = [
            f"{side} has {_lacking(group.get(key, []))}"
            for side, group, values in zip("AB", groups, seconds, strict=True)
            if not values
        ]
        if lacking:
            without[key] = ", ".join(lacking)
        else:
            pairs[key] = (seconds[0], seconds[1])
    return Comparison(
        statistics.verdicts(pairs, margin=margin),
        without,
        {key: _remarks(*(group.get(key, []) for group in groups)) for key in (*pairs, *without)},
        _differences(queries, before, after, are_cells),
    )


def _lacking(rows: Sequence[Row]) -> str:
    """What there is, where no attempt counts."""
    if not rows:
        return "none"
    verified = any(row["status"] == "verified" for row in rows)
    return "only disturbed attempts" if verified else "no verified attempt"


def _remarks(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    lines = []
    for side, rows in zip("AB", (before, after), strict=True):
        unverified = sum(row["status"] != "verified" for row in rows)
        disturbed = sum(row["status"] == "verified" and not counts(row) for row in rows)
        bound = sum(counts(row) and bool(row["client_bound"]) for row in rows)
        lines += [
            f"{side}: {n} of {len(rows)} {what}"
            for n, what in (
                (unverified, "not verified"),
                (disturbed, "disturbed"),
                (bound, "client-bound"),
            )
            if n
        ]
    delivered = [{row["delivers"] for row in rows if row["delivers"]} for rows in (before, after)]
    if all(delivered) and len(set.union(*delivered)) > 1:
        a, b = (" or ".join(sorted(texts)) for texts in delivered)
        lines.append(f"A delivers {a}, B {b}")
    promised = [
        {row["durability"] or "not recorded" for row in rows if row["operation"] == "write" and counts(row)}
        for rows in (before, after)
    ]
    return lines + _difference("durability", *promised)


def _grouped(rows: Sequence[Row], are_cells: bool) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in rows:
        found.setdefault(("" if are_cells else row["cell_key"], row["operation"]), []).append(row)
    return found


def _differences(queries: Queries, before: Sequence[Row], after: Sequence[Row], are_cells: bool) -> list[str]:
    """A line for each thing that is not the same in all attempts of both sides; of runs, store by store."""
    lines = _difference(
        "method_version", *({str(row["method_version"]) for row in rows} for rows in (before, after))
    )
    environments = queries.environments(
        {row["environment_hash"] for row in (*before, *after) if row["environment_hash"]}
    )
    stores = [None] if are_cells else sorted({row["store"] for row in (*before, *after)})
    for store in stores:
        sides = [
            _values(
                {
                    **environments[row["environment_hash"]],
                    **(row["parameters"] or {}),
                    "code_version": row["code_version"],
                }
                for row in rows
                if store in (None, row["store"]) and row["environment_hash"] in environments
            )
            for rows in (before, after)
        ]
        if not all(sides):
            continue  # a store that one side has not is compared with nothing
        prefix = f"{store}: " if store else ""
        stated = (
            {
                row["durability_stated"]
                for row in rows
                if store in (None, row["store"]) and row["durability_stated"]
            }
            for rows in (before, after)
        )
        lines += _difference(prefix + "durability_stated", *stated)
        for name in sorted(sides[0].keys() | sides[1].keys()):
            lines += _difference(prefix + name, *(side.get(name, {"not there"}) for side in sides))
    return lines


def _difference(name: str, before: set[str], after: set[str]) -> list[str]:
    if (before == after and len(before) <= 1) or not before or not after:
        return []
    return [f"{name}: {', '.join(sorted(before))} -> {', '.join(sorted(after))}"]


def _values(measured: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """The values that each detail of some attempts has; details within details are named a.b."""
    found: dict[str, set[str]] = {}
    for details in measured:
        for name, value in details.items():
            parts = (
                {f"{name}.{key}": part for key, part in value.items()}
                if isinstance(value, Mapping)
                else {name: value}
            )
            for part, content in parts.items():
                found.setdefault(part, set()).add(str(content))
    return found
