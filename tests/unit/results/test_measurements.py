"""A study's recorded details stay readable, also if another version has recorded them."""

import json
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from storebench.answers.figures import study_of
from storebench.errors import SpecError
from storebench.results.measurements import metrics_of
from storebench.results.queries import Queries
from tests.unit.example import NAME, STUDY


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
    details = STUDY.details()
    details["metrics"][0]["better"], details["metrics"][1]["kind"] = "hihger", "histgram"
    kept = Kept(details)
    found = metrics_of(kept.study(NAME))
    assert (found["only_s"]["better"], found["rows_per_s"]["kind"]) == ("neither", "scalar")
    assert [one.better for one in study_of(kept, NAME).metrics] == ["neither", "higher", "neither"]
    (row,) = kept.ranked(
        [{"study": NAME, "operation": "read", "metric": "only_s", "metrics": {"only_s": 1.0}}]
    )
    assert row["better"] == "neither"


def test_a_study_of_a_version_that_recorded_less_has_what_it_has():
    assert Kept({"name": NAME}).studies() == {NAME: {"name": NAME}}


def test_details_that_cannot_be_read_are_named():
    with pytest.raises(
        SpecError,
        match=f"What is recorded of the study '{NAME}' cannot be read: title: Input should be a valid string",
    ):
        study_of(Kept({**STUDY.details(), "title": 5}), NAME)
