import os

import pytest

from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.spark import session
from storebench.spark.filesystems.hdfs import USER, Hdfs
from storebench.spark.filesystems.local import Local
from storebench.spark.filesystems.s3 import S3

NAMENODE = Connection("hdfs", "hdfs-1", extra={"hadoop": {"dfs.replication": "3"}})


def test_each_has_addresses_of_its_own():
    assert Hdfs(NAMENODE).uri("a/b") == "hdfs://hdfs-1:8020/a/b"
    assert Hdfs(Connection("hdfs", "n", 9000)).uri("a") == "hdfs://n:9000/a"
    assert S3(Connection("s3"), "bucket").uri("a/b") == "s3a://bucket/a/b"
    assert Local("/data").uri("a/b") == "file:///data/a/b"


def test_checksums_of_hdfs_are_the_clients_choice_and_so_are_the_copies():
    on, off = (Hdfs(NAMENODE, checksum=value).settings() for value in (True, False))
    assert on["spark.hadoop.dfs.checksum.type"] == "CRC32C"
    assert off["spark.hadoop.dfs.checksum.type"] == "NULL"
    assert on["spark.hadoop.dfs.replication"] == off["spark.hadoop.dfs.replication"] == "3"


def test_the_connection_cannot_change_what_is_measured():
    asked = Connection("hdfs", "n", extra={"hadoop": {"dfs.checksum.type": "NULL"}})
    assert Hdfs(asked).settings()["spark.hadoop.dfs.checksum.type"] == "CRC32C"


def test_a_login_at_hdfs_reaches_the_driver_and_the_executors(monkeypatch):
    monkeypatch.delenv(USER, raising=False)
    Hdfs(NAMENODE).log_in()
    assert USER not in os.environ
    monkeypatch.setenv(USER, "")
    fs = Hdfs(Connection("hdfs", "n", login="bench"))
    fs.log_in()
    assert os.environ[USER] == "bench"
    assert fs.settings()[f"spark.executorEnv.{USER}"] == "bench"


def test_hdfs_without_a_namenode_is_refused():
    with pytest.raises(SpecError, match="storebench_hdfs: host: is empty"):
        Hdfs(Connection("hdfs"))


def test_only_files_of_spark_itself_need_the_magic_committer():
    s3 = Connection("s3", login="k", password="secret")
    magic, plain = S3(s3, "b", magic=True).settings(), S3(s3, "b").settings()
    assert magic["spark.hadoop.fs.s3a.committer.name"] == "magic"
    assert not any("committer" in name for name in plain)
    assert "secret" not in magic.values(), "settings are on the command line"


def test_local_files_have_checksums_unless_told_not_to():
    assert Local("/data").settings() == {}
    assert "RawLocalFileSystem" in Local("/data", checksum=False).settings()["spark.hadoop.fs.file.impl"]


def test_a_driver_without_executor_pods_needs_no_cluster():
    found = session.local_settings({"driver_memory": "2g"}, {"SPARK_CLASSES": "/archive"})
    assert not any("kubernetes" in name or "authenticate" in name for name in found)
    assert found["spark.driver.bindAddress"] == "127.0.0.1", "nobody else can reach it"
    assert found["spark.driver.memory"] == "2g"
    assert found["spark.driver.extraJavaOptions"] == "-XX:SharedArchiveFile=/archive"
