"""Draft a run before it does any work: its cells, their turns, and their expected duration."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from storebench.planning.checks import check_length
from storebench.planning.node_pools import DEFAULT, node_pool_of
from storebench.results.database.queries import Queries
from storebench.results.forecast.done import verified_repeats
from storebench.results.forecast.expected import Expected, expected
from storebench.study.cell import Cell
from storebench.study.dataset import MAX_SEED
from storebench.study.grid import Grid
from storebench.study.order import Turn, turns
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import RunParams

ImageOf = Callable[[str, str], str]  # returns the image of a store and an operation


@dataclass(frozen=True)
class Draft:
    """A draft of a run. `repeats`: number of repeats to measure, by cell; `skipped`: reasons, by excluded cell."""

    repeats: Mapping[Cell, int]
    skipped: Mapping[Cell, str]
    order: list[Turn]
    order_seed: int
    expected: Expected


def draft_of(
    study: PlannedStudy,
    grid: Grid,
    params: RunParams,
    queries: Queries,
    *,
    skips: bool,
    most_turns: int,
    provisioned: Collection[str] = (),
    group_of: Callable[[Cell], str | None] = lambda cell: None,
    image_of: ImageOf | None = None,
) -> Draft:
    """Return the draft of a run of this grid with these parameters. `skips`: whether the run excludes repeats that are already verified.

    `most_turns`: the number of turns that Airflow allows in a run.
    `provisioned`: the stores whose servers the run provisions. `group_of` returns the key of the set of servers that a cell needs: cells
    with the same key stay together, on the default nodes. `image_of` returns the current image; without it, repeats with any image count.
    Raises SpecError for more turns than Airflow takes, and for parameters that contradict each other.
    """
    verified = (
        verified_repeats(study, queries, grid.cells, params, image_of, provisioned.__contains__)
        if skips
        else {}
    )
    repeats, skipped = repeats_of(grid, params["repeats"], verified)
    check_length(sum(repeats.values()), most_turns)  # before a list of all turns is made
    order, order_seed = order_of(study, repeats, params, group_of)
    check_length(len(order), most_turns)
    return Draft(repeats, skipped, order, order_seed, expected(queries, study, order, params))


def repeats_of(
    grid: Grid, requested: int, verified: Mapping[Cell, int]
) -> tuple[dict[Cell, int], dict[Cell, str]]:
    """Return the number of repeats to measure, by cell, and the reasons of skipped cells.

    `requested`: number of repeats of each cell. `verified`: number of verified repeats, by cell.
    """
    repeats = {cell: requested - verified.get(cell, 0) for cell in grid.cells}
    skipped = {
        cell: f"already verified {verified[cell]} times with the same dataset, code, environment and parameters"
        for cell, count in repeats.items()
        if count <= 0
    }
    return {cell: count for cell, count in repeats.items() if count > 0}, skipped


def order_of(
    study: PlannedStudy,
    repeats: Mapping[Cell, int],
    params: RunParams,
    group_of: Callable[[Cell], str | None] = lambda cell: None,
) -> tuple[list[Turn], int]:
    """Return the turns in order, and the seed of the order; `group_of` as for `draft_of`."""
    order_seed = params["order_seed"]
    if order_seed is None:
        order_seed = random.SystemRandom().randint(0, MAX_SEED)
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
