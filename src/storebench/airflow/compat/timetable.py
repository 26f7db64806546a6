"""Define a timetable that never starts a run by itself: backfills fill its partitions, one for each cell of a study's grid.

Written for apache-airflow-core 3.3.2.

Remove the module when Airflow documents a timetable with a given set of partitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pendulum
from airflow.exceptions import InvalidPartitionKeyError
from airflow.timetables.base import DagRunInfo, DataInterval, TimeRestriction, Timetable
from airflow.utils.types import DagRunType


class GridTimetable(Timetable):
    """The timetable of a study. `dates`: the dates of the partitions (storebench.study.partition), by key.

    `study`: the JSON of the study's record.

    A backfill makes a run for each partition in its range of dates that has no run yet. A run that a user triggers without a partition's
    key has no partition, and takes its grid from its parameters. The API server loads no DAG file, so the results page reads the study's
    record from the timetable that Airflow has stored, even if the DAG has never run. `study` is empty if an earlier version stored the
    timetable, until Airflow reads the DAG's file again.
    """

    # An earlier place of this module. Airflow stores the name in each serialized DAG, and reads the class by it. Airflow writes the newest
    # version of a DAG again when it parses the file, but never the versions of earlier runs: the page of such a run must still open.
    __module__ = "storebench.airflow.timetable"
    partitioned = True
    description = "Does not run by itself. A backfill makes one run for each cell of the grid"

    def __init__(self, dates: Mapping[str, datetime], study: Mapping[str, Any] | None = None) -> None:
        self.dates = {key: pendulum.instance(date) for key, date in dates.items()}
        self.study = study or {}

    def serialize(self) -> dict[str, Any]:
        return {"dates": [[key, date.isoformat()] for key, date in self.dates.items()], "study": self.study}

    @classmethod
    def deserialize(cls, data: dict[str, Any]) -> GridTimetable:
        return cls({key: datetime.fromisoformat(date) for key, date in data["dates"]}, data.get("study"))

    @property
    def summary(self) -> str:
        return f"{len(self.dates)} cells, by backfill"

    def iter_partition_dagrun_infos(self, *, earliest: datetime, latest: datetime) -> Iterator[DagRunInfo]:
        for key, date in self.dates.items():
            if earliest <= date <= latest:
                yield DagRunInfo(run_after=date, data_interval=None, partition_date=date, partition_key=key)

    def _decode_partition_date(self, partition_key: str) -> datetime | None:
        if partition_key not in self.dates:
            raise InvalidPartitionKeyError(
                f"{partition_key!r} is not a cell of this grid. Its cells are {', '.join(self.dates)}"
            )
        return self.dates[partition_key]

    def next_dagrun_info(
        self, *, last_automated_data_interval: DataInterval | None, restriction: TimeRestriction
    ) -> DagRunInfo | None:
        return None

    def infer_manual_data_interval(self, *, run_after: pendulum.DateTime) -> DataInterval:
        return DataInterval.exact(run_after)

    def generate_run_id(
        self, *, run_type: DagRunType, run_after: datetime, data_interval: DataInterval | None, **extra: Any
    ) -> str:
        parts = [key.replace("/", "_").replace("=", "-")] if (key := extra.get("partition_key")) else []
        return run_type.generate_run_id(suffix="__".join([*parts, pendulum.now("UTC").isoformat()]))
