from datetime import UTC, datetime

import pytest
from airflow.exceptions import InvalidPartitionKeyError

from storebench.airflow.compat.timetable import GridTimetable

DATES = {
    "mongodb/reference/batch=10": datetime(2001, 1, 1, tzinfo=UTC),
    "mongodb/reference/batch=20": datetime(2001, 1, 2, tzinfo=UTC),
    "null/reference/batch=10": datetime(2002, 1, 1, tzinfo=UTC),
}


@pytest.fixture
def timetable():
    return GridTimetable.deserialize(GridTimetable(DATES).serialize())


def keys(timetable, earliest, latest):
    found = timetable.iter_partition_dagrun_infos(earliest=earliest, latest=latest)
    return [info.partition_key for info in found]


def test_a_year_is_a_store(timetable):
    year = [datetime(2001, 1, 1, tzinfo=UTC), datetime(2001, 12, 31, tzinfo=UTC)]
    assert keys(timetable, *year) == list(DATES)[:2]
    assert keys(timetable, datetime(2000, 1, 1, tzinfo=UTC), datetime(2003, 1, 1, tzinfo=UTC)) == list(DATES)


def test_a_key_has_its_date_and_an_unknown_one_is_refused(timetable):
    assert timetable.resolve_partition_date("null/reference/batch=10") == DATES["null/reference/batch=10"]
    assert timetable.resolve_partition_date(None) is None
    with pytest.raises(InvalidPartitionKeyError, match="not a cell of this grid"):
        timetable.resolve_partition_date("null/reference/batch=11")


def test_it_never_runs_by_itself(timetable):
    assert timetable.next_dagrun_info_v2(last_dagrun_info=None, restriction=None) is None


def test_it_keeps_what_is_told_of_its_study(timetable):
    told = {"name": "one", "axes": []}
    assert GridTimetable.deserialize(GridTimetable(DATES, told).serialize()).study == told
    assert timetable.study == {}
