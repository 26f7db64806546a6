"""A dataset in a bucket in memory, and attempts at it in this process."""

import hashlib
import io
from types import SimpleNamespace

import pytest
import smart_open
from botocore.exceptions import ClientError

from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.dataset.generate import GENERATOR_VERSION, generate_chunk, header
from storebench.dataset.manifest import CSV, Manifest
from storebench.dataset.schema import SCHEMA_VERSION
from storebench.errors import StorebenchError
from storebench.stores.queries import files
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.dataset import MANIFEST, folder_of
from tests.parts import run_parts

ROWS, SEED = 3_000, 7


@pytest.fixture(scope="session")
def study():
    return studies.find("queries")


class Bucket:
    """An S3 client of one bucket."""

    def __init__(self):
        self.objects = {}
        self.meta = SimpleNamespace(endpoint_url="http://s3")

    def get_object(self, Bucket, Key, **_):  # noqa: N803
        if Key not in self.objects:
            raise ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")
        return {"Body": io.BytesIO(self.objects[Key])}


@pytest.fixture(scope="session")
def made(study):
    """Return the CSV and the manifest of the dataset."""
    folder = folder_of(study.dataset.id(ROWS, SEED))
    chunk = generate_chunk(SEED, 0, ROWS)
    text = header() + bytes(chunk.csv)
    manifest = Manifest(
        schema_version=SCHEMA_VERSION,
        rows=ROWS,
        seed=SEED,
        bytes=len(text),
        sha256=hashlib.sha256(text).hexdigest(),
        fields=chunk.checksums.fields,
        row_sum=chunk.checksums.row_sum,
        generator_version=GENERATOR_VERSION,
        bucket="b",
        key=folder + CSV,
    )
    return text, manifest


@pytest.fixture
def bucket(made, study):
    text, manifest = made
    folder, bucket = folder_of(study.dataset.id(ROWS, SEED)), Bucket()
    bucket.objects = {folder + CSV: text, folder + MANIFEST: manifest.to_json().encode()}
    return bucket


@pytest.fixture
def attempt(bucket, study, tmp_path, monkeypatch):
    """Run an operation of a cell in this process, also with values of axes and parameters, or by several parts, with the volume in tmp_path. Return the result. Raises the pod's error."""
    monkeypatch.setattr(files, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "client_for", lambda connection: bucket)
    monkeypatch.setattr(
        Connection, "from_environment", classmethod(lambda cls, name: SimpleNamespace(extra={}))
    )
    objects = bucket.objects
    monkeypatch.setattr(
        smart_open, "open", lambda uri, *_, **__: io.BytesIO(objects[uri.removeprefix("s3://b/")])
    )

    def attempt(store, operation, client="reference", *, options=None, parts=1, **axes):
        cell = Cell("queries", store, client, tuple(axes.items()), ROWS, SEED)
        spec = AttemptSpec(
            operation=operation,
            cell_key=cell.key,
            study=cell.study,
            store=store,
            client=client,
            axes=axes,
            options=options or {},
            rows=ROWS,
            seed=SEED,
            target=Cell("queries", store, client, (), ROWS, SEED).target("test", 0),  # the same for all axes
            bucket="b",
            dataset=folder_of(study.dataset.id(ROWS, SEED)),
            results="results/",
        )
        if parts > 1:
            attempts, errors = run_parts(spec, study.store(store), parts)
            if errors:
                raise next(error for error in errors.values() if isinstance(error, StorebenchError))
            return attempts[0].result
        tried = run.Attempt(spec, study.store(store), PhaseClock())
        tried.run()
        return tried.result

    return attempt
