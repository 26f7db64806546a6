"""Parquet files without S3: pyarrow writes to and reads from a folder."""

import pytest
from pyarrow import fs

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores import pyarrow_s3
from storebench.stores.bulk_write_read.parquet import Parquet
from storebench.stores.files import LocalFiles
from tests import example_file
from tests.example_file import TYPES
from tests.given_back import read, source_of, written

SCHEMA = [Field(name, kind, "", True, scale, digits) for name, (kind, digits, scale) in TYPES.items()]
ROWS = list(map(example_file.texts, example_file.rows()))


class Folder(Parquet):
    """A store whose files are in a folder instead of S3."""

    _s3 = fs.LocalFileSystem()
    folder = None

    @property
    def _files(self):
        return LocalFiles(self.folder)

    def connect(self):
        pass

    def prepare(self):
        (self.folder / self.key).mkdir(parents=True)


@pytest.fixture
def make(monkeypatch, tmp_path):
    def make(operation, client="reference", batch="700"):
        source = source_of(monkeypatch, SCHEMA, ROWS)
        source.bucket = str(tmp_path)
        values = {"batch": batch}
        store = Folder(
            client=client, target="t", connection=None, source=source, values=values, operation=operation
        )
        store.folder = tmp_path
        return store

    return make


@pytest.mark.parametrize("client", Parquet.clients)
@pytest.mark.parametrize(("batch", "files"), [("700", 4), ("all", 1)])
def test_each_write_call_is_a_file_and_every_text_comes_back(make, client, batch, files):
    store = make("write", client, batch)
    written(store, ROWS)
    assert len(store._files.entries(store.key)) == files
    read(make("read", client), ROWS)


def test_a_lost_file_is_noticed(make):
    store = make("write")
    written(store, ROWS)
    next(store.folder.rglob("*.parquet")).unlink()
    with pytest.raises(AssertionError):
        read(make("read"), ROWS)


def test_nothing_written_is_refused_by_its_place(make):
    with pytest.raises(StoreRefused, match=r"There are no files below s3://.*/tables/t"):
        make("read").count()


def test_a_damaged_file_is_a_refusal(make):
    store = make("write")
    written(store, ROWS)
    next(store.folder.rglob("*.parquet")).write_bytes(b"PAR1")
    with pytest.raises(StoreRefused, match="pyarrow failed at"):
        make("read", "tuned").count()


def test_s3_that_is_away_is_unreachable(make):
    store = make("write")
    store.source.bucket = "bucket"
    server = Connection("s3", login="k", password="s", extra={"endpoint_url": "http://127.0.0.1:1"})
    store._s3 = pyarrow_s3.file_system(server)
    with pytest.raises(StoreUnreachable, match="S3 stopped answering"):
        store.write(None, OperationClock())
