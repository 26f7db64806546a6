"""Tables of Delta Lake in a distributed file system, with a NameNode in this process."""

from types import SimpleNamespace

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from storebench.attempt.spec import AttemptSpec
from storebench.connection import Connection
from storebench.dataset.schema import FIELDS
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.spark.filesystems.hdfs import Hdfs
from storebench.spark.filesystems.s3 import S3
from storebench.stores import caches
from storebench.stores.bulk_write_read import delta_spark
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark
from storebench.stores.spark import SparkDriver
from tests.unit.stores.namenode import served

FOLDER = "storebench/t"


def spec_of(store, operation="write"):
    key = f"bulk_write_read/{store}/reference/rows=1/seed=7"
    return AttemptSpec(
        operation, key, "bulk_write_read", store, "reference", {}, 1, 7, "t", "b", "datasets/x/", "r/"
    )


@pytest.fixture
def node():
    with served() as found:
        yield found


@pytest.fixture
def store(node, monkeypatch):
    """Return a store with tables in HDFS. `store.began` has the file systems of each requested session."""
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    began = []
    monkeypatch.setattr(SparkDriver, "start", lambda self, file_systems, extra: began.append(file_systems))

    def made(operation="write"):
        found = DeltaSpark.of(
            spec_of("delta-spark@hdfs_one", operation), node.connection(), SimpleNamespace()
        )
        found.began = began
        return found

    return made


def put_table(node, folder, rows):
    """Write a table as Spark does, in two commits."""
    for _ in range(2):
        write_deltalake(folder, pa.table({"id": list(range(rows))}), mode="append")
    for path in folder.rglob("*"):
        if path.is_file():
            node.files[f"{FOLDER}/{path.relative_to(folder)}"] = path.read_bytes()


def test_the_name_says_where_tables_are():
    assert DeltaSpark.server_of("delta-spark") is DeltaSpark.server_of("delta-spark@pool") is None
    assert DeltaSpark.connection_of("delta-spark") == DeltaSpark.connection_of("delta-spark@pool") == "s3"
    assert DeltaSpark.server_of("delta-spark@ozone") == ("ozone", "")
    assert DeltaSpark.connection_of("delta-spark@ozone") == "ozone"
    assert DeltaSpark.server_of("delta-spark@hdfs_one") == ("hdfs", "one")
    assert DeltaSpark.connection_of("delta-spark@hdfs_one") == "hdfs_one"
    assert not DeltaSpark.has_server(), "by itself"


def test_in_s3_all_is_as_it_was():
    found = DeltaSpark.of(spec_of("delta-spark"), Connection("s3"), None)
    assert type(found) is DeltaSpark and found.figures_cover == "engine"
    assert found.uri("s3a") == "s3a://b/tables/t" and found.durability().kind == "s3"


@pytest.mark.parametrize(
    ("kind", "address"), [("hdfs", "hdfs://h:8020/"), ("ozone", "ofs://h:9862/storebench/storebench/")]
)
def test_spark_writes_into_the_file_system(kind, address):
    found = DeltaSpark.of(spec_of(f"delta-spark@{kind}"), Connection(kind, "h"), None)
    assert found.uri() == found._path == f"{address}{FOLDER}"
    assert found.figures_cover == "client", "servers of their own do a part of the work"


def test_the_session_has_the_csv_and_the_table(store, node):
    one = store()
    one.connect()
    ((s3, hdfs),) = one.began
    assert isinstance(s3, S3) and isinstance(hdfs, Hdfs)
    node.state = "safeMode"
    with pytest.raises(StoreRefused, match="safe mode"):
        store().connect()
    assert len(one.began) == 1, "no session for a file system that cannot be used"


def test_a_read_of_what_is_not_there_is_refused(store, node, tmp_path):
    with pytest.raises(StoreRefused, match=r"There is no Delta table at hdfs://.*/storebench/t: "):
        store("read").connect()
    put_table(node, tmp_path / "table", 5)
    store("read").connect()


def test_a_table_is_verified_by_delta_rs(store, node, tmp_path):
    put_table(node, tmp_path / "table", 5)
    one = store()
    one.source.schema = FIELDS  # the manifest's
    assert one.count() == 10
    found = [str(text) for chunk in one.scan() for text in chunk["id"]]
    assert sorted(found) == sorted(map(str, [*range(5)] * 2))
    opened = [url for method, url in node.asked if "op=OPEN" in url and "offset" not in url]
    assert len(opened) == len(node.files), "each file came once"


def test_a_file_of_the_table_that_is_lost_is_noticed(store, node, tmp_path):
    put_table(node, tmp_path / "table", 5)
    del node.files[next(path for path in node.files if path.endswith(".parquet"))]
    with pytest.raises(StoreRefused, match="delta-rs failed at hdfs://"):
        store().count()


def test_the_file_system_tells_the_size_and_removes_the_table(store, node, tmp_path):
    put_table(node, tmp_path / "table", 5)
    data = sum(len(one) for path, one in node.files.items() if path.endswith(".parquet"))
    one = store("drop")
    assert one.size_bytes() == 3 * sum(map(len, node.files.values()))
    assert one.needed_bytes() == data, "one copy of what a read decodes"
    one.connect()
    assert one.began == [], "a drop needs no Spark"
    one.drop()
    assert not node.files


def test_a_write_begins_with_no_table_and_the_place_for_it(store, node, tmp_path, monkeypatch):
    put_table(node, tmp_path / "table", 5)
    one, found = store(), []
    monkeypatch.setattr(type(one.file_server), "prepare", lambda self: found.append(bool(node.files)))
    one.prepare()
    assert found == [True] and not node.files


def test_a_size_that_nobody_tells_is_none(store, node):
    node.refuses = "not now"
    assert store().size_bytes() is None


def test_servers_that_were_stopped_are_waited_for(store, node, monkeypatch):
    monkeypatch.setattr("storebench.stores.caches.AGAIN_S", 0)
    answers = iter([StoreUnreachable("not yet"), None])

    def check(self):
        if error := next(answers):
            raise error

    one = store("read")
    monkeypatch.setattr(type(one.file_server.files), "check", check)
    with one.away():
        pass
    assert next(answers, "all were asked for") == "all were asked for"


def test_what_was_written_to_is_recorded(store, node, monkeypatch):
    monkeypatch.setattr(delta_spark, "_delta_version", lambda spark: "4.4.0")
    one = store()
    one._session = SimpleNamespace(version="4.2.1", conf=SimpleNamespace(get=lambda name: "true"))
    told = one.describe()
    assert (told.name, told.version) == ("Delta Lake", "4.4.0 on Spark 4.2.1")
    assert told.settings["tables"] == "HDFS 3.5.0" and told.settings["dfs.replication"] == "3"
    assert one.durability().stated == "dfs.replication=3, dfs.datanode.synconclose=false"


def test_after_a_new_start_the_safe_mode_is_waited_for(store, node, monkeypatch):
    waits = []

    def wait(seconds):
        waits.append(seconds)
        if len(waits) > 3:
            node.state = "Operational"

    monkeypatch.setattr(caches.time, "sleep", wait)
    monkeypatch.setattr(caches.time, "monotonic", lambda: sum(waits))
    one = store("read")
    with one.away():
        node.state = "safeMode"
    assert waits == [caches.SETTLE_S] + [caches.AGAIN_S] * 3
    node.living = 0
    with pytest.raises(StoreRefused, match="living DataNodes"), one.away():
        pass
    assert sum(waits) > caches.REACHABLE_S
