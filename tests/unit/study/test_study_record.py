import json

import pytest

from storebench.errors import SpecError
from storebench.fields import KINDS, Choice, Number, Text, Values, field_of, flag, integer
from storebench.planning.params import cell_fields, fields_of, grid_of, run_values
from storebench.study.cell import Cell
from storebench.study.parameters import measured_with
from storebench.study.partition import partitions, repeated
from storebench.study.record import StudyRecord
from storebench.study.studies import CHECKOUT_DAGS, find, names

FIELDS = (
    integer(1, 1, 9, "Count", "How many.", (1, 2)),
    Number(title="Share", text="Of all.", maximum=100, examples=(1, 2.5)),
    flag("Yes", "Or no.", default=None),
    Text(title="Size", text="A size.", default="1g", pattern="[0-9]g", hint="a size", examples=("1g",)),
)


@pytest.fixture(params=[path.stem for path in CHECKOUT_DAGS.glob("*.py")])
def study(request, monkeypatch):
    """Return each study of the project."""
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(CHECKOUT_DAGS))
    if request.param not in names():
        pytest.skip("a module beside a study")
    return find(request.param)


def test_what_is_asked_of_a_recorded_study_is_what_its_file_says(study):
    same = StudyRecord.read(json.loads(json.dumps(StudyRecord.of(study).as_json())))
    assert same == StudyRecord.of(study)
    assert same.method_version == study.method_version
    assert {name: field.rules() for name, field in cell_fields(same).items()} == {
        name: field.rules() for name, field in cell_fields(study).items()
    }
    assert {name: field.rules() for name, field in fields_of(same).items()} == {
        name: field.rules() for name, field in fields_of(study).items()
    }
    asked = {"stores": list(study.stores), "clients": list(study.clients), "rows": 1000}
    values = run_values(study, asked)
    assert run_values(same, asked) == values
    assert grid_of(same, values) == grid_of(study, values)
    assert {preset.name: preset.params for preset in same.presets} == {
        name: preset.params for name, preset in study.presets.items()
    }
    keys = list(partitions(study))
    assert repeated(same, keys, 1000) == repeated(study, keys, 1000)
    params = {name: field.default for name, field in cell_fields(study).items()}
    for key in keys:
        cell = Cell.from_key(f"{study.name}/{key}/rows=1000/seed=7")
        assert same.dataset_of(cell) == study.dataset_of(cell)
        assert same.operations_of(cell.store) == study.operations_of(cell.store)
        assert measured_with(same, cell.store, params) == measured_with(study, cell.store, params)
    for name in study.stores:
        record, store = same.store(f"{name}@v8"), study.store(name)
        assert record.server_of(f"{name}@v8") == store.server_of(f"{name}@v8")
        assert (
            record.has_server() == store.has_server()
            and record.provisioned_servers_only == store.provisioned_servers_only
            and record.provisions == store.provisions
        )
        assert same.needs_agents(name, values) == study.needs_agents(name, values)


@pytest.mark.parametrize("one", FIELDS, ids=lambda one: type(one).__name__)
def test_a_field_is_the_same_after_it_was_told(one):
    assert field_of(one.title, one.text, json.loads(json.dumps(one.rules()))) == one


def test_what_only_the_studys_file_can_check_is_left_to_the_plan():
    def refuse(text):
        raise SpecError(text)

    one = Values(title="Sizes", text="", default="1", examples=("1", "2"), check=refuse)
    assert field_of("Sizes", "", json.loads(json.dumps(one.rules()))).read("3, 4") == ["3", "4"]
    assert {Values, Choice} < set(KINDS.values())


@pytest.mark.parametrize(
    ("recorded", "where"), [({}, "name: Field required"), ({"name": "a", "params": [{}]}, "params.0.name")]
)
def test_a_record_that_cannot_be_read_is_refused(recorded, where):
    with pytest.raises(SpecError, match=f"cannot be read: {where}.*Another version"):
        StudyRecord.read(recorded)


@pytest.mark.parametrize("rules", [{"kind": "Colour"}, {"kind": "Number", "examples": [1]}, {"kind": "Flag"}])
def test_a_parameter_of_another_version_is_refused_where_a_run_is_planned(rules):
    param = {"name": "hue", "title": "Hue", "description": "", "rules": rules}
    record = StudyRecord.read({"name": "a", "params": [param]})
    with pytest.raises(SpecError, match=r"no kind of parameter|recorded by another version"):
        record.params_and_options()


def test_a_kind_that_is_not_known_is_refused():
    with pytest.raises(SpecError, match="no kind of parameter 'Colour'"):
        field_of("Hue", "", {"kind": "Colour"})


def test_a_store_is_recorded_with_the_names_that_queries_read_and_read_by_the_names_of_earlier_versions():
    recorded = StudyRecord.read(
        {
            "name": "a",
            "stores": [{"name": "x", "server": "mongodb", "own_servers_only": "as it is", "limit": True}],
        }
    )
    (store,) = recorded.stores
    assert (store.connection, store.provisioned_servers_only, store.floor) == ("mongodb", "as it is", True)
    earlier = {"name": "own", "version": 2, "max_rows": 9}
    dataset = StudyRecord.read({"name": "a", "dataset": {"name": "", "version": 1, "own": earlier}}).dataset
    assert dataset.custom_file.id(5) == "own/v2/file=5"
    (told,) = recorded.as_json()["stores"]
    assert told["server"] == "mongodb" and told["provisioned_servers_only"] == "as it is"
    assert told.keys().isdisjoint({"connection", "own_servers_only", "limit"})
    assert StudyRecord.read(recorded.as_json()) == recorded


def test_a_store_that_is_not_of_the_study_is_refused(study):
    with pytest.raises(SpecError, match="Unknown store 'nonesuch'"):
        StudyRecord.of(study).store("nonesuch")


def test_a_label_names_a_server_that_answered_for_another_product():
    record = StudyRecord.of(find("bulk_write_read"))
    assert record.label_of("mongodb@one", ["MongoDB", None]) == "mongodb@one"
    assert record.label_of("mongodb", ["FerretDB", None, "FerretDB"]) == "FerretDB (store mongodb)"
    assert record.label_of("elasticsearch", ["OpenSearch"]) == "elasticsearch", "no product is declared"
    assert record.label_of("gone", ["FerretDB"]) == "gone"
