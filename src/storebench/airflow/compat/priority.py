"""Define the order in which Airflow starts the tasks of a run's cells.

Written for apache-airflow-core 3.3.2.

Remove the module when Airflow can finish one mapped task group before it starts the next.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from airflow.task.priority_strategy import PriorityWeightStrategy

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

# Weights have 32 bits in Airflow's database. They are divided into ranks of runs, and tasks of cells within each rank.
RANKS, TASKS = 2**10, 2**20
MOST_STEPS = 2**5  # the most steps of a cell
LAST = -RANKS * TASKS  # the weight of a task that starts only when no cell's task waits


class CellByCell(PriorityWeightStrategy):
    """A strategy that orders tasks cell by cell. With one slot, Airflow starts the task with the largest weight.

    A task's `priority_weight` is the task's position among the steps of its cell, because Airflow does not store parameters of a strategy.

    If several runs are active, as in a backfill, all tasks of one run precede the tasks of the others. Otherwise the runs would alternate
    task by task. The hash of the run's id orders the runs, because Airflow does not tell the run's start when a task gets its weight.
    """

    # An earlier place of this module. Airflow stores the name in each serialized DAG, and reads the class by it. Airflow writes the newest
    # version of a DAG again when it parses the file, but never the versions of earlier runs: the page of such a run must still open.
    __module__ = "storebench.airflow.priority"

    def get_weight(self, ti: TaskInstance) -> int:
        assert ti.task is not None
        rank = zlib.crc32(ti.run_id.encode()) % RANKS
        return -(rank * TASKS + MOST_STEPS * ti.map_index + ti.task.priority_weight)
