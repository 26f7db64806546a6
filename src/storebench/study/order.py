"""In which order a run visits its cells: random within each round of repeats, so that what drifts while a run lasts
(the machine's speed, a server's caches and files) falls on all cells alike; or as they are given, where a first result matters more."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from storebench.study.cell import Cell

ARMS = ("A", "B")
WARM_UP = 0  # the repeat's number of a warm-up; those that count begin with 1


@dataclass(frozen=True)
class Turn:
    """One visit of a cell: its operations, and its drop."""

    cell: Cell
    repeat: int
    arm: str | None = None  # of an A/A run
    node_pool: str = ""  # where it is measured; empty: the default (storebench.airflow.node_pools)

    @property
    def label(self) -> str:
        """What tells it from the other turns of its run, for people."""
        cell = self.cell.label
        if self.repeat == WARM_UP:
            return f"{cell} warm-up"
        return f"{cell} #{self.repeat}" + (f" ({self.arm})" if self.arm else "")


def turns(
    repeats: dict[Cell, int],
    order_seed: int,
    *,
    warm_up: bool = False,
    a_a: bool = False,
    shuffled: bool = True,
    together: Callable[[Cell], Hashable] = lambda cell: None,
) -> list[Turn]:
    """The turns of a run that visits each cell so many times; the same for the same arguments.

    Cells for which `together` gives the same follow one another with all their rounds, and these groups are shuffled, too: what they
    share is not made anew for each turn. Within each group:

    Warm-ups, one for each store, come first. Then come rounds: each visits every cell that has repeats left once (twice in
    an A/A run, once for each arm), in an order of its own; where they are not `shuffled`, in that of `repeats`. No cell begins the round after one that it has ended, if
    there is another, so that the repeats of a cell are never all in a row.
    """
    shuffle = random.Random(order_seed).shuffle
    groups: dict[Hashable, dict[Cell, int]] = {}
    for cell, times in repeats.items():
        groups.setdefault(together(cell), {})[cell] = times
    parts = list(groups.values())
    if shuffled and len(parts) > 1:  # the order of a run with one group is what it always was
        shuffle(parts)
    return [turn for part in parts for turn in _turns_of(part, shuffle, warm_up, a_a, shuffled)]


def _turns_of(
    repeats: dict[Cell, int], shuffle: Callable[[list[Turn]], None], warm_up: bool, a_a: bool, shuffled: bool
) -> list[Turn]:
    order: list[Turn] = []
    if warm_up:
        first_of_store = {cell.store: cell for cell in reversed(repeats) if repeats[cell]}
        order += [Turn(cell, WARM_UP) for cell in reversed(first_of_store.values())]
    for number in range(1, max(repeats.values(), default=0) + 1):
        cells = [cell for cell, times in repeats.items() if times >= number]
        if a_a:
            arms = enumerate(ARMS)
            one_round = [Turn(cell, 2 * number - 1 + n, arm) for n, arm in arms for cell in cells]
        else:
            one_round = [Turn(cell, number) for cell in cells]
        if shuffled:
            shuffle(one_round)
        _part(one_round, order[-1].cell if order else None)
        order += one_round
    return order


def _part(one_round: list[Turn], before: Cell | None) -> None:
    """Begin the round with another cell than the one before it, if it has another."""
    for n, turn in enumerate(one_round):
        if turn.cell != before:
            one_round[0], one_round[n] = turn, one_round[0]
            return
