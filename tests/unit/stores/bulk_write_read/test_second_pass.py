"""The second pass of Spark's reads, with Spark's part played by the test: tasks, their pickled results, the driver's sum."""

import io
import pickle
from contextlib import nullcontext
from types import SimpleNamespace

import pyarrow as pa
import pytest

from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.schema import FIELD_NAMES, FIELDS
from storebench.dataset.typed import ARROW_SCHEMA, csv_reader
from storebench.stores.bulk_write_read import second_pass
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark
from storebench.stores.bulk_write_read.second_pass import Seen, SeenSum, of_batches, total_of

ROWS = 300


class Row(tuple):
    """A row like pyspark's: a tuple that knows the names of its fields."""

    __fields__ = FIELD_NAMES


@pytest.fixture(scope="module")
def chunk():
    return generate_chunk(7, 0, ROWS)


@pytest.fixture
def table(chunk):
    return pa.Table.from_batches(csv_reader(io.BytesIO(header() + chunk.csv)), ARROW_SCHEMA)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Use small chunks, so that each task adds several chunks and has pending rows at its end."""
    monkeypatch.setattr(second_pass, "CHUNK_ROWS", 70)


class Accumulator:
    """An accumulator like pyspark's: a task starts at zero and returns its value pickled, and the driver adds the value."""

    def __init__(self, value, param):
        self.value, self.param = value, param

    def begin_task(self):
        self.in_task = pickle.loads(pickle.dumps(self.param.zero(self.value)))

    def add(self, row):
        self.in_task = self.param.addInPlace(self.in_task, row)

    def end_task(self):
        self.value = self.param.addInPlace(self.value, pickle.loads(pickle.dumps(self.in_task)))


class Frame:
    """The frame that a read loads, in two tasks."""

    def __init__(self, table):
        self.parts = table.slice(0, 200), table.slice(200)

    def foreach(self, see):
        for part in self.parts:
            see.__self__.begin_task()
            for row in part.to_pylist():
                see(Row(row.values()))
            see.__self__.end_task()

    def mapInArrow(self, function, schema):  # noqa: N802
        assert schema == second_pass.SCHEMA
        rows = [
            SimpleNamespace(seen=bytearray(value))
            for part in self.parts
            for batch in function(iter(part.to_batches()))
            for value in batch["seen"].to_pylist()
        ]
        return SimpleNamespace(collect=lambda: rows)


@pytest.fixture
def reading(monkeypatch):
    """Return a store whose table Spark loads from this frame."""
    monkeypatch.setattr("storebench.spark.session.errors", lambda what: nullcontext())

    def make(client, table):
        store = DeltaSpark(
            client=client,
            target="t",
            connection=None,
            source=SimpleNamespace(schema=FIELDS),
            operation="read",
        )
        store._load = lambda: Frame(table)
        store._session = SimpleNamespace(sparkContext=SimpleNamespace(accumulator=Accumulator))
        return store

    return make


CLIENTS = ("reference", "tuned")


@pytest.mark.parametrize("client", CLIENTS)
def test_every_row_of_every_task_is_in_the_checksum(reading, table, chunk, client):
    assert vars(reading(client, table).checksum()) == vars(chunk.checksums)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("row", [0, 69, 70, 199, 200, 299])
def test_one_wrong_value_is_noticed(reading, table, chunk, client, row):
    texts = table["city"].to_pylist()
    texts[row] = "Nowhere"
    found = reading(client, table.set_column(FIELD_NAMES.index("city"), "city", [texts])).checksum()
    assert found.rows == ROWS
    assert [name for name in FIELD_NAMES if found.fields[name] != chunk.checksums.fields[name]] == ["city"]
    assert found.row_sum != chunk.checksums.row_sum


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_no_row_of_the_dataset_is_the_datas_fault_and_not_sparks(reading, table, client):
    doubles = table.set_column(0, "id", table["id"].cast(pa.float64()))
    with pytest.raises(ValueError, match=r"field id: (float|double) cannot be integer"):
        reading(client, doubles).checksum()


def test_other_fields_are_named():
    seen = Seen(FIELDS)
    seen.add_batch(pa.record_batch({"more": ["x"]}))
    assert seen.problem == "unknown fields: more"
    total = SeenSum().addInPlace(Seen(FIELDS), seen)
    assert total.problem == seen.problem


def test_a_task_without_rows_adds_nothing():
    (batch,) = of_batches(FIELDS)(iter([]))
    seen = total_of([SimpleNamespace(seen=batch["seen"][0].as_py())], FIELDS)
    assert (seen.checksum.rows, seen.problem) == (0, "")
