"""What need not be measured again: verified, undisturbed repeats of the same dataset, by the same code, in the same environment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storebench import METHOD_VERSION, __version__, stores
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.grid import Cell
from storebench.results.queries import Queries, counts
from storebench.results.repository import dataset_id

# Of nodes that are alike, any will do.
IGNORED = {"node"}


def verified_repeats(
    queries: Queries, cells: Sequence[Cell], image_of: Callable[[str], str] | None = None
) -> dict[Cell, int]:
    """How many repeats of each cell count: all their operations verified and not disturbed, their environment today's.

    Today's is the environment in which a store's client was measured last, in whatever cell, if that was with the image that
    `image_of` names for the store now (None: whichever it was): a server that has changed is known by the first attempt at it.
    """
    today: dict[tuple[str, str, str], Any] = {}
    for cell in cells:
        for operation in stores.load(cell.store).operations:
            place = (cell.store, cell.client, operation)
            if place not in today:
                today[place] = _alike(queries.newest_environment(*place))
    images = {store: image_of(store) for store, _, _ in today} if image_of else None
    rows = queries.attempts_of_cells([cell.key for cell in cells])
    environments = queries.environments({row["environment_hash"] for row in rows if row["environment_hash"]})
    counted: dict[str, dict[tuple[str, int], set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        environment = environments.get(row["environment_hash"])
        if (
            counts(row)
            and row["dataset_id"] == dataset_id(SCHEMA_VERSION, row["rows"], row["seed"])
            and (row["method_version"], row["code_version"]) == (METHOD_VERSION, __version__)
            and environment is not None
            and _alike(environment) == today[row["store"], row["client"], row["operation"]]
            and (images is None or environment.get("image") == images[row["store"]])
        ):
            counted[row["cell_key"]][row["run_id"], row["repeat"]].add(row["operation"])
    return {
        cell: sum(
            1 for found in counted[cell.key].values() if found == set(stores.load(cell.store).operations)
        )
        for cell in cells
    }


def _alike(environment: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if environment is None:
        return None
    return {name: value for name, value in environment.items() if name not in IGNORED}
