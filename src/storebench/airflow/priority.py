"""The order in which Airflow starts the tasks of a run's cells."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from airflow.task.priority_strategy import PriorityWeightStrategy

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

# Weights have 32 bits in Airflow's database. They are divided into ranks of runs, and tasks of cells within each rank.
RANKS, TASKS = 2**10, 2**20
MOST_STEPS = 2**5  # of a cell
LAST = -RANKS * TASKS  # of a task that waits until no cell's task does


class CellByCell(PriorityWeightStrategy):
    """A cell's steps, then the next cell's: with one slot, Airflow starts the task of most weight.

    A task's `priority_weight` is its place among the steps: Airflow keeps no parameter of a strategy.

    Of runs at the same time, as of a backfill, one goes before the other with all its cells, or they would take turns task by
    task. Which one, their ids tell: when a task gets its weight, Airflow does not say when its run began.
    """

    def get_weight(self, ti: TaskInstance) -> int:
        assert ti.task is not None
        rank = zlib.crc32(ti.run_id.encode()) % RANKS
        return -(rank * TASKS + MOST_STEPS * ti.map_index + ti.task.priority_weight)
