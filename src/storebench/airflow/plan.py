"""Plan a run: the turns of its cells, without repeats that are already verified."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from storebench.airflow import brought, connections, own, preflight, secrets
from storebench.airflow.draft import draft_of
from storebench.airflow.ends import airflow_id
from storebench.airflow.images import image
from storebench.airflow.node_pools import DEFAULT, NodePool, node_pool_of
from storebench.airflow.params import grid_of, values_of
from storebench.airflow.topologies import check_agents, check_sizes, copies_of
from storebench.errors import SpecError, StorebenchError
from storebench.results.queries import Queries, verified_values
from storebench.results.repository import run_id_of
from storebench.results.rows import AttemptRow
from storebench.results.statistics import summarize
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.order import Turn

NO_PARAMETERS = (
    "This backfill has come without parameters. In Airflow's dialog, tick 'Override parameters on existing runs': it sends the"
    " form only then. Set Reprocess Behavior to 'All Runs', as these dates have a run now, and start the backfill again. On the"
    " command line, add --dag-run-conf with the parameters as JSON. `storebench grid` prints the command"
)

LACKING = {"failed", "upstream_failed"}  # Airflow's states of a step whose dependent steps are not run


def plan_of(study: Study, params: Mapping[str, Any], dag_run: Any, make: own.Make | None = None) -> list[str]:
    """Check and record the turns of a run. Returns the names of the default node pool's turns, as the user interface shows them.

    `make` makes the dataset of a user's own file in a pod. A plan that runs again keeps the turns that it planned first. Raises a
    StorebenchError, which is recorded with the run, for a run that cannot work, and AirflowSkipException where there is nothing to do.
    """
    try:
        return _plan_of(study, params, dag_run, make)
    except StorebenchError as error:
        with suppress(StorebenchError):  # an error that cannot be recorded is still in the log
            connections.repository(connections.PLAN_PATIENCE_S).refuse_run(
                study=study,
                dag_id=dag_run.dag_id,
                airflow_run_id=dag_run.run_id,
                params=dict(params),
                reason=str(error),
                airflow_id=airflow_id(),
            )
        raise


def _plan_of(study: Study, asked: Mapping[str, Any], dag_run: Any, make: own.Make | None) -> list[str]:
    if dag_run.run_type == "backfill" and not dag_run.conf:
        raise SpecError(NO_PARAMETERS)
    params = values_of(study, asked)
    repository = connections.repository(connections.PLAN_PATIENCE_S)
    run_id = run_id_of(dag_run.dag_id, dag_run.run_id)
    params, manifest = own.with_file(study, params, make)
    grid = grid_of(study, params, dag_run.partition_key, copies_of(study, params))
    preflight.check(study, params["rows"], manifest["bytes"] if manifest else None)
    cannot = preflight.not_addressed(study, grid.cells, connections.bucket())
    cannot |= own.not_held(study, grid.cells, manifest) if manifest else {}
    grid = replace(grid, cells=tuple(cell for cell in grid.cells if cell not in cannot))
    if cannot and not grid.cells:
        raise SpecError(f"No cell is left to run: {'; '.join(dict.fromkeys(cannot.values()))}")
    used = {cell.store for cell in grid.cells}
    groups = brought.groups_of(study, grid.cells, params)
    brings = {cell.store: group.images for cell, group in groups.items() if group}
    check_agents(study, used, params, brings)
    preflight.check_connections(_secrets_of(study, set(used), params, brings))
    check_sizes(study, grid.cells, params)
    preflight.check_embedded(study, used, brings)
    unpublished = {name for group in groups.values() if group for name in group.unpublished_images}
    preflight.check_images(study, used, unpublished)
    if brings:
        brought.check({group for group in groups.values() if group}, params)
    names = _secrets_of(study, used, params, brings)
    for node_pool in {DEFAULT, *(node_pool_of(study, store) for store in used - set(brings))}:
        secrets.apply(run_id, names, node_pool)
    if recorded := repository.recorded_turns(run_id):
        print(f"This run goes on with the {len(recorded)} turns that it planned when it first started")
        repository.reopen_run(run_id)
        return labels_of(recorded, DEFAULT)

    def image_of(store: str, operation: str) -> str:
        return image(study.store(store).pod_of(operation).image)

    draft = draft_of(
        study,
        grid,
        params,
        repository,
        skips=skips_done(params, dag_run.run_type),
        brings=brings,
        group_of=lambda cell: group.key if (group := groups.get(cell)) else None,
        image_of=image_of,
    )
    order, skipped, takes = draft.order, {**cannot, **draft.skipped}, draft.takes
    if order:
        may_end = params["precision_percent"] is not None or params["budget_min"] is not None
        print(f"Cells: {len(draft.repeats)}. {takes}{'. The run may end earlier' if may_end else ''}")
        print(f"The order of the cells has the seed {draft.order_seed}")
    if grid.dropped:
        print(f"{grid.dropped} combinations are excluded: {grid.dropped_because}")
    for cell, reason in skipped.items():
        print(f"{cell.label} is excluded: {reason}")
    repository.start_run(
        study=study,
        dag_id=dag_run.dag_id,
        airflow_run_id=dag_run.run_id,
        params=params,
        turns=order,
        order_seed=draft.order_seed,
        skipped=skipped,
        airflow_id=airflow_id(),
        expected_s=takes.seconds,
        expected_most_s=takes.most_s if takes.most_s > takes.seconds else None,
    )
    if not order:
        raise AirflowSkipException(
            f"All {len(draft.skipped)} cells are already verified: there is nothing to do"
            if draft.skipped
            else f"There is nothing to do: {grid.dropped_because}"
        )
    return labels_of(order, DEFAULT)


def turns_on(study: Study, node_pool: NodePool, dag_run: Any) -> list[str]:
    """Return the names of a planned run's turns in this node pool, as the user interface shows them."""
    repository = connections.repository(connections.PATIENCE_S)
    recorded = repository.recorded_turns(run_id_of(dag_run.dag_id, dag_run.run_id))
    return labels_of(recorded, node_pool)


def _secrets_of(
    study: Study, used: set[str], params: Mapping[str, Any], brings: Collection[str] = ()
) -> list[str]:
    """Return the names of the Secrets that the pods of these stores need: Secrets of connections, and Secrets that the stores ask for.
    Stores whose servers the run `brings` have no connection.
    """
    used |= {filled_by for name in used if (filled_by := study.store(name).filled_by)}
    names = {"s3"}
    for name in used:
        store = study.store(name)
        connection = None if name in brings else store.connection_of(name)
        names |= {*filter(None, [connection]), *store.keys(params)}
    return sorted(names)


def skips_done(params: Mapping[str, Any], run_type: str) -> bool:
    """Return whether a run skips verified repeats: as the parameter `skip_done` says, else only in a backfill."""
    asked: bool | None = params["skip_done"]
    return run_type == "backfill" if asked is None else asked


def labels_of(order: Sequence[Turn], node_pool: NodePool) -> list[str]:
    """Return the names of this node pool's turns, with the repeat's number where a cell has several repeats."""
    several = {turn.cell for turn in order if turn.repeat != 1}
    return [
        turn.label if turn.cell in several else turn.cell.label
        for turn in order
        if turn.node_pool == node_pool.name
    ]


def killed_of(
    study: Study, states: Mapping[str, str | None], order: Sequence[Turn]
) -> set[tuple[str, int, str]]:
    """Return (cell's key, repeat, operation) of each failed task, except tasks whose earlier step has failed.

    `states`: a run's states, by task and _map index.
    """
    needs = {operation.name: operation.needs for operation in study.operations}
    killed = set()
    groups: dict[str, list[Turn]] = defaultdict(list)
    for turn in order:
        groups[NodePool(turn.node_pool).group].append(turn)
    for task, state in states.items():
        name, _, index = task.rpartition("_")
        group, _, operation = name.rpartition(".")
        if state != "failed" or operation not in needs:
            continue
        if not any(states.get(f"{group}.{needed}_{index}") in LACKING for needed in needs[operation]):
            turn = groups[group][int(index)]
            killed.add((turn.cell.key, turn.repeat, operation))
    return killed


def reason_to_stop(
    study: Study, queries: Queries, run_id: str, cell: Cell, repeat: int, params: Mapping[str, Any]
) -> str | None:
    """Return why this turn is not needed, if so: the cell's median is precise enough, or the run's budget is spent."""
    if repeat <= 1:  # each cell is measured at least once, and a warm-up is never skipped
        return None
    if (budget_min := params["budget_min"]) is not None:
        run = queries.run_named(run_id)
        spent_s = (datetime.now(UTC) - run["started_at"]).total_seconds() - run["rested_s"]
        if spent_s > budget_min * 60:
            return f"the budget of {budget_min:g} minutes is spent"
    if (percent := params["precision_percent"]) is not None:
        rows = [row for row in queries.attempts_of_run(run_id) if row["cell_key"] == cell.key]
        width = max(
            _half_width_percent([row for row in rows if row["operation"] == operation.name])
            for operation in study.operations_of(cell.store)
        )
        if width <= percent:
            return f"the median is known to within {width:.2g} %, and {percent:g} % is enough"
    return None


def _half_width_percent(rows: Sequence[AttemptRow]) -> float:
    """Return the half width of the median's confidence interval relative to the median, in percent; infinite for too few repeats."""
    values = verified_values(rows)
    return summarize(values).half_width * 100 if values else math.inf
