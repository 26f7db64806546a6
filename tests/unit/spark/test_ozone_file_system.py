import json
import os

import pytest

from storebench.connection import Connection
from storebench.errors import SpecError
from storebench.servers.topology import FOLDER, find
from storebench.spark import executor, session
from storebench.spark.filesystems.ozone import JARS, Ozone
from storebench.spark.filesystems.s3 import S3

HADOOP = "spark.hadoop."


@pytest.fixture(autouse=True)
def image(monkeypatch):
    monkeypatch.setenv(JARS, "/opt/ozone/*")


def test_an_address_has_the_om_and_a_bucket():
    assert Ozone(Connection("ozone", "om")).uri("a/b") == "ofs://om:9862/storebench/storebench/a/b"
    other = Ozone(Connection("ozone", "om", 19862, schema="/v/b/"))
    assert other.uri("a") == "ofs://om:19862/v/b/a"


@pytest.mark.parametrize("schema", ["v", "v/b/c"])
def test_what_is_no_bucket_is_refused(schema):
    with pytest.raises(SpecError, match=r"schema of the connection 'ozone' .* VOLUME/BUCKET"):
        Ozone(Connection("ozone", "om", schema=schema))


def test_without_a_host_it_is_refused():
    with pytest.raises(SpecError, match="storebench_ozone: host: is empty"):
        Ozone(Connection("ozone"))


@pytest.mark.parametrize(("checksum", "name"), [(True, "CRC32"), (False, "NONE")])
def test_the_checksum_is_the_clients_choice_whatever_the_connection_says(checksum, name):
    extra = {"hadoop": {"ozone.client.checksum.type": "SHA256", "ozone.replication": 1}}
    found = Ozone(Connection("ozone", "om", extra=extra), checksum=checksum).settings()
    assert found[f"{HADOOP}ozone.client.checksum.type"] == name
    assert found[f"{HADOOP}ozone.replication"] == "1"


@pytest.mark.parametrize(("name", "copies"), [("one", "1"), ("three", "3")])
def test_in_a_runs_own_servers_there_are_as_many_copies_as_datanodes(name, copies, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    told = json.dumps(find("ozone", name).connection("ozone-abc"))
    found = Ozone(Connection.from_json("ozone", told))
    assert found.settings()[f"{HADOOP}ozone.replication"] == copies
    assert found.uri("a").startswith("ofs://ozone-abc:9862/")


def test_commits_of_delta_lake_find_it_too():
    found = Ozone(Connection("ozone", "om")).settings()
    assert found[f"{HADOOP}fs.AbstractFileSystem.ofs.impl"] == "org.apache.hadoop.fs.ozone.RootedOzFs"


def test_it_gives_up_in_the_end():
    attempts = Ozone(Connection("ozone", "om")).settings()[f"{HADOOP}ozone.client.failover.max.attempts"]
    assert sum(2 * n for n in range(1, int(attempts) + 1)) <= 60, "seconds: each wait is 2 s longer"


def test_a_user_is_told_to_driver_and_executors(monkeypatch):
    monkeypatch.setenv("HADOOP_USER_NAME", "other")
    one = Ozone(Connection("ozone", "om", login="hadoop"))
    one.log_in()
    assert os.environ["HADOOP_USER_NAME"] == "hadoop"
    assert one.settings()["spark.executorEnv.HADOOP_USER_NAME"] == "hadoop"


def test_only_a_session_on_ozone_has_its_client_behind_sparks_own_jars():
    ozone, s3 = Ozone(Connection("ozone", "om")), S3(Connection("s3"), "bucket")
    assert session.class_path([s3]) == {}
    assert session.class_path([s3, ozone]) == {"SPARK_DIST_CLASSPATH": "/opt/ozone/*"}


def test_executors_have_it_too(monkeypatch, tmp_path):
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "slf4j-api-2.jar").touch()
    own = executor.class_path(tmp_path)
    assert executor.class_path(tmp_path, "/opt/ozone/*") == f"{own}:/opt/ozone/*"


def test_an_image_without_the_client_says_so(monkeypatch):
    monkeypatch.delenv(JARS)
    with pytest.raises(SpecError, match=r"no client of Ozone. Build images/jvm again"):
        Ozone(Connection("ozone", "om")).jars()
