"""The study as a whole."""

from pathlib import Path

import pytest

from storebench.stores.base import split
from storebench.study import studies
from storebench.study.grid import grid

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def study():
    return studies.find("parquet_copy")


def cells(study, stores, clients=("reference",), **axes):
    return grid(study, stores=stores, clients=clients, axes=axes, rows=10_000, seed=1)


def test_the_file_of_the_study_is_short_and_its_stores_are_there(study):
    assert len((ROOT / "dags" / "parquet_copy.py").read_text().splitlines()) <= 120
    assert study.steps == ("generate", "copy", "drop")
    assert [one.name for one in study.operations_of("null")] == ["generate"]
    assert (
        study.store("hdfs").has_server()
        and study.store("ozone").has_server()
        and not study.store("s3").has_server()
    )


def test_checksums_are_varied_only_where_the_file_system_has_a_choice(study):
    found = cells(study, study.presets["quick"].params["stores"])
    keys = [cell.key.removeprefix("parquet_copy/") for cell in found.cells]
    for store in ("hdfs@three", "ozone@three"):
        both = [key for key in keys if key.startswith(f"{store}/reference/checksum=")]
        assert len(both) == 2 and all("executors=local" in key for key in both)
    assert sum(key.startswith("local/") for key in keys) == 2
    assert sum(key.startswith(("s3/", "null/", "disk/")) for key in keys) == 3 and len(keys) == 9


def test_the_presets_ask_for_what_there_is(study):
    for preset in study.presets.values():
        assert {split(name)[0] for name in preset.params["stores"]} <= set(study.stores)
        for name in preset.params:
            if name in {axis.name for axis in study.axes}:
                axis = next(axis for axis in study.axes if axis.name == name)
                for value in preset.params[name]:
                    axis.check(value)


def test_an_iteration_of_the_original_study_has_100_mb(study):
    assert study.presets["study"].params["rows"] * int(study.axes[3].default[0]) == 100_000_000
