"""The table: its values, its manifest, and the rounding error of a sum."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from storebench import protocol
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.column_scan import dataset, residence
from storebench.stores.column_scan.numpy_sum import additions
from storebench.stores.column_scan.table import BY_NAME, COLUMNS, ROW_BYTES, bound, check_sum, digest
from storebench.stores.volume import OPTIONS
from tests.unit.stores.column_scan.conftest import ROWS, SEED, Bucket

ROOT = Path(__file__).parents[4]


def test_the_columns_are_those_of_the_study():
    assert len(COLUMNS) == 23 and sum(column.name.endswith("_uid") for column in COLUMNS) == 11
    assert round(1_430_394 * ROW_BYTES / 2**20) == 250


def test_the_same_rows_and_seed_give_the_same_bytes(made, prefix):
    _, manifest = made
    assert manifest["rows"] == ROWS and manifest["bytes"] == ROWS * ROW_BYTES
    # Literal, so that a new version of NumPy, or a changed generator, is noticed: then the dataset needs a new version.
    assert digest(dataset.column_of(BY_NAME["quantity"], 1_000, 42)) == "9eb3fb305074f500e051375f0e730381"
    assert (
        digest(dataset.column_of(BY_NAME["sub_variation_text"], 1_000, 42))
        == "83879ded78bc96d09759a6c29e2bdbdc"
    )
    other = dataset.make(Bucket(), "b", prefix, ROWS, SEED + 1)
    same = {name for name, value in manifest["digests"].items() if other["digests"][name] == value}
    assert same == {"uid", "order_id"}, "all others are random"


def test_the_manifest_fits_in_the_pod_s_message(made):
    _, manifest = made
    assert len(json.dumps(manifest, separators=(",", ":"))) <= protocol.MESSAGE_BYTES
    assert protocol.problem("manifest", manifest) is None


def test_the_sums_are_exact(made):
    values = dataset.column_of(BY_NAME["quantity"], ROWS, SEED)
    exact = sum(map(Fraction, values.tolist()))
    assert made[1]["sums"]["quantity"] == float(exact)
    assert made[1]["magnitudes"]["quantity"] == float(sum(map(abs, map(Fraction, values.tolist()))))


def test_values_are_as_the_study_s_columns_have_them():
    columns = {name: dataset.column_of(column, 20_000, 1) for name, column in BY_NAME.items()}
    assert 0.1 < (columns["node_uid"] == 0).mean() < 0.15, "an eighth is NULL"
    assert (np.round(columns["quantity"], 3) == columns["quantity"]).all()
    assert (columns["mirror_date"] - columns["date"] == np.timedelta64(1, "D")).all()
    assert columns["date"].min() >= np.datetime64("2014-01-01")
    for name, column in BY_NAME.items():
        if column.is_text:
            assert max(map(len, columns[name].tolist())) == column.bytes, "nothing is cut, nothing too wide"


def test_a_dataset_is_made_once(made, bucket, prefix):
    del bucket.objects[f"{prefix}uid.bin"]
    assert dataset.make(bucket, "b", prefix, ROWS, SEED) == made[1]
    with pytest.raises(StoreRefused, match="is not there: remove s3://b/"):
        dict(dataset.columns_of(bucket, "b", prefix, made[1]))


def test_a_sum_is_as_exact_as_its_order_of_addition_allows(made):
    manifest = made[1]
    values = dataset.column_of(BY_NAME["quantity"], ROWS, SEED)
    one_by_one = 0.0
    for value in values.tolist():
        one_by_one += value
    assert "allowed" in check_sum(one_by_one, manifest, "quantity", ROWS)
    assert "allowed" in check_sum(float(values.sum()), manifest, "quantity", additions(ROWS))
    packed = np.zeros(ROWS, [("flag", "i1"), ("value", "f8")])
    packed["value"] = values
    assert "allowed" in check_sum(float(packed["value"].sum()), manifest, "quantity", additions(ROWS))
    exact = manifest["sums"]["quantity"]
    assert bound(additions(ROWS), manifest["magnitudes"]["quantity"], exact) < 1e-6, "a thousandth is seen"
    for wrong in (exact + 0.001, math.nan, math.inf, 0.0):
        with pytest.raises(VerificationFailed, match="The sum of quantity is"):
            check_sum(wrong, manifest, "quantity", additions(ROWS))


def test_a_kernel_that_does_not_tell_what_was_read_proves_nothing(tmp_path):
    (tmp_path / "io").write_text("rchar: 1\n")
    for source in (tmp_path / "io", tmp_path / "none"):
        with pytest.raises(StoreRefused, match="no read can be proven cold"):
            residence.read_bytes(source)


def test_what_is_in_the_page_cache_is_seen(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 100_000)
    (tmp_path / "empty").touch()
    assert residence.resident_bytes(residence.files_of(tmp_path)) == 102_400
    residence.drop([path])
    assert residence.resident_bytes([path]) == 0
    before = residence.read_bytes()
    path.read_bytes()
    assert residence.read_bytes() - before >= 100_000


def test_the_file_of_the_study_is_data_for_its_stores(study):
    assert len((ROOT / "dags" / "column_scan.py").read_text().splitlines()) <= 120
    assert study.steps == ("write", "cold_sum", "hot_sum", "drop")
    images = {name: study.store(name).pod.image for name in study.stores}
    assert {name for name, image in images.items() if image == "wendelin"} == {
        "wendelin-numpy",
        "wendelin-pandas",
    }
    assert {*images.values()} - {"wendelin"} == {study.dataset.pod.image} == {"columns"}
    for preset in study.presets.values():
        assert [name.partition("@")[0] for name in preset.params["stores"]] == list(study.stores)
    volumes = {name for name in study.stores if study.store(name).pod.volume}
    assert all(set(OPTIONS) <= set(study.store(name).options) for name in volumes) and len(volumes) == 4
