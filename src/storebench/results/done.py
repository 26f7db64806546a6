"""What need not be measured again: verified, undisturbed repeats of the same dataset, by the same code, in the same environment, with
the same parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storebench import METHOD_VERSION, stores
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.grid import Cell
from storebench.parameters import measured_with
from storebench.results.queries import Queries, counts
from storebench.results.repository import dataset_id, short_hash

# These must be the same as in the newest attempt at the same store, with the same client and operation.
TODAY = ("environment_hash", "code_version")


def verified_repeats(
    queries: Queries,
    cells: Sequence[Cell],
    params: Mapping[str, Any],
    image_of: Callable[[str], str] | None = None,
) -> dict[Cell, int]:
    """How many repeats of each cell count: all their operations verified and not disturbed, environment and code today's, the
    parameters those of `params`, a run's.

    Today's is what a store's client was measured in and by last, in whatever cell, with those parameters, if that was with the image
    that `image_of` names for the store now (None: whichever it was): a server that has changed is known by the first attempt at it.
    What a client makes of its server (`client_settings`) may follow from the parameters, so others say nothing of today.
    """
    used = {cell.store for cell in cells}
    asked = {store: short_hash(measured_with(store, params)) for store in used}
    images = {store: image_of(store) for store in used} if image_of else {}
    today: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for store, client in {(cell.store, cell.client) for cell in cells}:
        for operation in stores.load(store).operations:
            newest = queries.newest_measured(store, client, operation, asked[store])
            if newest and newest["image"] == images.get(store, newest["image"]):
                today[store, client, operation] = tuple(newest[name] for name in TODAY)
    rows = queries.attempts_of_cells([cell.key for cell in cells])
    counted: dict[str, dict[tuple[str, int], set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if (
            counts(row)
            and row["dataset_id"] == dataset_id(SCHEMA_VERSION, row["rows"], row["seed"])
            and row["method_version"] == METHOD_VERSION
            and tuple(row[name] for name in TODAY)
            == today.get((row["store"], row["client"], row["operation"]))
            and row["parameters_hash"] == asked[row["store"]]
        ):
            counted[row["cell_key"]][row["run_id"], row["repeat"]].add(row["operation"])
    return {
        cell: sum(
            1 for found in counted[cell.key].values() if found == set(stores.load(cell.store).operations)
        )
        for cell in cells
    }
