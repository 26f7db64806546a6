"""Plan a run: check its parameters and what it uses, and record its turns without repeats that are already verified."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from airflow.sdk.exceptions import AirflowSkipException

from storebench.airflow import connections, images, preflight
from storebench.airflow.dags import custom_file
from storebench.airflow.images import image
from storebench.airflow.kubernetes import secrets
from storebench.airflow.operators.run_end import airflow_id
from storebench.airflow.servers import provision
from storebench.errors import SpecError, StorebenchError
from storebench.planning.checks import not_addressed, not_held, text_of_length, text_of_several_pods
from storebench.planning.draft import draft_of
from storebench.planning.faults import check_faults
from storebench.planning.node_pools import DEFAULT, NodePool, node_pool_of
from storebench.planning.params import grid_of, run_values
from storebench.planning.topologies import AGENT_IMAGE, check_agents, check_sizes, copies_of
from storebench.planning.turns import labels_of, skips_done
from storebench.results.database.repository import run_id_of
from storebench.study.model import Study
from storebench.study.run_params import RunParams, study_values

Ask = Callable[[float, list[str]], None]  # takes the estimated seconds of a run, and the lines of its plan
NO_PARAMETERS = (
    "This backfill has come without parameters. In Airflow's dialog, tick 'Override parameters on existing runs': it sends the"
    " form only then. Set Reprocess Behavior to 'All Runs', as these dates have a run now, and start the backfill again. On the"
    " command line, add --dag-run-conf with the parameters as JSON. `storebench grid` prints the command"
)


def plan_of(
    study: Study,
    requested: Mapping[str, Any],
    dag_run: Any,
    make: custom_file.Make | None = None,
    ask: Ask | None = None,
) -> list[str]:
    """Check and record the turns of a run. Returns the names of the default node pool's turns, as the user interface shows them.

    `requested`: the run's unchecked parameters. `make` makes the dataset of a custom file in a pod. `ask` is called before the turns are
    recorded, and may end the process. If the plan of a run runs again, the run keeps the turns of its first plan. Raises AirflowSkipException if there is nothing to do, and a StorebenchError for a run that
    cannot work. The refused run is recorded with the error.
    """
    try:
        return _plan_of(study, requested, dag_run, make, ask)
    except StorebenchError as error:
        with suppress(StorebenchError):  # an error that cannot be recorded is still in the log
            refuse(study, requested, dag_run, str(error))
        raise


def refuse(study: Study, requested: Mapping[str, Any], dag_run: Any, reason: str) -> None:
    """Record a refused run with the reason; `requested`: the run's unchecked parameters."""
    connections.repository(connections.PLAN_PATIENCE_S).refuse_run(
        study=study,
        dag_id=dag_run.dag_id,
        airflow_run_id=dag_run.run_id,
        requested=dict(requested),
        reason=reason,
        airflow_id=airflow_id(),
    )


def _plan_of(
    study: Study,
    requested: Mapping[str, Any],
    dag_run: Any,
    make: custom_file.Make | None,
    ask: Ask | None,
) -> list[str]:
    if dag_run.run_type == "backfill" and not dag_run.conf:
        raise SpecError(NO_PARAMETERS)
    params = run_values(study, requested)
    repository = connections.repository(connections.PLAN_PATIENCE_S)
    run_id = run_id_of(dag_run.dag_id, dag_run.run_id)
    params, manifest = custom_file.with_file(study, params, make)
    grid = grid_of(study, params, dag_run.partition_key, copies_of(study, params, connections.exists))
    preflight.check(study, params["rows"], manifest["bytes"] if manifest else None)
    cannot = not_addressed(study, grid.cells, connections.bucket())
    cannot |= not_held(study, grid.cells, manifest) if manifest else {}
    grid = replace(grid, cells=tuple(cell for cell in grid.cells if cell not in cannot))
    if cannot and not grid.cells:
        raise SpecError(f"No cell is left to run: {'; '.join(dict.fromkeys(cannot.values()))}")
    stores = {cell.store for cell in grid.cells}
    with_pods = study.with_fillers(stores)
    groups = provision.groups_of(study, grid.cells, params)
    server_images = {cell.store: group.images for cell, group in groups.items() if group}
    check_agents(study, stores, params, server_images, images.named(AGENT_IMAGE))
    preflight.check_connections(_secrets_of(study, with_pods, params, server_images))
    check_sizes(study, grid.cells, params, connections.exists)
    check_faults(study, grid.cells, params, connections.exists, images.named(AGENT_IMAGE))
    preflight.check_embedded(study, with_pods, server_images)
    unpublished = {name for group in groups.values() if group for name in group.unpublished_images}
    preflight.check_images(study, with_pods, unpublished)
    if server_images:
        provision.check({group for group in groups.values() if group}, params)
    names = _secrets_of(study, with_pods, params, server_images)
    # The pod of a filling store runs in the node pool of the cell's store.
    for node_pool in {DEFAULT, *(node_pool_of(study, store) for store in stores - set(server_images))}:
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
        most_turns=preflight.most_turns(),
        provisioned=server_images,
        group_of=lambda cell: group.key if (group := groups.get(cell)) else None,
        image_of=image_of,
    )
    order, skipped, expected = draft.order, {**cannot, **draft.skipped}, draft.expected
    if order:
        may_end = params["precision_percent"] is not None or params["budget_min"] is not None
        lines = [f"Cells: {len(draft.repeats)}. {expected}{'. The run may end earlier' if may_end else ''}"]
        lines += filter(
            None, [text_of_several_pods(study, draft.repeats, params), text_of_length(len(order))]
        )
        if ask:
            ask(expected.seconds, lines)
        print(*lines, f"The order of the cells has the seed {draft.order_seed}", sep="\n")
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
        expected_s=expected.seconds,
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
    study: Study, stores: Iterable[str], params: RunParams, provisioned: Collection[str] = ()
) -> list[str]:
    """Return the names of the Secrets that the pods of these stores need: Secrets of connections, and Secrets that the stores ask for.
    `provisioned`: the stores whose servers the run provisions. These stores have no connection.
    """
    names = {"s3"}
    for name in stores:
        store = study.store(name)
        connection = None if name in provisioned else store.connection_of(name)
        names |= {*filter(None, [connection]), *store.keys(study_values(params))}
    return sorted(names)
