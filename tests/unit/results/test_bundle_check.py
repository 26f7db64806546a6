"""Bundles from strangers: rows that do not belong to the bundle's run are refused before any insert."""

import copy
import json
import zipfile
from pathlib import Path

import pytest

from storebench.errors import SpecError
from storebench.results.export import bundle_check, bundle_file
from storebench.results.export.bundle import TABLES
from storebench.study.record import StudyRecord
from tests.bulk import EARLIER_BUNDLE

DATA = Path(__file__).parents[3] / "docs" / "studies" / "data"
NAMES = tuple(TABLES)
OTHER = "bulk_write_read/manual__2026-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def example():
    return bundle_file.read(EARLIER_BUNDLE, EARLIER_BUNDLE.read_bytes(), NAMES)


def changed(tables, table, **columns):
    """Return the tables with other values in the first row of one of them."""
    found = copy.deepcopy(tables)
    found[table][0].update(columns)
    return found


@pytest.mark.parametrize("bundle", sorted(DATA.glob("*.zip")), ids=lambda path: path.stem)
def test_the_bundles_of_the_project_are_accepted(bundle):
    tables = bundle_file.read(bundle, bundle.read_bytes(), NAMES)
    assert bundle_check.check(tables)["id"]


@pytest.mark.parametrize(
    ("table", "columns", "reason"),
    [
        ("attempt", {"run_id": OTHER}, "is of the run"),
        ("attempt", {"repeat": 99}, "is of no turn"),
        ("attempt", {"id": "1; DROP TABLE"}, "lack what each bundle has"),
        ("attempt", {"dataset_id": "v1"}, "has the dataset_id 'v1'"),
        ("run_cell", {"run_id": OTHER}, "a turn is of the run"),
        ("run_cell", {"cell_key": "x"}, "which the bundle lacks"),
        ("phase", {"attempt_id": "00000000-0000-0000-0000-000000000000"}, "a row of phase"),
        ("dataset", {"id": "v1"}, "'v1' is no id of a dataset"),
        ("dataset", {"id": "../v1/rows=1/seed=1"}, "is no id of a dataset"),
        ("environment", {"details": {}}, "has another hash"),
        ("run", {"study": "../../../x"}, "is no name of a study"),
        ("run", {"id": "bulk_write_read/other"}, "is not that of its DAG"),
        ("run", {"datasets": ["v1"]}, "'v1' is no id of a dataset"),
        ("run", {"tags": ["<b>"]}, "are no tags"),
        ("run", {"tags": None}, "are no tags"),
        ("cell", {"study": "other"}, "are not those of its key"),
        ("cell", {"key": "a/../b/rows=1/seed=1"}, "are not those of its key"),
    ],
)
def test_a_row_of_another_run_and_a_name_that_leads_elsewhere_are_refused(example, table, columns, reason):
    with pytest.raises(SpecError, match=reason):
        bundle_check.check(changed(example, table, **columns))


def test_a_bundle_has_one_run_and_its_own_study(example):
    with pytest.raises(SpecError, match="has one run; this one has 2"):
        bundle_check.check({**example, "run": example["run"] * 2})
    with pytest.raises(SpecError, match="a row of study is of the run 'other'"):
        bundle_check.check({**example, "study": [{"name": "other"}]})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"metrics": ["only_s"]}, "The record of the study 'bulk_write_read' cannot be read: metrics.0"),
        ({"stores": {"null": {}}}, "cannot be read: stores"),
        ({"axes": [{"name": 5}]}, "cannot be read: axes.0.name"),
    ],
)
def test_a_bundle_whose_study_cannot_be_read_is_refused(example, changes, reason):
    details = {**example["study"][0]["details"], **changes}
    with pytest.raises(SpecError, match=reason):
        bundle_check.check(changed(example, "study", details=details))


def test_the_record_of_an_earlier_version_is_read_without_a_loss(example):
    details = example["study"][0]["details"]
    told = StudyRecord.read(details).as_json()
    for store in told["stores"]:
        later = [store.pop(name) for name in ("provisioned_servers_only", "provisions", "product")]
        assert later == ["", True, None], "which the bundle's version did not record"
        store["limit"] = store.pop("floor")  # the name in the bundle
    for chart in told["charts"]:
        later = [chart.pop(name) for name in ("limit", "since", "beside", "band")]
        assert later == ["", "", "", None], "which the bundle's version did not record"
    assert {axis.pop("implied") for axis in told["axes"]} == {""}, "which the bundle's version did not record"
    assert {metric.pop("merge") for metric in told["metrics"]} == {None}, "nor this"
    assert [operation.pop("where") for operation in told["operations"]] == [{}, {}], "nor this"
    assert told["dataset"].pop("divides") is False, "nor this"
    told["dataset"]["own"] = told["dataset"].pop("custom_file")
    assert {name: told[name] for name in details} == details


def pack(path, **members):
    """Write a zip with these members and right checksums."""
    contents = {f"{name}.json": json.dumps(rows).encode() for name, rows in members.items()}
    contents[bundle_file.ABOUT] = json.dumps({"format": 1}).encode()
    contents[bundle_file.CHECKSUMS] = bundle_file._checksums(contents)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"passwd": []}, "passwd.json, which no bundle has"),
        ({"run": {}}, "run.json is not a list of rows"),
        ({"run": [1]}, "run.json is not a list of rows"),
        ({"run": [{"a": 1}, {"b": 1}]}, "different columns"),
    ],
)
def test_a_file_of_other_members_is_refused(members, reason, tmp_path):
    content = pack(tmp_path / "run.zip", **members)
    with pytest.raises(SpecError, match=reason):
        bundle_file.read(tmp_path / "run.zip", content, NAMES)


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch, tmp_path):
    monkeypatch.setattr(bundle_file, "MOST_UNPACKED_BYTES", 1_000_000)
    content = pack(tmp_path / "run.zip", run=["0" * 2_000_000])
    assert len(content) < 10_000
    with pytest.raises(SpecError, match="larger than 1,000,000 bytes when unpacked"):
        bundle_file.read(tmp_path / "run.zip", content, NAMES)
    monkeypatch.setattr(bundle_file, "MOST_BYTES", 1_000)
    with pytest.raises(SpecError, match="larger than 1,000 bytes, the most"):
        bundle_file.content_of(tmp_path / "run.zip")
