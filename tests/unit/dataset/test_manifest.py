import json

import pytest

from storebench.dataset.manifest import Manifest, dataset_key, manifest_key


def test_there_and_back(manifest):
    assert Manifest.from_json(manifest.to_json()) == manifest


def test_it_fits_a_termination_message(manifest):
    assert len(manifest.to_json().encode()) < 3500


def test_keys():
    assert dataset_key(1000, 42) == "datasets/v1/rows=1000/seed=42/data.csv"
    assert manifest_key(1000, 42) == "datasets/v1/rows=1000/seed=42/manifest.json"


@pytest.mark.parametrize(
    "change",
    [
        {"rows": None}, {"rows": "5"}, {"rows": True}, {"sha256": "x"}, {"row_sum": "-1"}, {"row_sum": 5},
        {"schema_version": 99}, {"fields": {}}, {"fields": None}, {"bucket": 1},
    ],
)  # fmt: skip
def test_a_damaged_manifest_is_refused(manifest, change):
    data = {**json.loads(manifest.to_json()), **change}
    with pytest.raises(ValueError, match=next(iter(change)).replace("_", ".")):
        Manifest.from_json(json.dumps(data))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "5"])
def test_what_is_no_manifest_is_refused(text):
    with pytest.raises(ValueError, match="not a dataset's manifest"):
        Manifest.from_json(text)
