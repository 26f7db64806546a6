"""Order the visits of a run's cells.

The order is random within each round of repeats: a drift during the run (the machine's speed, a server's caches and files) then affects all
cells alike. Without shuffling, the cells keep the given order, for an early first result."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from storebench.study.cell import Cell

ARMS = ("A", "B")
WARM_UP = 0  # the repeat number of a warm-up; measured repeats begin with 1


@dataclass(frozen=True)
class Turn:
    """One visit of a cell: all its operations and its drop."""

    cell: Cell
    repeat: int
    arm: str | None = None  # one of ARMS in an A/A run
    node_pool: str = ""  # node pool of the pods; empty: the default (storebench.planning.node_pools)

    @property
    def label(self) -> str:
        """Return a readable name that is unique among the turns of the run."""
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
    """Return the turns of a run. The same arguments give the same turns.

    `repeats`: the number of repeats of each cell. `together`: the key of a cell's group. All turns of a group follow one another, so that
    the cells of a group can share servers or data. The groups are shuffled, too.

    Each group begins with its warm-ups, one for each store. Rounds follow: a round visits every cell that has repeats left once (in an A/A
    run twice, once for each arm), in random order, or in the order of `repeats` unless `shuffled`. A round does not begin with the last
    cell of the round before if the group has another cell: this spreads the repeats of a cell.
    """
    shuffle = random.Random(order_seed).shuffle
    groups: dict[Hashable, dict[Cell, int]] = {}
    for cell, times in repeats.items():
        groups.setdefault(together(cell), {})[cell] = times
    parts = list(groups.values())
    if shuffled and len(parts) > 1:  # no extra shuffle for one group: its order stays as in earlier versions
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
    """Swap turns so that the round begins with another cell than `before`, if the round has another cell."""
    for n, turn in enumerate(one_round):
        if turn.cell != before:
            one_round[0], one_round[n] = turn, one_round[0]
            return
