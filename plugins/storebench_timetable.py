"""Lets Airflow know the timetable of the studies' DAGs."""

from typing import ClassVar

from airflow.plugins_manager import AirflowPlugin

from storebench.airflow.timetable import GridTimetable


class StorebenchTimetable(AirflowPlugin):
    """The scheduler and the API server read DAGs by it, too."""

    name = "storebench_timetable"
    timetables: ClassVar = [GridTimetable]
