"""Operations that only some cells have (`Operation.where`)."""

import re
from dataclasses import replace

import pytest

from storebench.errors import SpecError
from storebench.study.check import problems_of_stores
from storebench.study.grid import operation_count
from storebench.study.record import StudyRecord
from tests.unit.example import BATCH, STUDY, cell

WRITE, READ = STUDY.operations
MAYBE = replace(STUDY, operations=(WRITE, replace(READ, where={"batch": ("all",), "store": ("null",)})))


@pytest.mark.parametrize("study", [MAYBE, StudyRecord.of(MAYBE)], ids=["study", "record"])
def test_an_operation_is_only_in_the_cells_that_it_names(study):
    def names(*cells):
        return [[one.name for one in study.operations_in(one)] for one in cells]

    assert names(cell("null", batch="all"), cell("null", batch="10"), cell("mongodb", batch="all")) == [
        ["write", "read"],
        ["write"],
        ["write"],
    ]
    assert [one.name for one in study.operations_of("mongodb")] == ["write", "read"]
    assert operation_count(study, [cell("null", batch="all"), cell("null", batch="10")]) == 3


def test_a_value_that_a_cell_does_not_name_decides_too():
    """A cell at the implied value has the operations of that value."""
    kept = replace(BATCH, name="kept", whole=None, pattern="no|yes", hint="no or yes", implied="no")
    kept = replace(kept, default=("no",), choices=("no", "yes"), grid=("no",))
    study = replace(
        STUDY, axes=(BATCH, kept), operations=(WRITE, replace(READ, where={"kept": ("no",)})), charts=()
    )
    assert len(study.operations_in(cell(batch="10"))) == 2
    assert len(study.operations_in(cell(batch="10", kept="yes"))) == 1


@pytest.mark.parametrize(
    ("where", "problem"),
    [
        ({"threads": ("1",)}, "the operation 'read' depends on 'threads', which is no axis (where)"),
        ({"batch": ("many",)}, "the operation 'read': where['batch']: Batch: 'many' is not a number of rows"),
        ({"store": ("nul",)}, "the operation 'read' is for the store 'nul', which is not there (where)"),
        ({"client": ()}, "the operation 'read': where['client'] has no value"),
    ],
)
def test_a_place_that_no_cell_has_is_refused(where, problem):
    with pytest.raises(SpecError, match=re.escape(problem)):
        replace(STUDY, operations=(WRITE, replace(READ, where=where)))


def test_a_client_that_no_store_has_is_refused():
    study = replace(STUDY, operations=(WRITE, replace(READ, where={"client": ("tunde",)})))
    assert [problem for problem in problems_of_stores(study) if "'tunde'" in problem] == [
        "the operation 'read' is for the client 'tunde', which no store has (where). Did you mean tuned?"
    ]
