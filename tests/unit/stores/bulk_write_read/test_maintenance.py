"""The maintenance of tables: which cells have it, and delta-rs with its real engine, in a folder instead of S3."""

from types import SimpleNamespace

import pytest

from storebench.airflow.operators.cell_steps import cell_operations
from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.schema import Field
from storebench.errors import VerificationFailed
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from storebench.stores.bulk_write_read.maintenance import MAINTAIN
from storebench.study.grid import grid
from tests.bulk import bulk_study
from tests.given_back import read, source_of
from tests.unit.stores.bulk_write_read.test_table_store import Attempt

SCHEMA = [Field("n", "integer", ""), Field("text", "string", "")]
ROWS = [{"n": str(n), "text": f"text {n}"} for n in range(50)]


def test_only_stores_with_maintenance_estimate_its_time():
    """A study that has these stores and no maintenance would be refused otherwise."""
    study = bulk_study()
    for name in study.stores:
        store = study.store(name)
        assert {typical.operation for typical in store.typical} <= set(store.operations), name


def test_the_stores_of_the_axis_are_those_with_maintenance():
    study = bulk_study()
    (axis,) = [axis for axis in study.axes if axis.name == "maintenance"]
    stores = {name for name in study.stores if MAINTAIN in study.store(name).operations}
    assert set(axis.where["store"]) == stores
    assert "pyiceberg" not in stores and "delta-kernel" not in stores


@pytest.mark.parametrize("store", ["delta-rs", "null", "delta-kernel"])
def test_only_cells_that_ask_for_maintenance_have_it(store):
    study = bulk_study()
    stores, clients, axes = [store], ["reference"], {"batch": ["10"], "executors": ["1"]}
    (default,) = grid(study, stores=stores, clients=clients, axes=axes, rows=1000, seed=1).cells
    asked = axes | {"maintenance": ["off", "on"]}
    off, *on = grid(study, stores=stores, clients=clients, axes=asked, rows=1000, seed=1).cells
    assert off == default and "maintenance" not in default.key
    assert cell_operations(study, off) == ["write", "read"], "delta-kernel's table is delta-spark's write"
    assert [cell_operations(study, cell) for cell in on] == (
        [["write", "maintain", "read"]] if store == "delta-rs" else []
    )


class Folder(DeltaRs):
    """A store whose table is in a folder instead of S3. `spoil` is done to the table after its maintenance."""

    folder, storage_options = "", {}

    @staticmethod
    def spoil(table):
        pass

    def uri(self, scheme="s3"):
        return self.folder

    def check_table(self):
        pass

    def size_bytes(self):
        return 1

    def maintain(self):
        super().maintain()
        self.spoil(self.open_table())


@pytest.fixture
def make(monkeypatch, tmp_path):
    expected = TableChecksum([field.name for field in SCHEMA])
    expected.update({field.name: [row[field.name] for row in ROWS] for field in SCHEMA})
    manifest = SimpleNamespace(rows=len(ROWS), checksums=expected.to_json())
    monkeypatch.setattr(
        TableChecksum, "diff", lambda found, _: [] if vars(found) == vars(expected) else ["n"]
    )

    def make(operation, client="reference"):
        source = source_of(monkeypatch, SCHEMA, ROWS)
        monkeypatch.setattr(source, "manifest", lambda: manifest)
        store = Folder(
            client=client,
            target="t",
            connection=Connection("s3"),
            source=source,
            values={"batch": "10"},
            operation=operation,
        )
        store.folder = str(tmp_path / "table")
        return store

    return make


@pytest.mark.parametrize("client", DeltaRs.clients)
def test_small_files_become_one_and_the_next_read_has_every_row(make, client):
    make("write", client).write(10, OperationClock())
    attempt, store = Attempt(), make(MAINTAIN, client)
    verified = store.operate(attempt)
    figures = attempt.result.metrics
    assert (figures["files_before"], figures["files_after"]) == (5, 1)
    assert figures.keys() == set(bulk_study().operation(MAINTAIN).metrics)
    assert figures["maintain_s"] == attempt.clock.operation_s + 0.25, "with the barrier"
    assert attempt.phases == ["prepare", "operation", "barrier", "measured", "verify", "teardown"]
    assert verified == "50 rows counted; all 2 fields by reading back with pyarrow ParquetFile.iter_batches()"
    assert attempt.result.data_bytes == 1
    reader = make("read", client)
    reader.connect = lambda: None
    read(reader, ROWS)


@pytest.mark.parametrize("wrong", ["n = 3", "n >= 0"])
def test_a_row_that_the_maintenance_lost_is_noticed(make, monkeypatch, wrong):
    make("write", "tuned").write(10, OperationClock())
    monkeypatch.setattr(Folder, "spoil", staticmethod(lambda table: table.delete(wrong)))
    attempt = Attempt()
    with pytest.raises(VerificationFailed, match="The server counts"):
        make(MAINTAIN, "tuned").operate(attempt)
    assert attempt.result.metrics["maintain_s"] > 0, "a failure keeps the figure"


def test_a_changed_value_is_noticed(make, monkeypatch):
    make("write", "tuned").write(10, OperationClock())
    changed = {"predicate": "n = 3", "updates": {"text": "'other'"}}
    monkeypatch.setattr(Folder, "spoil", staticmethod(lambda table: table.update(**changed)))
    with pytest.raises(VerificationFailed, match="differs from the dataset"):
        make(MAINTAIN, "tuned").operate(Attempt())


def test_a_maintenance_that_makes_more_files_fails(make, monkeypatch):
    make("write").write(None, OperationClock())
    store = make(MAINTAIN)
    counts = iter((1, 2))
    monkeypatch.setattr(store, "files", lambda: next(counts))
    with pytest.raises(VerificationFailed, match="made 2 files of 1"):
        store.operate(Attempt())


def test_a_store_without_a_number_of_files_reports_none(make, monkeypatch):
    make("write").write(10, OperationClock())
    store, attempt = make(MAINTAIN), Attempt()
    monkeypatch.setattr(store, "files", lambda: None)
    store.operate(attempt)
    lacks = set(bulk_study().store("postgresql").lacks)
    assert attempt.result.metrics.keys() == set(bulk_study().operation(MAINTAIN).metrics) - lacks
