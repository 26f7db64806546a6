"""The stores of a run that names none."""

from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.planning.params import fields_of, run_values
from storebench.study.partition import partitions
from storebench.study.record import StudyRecord
from tests.unit.example import STORES, STUDY

SOME = ("null", "mongodb")


def test_a_study_without_default_stores_runs_all():
    assert STUDY.unnamed_stores == STORES
    assert run_values(STUDY, {})["stores"] == list(STORES)


@pytest.mark.parametrize("of", [lambda study: study, StudyRecord.of], ids=["study", "record"])
def test_a_run_that_names_no_stores_has_the_default_stores_and_may_name_any_other(of):
    study = of(replace(STUDY, default_stores=SOME))
    assert run_values(study, {})["stores"] == list(SOME)
    assert run_values(study, {"stores": ["delta-rs"]})["stores"] == ["delta-rs"]
    assert tuple(fields_of(study)["stores"].examples) == STORES, "the form offers every store"


def test_the_dates_and_the_cells_of_backfills_do_not_depend_on_the_default():
    assert partitions(replace(STUDY, default_stores=SOME)) == partitions(STUDY)


def test_a_default_store_that_the_study_does_not_have_is_refused():
    with pytest.raises(SpecError, match="default_stores names 'mongo', which is no store of the study"):
        replace(STUDY, default_stores=("mongo",))
