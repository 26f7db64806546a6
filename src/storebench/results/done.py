"""Find the repeats that need not be measured again: verified and undisturbed, with the same dataset, code, environment and
parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from storebench.results.attempts import short_hash
from storebench.results.queries import Queries, counts
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.parameters import measured_with

# These must be the same as in the newest attempt at the same store, with the same client and operation.
TODAY = ("environment_hash", "code_version")


def verified_repeats(
    study: Study,
    queries: Queries,
    cells: Sequence[Cell],
    params: Mapping[str, Any],
    image_of: Callable[[str, str], str] | None = None,
    brings: Callable[[str], bool] = lambda store: False,
) -> dict[Cell, int]:
    """How many repeats of each cell count: all their operations verified and not disturbed, environment and code today's, the
    parameters those of `params`, a run's.

    Today's is what a store's client was measured in and by last, in whatever cell, with those parameters, if that was with the image
    that `image_of` names for the store and operation now (None: whichever it was): a server that has changed is known by the first
    attempt at it.
    `brings` says of a store whether the run brings its servers.
    What a client makes of its server (`client_settings`) may follow from the parameters, so others say nothing of today.
    """
    used = {cell.store for cell in cells}
    asked = {store: short_hash(measured_with(study, store, params, brings=brings(store))) for store in used}
    today: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for store, client in {(cell.store, cell.client) for cell in cells}:
        for operation in (one.name for one in study.operations_of(store)):
            newest = queries.newest_measured(study.name, store, client, operation, asked[store])
            if newest and (image_of is None or newest["image"] == image_of(store, operation)):
                today[store, client, operation] = tuple(newest[name] for name in TODAY)
    datasets = {cell.key: study.dataset_of(cell, params) for cell in cells}
    rows = queries.attempts_of_cells([cell.key for cell in cells])
    counted: dict[str, dict[tuple[str, int], set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if (
            counts(row)
            and row["dataset_id"] == datasets[row["cell_key"]]
            and row["method_version"] == study.method_version
            and tuple(row[name] for name in TODAY)
            == today.get((row["store"], row["client"], row["operation"]))
            and row["parameters_hash"] == asked[row["store"]]
        ):
            counted[row["cell_key"]][row["run_id"], row["repeat"]].add(row["operation"])
    return {
        cell: sum(
            1
            for found in counted[cell.key].values()
            if found == {one.name for one in study.operations_of(cell.store)}
        )
        for cell in cells
    }
