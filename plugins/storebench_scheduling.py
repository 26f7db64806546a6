"""Lets Airflow know how the studies' DAGs are scheduled."""

from typing import ClassVar

from airflow.plugins_manager import AirflowPlugin

from storebench.airflow.priority import CellByCell
from storebench.airflow.timetable import GridTimetable


class StorebenchScheduling(AirflowPlugin):
    """The scheduler and the API server read DAGs by it, too."""

    name = "storebench_scheduling"
    timetables: ClassVar = [GridTimetable]
    priority_weight_strategies: ClassVar = [CellByCell]
