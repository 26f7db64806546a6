"""Compare two runs, two cells, or the two arms of a run: verdicts, and all differences between the sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storebench.results.comparison.differences import difference, differences
from storebench.results.comparison.sides import By, Key, Named, Sides, arms_of, sides_of, values_of
from storebench.results.comparison.units import Design
from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries, counts
from storebench.results.statistics import power
from storebench.results.statistics.verdicts import BETTER, MARGIN, WORSE, Verdict, verdicts_of

NOT_JUDGED = "not judged"  # of an attempt whose disturbances cannot be judged
# The labels of better and worse times.
OF_TIMES = {BETTER: "faster", WORSE: "slower"}


def label_text(label: str, unit: str) -> str:
    """Return the text of a verdict's label for figures of a unit."""
    return OF_TIMES.get(label, label) if unit == "s" else label


def unsound(rows: Sequence[Row]) -> list[str]:
    """Describe how many attempts do not count, were bound by their client or a service, or were not judged; empty if none."""
    counted = [row for row in rows if counts(row)]
    verified = sum(row["status"] == "verified" for row in rows)
    problems = {
        "not verified": len(rows) - verified,
        "disturbed": verified - len(counted),
        "client-bound": sum(bool(row["client_bound"]) for row in counted),
        "service-bound": sum(bool(row["service_bound"]) for row in counted),
        NOT_JUDGED: sum(bool(row["not_judged"]) for row in counted),
    }
    return [f"{n} of {len(rows)} {what}" for what, n in problems.items() if n]


@dataclass(frozen=True)
class Comparison:
    """Verdicts by cell and operation, with remarks for the reader."""

    verdicts: dict[Key, Verdict]
    without: dict[Key, str]  # reasons of pairs without a verdict
    # Remarks about attempts that failed, were disturbed or not judged, were bound by their client or a service, or are pending, and about
    # sides with different durability or delivery.
    remarks: dict[Key, list[str]]
    differences: list[str]  # between the environments, parameters, codes and method versions of the two sides
    design: Design
    lost: frozenset[Key]  # operations that A has tried, without a verdict
    measured: dict[Key, Mapping[str, str]]  # metric and unit of each verdict
    to_come: dict[Key, list[str]]  # pending attempts of runs that have not ended
    going_on: tuple[str, ...]  # names of the runs that have not ended
    attempts: tuple[Mapping[Key, Sequence[Row]], Mapping[Key, Sequence[Row]]]  # attempts of A and of B
    cells: Mapping[Key, tuple[str, str | None]]  # keys of A's and B's cell; None if B has no attempt
    runs: tuple[Sequence[str], Sequence[str]]  # ids of the runs of A and of B
    margin: float  # a smaller difference does not count: 0.05 is 5 %

    def label_text(self, key: Key, label: str) -> str:
        """Return the text of a verdict's label for a pair."""
        return label_text(label, self.measured[key]["unit"])

    def regressions(self, beyond: float) -> dict[Key, Verdict]:
        """Return the verdicts in which B is worse by more than the share `beyond`: 0.1 is 10 %."""
        return {
            key: verdict
            for key, verdict in self.verdicts.items()
            if verdict.is_worse and verdict.worse_by > beyond
        }

    def could_hide(self, beyond: float) -> dict[Key, str]:
        """Return the pairs whose interval includes a loss of more than the share `beyond`, with the reasons."""
        reasons: dict[Key, list[str]] = {}
        for key, verdict in self.verdicts.items():
            most = verdict.worse_by_at_most
            if verdict.better == "neither":
                continue
            if most is None:
                reasons[key] = [verdict.reason or "no interval"]
            elif most > beyond:
                reasons[key] = [f"B may be {self.label_text(key, WORSE)} by up to {most:.1%}"]
        reasons |= {key: [reason] for key, reason in self.without.items() if key in self.lost}
        for key, lines in self.to_come.items():
            reasons[key] = reasons.get(key, []) + lines
        return {key: "; ".join(lines) for key, lines in reasons.items()}


def compare(
    queries: Queries,
    before: Named,
    after: Named,
    *,
    margin: float = MARGIN,
    metric: str | None = None,
    study: str | None = None,
) -> Comparison:
    """Compare two runs cell by cell, or two cells over all runs, given by their keys (`storebench.results.comparison.sides.sides_of`)."""
    return _compared(queries, sides_of(queries, before, after, metric, study), margin)


def compare_values(
    queries: Queries,
    run: Named,
    by: By,
    *,
    margin: float = MARGIN,
    metric: str | None = None,
    study: str | None = None,
) -> Comparison:
    """Compare two values within a run (`storebench.results.comparison.sides.values_of`)."""
    return _compared(queries, values_of(queries, run, by, metric, study), margin)


def compare_arms(
    queries: Queries,
    run: str,
    *,
    margin: float = MARGIN,
    metric: str | None = None,
    study: str | None = None,
) -> Comparison:
    """Compare the two arms of a run (`storebench.results.comparison.sides.arms_of`)."""
    return _compared(queries, arms_of(queries, run, metric, study), margin)


def _compared(queries: Queries, sides: Sides, margin: float) -> Comparison:
    pairs, without = sides.pairs()
    before, after = sides.groups
    design, to_come = sides.design, sides.to_come
    return Comparison(
        power.explained(
            verdicts_of(pairs, margin=margin),
            units=design.units,
            margin=margin,
        ),
        without,
        {
            key: remarks_of(before.get(key, []), after.get(key, [])) + to_come.get(key, [])
            for key in (*pairs, *without)
        },
        differences(queries, sides.before.rows, sides.after.rows, sides.before.is_cell),
        design,
        frozenset(without) & before.keys(),
        {key: {name: before[key][0][name] for name in ("metric", "unit")} for key in pairs},
        to_come,
        tuple(dict.fromkeys(sides.before.going_on + sides.after.going_on)),
        (before, after),
        sides.cells_of([*pairs, *without]),
        (sides.before.runs, sides.after.runs),
        margin,
    )


def remarks_of(before: Sequence[Row], after: Sequence[Row]) -> list[str]:
    """Return remarks about unsound attempts of two sides, and about different delivery or durability."""
    lines = [
        f"{side}: {line}" for side, rows in zip("AB", (before, after), strict=True) for line in unsound(rows)
    ]
    if not before or not after:
        return lines
    delivered = [{row["delivers"] for row in rows if row["delivers"]} for rows in (before, after)]
    if all(delivered) and len(set.union(*delivered)) > 1:
        a, b = (" or ".join(sorted(texts)) for texts in delivered)
        lines.append(f"A delivers {a}, B {b}")
    guaranteed = [
        {row["durability"] or "not recorded" for row in rows if counts(row)} for rows in (before, after)
    ]
    return lines + [found.text for found in difference("durability", *guaranteed)]
