"""What a run would do, before it does anything: its cells, their turns, and about how long they take."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from storebench.airflow import preflight
from storebench.airflow.node_pools import DEFAULT, node_pool_of
from storebench.results.done import verified_repeats
from storebench.results.expected import Expected, expected
from storebench.results.queries import Queries
from storebench.study.cell import Cell
from storebench.study.dataset import MAX_SEED
from storebench.study.grid import Grid
from storebench.study.model import Study
from storebench.study.order import Turn, turns

ImageOf = Callable[[str, str], str]  # of a store and an operation


@dataclass(frozen=True)
class Draft:
    """`skipped` are the cells that are left out, with the reasons; `order_seed` is what the order was drawn by."""

    repeats: Mapping[Cell, int]
    skipped: Mapping[Cell, str]
    order: list[Turn]
    order_seed: int
    takes: Expected


def draft_of(
    study: Study,
    grid: Grid,
    params: Mapping[str, Any],
    queries: Queries,
    *,
    skips: bool,
    brings: Collection[str] = (),
    group_of: Callable[[Cell], str | None] = lambda cell: None,
    image_of: ImageOf | None = None,
) -> Draft:
    """The draft of a run of this grid with these parameters, which leaves out what is done where it `skips` that.

    It `brings` the servers of these stores; `group_of` tells of a cell which ones it needs: cells with the same ones stay together, on the
    default nodes. `image_of` names the images of today (None: whichever they were). Raises SpecError for more turns than Airflow takes, and for
    parameters that contradict each other.
    """
    done = (
        verified_repeats(study, queries, grid.cells, params, image_of, brings.__contains__) if skips else {}
    )
    repeats, skipped = repeats_of(grid, params["repeats"], done)
    preflight.check_length(sum(repeats.values()))  # before a list of all turns is made
    order, order_seed = order_of(study, repeats, params, group_of)
    preflight.check_length(len(order))
    return Draft(repeats, skipped, order, order_seed, expected(queries, study, order, params))


def repeats_of(grid: Grid, asked: int, done: Mapping[Cell, int]) -> tuple[dict[Cell, int], dict[Cell, str]]:
    """How often each cell is still to be measured, and why some are not at all, where so many repeats of each are `done`."""
    repeats = {cell: asked - done.get(cell, 0) for cell in grid.cells}
    skipped = {
        cell: f"already verified {done[cell]} times with the same dataset, code, environment and parameters"
        for cell, count in repeats.items()
        if count <= 0
    }
    return {cell: count for cell, count in repeats.items() if count > 0}, skipped


def order_of(
    study: Study,
    repeats: Mapping[Cell, int],
    params: Mapping[str, Any],
    group_of: Callable[[Cell], str | None] = lambda cell: None,
) -> tuple[list[Turn], int]:
    """The turns in their order, and the seed that it was drawn by; `group_of` as for `draft_of`."""
    asked = params["order_seed"]
    order_seed = random.SystemRandom().randint(0, MAX_SEED) if asked is None else asked
    order = turns(
        dict(repeats),
        order_seed,
        warm_up=params["warm_up"],
        a_a=params["a_a"],
        shuffled=params["random_order"],
        together=group_of,
    )

    def place(cell: Cell) -> str:
        return (DEFAULT if group_of(cell) else node_pool_of(study, cell.store)).name

    return [replace(turn, node_pool=place(turn.cell)) for turn in order], order_seed
