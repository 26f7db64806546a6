"""A dataset in a bucket in memory, and attempts at it in this process."""

import io
from types import SimpleNamespace

import pytest
from botocore.exceptions import ClientError

from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.stores.column_scan import dataset, files
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import folder_of

ROWS, SEED = 30_011, 7


class Bucket:
    """An S3 client of one bucket."""

    def __init__(self):
        self.objects = {}
        self.meta = SimpleNamespace(endpoint_url="http://s3")

    def put_object(self, Bucket, Key, Body):  # noqa: N803
        self.objects[Key] = bytes(Body)

    def get_object(self, Bucket, Key):  # noqa: N803
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key])}


@pytest.fixture(scope="session")
def study():
    return studies.find("column_scan")


@pytest.fixture(scope="session")
def prefix(study):
    return folder_of(study.dataset.id(ROWS, SEED))


@pytest.fixture(scope="session")
def made(prefix):
    bucket = Bucket()
    manifest = dataset.make(bucket, "b", prefix, ROWS, SEED)
    return bucket, manifest


@pytest.fixture
def bucket(made):
    copy = Bucket()
    copy.objects = dict(made[0].objects)
    return copy


@pytest.fixture
def attempt(bucket, prefix, study, tmp_path, monkeypatch):
    """Run an operation of a cell in this process, with the volume in tmp_path. Return the result. Raises the pod's error."""
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "client_for", lambda connection: bucket)
    monkeypatch.setattr(
        Connection, "from_environment", classmethod(lambda cls, name: SimpleNamespace(extra={}))
    )

    def attempt(store, operation, client="reference", *, rows=ROWS, **options):
        cell = Cell("column_scan", store, client, (), rows, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=store,
            client=client,
            axes={},
            rows=rows,
            seed=SEED,
            target=cell.target("test", 0),
            bucket="b",
            dataset=prefix,
            results="results/",
            options={"column": "quantity", **options},
        )
        tried = run.Attempt(spec, study.store(store), PhaseClock())
        tried.run()
        return tried.result

    return attempt
