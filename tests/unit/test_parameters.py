import pytest

from storebench import parameters, stores
from storebench.airflow.params import defaults_of
from storebench.errors import SpecError
from storebench.parameters import measured_with
from storebench.spark import session
from storebench.studies import find


@pytest.fixture(scope="module")
def study():
    return find("bulk_write_read")


def test_what_a_pod_gets_counts_at_every_store(study):
    defaults = defaults_of(study, {})
    for store in study.stores:
        assert (
            measured_with(store, defaults).items()
            >= {name: defaults[name] for name in parameters.POD}.items()
        )
    assert set(measured_with("mongodb@v8", defaults)) == set(parameters.POD)


def test_an_option_of_a_store_counts_unless_said_otherwise(study, monkeypatch):
    defaults = defaults_of(study, {})
    found = measured_with("delta-spark", defaults)
    assert found["executor_memory"] == "1g" and "startup_timeout_s" not in found
    monkeypatch.setattr(stores.load("delta-spark"), "options", (*session.OPTIONS, "a_new_one"))
    assert measured_with("delta-spark", {**defaults, "a_new_one": True}) == {**found, "a_new_one": True}


def test_the_options_of_what_fills_a_stores_table_count(study):
    defaults = defaults_of(study, {})
    assert measured_with("delta-kernel", defaults) == measured_with("delta-spark", defaults)


def test_a_parameter_that_the_study_has_not_is_refused(study):
    assert defaults_of(study, {"pod_memory": "12Gi"})["pod_memory"] == "12Gi"
    with pytest.raises(
        SpecError, match=r"Unknown parameter 'pod_mem'. Did you mean pod_memory.*There are stores, clients"
    ):
        defaults_of(study, {"pod_mem": "12Gi"})
