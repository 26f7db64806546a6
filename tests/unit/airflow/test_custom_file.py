"""A user's file as a run's dataset: found, shown, and checked by the stores before any measurement."""

import json
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from storebench.airflow.dags import custom_file, plan
from storebench.airflow.operators.dataset import DatasetOperator
from storebench.errors import SpecError, StoreRefused
from storebench.planning.checks import not_held
from storebench.planning.params import run_values
from storebench.study import custom_files
from storebench.study.dataset import FILE, PODS, folder_of, seed_of
from storebench.study.order import Turn
from tests.bulk import bulk_study
from tests.unit.airflow.account import Account, context
from tests.unit.airflow.cluster import ended

STUDY = bulk_study()
URI = "s3://files/orders.csv"
SEED = seed_of(URI, '"v1"', 77)
FOLDER = folder_of(f"own/v2/file={SEED}")
MANIFEST = {
    "rows": 321,
    "bytes": 5_000,
    "file": URI,
    "schema": [
        {"name": "id", "type": "integer"},
        {"name": "net price", "type": "decimal", "precision": 7, "scale": 2, "nullable": True},
    ],
}


class Files:
    """S3 with the file and, once it was made, its dataset."""

    meta = SimpleNamespace(endpoint_url="http://s3")

    def __init__(self):
        self.objects = {"orders.csv": b"x" * 77}

    def get(self, key):
        if key not in self.objects:
            raise ClientError({"Error": {"Code": "404"}}, "HeadObject")
        return self.objects[key]

    def head_object(self, Bucket, Key):  # noqa: N803
        return {"ETag": '"v1"', "ContentLength": len(self.get(Key))}

    def get_paginator(self, _):
        return SimpleNamespace(
            paginate=lambda Bucket, Prefix: [  # noqa: N803
                {"Contents": [{"Key": key, "ETag": '"p"', "Size": len(data)}]}
                for key, data in self.objects.items()
                if key.startswith(Prefix)
            ]
        )

    def get_object(self, Bucket, Key):  # noqa: N803
        data = self.get(Key)
        return {"Body": SimpleNamespace(read=lambda: data)}


@pytest.fixture
def files(monkeypatch):
    found = Files()
    monkeypatch.setattr(custom_file.connections, "s3", lambda: found)
    monkeypatch.setattr(custom_file.connections, "bucket", lambda: "storebench")
    found.account = Account()
    monkeypatch.setattr(custom_file.connections, "repository", lambda *_: found.account)
    return found


@pytest.fixture
def made(files):
    """Make the dataset as a pod would, and collect the pods' specifications."""
    told = []

    def make(kind, spec):
        told.append(spec)
        files.objects[FOLDER + "manifest.json"] = json.dumps(MANIFEST).encode()

    return SimpleNamespace(make=make, told=told)


def asked(**more):
    return run_values(STUDY, {FILE: URI, **more})


def test_a_pod_makes_the_dataset_once_and_the_run_has_its_rows(files, made, capsys):
    params, manifest = custom_file.with_file(STUDY, asked(), made.make)
    assert (params["rows"], params["seed"], manifest) == (321, SEED, MANIFEST)
    assert json.loads(made.told[0].to_json()) == {
        "bucket": "storebench",
        "dataset": FOLDER,
        "rows": 1_000_000_000,
        "seed": SEED,
        "axes": {},
        "version": 1,
        "file": URI,
    }
    assert custom_file.with_file(STUDY, asked(), made.make) == (params, manifest)
    assert len(made.told) == 1, "it is there"
    assert files.account.datasets_made == [(f"own/v2/file={SEED}", 2, 321, SEED, MANIFEST)], (
        "known also if the run is refused"
    )
    assert "2 columns\n  id: integer\n  net price: decimal(7, 2), with nulls\n" in capsys.readouterr().out


def test_a_run_without_a_file_asks_nobody():
    params = run_values(STUDY, {})
    assert custom_file.with_file(STUDY, params, None) == (params, None)


def test_a_file_that_is_not_there_is_refused(files, made):
    del files.objects["orders.csv"]
    with pytest.raises(StoreRefused, match=r"s3://files/orders\.csv .*it is not there"):
        custom_file.with_file(STUDY, asked(), made.make)
    assert made.told == []


def test_a_folder_is_one_dataset_whose_version_is_that_of_its_parts(files, made):
    files.objects = {"orders/1.csv": b"a\n1\n", "orders/2.csv": b"a\n2\n", "orders/_SUCCESS": b""}
    address = "s3://files/orders/"
    found = custom_files.find(files, address)

    def make(kind, spec):
        made.make(kind, spec)
        files.objects[spec.dataset + "manifest.json"] = json.dumps(MANIFEST).encode()

    params, _ = custom_file.with_file(STUDY, run_values(STUDY, asked(**{FILE: address})), make)
    assert params["seed"] == seed_of(address, found.version, 8)
    assert made.told[0].file == address


def test_a_folder_that_is_no_dataset_is_refused_before_a_pod_starts(files, made):
    files.objects = {"orders/_delta_log/0.json": b"{}", "orders/1.parquet": b"x"}
    with pytest.raises(SpecError, match="s3://files/orders/ is a table of Delta Lake"):
        custom_file.with_file(STUDY, asked(**{FILE: "s3://files/orders/"}), made.make)
    assert made.told == []


@pytest.mark.parametrize(
    "file", ["s3://b/a.csv", "s3://b/a.csv.gz", "s3://b/c/a.parquet", "s3://b/c/", "s3://b/a.parquet/", ""]
)
def test_what_can_be_a_file_or_a_folder_is_taken(file):
    assert (run_values(STUDY, {**run_values(STUDY, {}), FILE: file})[FILE] or "") == file


@pytest.mark.parametrize(
    "file",
    [
        "s3://files/",
        "s3://files/orders.gz",
        "orders.csv",
        "s3://files",
        "s3://files/orders.xlsx",
        "s3://files/a b.csv",
        "file:///a.csv",
    ],
)
def test_what_is_no_such_file_is_refused_in_words(file):
    with pytest.raises(
        SpecError, match=r"Dataset: .* is not s3://BUCKET/KEY that ends with \.csv or \.parquet"
    ):
        run_values(STUDY, {**run_values(STUDY, {}), FILE: file})


def test_cells_whose_store_cannot_hold_it_are_named_with_the_reason(made):
    study = STUDY
    params, manifest = custom_file.with_file(
        study, asked(stores="mongodb,null,delta-kernel", batch="all"), made.make
    )
    cells = plan.grid_of(study, params).cells
    found = not_held(study, cells, manifest)
    assert {cell.store for cell in found} == {"delta-kernel"}
    assert {cell.rows for cell in cells} == {321}
    (reason,) = set(found.values())
    assert reason.startswith("delta-kernel cannot hold this dataset: the column 'net price'")


def test_a_client_that_cannot_read_the_data_back_is_named_with_the_reason(files, made, capsys):
    first = {
        "name": "made",
        "type": "timestamp",
        "earliest": "0001-01-01T00:00:00Z",
        "latest": "2024-05-06T07:08:09Z",
    }
    late = {"name": "ends", "type": "string", "misfit": "10000-01-01"}
    made.make = lambda kind, spec: files.objects.update(
        {FOLDER + "manifest.json": json.dumps({**MANIFEST, "schema": [first, late]}).encode()}
    )
    params, manifest = custom_file.with_file(
        STUDY, asked(stores="delta-spark,delta-kernel", clients="reference,tuned", batch="all"), made.make
    )
    cells = plan.grid_of(STUDY, params).cells
    found = not_held(STUDY, cells, manifest)
    assert {(cell.store, cell.client) for cell in cells} > {
        ("delta-spark", "tuned"),
        ("delta-kernel", "tuned"),
    }
    assert {(cell.store, cell.client) for cell in found} == {("delta-spark", "reference")}
    (reason,) = set(found.values())
    assert reason.startswith(
        "delta-spark cannot give this dataset back to its client reference: the column 'made' has timestamps before 0001-01-02"
    )
    said = capsys.readouterr().out
    assert "made: timestamp from 0001-01-01T00:00:00Z to 2024-05-06T07:08:09Z\n" in said
    assert "ends: string, as its type does not hold '10000-01-01'\n" in said


def test_the_dataset_of_a_run_with_a_file_is_that_of_its_version(made):
    study = STUDY
    params, _ = custom_file.with_file(study, asked(), made.make)
    (cell, *_) = plan.grid_of(study, params).cells
    assert study.dataset_of(cell, params) == f"own/v2/file={SEED}"
    assert study.dataset_of(cell) == f"v1/rows=321/seed={SEED}"
    assert seed_of(URI, '"v2"', 77) != SEED != seed_of(URI + "2", '"v1"', 77)


class Planned(Account):
    def recorded_turns(self, run_id):
        study = STUDY
        cells = plan.grid_of(study, {**asked(stores="null", batch="all"), "rows": 321, "seed": SEED}).cells
        return [Turn(cell, 1) for cell in cells]


def test_the_step_dataset_asks_one_pod_for_the_file_that_was_planned(cluster, account, monkeypatch):
    planned = Planned()
    monkeypatch.setattr("storebench.airflow.connections.repository", lambda *_: planned)
    told = []

    def end(pod):
        told.append({each["name"]: each.get("value") for each in pod.spec["containers"][0]["env"]})
        return ended(message=json.dumps(MANIFEST))

    cluster.end = end
    there = context("dataset")
    there["params"] = {**asked(stores="null", batch="all"), "startup_timeout_s": 60, PODS: 3}
    DatasetOperator(task_id="dataset", study=STUDY).execute(there)
    assert not [name for name in told[0] if "PARTS" in name]
    spec = json.loads(told[0]["STOREBENCH_DATASET"])
    assert (spec["file"], spec["seed"], spec["dataset"]) == (URI, SEED, FOLDER)
    assert [made[:4] for made in planned.datasets_made] == [(f"own/v2/file={SEED}", 2, 321, SEED)]


def test_a_plans_pod_that_fails_is_the_reason(cluster, account):
    cluster.end = lambda pod: ended(2, message="s3://files/orders.csv cannot be the dataset: it has no rows")
    operator = DatasetOperator(task_id="dataset", study=STUDY)
    spec = operator.spec_of("own/v2/file=1", plan.grid_of(STUDY, run_values(STUDY, {})).cells[0])
    with pytest.raises(StoreRefused, match=r"The dataset was not made: .*it has no rows"):
        operator.made_for_plan(context("plan"), STUDY.dataset.custom_file, spec)
