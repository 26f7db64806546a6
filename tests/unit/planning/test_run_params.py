"""The types of a run's parameters have the names and the types of the declared fields."""

from typing import get_type_hints

import pytest

from storebench.fields import Choice, Flag, Number, Text, WholeNumber
from storebench.planning.params import cell_fields, common_values, fields_of
from storebench.servers.sizes import FIELDS
from storebench.servers.topology import provisioned_for
from storebench.study.run_params import CellParams, DatasetParams, PodParams, RunParams, ServerParams
from storebench.study.studies import find, names

TYPES = {Choice: list[str], Flag: bool, Number: float, Text: str, WholeNumber: int}


def type_of(field):
    """Return the type of the values that the field reads."""
    kind = TYPES[type(field)]
    return kind | None if field.default is None else kind


def types_of(fields, study):
    """Return the types of the fields by name, without the axes, the study's own parameters, and the sizes of servers."""
    only_some = {*(axis.name for axis in study.axes), *study.params_and_options(), *FIELDS}
    return {name: type_of(field) for name, field in fields.items() if name not in only_some}


@pytest.fixture(params=names())
def study(request):
    return find(request.param)


def expected_of(params, study):
    """Return the types of the parameters that runs of the study have."""
    absent = {} if provisioned_for(study) else get_type_hints(ServerParams)
    if not (study.dataset and study.dataset.divides):
        absent |= get_type_hints(DatasetParams)
    return {name: kind for name, kind in get_type_hints(params).items() if name not in absent}


def test_the_types_of_a_run_are_those_of_its_fields(study):
    expected = expected_of(RunParams, study)
    assert types_of(fields_of(study), study) == expected


def test_the_types_of_a_single_cells_run_are_those_of_its_fields(study):
    assert types_of(cell_fields(study), study) == expected_of(CellParams, study)


def test_some_studies_have_topologies_and_some_have_none():
    assert {bool(provisioned_for(find(name))) for name in names()} == {True, False}


def test_a_pod_reads_parameters_of_every_study():
    assert get_type_hints(PodParams).keys() <= common_values({}).keys()


def test_some_datasets_are_divided_and_some_are_not():
    assert {bool((study := find(name)).dataset and study.dataset.divides) for name in names()} == {
        True,
        False,
    }


def test_the_parameters_of_topologies_and_of_divided_datasets_may_be_absent():
    assert RunParams.__optional_keys__ == {*get_type_hints(ServerParams), *get_type_hints(DatasetParams)}
