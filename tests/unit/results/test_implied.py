"""Cells that do not name an axis have its implied value wherever results are read."""

from dataclasses import replace

from storebench.errors import SpecError
from storebench.results.comparison.claim_cases import _is_about
from storebench.results.comparison.deciding import conf_of
from storebench.results.comparison.sides import By
from storebench.results.database.queries import Queries
from storebench.results.ranking.choice import ANY, Known, Question, choose
from storebench.study.claim import Claim
from storebench.study.record import StudyRecord
from storebench.study.several_pods import several_pods
from tests.unit.example import STUDY, cell

RECORD = StudyRecord.of(replace(STUDY, axes=(*STUDY.axes, several_pods("null", "mongodb"))))
ONE, TWO = cell("null", batch="10"), cell("null", batch="10", pods="2")
OTHER = cell("delta-rs", batch="10")


def test_a_ranking_offers_it_and_chooses_by_it():
    known = [Known(one, True) for one in (ONE, TWO, OTHER)]
    chosen = choose(RECORD, known, Question(STUDY.name))
    assert chosen.offered["pods"] == ["1", "2"]
    assert choose(RECORD, known, Question(STUDY.name, axes={"pods": ANY})).cells == [ONE, TWO, OTHER]
    assert choose(RECORD, known, Question(STUDY.name, axes={"pods": "1"})).cells == [ONE, OTHER]
    assert choose(RECORD, known, Question(STUDY.name, axes={"pods": "2"})).cells == [TWO, OTHER]


def test_a_ranking_compares_the_number_of_pods_of_most_cells_unless_asked_otherwise():
    four = cell("null", batch="10", pods="4")
    for known, pods in (
        ([ONE, TWO, OTHER], "1"),
        ([TWO, ONE, four, cell("mongodb", batch="10", pods="4")], "4"),
    ):
        chosen = choose(RECORD, [Known(one, True) for one in known], Question(STUDY.name))
        assert chosen.axes["pods"] == pods
        assert {RECORD.values_of(one).get("pods", pods) for one in chosen.cells} == {pods}


def test_two_numbers_of_pods_are_compared_both_ways():
    by = By.of("pods=1,2").within(RECORD)
    assert [by.value(one.key) for one in (ONE, TWO, OTHER)] == ["1", "2", None]
    assert by.in_before(TWO.key) == ONE.key
    assert By.of("pods=2,1").within(RECORD).in_before(ONE.key) == TWO.key


def test_a_run_that_decides_measures_only_the_values_of_its_cells():
    conf = {"pods": ["1", "2", "4"]}
    assert conf_of(conf, [ONE], 3, RECORD.values_of)["pods"] == ["1"]
    assert conf_of(conf, [ONE, TWO], 3, RECORD.values_of)["pods"] == ["1", "2"]


def test_a_claim_about_one_pod_is_about_a_cell_that_does_not_name_it():
    claim = Claim(
        "Two pods are faster", "write", {"pods": "1"}, {"pods": "4"}, both={"store": "null"}, at_most=1
    )
    assert _is_about(RECORD, claim, ONE.key) and not _is_about(RECORD, claim, TWO.key)
    assert not _is_about(RECORD, claim, OTHER.key)


def test_the_values_of_cells_are_read_with_the_record_of_their_study():
    class Recorded(Queries):
        def __init__(self):
            self.read = []

        def study(self, name):
            self.read.append(name)
            return RECORD

    queries = Recorded()
    found = queries.axes_of([ONE.key, TWO.key, OTHER.key])
    assert found == {
        ONE.key: {"batch": "10", "pods": "1"},
        TWO.key: {"batch": "10", "pods": "2"},
        OTHER.key: {"batch": "10"},
    }
    assert queries.read == [STUDY.name], "one look for all cells of a study"
    assert queries.axes_of([TWO.key, OTHER.key], everywhere=True) == {
        TWO.key: {"batch": "10", "pods": "2"},
        OTHER.key: {"batch": "10", "pods": "1"},
    }


def test_a_study_without_a_readable_record_has_the_values_that_its_keys_name():
    class Unreadable(Queries):
        def __init__(self):
            pass

        def study(self, name):
            raise SpecError("the record is of a later version")

    assert Unreadable().axes_of([OTHER.key], everywhere=True) == {OTHER.key: {"batch": "10"}}
