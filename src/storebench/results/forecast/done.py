"""Find the repeats that need not be measured again: verified and undisturbed, with the same dataset, code, environment and
parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from storebench.results.database.attempts import short_hash
from storebench.results.database.queries import Queries, counts
from storebench.study.cell import Cell
from storebench.study.parameters import measured_with
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import CellParams, study_values


def verified_repeats(
    study: PlannedStudy,
    queries: Queries,
    cells: Sequence[Cell],
    params: CellParams,
    image_of: Callable[[str, str], str] | None = None,
    is_provisioned: Callable[[str], bool] = lambda store: False,
) -> dict[Cell, int]:
    """Return the number of repeats of each cell that need not be measured again.

    All operations of such a repeat are verified and undisturbed, have the parameters of `params`, and today's environment and code. Today's
    are those of the newest measurement of the same store and client with the same parameters, in any cell, if it used the image that
    `image_of` returns for the store and operation (None: any image). So the first attempt at a changed server shows the change. Other
    parameters are no evidence: client settings (`client_settings`) may depend on the parameters.

    `is_provisioned`: returns whether the run provisions a store's servers.
    """
    used = {cell.store for cell in cells}
    asked = {
        store: short_hash(measured_with(study, store, params, provisioned=is_provisioned(store)))
        for store in used
    }
    today: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for store, client in {(cell.store, cell.client) for cell in cells}:
        for operation in (planned.name for planned in study.operations_of(store)):
            newest = queries.newest_measured(study.name, store, client, operation, asked[store])
            if newest and (image_of is None or newest["image"] == image_of(store, operation)):
                today[store, client, operation] = (newest["environment_hash"], newest["code_version"])
    datasets = {cell.key: study.dataset_of(cell, study_values(params)) for cell in cells}
    rows = queries.attempts_of_cells([cell.key for cell in cells])
    counted: dict[str, dict[tuple[str, int], set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in rows:
        if (
            counts(row)
            and row["dataset_id"] == datasets[row["cell_key"]]
            and row["method_version"] == study.method_version
            and (row["environment_hash"], row["code_version"])
            == today.get((row["store"], row["client"], row["operation"]))
            and row["parameters_hash"] == asked[row["store"]]
        ):
            counted[row["cell_key"]][row["run_id"], row["repeat"]].add(row["operation"])
    return {
        cell: sum(
            1
            for operations in counted[cell.key].values()
            if operations == {operation.name for operation in study.operations_in(cell)}
        )
        for cell in cells
    }
