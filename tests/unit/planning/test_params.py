"""The form: its fields in Airflow, its validation, and the parameters read from it."""

import re
from dataclasses import replace

import jsonschema
import pytest

from storebench.airflow.dags.study import params_of
from storebench.errors import SpecError
from storebench.fields import flag
from storebench.planning.params import cell_values, common_values, grid_of, run_values, run_values_or_mistakes
from storebench.study.studies import find

# By which Airflow's form chooses a number field. That one changes what is out of its range, and says nothing.
NUMBER_FIELDS = ("integer", "number")


@pytest.fixture(scope="module")
def study():
    return find("bulk_write_read")


def shown_as(schema):
    """Return the type by which Airflow's form chooses the field: the first type if there are examples, else JSON."""
    assert schema["examples"]
    return next(name for name in schema["type"] if name != "null")


def test_no_number_is_in_a_field_that_changes_it(study):
    fields = {name: shown_as(param.schema) for name, param in params_of(study).items()}
    assert not [name for name, shown in fields.items() if shown in NUMBER_FIELDS]
    assert (fields["rows"], fields["batch"], fields["pod_cpu"]) == ("string", "string", "string")
    assert (fields["stores"], fields["keep_data"]) == ("array", "boolean")


@pytest.mark.parametrize(
    ("asked", "value"),
    [
        ({"rows": 1000}, 1000),
        ({"rows": "1000"}, 1000),
        ({"rows": " 1,000,000 "}, 1_000_000),
        ({"rows": 1000.0}, 1000),
        ({"stores": "mongodb, null"}, ["mongodb", "null"]),
        ({"stores": ["mongodb@v8", "mongodb@v8"]}, ["mongodb@v8"]),
        ({"batch": "1000, all"}, ["1000", "all"]),
        ({"batch": [1000, "all"]}, ["1000", "all"]),
        ({"keep_data": "true"}, True),
        ({"skip_done": None}, None),
        ({"skip_done": "no"}, False),
        ({"order_seed": ""}, None),
        ({"order_seed": "5"}, 5),
        ({"precision_percent": "2.5"}, 2.5),
        ({"pod_cpu": 2}, "2"),
        ({"pod_cpu": "0.5"}, "0.5"),
        ({"pod_memory": " 8Gi"}, "8Gi"),
    ],
)
def test_what_the_form_sends_and_what_the_api_sends_mean_the_same(study, asked, value):
    ((name, given),) = asked.items()
    params_of(study)[name].resolve(given)  # Airflow lets it pass
    more = {"repeats": 7} if name == "precision_percent" else {}  # a precision needs repeats
    assert run_values(study, {**more, **asked})[name] == value
    if name in common_values({}):
        assert common_values(asked)[name] == value


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"rowz": 1}, "Unknown parameter 'rowz'. Did you mean rows? There are stores, clients, "),
        ({"stores": ["mongo"]}, "Unknown store 'mongo'. Did you mean mongodb? There are mongodb, "),
        ({"stores": "oracle"}, "Unknown store 'oracle'. There are mongodb, "),
        ({"stores": []}, "Stores: give at least one of mongodb, "),
        ({"stores": ["mongodb@"]}, "'mongodb@': after the @ comes the name"),
        ({"clients": ["tuner"]}, "Unknown client 'tuner'. Did you mean tuned? There are reference, tuned"),
        ({"batch": ["0"]}, "Batch: '0' is not a number of rows from 1, or 'all'"),
        ({"executors": "-1"}, "Executors: '-1' is not a number of executors from 1 to 999"),
        ({"rows": 0}, "Rows: 0 is not a whole number from 1 to 1,000,000,000"),
        ({"rows": "-5"}, "Rows: '-5' is not a whole number from 1 to 1,000,000,000"),
        ({"rows": 10**12}, "Rows: 1000000000000 is not a whole number from 1 to 1,000,000,000"),
        ({"rows": "many"}, "Rows: 'many' is not a whole number"),
        ({"rows": 1.5}, "Rows: 1.5 is not a whole number"),
        ({"rows": True}, "Rows: True is not a whole number"),
        ({"seed": -1}, "Seed: -1 is not a whole number from 0"),
        ({"repeats": "1000"}, "Repeats: '1000' is not a whole number from 1 to 100"),
        ({"precision_percent": "0"}, "Precision, %: '0' is not a number above 0, and at most 100"),
        ({"budget_min": "nan"}, "Budget, minutes: 'nan' is not a number above 0, and at most 10,080"),
        ({"pod_cpu": "0"}, "CPU request of a pod: '0' is not a number of CPUs, such as 500m, 0.5 or 2"),
        (
            {"pod_memory": 1},
            "Memory of a pod: 1 is not an amount of memory, such as 500Mi or 8Gi",
        ),
        ({"executor_memory": "1Gi"}, "Executor memory: '1Gi' is not a Java size, such as 1g or 768m"),
        ({"keep_data": "maybe"}, "Keep data: 'maybe' is not true or false"),
    ],
)
def test_a_bad_value_is_refused_in_plain_words(study, asked, message):
    with pytest.raises(SpecError) as caught:
        run_values(study, asked)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("rows", [0, -1, 10**12, 1.0e12, "0", " 000 ", "-5", "abc", "1.5", "", "1" * 1600, "0" * 1600 + "1"]),
        ("seed", [-1, "-1", "1 2"]),
        ("repeats", [101, "1000"]),
        ("order_seed", [-1, "x", "9" * 20]),
        ("precision_percent", [0, 100.1, "nan", "-1", "5 %", "1" * 1600]),
        ("pod_cpu", ["0", "two", ""]),
        ("pod_memory", ["8 Gi", "Gi"]),
        ("batch", ["x," * 10_000]),
        ("stores", [[]]),
    ],
)
def test_airflows_form_refuses_a_value_beyond_the_limits_of_its_field(study, name, values):
    schema = params_of(study)[name].schema
    for value in values:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(value, schema)
        with pytest.raises(SpecError):
            run_values(study, {name: value})


def test_an_error_quotes_the_beginning_of_a_long_value(study):
    for asked in ({"rows": "1" * 1600}, {"stores": "m" * 1600}, {"r" * 1600: 1}, {"batch": "x" * 1600}):
        with pytest.raises(SpecError) as caught:
            run_values(study, asked)
        assert "… (1,600 characters)" in str(caught.value)
        assert not re.search(r"(.)\1{200}", str(caught.value))


@pytest.mark.parametrize(("repeats", "refused"), [(1, True), (6, True), (7, False)])
def test_a_precision_needs_more_repeats_than_its_interval(study, repeats, refused):
    """Refuse every precision with 6 repeats or fewer: no cell could end early."""
    asked = {"precision_percent": 5, "repeats": repeats}
    values, mistakes = run_values_or_mistakes(study, asked)
    assert list(mistakes) == (["precision_percent"] if refused else [])
    assert (values is None) == refused
    for check in (lambda: grid_of(study, run_values(study, asked)), lambda: cell_values(study, asked)):
        if refused:
            with pytest.raises(
                SpecError, match=f"after 6 repeats at the earliest, and the run has {repeats}"
            ):
                check()
        else:
            check()


def test_each_example_of_a_field_is_valid(study):
    for name, param in params_of(study).items():
        more = {"repeats": 7} if name == "precision_percent" else {}  # a precision needs repeats
        for example in param.schema["examples"]:
            run_values(study, {**more, name: example})


def test_the_form_has_its_fields_in_sections_and_the_first_one_is_open(study):
    """Airflow unfolds the fields that are in no section."""
    sections = {name: param.schema.get("section") for name, param in params_of(study).items()}
    places = ["stores", "clients", *(axis.name for axis in study.axes), "full_grid", "rows", "seed", "tags"]
    assert [name for name, section in sections.items() if section is None] == places
    told = list(dict.fromkeys(section for section in sections.values() if section))
    assert told == ["Repeats", "Pods", "Servers that the run provisions", "Parameters of this study"]
    assert (sections["repeats"], sections["pod_cpu"]) == ("Repeats", "Pods")
    assert [name for name, section in sections.items() if section == told[-1]] == list(
        study.params_and_options()
    )


def test_every_mistake_is_found_at_once(study):
    values, mistakes = run_values_or_mistakes(study, {"rows": "-5", "batch": "0", "rowz": 1, "repeats": "3"})
    assert list(mistakes) == ["rowz", "batch", "rows"]
    assert values is None
    assert run_values_or_mistakes(study, {}) == (run_values(study, {}), {})


def test_a_study_whose_names_are_those_of_parameters_is_refused(study):
    repeats = replace(study.axes[1], name="repeats")
    with pytest.raises(SpecError, match="a run would have several parameters named repeats"):
        params_of(replace(study, axes=(*study.axes, repeats)))
    with pytest.raises(SpecError, match="several parameters named seed, pod_cpu"):
        params_of(replace(study, params={"seed": flag("Seed", ""), "pod_cpu": flag("CPU", "")}, claims=()))
