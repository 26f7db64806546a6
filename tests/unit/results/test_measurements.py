"""A study's record stays readable, also if another version has recorded them."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from storebench.answers.figures import study_answer
from storebench.errors import SpecError
from storebench.results.database.measurements import metrics_of
from storebench.results.database.queries import Queries
from storebench.study.record import StudyRecord
from tests.unit.example import NAME, STUDY, cell


class Kept(Queries):
    """A database that has recorded these details."""

    def __init__(self, details):
        super().__init__("")
        self.text = json.dumps(details)

    @contextmanager
    def _cursor(self):
        rows = [{"name": NAME, "details": json.loads(self.text)}]
        yield SimpleNamespace(execute=lambda *asked: SimpleNamespace(fetchall=lambda: rows))


def test_a_metric_with_a_value_that_nothing_knows_only_explains():
    details = StudyRecord.of(STUDY).as_json()
    details["metrics"][0]["better"], details["metrics"][1]["kind"] = "hihger", "histgram"
    kept = Kept(details)
    found = metrics_of(kept.study(NAME))
    assert (found["only_s"].better, found["rows_per_s"].kind) == ("neither", "scalar")
    assert [one.better for one in study_answer(kept, NAME).metrics] == ["neither", "higher", "neither"]
    (row,) = kept.ranked(
        [{"study": NAME, "operation": "read", "metric": "only_s", "metrics": {"only_s": 1.0}}]
    )
    assert row["better"] == "neither"


def test_a_study_of_a_version_that_recorded_less_has_what_it_has():
    assert Kept({"name": NAME}).studies() == {NAME: StudyRecord(name=NAME)}
    details = StudyRecord.of(STUDY).as_json()
    axes = [{"name": axis["name"], "title": "x", "where": axis["where"]} for axis in details["axes"]]
    stores = [{"name": "null", "keeps_data": False}, {"name": "mongodb", "keeps_data": True}]
    older = Kept(
        {**details, "axes": axes, "stores": stores, "dataset": {"name": "", "version": 1}, "later": 1}
    ).study(NAME)
    assert older.dataset_of(cell()) == "v1/rows=1000/seed=42"
    assert [(axis.name, axis.choices, axis.where) for axis in older.axes] == [
        ("batch", (), {}),
        ("executors", (), {"store": ("delta-spark",)}),
    ]
    assert {store.name: store.floor for store in older.stores} == {"null": True, "mongodb": False}


def test_a_record_that_cannot_be_read_is_named():
    kept = Kept({**StudyRecord.of(STUDY).as_json(), "title": 5})
    with pytest.raises(
        SpecError,
        match=f"The record of the study '{NAME}' cannot be read: title: Input should be a valid string",
    ):
        study_answer(kept, NAME)
    assert kept.studies() == {}, "the results of the study are printed without its record"
