"""The order in which Airflow starts the tasks of a run's cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow.task.priority_strategy import PriorityWeightStrategy

from storebench.attempt.spec import DROP
from storebench.stores.base import OPERATIONS

if TYPE_CHECKING:
    from airflow.models.taskinstance import TaskInstance

STEPS = (*OPERATIONS, DROP)


class CellByCell(PriorityWeightStrategy):
    """A cell's write, read and drop, then the next cell's: with one slot, Airflow starts the task of most weight."""

    def get_weight(self, ti: TaskInstance) -> int:
        return -(len(STEPS) * ti.map_index + STEPS.index(ti.task_id.rpartition(".")[2]))
