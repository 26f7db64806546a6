"""Register the timetable and the task order of studies with Airflow."""

from typing import ClassVar

from airflow.plugins_manager import AirflowPlugin

from storebench.airflow.compat.priority import CellByCell
from storebench.airflow.compat.timetable import GridTimetable


class StorebenchScheduling(AirflowPlugin):
    """The plugin with the timetable and the task order. The scheduler and the API server also need it to read DAGs."""

    name = "storebench_scheduling"
    timetables: ClassVar = [GridTimetable]
    priority_weight_strategies: ClassVar = [CellByCell]
