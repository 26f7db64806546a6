"""Parameters that no database stores are refused by the API before any query."""

import pytest
from fastapi.testclient import TestClient

from storebench.airflow.compat.api_server import get_user
from storebench.results.leftovers.stopped import RunStates
from storebench.study.record import StudyRecord
from storebench.web.access import GridDag, grid_dag, reading, run_states
from storebench.web.api import app
from storebench.web.reading import Reading
from tests.unit.example import STUDY

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"  # a query would be answered with 503
VALUES = {"string": "a", "integer": "1", "number": "1", "boolean": "true", "array": "a=b"}


@pytest.fixture
def client():
    app.dependency_overrides = {
        get_user: lambda: None,
        reading: lambda: Reading(NOWHERE, ["toy"]),
        run_states: lambda: RunStates(lambda *_: None, lambda *_: None, lambda: None),
    }
    yield TestClient(app)
    app.dependency_overrides = {}


def kind_of(schema):
    """Return the JSON type of a parameter that may be null."""
    known = [one for one in schema.get("anyOf", [schema]) if one.get("type") != "null"]
    return known[0].get("type", "string"), known[0].get("format")


def parameters():
    """Return each query parameter of the API: path, all parameters of the path with their types, and its name."""
    for path, methods in app.openapi()["paths"].items():
        of_path = {one["name"]: kind_of(one["schema"]) for one in methods["get"].get("parameters", ())}
        yield from ((path, of_path, name) for name in of_path)


def valid(of_path):
    """Return a value for each parameter, except parameters with a format or a pattern of their own."""
    return {name: VALUES[kind] for name, (kind, format_) in of_path.items() if not format_ and name != "sort"}


PARAMETERS = list(parameters())
TEXTS = [one for one in PARAMETERS if one[1][one[2]][0] in ("string", "array")]
NUMBERS = [one for one in PARAMETERS if one[1][one[2]][0] in ("integer", "number")]


def ids(some):
    return [f"{path} {name}" for path, _, name in some]


@pytest.mark.parametrize(("path", "of_path", "name"), TEXTS, ids=ids(TEXTS))
def test_a_text_with_a_character_that_cannot_be_stored_is_refused(client, path, of_path, name):
    answer = client.get(path, params={**valid(of_path), name: "a=\0"})
    assert answer.status_code == 422, answer.text


@pytest.mark.parametrize(("path", "of_path", "name"), NUMBERS, ids=ids(NUMBERS))
@pytest.mark.parametrize("value", [10**19, -(10**19)])
def test_a_number_that_cannot_be_stored_is_refused(client, path, of_path, name, value):
    answer = client.get(path, params={**valid(of_path), name: value})
    assert answer.status_code == 422, answer.text


def test_every_kind_of_parameter_is_tried():
    assert {"offset", "limit", "rows", "seed", "margin_percent"} <= {name for *_, name in NUMBERS}
    assert {"run", "cell", "axis", "containing", "params", "before", "by"} <= {name for *_, name in TEXTS}


def test_half_of_a_surrogate_pair_in_a_draft_s_parameters_is_refused(client):
    app.dependency_overrides[grid_dag] = lambda: GridDag(
        StudyRecord.of(STUDY), {}, False, Reading(NOWHERE, ["toy"])
    )
    for path in ("draft", "grid"):
        answer = client.get(f"/api/{path}", params={"dag": "toy", "params": '{"stores": "\\ud800"}'})
        assert answer.status_code == 422, answer.text
