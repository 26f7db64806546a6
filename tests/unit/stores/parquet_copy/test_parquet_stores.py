"""The study's stores with files like Spark's, and the floor, in this process."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from storebench.attempt import run
from storebench.attempt.clock import PhaseClock
from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.errors import SpecError, StoreRefused, VerificationFailed
from storebench.stores.file_servers import OzoneServer
from storebench.stores.parquet_copy import base, disk, local, ozone
from storebench.stores.parquet_copy.network import Traffic
from storebench.stores.parquet_copy.rows import Rows, binary, summed
from storebench.stores.spark import SparkDriver
from storebench.study import studies

ROWS, ITERATIONS = 1000, 2
ALL = Rows(7, ITERATIONS, ROWS, 100)


@pytest.fixture(scope="module")
def study():
    return studies.find("parquet_copy")


def spec_of(store, operation, client="reference", **more):
    told = {"driver_memory": "1g", "cpu_limit": "False"}
    axes = {"iterations": str(ITERATIONS), "record_bytes": "100"}
    return AttemptSpec(
        operation,
        "k",
        "parquet_copy",
        store,
        client,
        axes,
        ROWS,
        7,
        "t",
        "b",
        None,
        "r/",
        options=told,
        **more,
    )


@pytest.fixture
def spark(tmp_path, monkeypatch):
    """Return a store of the volume whose Spark has two cores and writes the files that a test provides."""
    monkeypatch.setattr(local, "FOLDER", str(tmp_path))

    def made(client="reference"):
        store = local.Local.of(spec_of("local", "generate", client), None, None)
        store._session = SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2))
        return store

    return made


def leave(folder, values, files=2, mark="_SUCCESS", ids=None):
    """Write files as Spark does."""
    folder.mkdir(parents=True)
    ids = np.arange(len(values)) if ids is None else ids
    for number, (some_ids, some) in enumerate(
        zip(np.array_split(ids, files), np.array_split(values, files), strict=True)
    ):
        table = pa.table({"id": some_ids, "bytes": binary(some)})
        pq.write_table(
            table, folder / f"part-{number}.parquet", write_page_checksum=True, compression="snappy"
        )
    (folder / mark).touch()


class Recorded:
    def __init__(self):
        self.metrics, self.result = {}, SimpleNamespace(data_bytes=None)

    def metric(self, name, value):
        self.metrics[name] = value


def verify(store, tasks):
    attempt = Recorded()
    return store._verify(attempt, store.folder(base.GENERATED), tasks), attempt


def test_what_spark_has_left_is_read_back_and_measured(spark, tmp_path):
    store = spark()
    leave(tmp_path / store.folder(base.GENERATED), ALL.made(0, ALL.total), files=4)
    said, attempt = verify(store, store._generated_files())
    assert "2,000 rows in 4 files" in said and str(ALL.checksum()) in said
    assert attempt.metrics["files"] == 4
    assert attempt.metrics["disk_bytes"] >= attempt.metrics["file_bytes"] > ALL.total_bytes
    assert attempt.result.data_bytes == attempt.metrics["disk_bytes"]


@pytest.mark.parametrize("wrong", ["a bit", "a row less", "other ids", "a row twice"])
def test_other_rows_are_noticed(spark, tmp_path, wrong):
    store, values, ids = spark(), ALL.made(0, ALL.total).copy(), np.arange(ALL.total)
    if wrong == "a bit":
        values[3, 3] ^= 1
    elif wrong == "a row less":
        values, ids = values[:-1], ids[:-1]
    elif wrong == "other ids":
        ids = ids + 1
    else:
        values[5], ids[5] = values[6], ids[6]
    leave(tmp_path / store.folder(base.GENERATED), values, files=4, ids=ids)
    with pytest.raises(VerificationFailed, match=r"rows with the checksum \w+, and not 2,000 with"):
        verify(store, 4)


def test_bytes_that_have_changed_on_disk_are_noticed(spark, tmp_path):
    store = spark()
    folder = tmp_path / store.folder(base.GENERATED)
    leave(folder, ALL.made(0, ALL.total), files=4)
    path = folder / "part-2.parquet"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(VerificationFailed, match=r"part-2\.parquet has other rows"):
        verify(store, 4)


@pytest.mark.parametrize(("files", "tasks"), [(4, 2), (2, 4)])
def test_another_number_of_files_is_noticed(spark, tmp_path, files, tasks):
    store = spark()
    leave(tmp_path / store.folder(base.GENERATED), ALL.made(0, ALL.total), files=files)
    with pytest.raises(VerificationFailed, match=f"There are {files} files, and {tasks} tasks"):
        verify(store, tasks)


def test_a_write_without_an_end_is_not_whole(spark, tmp_path):
    store = spark()
    leave(tmp_path / store.folder(base.GENERATED), ALL.made(0, ALL.total), mark="_temporary")
    with pytest.raises(VerificationFailed, match="was not written to its end"):
        verify(store, 2)


def test_the_tuned_client_writes_files_of_one_size(spark):
    store = spark("tuned")
    assert store._tuned_files(ALL) == store._generated_files() == 2, "one for each task at a time"
    assert store._tuned_files(Rows(1, 10, 100_000, 1000)) == 8, "of 125 MB each"
    assert store._tuned_files(Rows(1, 1, 1, 10)) == 1


def test_the_reference_client_leaves_files_of_each_iteration(spark):
    assert spark()._generated_files() == 4


def test_an_iteration_that_does_not_fit_into_the_pod_is_refused_with_what_to_do():
    fits = Rows(1, 200, 100_000, 1000)
    base.check_memory(fits, "2g", 8 << 30)
    base.check_memory(fits, "2g", None)
    with pytest.raises(SpecError, match=r"5,000,000,000 bytes.*give pods more \(pod_memory\)"):
        base.check_memory(Rows(1, 1, 5_000_000, 1000), "2g", 8 << 30)
    with pytest.raises(SpecError, match="driver_memory is 768m"):
        base.check_memory(fits, "768m", 1 << 30)


def test_an_axis_that_means_nothing_to_a_store_has_its_first_value(spark):
    store = spark()
    assert (store.values["executors"], store.checksum) == ("local", True)


def test_the_second_pass_of_null_sees_each_row():
    ids = pa.RecordBatch.from_pydict({"id": np.arange(ALL.total)})
    (total,) = summed(ALL, ALL.record_batches([ids]))
    assert total.to_pylist() == [{"rows": ALL.total, "sum": str(ALL.checksum())}]


@pytest.fixture
def attempt(study, tmp_path, monkeypatch):
    """Run one operation of the floor; returns the result."""
    monkeypatch.setattr(disk, "FOLDER", tmp_path)
    monkeypatch.setattr(run, "client_for", lambda connection: None)
    monkeypatch.setattr(
        Connection, "from_environment", classmethod(lambda cls, name: SimpleNamespace(extra={}))
    )

    def attempt(operation):
        tried = run.Attempt(spec_of("disk", operation), study.store("disk"), PhaseClock())
        tried.run()
        return tried.result

    return attempt


def test_the_floor_is_written_and_copied_and_compared(attempt, tmp_path, study):
    generated, copied = attempt("generate"), attempt("copy")
    for result in (generated, copied):
        assert result.status == "verified" and "2,000 rows read back" in result.verification
        assert result.durability == "disk"
        assert result.metrics["file_bytes"] == ALL.total_bytes and result.metrics["time_s"] > 0
    assert {"read_mb_per_s", "write_mb_per_s"} <= set(copied.metrics)
    assert (tmp_path / "copied").read_bytes() == ALL.made(0, ALL.total).tobytes()
    known = {metric.name for metric in study.metrics}
    assert set(generated.metrics) | set(copied.metrics) <= known


def test_the_floor_notices_other_bytes(attempt, tmp_path):
    attempt("generate")
    with (tmp_path / "generated").open("r+b") as file:
        file.seek(1000)
        file.write(b"\n")
    with pytest.raises(VerificationFailed, match="has other bytes"):
        attempt("copy")


def test_a_file_system_with_servers_has_its_place_before_the_first_look(monkeypatch):
    did = []
    monkeypatch.setattr(SparkDriver, "start", lambda self, file_systems, extra: did.append("session"))
    monkeypatch.setattr(OzoneServer, "prepare", lambda self: did.append("place"))
    store = ozone.Ozone.of(spec_of("ozone", "copy"), Connection("ozone", "h"), None)
    store.begin([store.file_system])
    assert did == ["session", "place"]


def test_the_floor_does_not_write_over_what_is_there(attempt):
    attempt("generate")
    with pytest.raises(StoreRefused, match="exists"):
        attempt("generate")


def test_the_floor_says_that_the_volume_is_full(attempt, monkeypatch):
    def full(write, data):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(disk, "_write_all", full)
    with pytest.raises(StoreRefused, match="The volume is full"):
        attempt("generate")


def test_traffic_is_that_of_all_interfaces_but_the_pods_own(tmp_path, monkeypatch):
    devices = tmp_path / "dev"
    monkeypatch.setattr("storebench.stores.parquet_copy.network.DEVICES", devices)
    assert Traffic.so_far() is None
    head = "Inter-|   Receive\n face |bytes packets\n"
    line = "{}: {} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n"
    devices.write_text(head + line.format("    lo", 500, 500) + line.format("  eth0", 100, 30))
    before = Traffic.so_far()
    devices.write_text(head + line.format("    lo", 900, 900) + line.format("  eth0", 1100, 40))
    assert Traffic.so_far().since(before) == Traffic(1000, 10)
