"""Find the measurements that would decide an inconclusive comparison: cells and repeats, in alternating runs of both sides.

A run measures only the present code in the present environment. So both sides can only be measured again if parameters of a run distinguish
them: parameters of two runs, or two values of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from storebench.results.comparison.compare import Comparison
from storebench.results.comparison.sides import Key
from storebench.results.database.connection import Row
from storebench.results.statistics.verdicts import CANNOT_TELL, MIN_UNITS
from storebench.study.cell import Cell
from storebench.study.observing import OFF, PROFILE

MOST = 100  # the most turns: a run repeats a cell at most this often
BOTH = "both"  # both sides in the rounds of one run
# Parameters that a deciding run sets itself: all repeats are measured and count, and data is dropped.
OF_A_REPEAT = {
    "full_grid": True,
    "skip_done": False,
    "warm_up": False,
    "a_a": False,
    "precision_percent": None,
    "budget_min": None,
    "random_order": True,
    "order_seed": None,
    "keep_data": False,
    PROFILE: OFF,
}


@dataclass(frozen=True)
class Part:
    """A run to start once in each turn: its side (`A`, `B` or BOTH) and its parameters."""

    side: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Deciding:
    """The measurements that would decide the inconclusive `pairs` in about `turns` turns. `hopeless`: reasons of other pairs.

    `parts`: the runs of a turn; for BOTH, the turns are the rounds of one run. `refused`: why no run is possible. `notes`: what the reader
    must know about the new measurements.
    """

    pairs: int
    turns: int = 0
    parts: Sequence[Part] = ()
    refused: str | None = None
    hopeless: Sequence[str] = ()
    notes: Sequence[str] = field(default=())


def deciding(
    comparison: Comparison,
    runs: tuple[Sequence[Row], Sequence[Row]],
    present_code: str,
    *,
    by_value: bool,
    values_of: Callable[[Cell], Mapping[str, str]] = lambda cell: dict(cell.axes),
) -> Deciding:
    """Find the measurements that would decide the open pairs of a comparison.

    `runs`: the runs of both sides. `by_value`: whether the sides are values of the same runs. `values_of`: returns a cell's values by axis
    (`Planning.values_of`).
    """
    unsure = {key: verdict for key, verdict in comparison.verdicts.items() if verdict.label == CANNOT_TELL}
    hopeless = [
        f"{operation} {cell}".strip() + f": {verdict.reason}"
        for (cell, operation), verdict in unsure.items()
        if verdict.ratio is None or (verdict.noise is not None and verdict.enough is None)
    ]
    asked = {
        key: verdict
        for key, verdict in unsure.items()
        if verdict.ratio is not None and (verdict.noise is None or verdict.enough is not None)
    }
    if not asked:
        reason = "More repeats would not decide any verdict" if hopeless else "No verdict is undecided"
        return Deciding(len(unsure), refused=reason, hopeless=hopeless)
    attempts = _attempts_of(comparison, asked)
    turns = min(MOST, max(MIN_UNITS, *(verdict.enough or MIN_UNITS for verdict in asked.values())))
    notes = []
    if any((verdict.enough or 0) > MOST for verdict in asked.values()):
        notes.append(f"{MOST} turns are the maximum; some pairs would need more")
    if any(verdict.noise is None for verdict in asked.values()):
        notes.append(f"For pairs without known noise, {MIN_UNITS} turns are the least that can decide")
    codes = [_each(rows, "code_version") for rows in attempts]
    if by_value:
        if codes[0] != {present_code}:
            notes.append(_by_present_code(codes[0] | codes[1], present_code))
        cells = [Cell.from_key(row["cell_key"]) for rows in attempts for row in rows]
        conf = conf_of(runs[0][-1]["params"], cells, turns, values_of)
        return Deciding(len(unsure), turns, [Part(BOTH, conf)], None, hopeless, notes)
    if refused := _refused(attempts, codes, present_code):
        return Deciding(len(unsure), turns, refused=refused, hopeless=hopeless)
    if codes[0] != {present_code}:
        notes.append(_by_present_code(codes[0], present_code))
    if _each(attempts[0], "environment_hash") != _each(attempts[1], "environment_hash"):
        notes.append("What differs between the environments of A and B, and is no parameter, will not differ")
    cells = [Cell.from_key(row["cell_key"]) for row in attempts[0]]
    parts = [
        Part(side, conf_of(side_runs[-1]["params"], cells, 1, values_of))
        for side, side_runs in zip("AB", runs, strict=True)
    ]
    return Deciding(len(unsure), turns, parts, None, hopeless, notes)


def conf_of(
    conf: Mapping[str, Any],
    cells: Iterable[Cell],
    repeats: int,
    values_of: Callable[[Cell], Mapping[str, str]],
) -> dict[str, Any]:
    """Return the parameters of a run that measures these cells `repeats` times, and otherwise has the parameters `conf`.

    The run also measures other combinations of the cells' places.
    """
    cells = list(dict.fromkeys(cells))
    axes: dict[str, dict[str, None]] = {}
    for cell in cells:
        for name, value in values_of(cell).items():
            axes.setdefault(name, {})[value] = None
    return {
        **conf,
        **OF_A_REPEAT,
        "stores": list(dict.fromkeys(cell.store for cell in cells)),
        "clients": list(dict.fromkeys(cell.client for cell in cells)),
        **{name: list(values) for name, values in axes.items()},
        "rows": cells[0].rows,
        "seed": cells[0].seed,
        "repeats": repeats,
    }


def _attempts_of(comparison: Comparison, keys: Iterable[Key]) -> tuple[list[Row], list[Row]]:
    before, after = (
        [row for key in keys for row in side.get(key, ()) if row["status"] == "verified"]
        for side in comparison.attempts
    )
    return before, after


def _refused(
    attempts: tuple[Sequence[Row], Sequence[Row]], codes: Sequence[set[str]], present_code: str
) -> str | None:
    """Return why the sides cannot be measured again; None if they can."""
    if codes[0] != codes[1]:
        gone = [side for side, code in zip("AB", codes, strict=True) if code != {present_code}]
        old = ", ".join(f"{side} by {_listed(code)}" for side, code in zip("AB", codes, strict=True))
        return (
            f"The sides were measured by different code: {old}. A run measures only the present code, {present_code}: so"
            f" {' and '.join(gone)} cannot be measured any more"
        )
    same_parameters = _each(attempts[0], "parameters_hash") == _each(attempts[1], "parameters_hash")
    if same_parameters and _each(attempts[0], "environment_hash") != _each(attempts[1], "environment_hash"):
        return (
            "What differs between A and B is what they ran on, and no parameter of a run. A run has only the present environment: so"
            " the other one cannot be measured any more"
        )
    if same_parameters:
        return "A and B differ in nothing that a run could make differ: new runs of both sides would be alike"
    return None


def _by_present_code(codes: set[str], present_code: str) -> str:
    return f"These were measured by the code {_listed(codes)}. Both sides will be measured by the present one, {present_code}"


def _each(rows: Iterable[Row], name: str) -> set[str]:
    return {str(row[name]) for row in rows}


def _listed(texts: set[str]) -> str:
    return " and ".join(sorted(texts))
