import re
from dataclasses import replace
from pathlib import Path

import pytest

from storebench.errors import SpecError
from storebench.fields import flag
from storebench.planning.params import run_values
from storebench.servers.sizes import FIELDS
from storebench.spark.options import OPTIONS
from storebench.study import parameters
from storebench.study.parameters import measured_with
from storebench.study.studies import find


@pytest.fixture(scope="module")
def study():
    return find("bulk_write_read")


def test_what_a_pod_gets_counts_at_every_store(study):
    defaults = run_values(study, {})
    for store in study.stores:
        assert (
            measured_with(study, store, defaults).items()
            >= {name: defaults[name] for name in parameters.POD}.items()
        )
    assert set(measured_with(study, "mongodb@v8", defaults)) == set(parameters.POD)


def test_an_option_of_a_store_counts_unless_said_otherwise(study, monkeypatch):
    defaults = run_values(study, {})
    found = measured_with(study, "delta-spark", defaults)
    assert found["executor_memory"] == "1g" and "startup_timeout_s" not in found
    more = {**OPTIONS, "a_new_one": flag("A new one", "")}
    monkeypatch.setattr(study.store("delta-spark"), "options", more)
    assert measured_with(study, "delta-spark", {**defaults, "a_new_one": True}) == {
        **found,
        "a_new_one": True,
    }


def test_the_options_of_what_fills_a_stores_table_count(study):
    defaults = run_values(study, {})
    assert measured_with(study, "delta-kernel", defaults) == measured_with(study, "delta-spark", defaults)


def test_a_parameter_of_the_study_counts_at_every_store(study):
    own = replace(study, params={**study.params, "cold": flag("Cold", "Empty the caches before a read.")})
    params = run_values(own, {"cold": True})
    for store in own.stores:
        assert measured_with(own, store, params) == {**measured_with(study, store, params), "cold": True}


def test_a_parameter_that_came_later_counts_where_it_is_not_as_it_was_before(study):
    cold = replace(flag("Cold", "Empty the caches before a read."), earlier=False)
    own = replace(study, params={**study.params, "cold": cold})
    before = measured_with(study, "null", run_values(study, {}))
    assert measured_with(own, "null", run_values(own, {})) == before
    assert measured_with(own, "null", run_values(own, {"cold": True})) == {**before, "cold": True}


def test_results_without_counters_are_apart_and_results_with_counters_are_as_before_the_parameter(study):
    before = {name: value for name, value in run_values(study, {}).items() if name != "counters"}
    with_counters, without = (
        measured_with(study, "mongodb", run_values(study, {"counters": asked})) for asked in ("on", "off")
    )
    assert with_counters == measured_with(study, "mongodb", before)
    assert without == {**with_counters, "counters": "off"}


def test_caches_that_a_run_has_chosen_count(study):
    found = {
        cache: measured_with(study, "mongodb", run_values(study, {"cache": cache})).get("cache")
        for cache in ("as_is", "cold", "lukewarm", "hot")
    }
    assert found == {"as_is": None, "cold": "cold", "lukewarm": "lukewarm", "hot": "hot"}


def test_the_conditions_of_results_have_what_every_store_has():
    view = (Path(__file__).parents[3] / "sql" / "views" / "2-latest.sql").read_text()
    assert set(re.findall(r"'(\w+)', newest\.parameters -> '\1'", view)) == set(parameters.POD)
    assert set(re.search(r"\|\| '{(server_[a-z_,]+)}' AS own", view)[1].split(",")) == set(FIELDS)


def test_a_parameter_that_the_study_has_not_is_refused(study):
    assert run_values(study, {"pod_memory": "12Gi"})["pod_memory"] == "12Gi"
    with pytest.raises(
        SpecError, match=r"Unknown parameter 'pod_mem'. Did you mean pod_memory.*There are stores, clients"
    ):
        run_values(study, {"pod_mem": "12Gi"})
