"""Claims as data: valid claims in a study's file, and refused claims."""

import json
from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.study import studies
from storebench.study.claim import Claim
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY

CLAIM = Claim("x", "write", {"store": "mongodb"}, {"store": "null"}, at_most=1)
BATCH = {"a": {"batch": "10"}, "b": {"batch": "all"}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"both": {"client": "tuned", "batch": ("10", "all"), "rows": "1000"}, "fewest": 2},
        {"a": {"store": "mongodb@v8"}, "servers": {"mongodb": "MongoDB"}},
        {"operation": "", "a": {"operation": "write"}, "b": {"operation": "read"}},
        {"metric": "rows_per_s"},
        {"metric": "all_cpu_s"},
        {"a": {"server_memory": "2Gi"}, "b": {"server_memory": "4Gi"}},
        {"a": {}, "b": {}, "operation": "", "at_most": None, "elsewhere": "a picture alone shows it"},
        {"at_least": 0.5},
    ],
)
def test_a_claim_that_can_be_judged_is_taken_and_told(changes):
    study = replace(STUDY, claims=(replace(CLAIM, **changes),))
    told = json.loads(json.dumps(StudyRecord.of(study).as_json()))
    assert StudyRecord.read(told).claims == study.claims
    del told["claims"]  # as an earlier version has recorded it
    assert StudyRecord.read(told).claims == ()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"a": {"store": "mongo"}}, "Unknown store 'mongo'. Did you mean mongodb"),
        ({"a": {"store": "mongo@v8"}}, "Unknown store 'mongo'. Did you mean mongodb"),
        ({"both": {"client": "tunde"}}, "Unknown client 'tunde'. Did you mean tuned"),
        ({"operation": "wrote"}, "Unknown operation 'wrote'. Did you mean write"),
        ({"operation": ""}, "it names no operation"),
        ({"metric": "only"}, "Unknown metric 'only'. Did you mean only_s"),
        ({"both": {"batch": "many"}}, "'many' is not a number of rows"),
        ({"both": {"batsh": "10"}}, "Unknown place 'batsh'. Did you mean batch"),
        ({"both": {"rows": "many"}}, "rows is a number, not 'many'"),
        ({"both": {"batch": ()}}, "it has no value of batch"),
        ({"both": {"store": "null"}}, "`both` and a side name store"),
        ({"at_most": None}, "it has no region of ratios"),
        ({"at_least": 2}, "its region is empty: at_least 2 is above at_most 1"),
        ({"at_most": 0}, "a bound of its region is not above 0"),
        ({"b": {"store": ("null", "mongodb")}}, "both sides may be the same cells"),
        ({"b": {"batch": "all"}}, "both sides may be the same cells"),
        ({"a": {"rows": "1"}, "b": {"rows": "2"}}, "both sides must have the same dataset"),
        ({"b": {}}, "only the side a names cells"),
        ({"a": {}, "b": {}}, "it names no cells"),
        ({"servers": {"mongo": "MongoDB"}}, "'mongo', which is no store"),
        ({"fewest": 2}, "fewest is 2, and it names 1 cases"),
    ],
)  # fmt: skip
def test_a_claim_that_cannot_be_judged_is_refused(changes, problem):
    with pytest.raises(SpecError) as error:
        replace(STUDY, claims=(replace(CLAIM, **changes),))
    assert "the claim 'x': " in str(error.value) and problem in str(error.value)


@pytest.mark.parametrize("changes", [{"both": None}, {"a": "mongodb"}])
def test_a_claim_of_another_version_says_so(changes):
    told = StudyRecord.of(replace(STUDY, claims=(CLAIM,))).as_json()
    with pytest.raises(SpecError, match=r"claims\.0\..*Another version of Storebench"):
        StudyRecord.read({**told, "claims": [{**told["claims"][0], **changes}]})


def test_two_claims_of_the_same_text_are_refused():
    with pytest.raises(SpecError, match="the claim 'x' is there twice"):
        replace(STUDY, claims=(CLAIM, replace(CLAIM, at_most=2)))


WITHOUT_ORIGINAL = {"queries"}


@pytest.mark.parametrize("name", sorted({*studies.names()} - WITHOUT_ORIGINAL))
def test_each_study_states_what_its_original_said(name):
    """Each claim that names cells has a region of ratios. A claim that nothing here can test has the reason."""
    study = studies.find(name)
    assert len(study.claims) >= 5
    assert all(claim.elsewhere or claim.a for claim in study.claims)
