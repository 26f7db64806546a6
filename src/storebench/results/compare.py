"""Compares two runs, two cells, or the two arms of one run: verdicts, and all that differs between the sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.results import difference, power
from storebench.results.database import Row
from storebench.results.difference import SLOWER, Verdict
from storebench.results.queries import Queries, counts
from storebench.results.sides import Design, Key, Sides, arms_of, sides_of


@dataclass(frozen=True)
class Comparison:
    """Verdicts by cell and operation, and what a reader must know of them."""

    verdicts: dict[Key, Verdict]
    without: dict[Key, str]  # the reasons why there is no verdict
    # Unsound are attempts that failed, were disturbed, or were bound by their client; sides that differ in durability, or that deliver
    # different things.
    remarks: dict[Key, list[str]]
    differences: list[str]  # between the environments, parameters, codes and method versions of the two sides
    design: Design
    lost: frozenset[Key]  # operations that both sides tried, but that have no verdict

    def regressions(self, beyond: float) -> dict[Key, Verdict]:
        """What is slower by more than this share: 0.1 is 10 %."""
        return {
            key: verdict
            for key, verdict in self.verdicts.items()
            if verdict.label == SLOWER and verdict.ratio > 1 + beyond
        }

    def could_hide(self, beyond: float) -> dict[Key, str]:
        """What may be slower by this share for all that was measured, with the reasons; its interval does not rule it out."""
        found = {}
        for key, verdict in self.verdicts.items():
            if verdict.interval is None:
                found[key] = verdict.reason or "no interval"
            elif verdict.interval.high > 1 + beyond:
                found[key] = f"B may be slower by up to {verdict.interval.high - 1:.1%}"
        return found | {key: self.without[key] for key in self.without if key in self.lost}


def compare(
    queries: Queries,
    before: str,
    after: str,
    *,
    margin: float = difference.MARGIN,
) -> Comparison:
    """Two runs cell by cell, or two cells given by their keys, over all runs: `storebench.results.sides.sides_of`."""
    return _compared(queries, sides_of(queries, before, after), margin)


def compare_arms(
    queries: Queries,
    run: str,
    *,
    margin: float = difference.MARGIN,
) -> Comparison:
    """One run against itself: `storebench.results.sides.arms_of`."""
    return _compared(queries, arms_of(queries, run), margin)


def _compared(queries: Queries, sides: Sides, margin: float) -> Comparison:
    pairs, without = sides.pairs()
    before, after = sides.groups()
    design = sides.design
    return Comparison(
        power.explained(
            difference.verdicts(pairs, margin=margin),
            units=design.units,
            margin=margin,
        ),
        without,
        {key: _remarks(before.get(key, []), after.get(key, [])) for key in (*pairs, *without)},
        _differences(queries, sides.before.rows, sides.after.rows, sides.before.is_cell),
        design,
        frozenset(without) & before.keys() & after.keys(),
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
            continue  # a store of one side only is not compared
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
