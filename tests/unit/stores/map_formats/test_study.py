"""The whole study, and the parts of its set-up."""

import sys
from pathlib import Path

import pytest

from storebench.errors import SpecError
from storebench.planning.conf import conf_of
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.stores.map_formats.base import _check_memory
from storebench.stores.map_formats.common import INTERFACES
from storebench.stores.map_formats.formats import FORMATS
from storebench.stores.map_formats.network import NETWORKS
from storebench.stores.map_formats.tables import BENCHMARKS, JOBS, POSITIONS, VALUES
from storebench.study import studies
from storebench.study.grid import grid
from storebench.study.partition import cell_of, partitions
from tests.dry_make import dry_make

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def study():
    return studies.find("map_formats")


def test_the_file_of_the_study_is_data_for_its_stores(study):
    assert [one.replace("-", "_") for one in study.stores] == [*FORMATS, "null"]
    assert study.axes[0].grid == tuple(BENCHMARKS)
    assert study.steps == ("map",), "nothing is kept"
    assert {study.store(name).pod.image for name in study.stores} == {study.dataset.pod.image} == {"formats"}
    assert len((ROOT / "dags" / "map_formats.py").read_text().splitlines()) <= 140


def test_each_benchmark_has_a_dataset_of_its_own(study):
    few = study.dataset.id(1000, 1, {"benchmark": "wide", "values": "few"})
    assert few == "map_tables/v3/benchmark=wide/values=few/rows=1000/seed=1"
    written = study.dataset.id(1000, 1, {"benchmark": "write"})
    assert written == "map_tables/v3/benchmark=write/rows=1000/seed=1"


def cells(study, stores=None, clients=("python",), **axes):
    return grid(study, stores=stores or study.stores, clients=clients, axes=axes, rows=1_000, seed=1)


def test_what_is_not_asked_for_is_the_first_value_and_leaves_the_grid_as_small_as_it_was(study):
    found = cells(study)
    assert len(found.cells) == len(study.stores) * len(BENCHMARKS) == 36 and not found.dropped
    assert dict(found.cells[0].axes) == {
        "benchmark": "wide",
        "values": "random",
        "interface": "direct",
        "network": "unlimited",
    }
    assert study.clients == ("python", "compiled", "python-columns", "compiled-columns")
    both = cells(study, clients=study.clients)
    filled = partitions(study)
    assert len(filled) == len(both.cells) == 84, "each store has two clients, and arrow has four"
    assert {cell_of(study, key, 1_000, 1) for key in filled} == set(both.cells), "so is a backfill's"


def test_a_cell_that_means_nothing_is_excluded(study):
    benchmarks = ("extend", "wide", "write")
    found = cells(
        study,
        ("skiff", "null"),
        benchmark=benchmarks,
        values=VALUES,
        position=POSITIONS,
        interface=INTERFACES,
        network=tuple(NETWORKS),
    )
    assert len(found.cells) == (8 + 4 + 2 + 2 + 2 + 1) * 2
    assert len({cell.key for cell in found.cells}) == len(found.cells)
    assert found.dropped == 2 * 3 * 16 - len(found.cells)
    for cell in found.cells:
        axes = dict(cell.axes)
        assert ("position" in axes) == (cell.store != "null" and axes["benchmark"] == "extend")
        assert ("interface" in axes) == (cell.store != "null")
        assert ("values" in axes) == (axes["benchmark"] != "write")
        assert ("values=" in study.dataset_of(cell)) == ("values" in axes)
    assert "null has no position, interface" in found.dropped_because
    assert "skiff has no position" in found.dropped_because


def test_only_arrow_has_clients_that_work_on_columns_and_they_have_no_common_interface(study):
    columns = ("python-columns", "compiled-columns")
    found = cells(study, clients=study.clients, benchmark=("extend",), interface=INTERFACES)
    assert {cell.store for cell in found.cells if cell.client in columns} == {"arrow"}
    assert {dict(cell.axes).get("interface") for cell in found.cells if cell.client in columns} == {None}
    assert len(found.cells) == 5 * 2 * 2 + 2 + 2


def test_the_preset_of_the_study_has_ten_jobs_at_once_and_arrow_by_rows_and_by_columns(study):
    for embedded in (False, True):
        conf = conf_of(study.preset("study"), {}, embedded=embedded)
        assert conf["parallel_jobs"] == JOBS and conf["rows"] <= study.dataset.max_rows
        assert conf["repeats"] >= MIN_VALUES, "a median without an interval confirms nothing"
        found = cells(study, clients=conf["clients"])
        assert len(found.cells) == len(BENCHMARKS) * (len(FORMATS) + 2)


@pytest.mark.parametrize(
    ("axis", "known"),
    [
        ("values", VALUES),
        ("position", POSITIONS),
        ("interface", INTERFACES),
        ("network", NETWORKS),
    ],
)
def test_the_axes_have_the_values_that_the_stores_know_and_no_others(study, axis, known):
    found = next(one for one in study.axes if one.name == axis)
    assert found.choices == tuple(known) and found.default == found.grid == found.choices[:1]
    with pytest.raises(SpecError, match=f"'2mbit' is not {' or '.join(known)}"):
        cells(study, **{axis: ("2mbit",)})
    store = study.store("arrow")(
        client="python", target="", connection=None, values={"benchmark": "extend", axis: "2mbit"}
    )
    with pytest.raises(SpecError, match=f"Unknown {axis} '2mbit'"):
        store.connect()


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        ({"benchmark": "wide", "position": "middle"}, "'wide' adds no column"),
        ({"benchmark": "write", "values": "few"}, "'write' reads no table"),
    ],
)
def test_an_attempt_that_means_nothing_is_refused(study, axes, says):
    store = study.store("arrow")(client="python", target="", connection=None, values=axes)
    with pytest.raises(SpecError, match=says):
        store.connect()


@pytest.mark.parametrize(("name", "interface"), [("arrow", "common"), ("skiff", "direct")])
def test_a_job_on_columns_that_means_nothing_is_refused(study, name, interface):
    axes = {"benchmark": "wide", "interface": interface}
    store = study.store(name)(client="python-columns", target="", connection=None, values=axes)
    with pytest.raises(SpecError, match="only a job of arrow that is driven directly has columns"):
        store.connect()


def test_an_option_that_means_nothing_is_refused(study):
    with pytest.raises(SpecError, match="Parallel jobs: 0 is not a whole number from 1 to 10"):
        study.params_and_options()["parallel_jobs"].read(0)


def test_a_table_that_does_not_fit_in_memory_is_refused_before_it_is_read():
    _check_memory(100, None)
    _check_memory(100, 400)
    with pytest.raises(SpecError, match=r"100 bytes, for which a pod needs about 400 .*pod_memory"):
        _check_memory(100, 399)


def test_the_image_is_part_of_a_set_up_only_where_the_study_is_asked_for(tmp_path):
    def dry(*arguments):
        done = dry_make(tmp_path, *arguments, f"VENV={sys.prefix}")
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "image formats" not in dry("--file=local/setup.mk", "setup")
    assert "image formats" in dry("--file=local/setup.mk", "needed", "STUDY=map_formats")
