import pytest

from storebench.errors import SpecError
from storebench.trigger import conf_of, embedded_sizes

NOTHING = dict.fromkeys(["rows", "seed", "stores", "clients", "batches", "executors", "repeats", "keep_data"])


def test_what_is_not_given_is_left_to_the_dag():
    assert conf_of(None, NOTHING) == {}


def test_lists_are_split_and_named_as_the_dag_names_them():
    given = {**NOTHING, "stores": "mongodb, null", "batches": "100,all", "rows": 20000}
    assert conf_of(None, given) == {
        "stores": ["mongodb", "null"],
        "batch_sizes": ["100", "all"],
        "rows": 20000,
    }


def test_options_override_the_preset():
    conf = conf_of("study", {**NOTHING, "rows": 1000})
    assert conf["rows"] == 1000
    assert conf["batch_sizes"] == ["10000", "100000", "all"]
    assert conf["executors"] == ["1", "2", "4"]


def test_a_machine_of_ones_own_gets_the_sizes_of_the_study_only_where_it_has_any():
    assert conf_of("study", NOTHING)["driver_memory"] == "4g"
    assert conf_of("study", NOTHING, embedded=True)["driver_memory"] == "2g"
    assert conf_of("quick", NOTHING, embedded=True) == {"full_grid": False}
    assert embedded_sizes("study") == {"executor_memory": "1g", "driver_memory": "2g"}
    assert embedded_sizes("quick") == embedded_sizes(None) == {}


def test_any_parameter_can_be_given_as_json():
    assert conf_of(None, NOTHING, ("startup_timeout_s=5",)) == {"startup_timeout_s": 5}


@pytest.mark.parametrize(("preset", "extra"), [("big", ()), (None, ("rows",)), (None, ("rows=many",))])
def test_bad_words_are_refused(preset, extra):
    with pytest.raises(SpecError):
        conf_of(preset, NOTHING, extra)
