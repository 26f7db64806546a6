"""Decide which turns of a run are measured, name the turns, and find the operations whose tasks failed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from storebench.planning.node_pools import NodePool
from storebench.results.database.queries import Queries, verified_values
from storebench.results.database.rows import AttemptRow
from storebench.results.statistics.intervals import summarize
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.observing import OFF
from storebench.study.order import Turn
from storebench.study.run_params import RunParams

FAILED_STATES = {"failed", "upstream_failed"}  # Airflow's states of a step whose dependent steps are not run


def skips_done(params: RunParams, run_type: str) -> bool:
    """Return whether a run skips verified repeats: the parameter `skip_done`, or if that is empty, whether the run is of a backfill.

    A profiled run skips none.
    """
    if params["profile"] != OFF:
        return False
    skip_done = params["skip_done"]
    return run_type == "backfill" if skip_done is None else skip_done


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

    `states`: Airflow's states of the run's tasks. A key is a task's id, `_` and the task's map index.
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
        if not any(states.get(f"{group}.{needed}_{index}") in FAILED_STATES for needed in needs[operation]):
            turn = groups[group][int(index)]
            killed.add((turn.cell.key, turn.repeat, operation))
    return killed


def reason_to_stop(
    study: Study, queries: Queries, run_id: str, cell: Cell, repeat: int, params: RunParams
) -> str | None:
    """Return why this turn is unnecessary (the run's budget is spent, or the cell's median is precise enough); None if it is needed."""
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
            for operation in study.operations_in(cell)
        )
        if width <= percent:
            return f"the median is known to within {width:.2g} %, and {percent:g} % is enough"
    return None


def _half_width_percent(rows: Sequence[AttemptRow]) -> float:
    """Return the half width of the median's confidence interval relative to the median, in percent; infinite for too few repeats."""
    values = verified_values(rows)
    return summarize(values).half_width * 100 if values else math.inf
