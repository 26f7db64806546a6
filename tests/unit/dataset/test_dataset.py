import pytest

from storebench.dataset.csv50 import CSV50
from storebench.dataset.generate import MAX_ROWS
from storebench.dataset.manifest import dataset_key, manifest_key
from storebench.dataset.upload import make
from storebench.errors import SpecError
from storebench.stores.base import Pod
from storebench.study.dataset import Dataset, folder_of


def test_the_csvs_id_and_keys_are_those_that_were_always_given_out():
    assert CSV50.id(20_000, 42) == "v1/rows=20000/seed=42"
    assert dataset_key(20_000, 42) == "datasets/v1/rows=20000/seed=42/data.csv"
    assert manifest_key(20_000, 42) == "datasets/v1/rows=20000/seed=42/manifest.json"
    assert (CSV50.max_rows, CSV50.row_bytes) == (MAX_ROWS, 484)


def test_another_dataset_has_its_name_in_its_id_and_the_axes_that_shape_it():
    stock = Dataset("stock", 3, "", 8, 10**6, Pod(), axes=("width", "depth"))
    assert stock.id(5, 1) == "stock/v3/rows=5/seed=1"
    values = {"depth": "2", "threads": "8", "width": "9"}
    assert stock.id(5, 1, values) == "stock/v3/width=9/depth=2/rows=5/seed=1"
    assert folder_of(stock.id(5, 1)) == "datasets/stock/v3/rows=5/seed=1/"


def test_an_image_of_other_code_makes_no_dataset():
    with pytest.raises(SpecError, match="This image makes the dataset datasets/v1/rows=5/seed=1/, not"):
        make(None, "b", "datasets/v2/rows=5/seed=1/", 5, 1)
