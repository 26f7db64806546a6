"""The bands of a study's charts, and its tables."""

import re
from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.study.model import Band, Chart, Metric, Table
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY

METRICS = (*STUDY.metrics, Metric("queue_bytes", "queue", "neither", "series"))


def charted(band, metric="queue_bytes", **changes):
    return {"metrics": METRICS, "charts": (Chart(metric, "store", ("write",), band=band, **changes),)}


def test_the_record_of_a_study_has_bands_and_tables():
    study = replace(
        STUDY,
        **charted(Band("only_s", "source_s", "stretch")),
        tables=(Table("By batch", "batch", ("only_s", "all_cpu_s")),),
    )
    record = StudyRecord.read(StudyRecord.of(study).as_json())
    assert (record.charts, record.tables) == (study.charts, study.tables)
    earlier = {name: value for name, value in StudyRecord.of(STUDY).as_json().items() if name != "tables"}
    del earlier["charts"][0]["band"]
    assert StudyRecord.read(earlier) == StudyRecord.of(STUDY), "records of earlier versions have neither"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        (charted(Band("only_s", "source_s", "stretch"), "only_s"), "a band: this needs a series over time"),
        (
            charted(Band("only_s", "source_s", "stretch"), over="queue_bytes"),
            "a band: this needs a series over time",
        ),
        (
            charted(Band("sorce_s", "only_s", "stretch")),
            "begin of its band is 'sorce_s', which is no metric that is a number. Did you mean source_s",
        ),
        (
            charted(Band("source_s", "queue_bytes", "stretch")),
            "end of its band is 'queue_bytes', which is no metric that is a number",
        ),
        (
            {"tables": (Table("By batch", "batsh", ("only_s",)),)},
            "the table 'By batch' is of 'batsh', which is no axis. Did you mean batch",
        ),
        (
            {"metrics": METRICS, "tables": (Table("By batch", "batch", ("queue_bytes",)),)},
            "the table 'By batch' has 'queue_bytes', which is no metric that is a number",
        ),
        (
            {"tables": (Table("By batch", "batch", ("only_s",), ("wrote",)),)},
            "the table 'By batch' is of 'wrote', which is no operation. Did you mean write",
        ),
        ({"tables": (Table("By batch", "batch", ()),)}, "the table 'By batch' has no metric"),
    ],
)
def test_a_mistake_is_refused_in_words(changes, problem):
    with pytest.raises(SpecError, match=re.escape(problem)):
        replace(STUDY, **changes)
