import re
from dataclasses import fields

from storebench import protocol
from storebench.airflow.outcome.retrieve import ADDED
from storebench.answers.attempts import Attempt
from storebench.attempt import schema
from storebench.attempt.result import FREE_TEXTS, AttemptResult
from storebench.protocol.figures import FIGURES, SCHEMAS
from storebench.stores import load
from storebench.study import studies
from storebench.study.reserved import COLUMNS

COMMAND = "run `python -m storebench.attempt.schema`"


def test_the_written_files_follow_from_the_declared_figures():
    assert schema.SCHEMA_FILE.read_text() == schema.json_text(schema.schema()) + "\n", COMMAND
    page = schema.RESULTS_PAGE.read_text()
    assert schema.page(page) == page, COMMAND
    assert schema.table() in page
    page = schema.COUNTERS_PAGE.read_text()
    assert schema.counters_page(page) == page, COMMAND


def test_the_page_of_counters_has_the_counters_of_each_store():
    page = schema.COUNTERS_PAGE.read_text()
    declared = {
        counter
        for study in map(studies.find, studies.names())
        for store in study.stores
        for counter in load(study.name, store).counters
    }
    assert declared
    for counter in declared:
        assert f"| `{counter.name}` | {counter.unit or 'number'} | {counter.kind} | {counter.text} |" in page


def test_each_figure_has_a_type_for_its_unit():
    types = {"bytes": int, "count": int, "seconds": float, "cores": float, "ratio": float}
    for field in fields(AttemptResult):
        if field.name in FIGURES and FIGURES[field.name].unit != "text":
            assert field.type.__origin__ == types[FIGURES[field.name].unit] | None, field.name
    assert {figure.unit for figure in FIGURES.values()} == {*SCHEMAS}


def test_the_schema_describes_each_figure_and_keeps_the_choices_of_a_text():
    properties = protocol.schema("result")["properties"]
    assert {name: properties[name]["description"] for name in FIGURES} == {
        name: figure.text for name, figure in FIGURES.items()
    }
    assert properties["figures_cover"]["enum"] == ["client", "engine", None]
    assert properties["cpu_s"]["$ref"] == "#/$defs/seconds"


def test_a_study_can_give_no_name_of_a_figure_and_the_page_has_all_figures():
    assert FIGURES.keys() < COLUMNS
    assert FIGURES.keys() < Attempt.model_fields.keys()
    described = Attempt.model_json_schema(mode="serialization")
    assert described["properties"]["oom_kills"]["description"] == FIGURES["oom_kills"].text
    assert {*FIGURES} <= {*described["required"]}


def test_secrets_are_removed_from_texts_of_any_content():
    assert {"error", "verification", "disturbed", "not_judged", "durability_stated"} < {*FREE_TEXTS}
    assert not {"durability", "figures_cover", "cpu_s"} & {*FREE_TEXTS}


def test_json_has_a_line_for_each_value_that_fits():
    value = {"a": [1, None], "b": {"c": "x" * 70, "d": ["y" * 70, {}]}}
    lines = schema.json_text(value).splitlines()
    assert lines[:3] == ["{", '  "a": [1, null],', '  "b": {']
    assert lines[-2:] == ["  }", "}"]


def test_the_agent_adds_the_figures_that_are_declared_so():
    program = (schema.RESULTS_PAGE.parents[1] / "agent" / "pod.go").read_text()
    struct = program.partition("type podFigures struct {")[2].partition("}")[0]
    assert set(re.findall(r'json:"(\w+),omitempty"', struct)) == {*ADDED}
