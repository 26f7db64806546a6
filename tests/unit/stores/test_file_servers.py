"""Files of a file system, seen by another way than Spark's."""

import pytest

from storebench.connection import Connection
from storebench.errors import StoreRefused, StoreUnreachable, VerificationFailed
from storebench.stores.file_servers import file_server
from storebench.stores.files import LocalFiles, S3Files
from storebench.stores.webhdfs import WebHdfs
from tests.unit.stores.namenode import served

PARTS = {"part-0.parquet": b"first", "part-1.parquet": b"second!"}
WHOLE = {**PARTS, "_SUCCESS": b"", ".part-0.parquet.crc": b"crc"}


class Bucket:
    """An S3 client of one bucket."""

    def __init__(self):
        self.objects = {}
        self.meta = type("meta", (), {"endpoint_url": "http://s3"})

    def get_paginator(self, _):
        return self

    def paginate(self, Bucket, Prefix):  # noqa: N803
        found = [
            {"Key": key, "Size": len(data)} for key, data in self.objects.items() if key.startswith(Prefix)
        ]
        yield {"Contents": found} if found else {}

    def get_object(self, Bucket, Key):  # noqa: N803
        import io

        return {"Body": io.BytesIO(self.objects[Key])}

    def delete_objects(self, Bucket, Delete):  # noqa: N803
        for one in Delete["Objects"]:
            del self.objects[one["Key"]]


@pytest.fixture
def node():
    with served() as found:
        yield found


@pytest.fixture(params=["local", "s3", "hdfs"])
def place(request, tmp_path, node):
    """Return a file server, and a function that writes files to it."""
    if request.param == "local":

        def put(path, data):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(data)

        return LocalFiles(tmp_path), put
    if request.param == "s3":
        bucket = Bucket()
        return S3Files(bucket, "b"), bucket.objects.__setitem__
    return WebHdfs(node.connection()), node.files.__setitem__


def fill(put, folder, files):
    for name, data in files.items():
        put(f"{folder}/{name}", data)


def test_what_spark_has_written_is_found_and_read(place):
    files, put = place
    fill(put, "x/generated", WHOLE)
    listed = files.listed("x/generated")
    assert listed.sizes == {"part-0.parquet": 5, "part-1.parquet": 7} and listed.file_bytes == 12
    assert dict(files.parts("x/generated")) == PARTS
    assert files.disk_bytes("x/generated") >= 12


def test_what_is_not_there_is_no_folder(place):
    files, _ = place
    assert files.entries("x/generated") is None
    files.check_absent("x/generated")
    files.remove("x")
    with pytest.raises(VerificationFailed, match="is not there"):
        files.listed("x/generated")


def test_a_destination_that_exists_is_refused(place):
    files, put = place
    fill(put, "x/copied", PARTS)
    with pytest.raises(StoreRefused, match="The destination x/copied exists"):
        files.check_absent("x/copied")


@pytest.mark.parametrize(
    "left", [{}, {"_SUCCESS": b"", "_temporary/0/part-0": b"x"}, {"_SUCCESS": b"", "__magic/x": b"x"}]
)
def test_a_write_that_has_not_ended_is_not_taken_for_a_whole_one(place, left):
    files, put = place
    fill(put, "x/copied", {**PARTS, **left})
    with pytest.raises(VerificationFailed, match="was not written to its end"):
        files.listed("x/copied")


def test_a_removal_takes_all_of_the_cell_and_nothing_else(place):
    files, put = place
    fill(put, "x/1/copied", {**WHOLE, "_temporary/0/part-0": b"x"})
    fill(put, "x/12/copied", WHOLE)
    files.remove("x/1")
    assert files.entries("x/1") is None
    assert files.listed("x/12/copied").file_bytes == 12


def test_hdfs_tells_the_bytes_of_all_copies(node):
    fill(node.files.__setitem__, "x", PARTS)
    assert WebHdfs(node.connection()).disk_bytes("x") == 36


def test_a_safe_mode_is_said_before_anything_is_done(node):
    node.state, node.living = "safeMode", 1
    with pytest.raises(StoreRefused, match=r"is in its safe mode.*It sees 1"):
        WebHdfs(node.connection()).check()


def test_too_few_datanodes_are_said_with_the_copies_that_are_asked_for(node):
    node.living = 2
    WebHdfs(node.connection(hadoop={"dfs.replication": "2"})).check()
    with pytest.raises(StoreRefused, match="2 living DataNodes, and each block is to have 3 copies"):
        WebHdfs(node.connection()).check()


def test_a_datanode_that_breaks_off_is_no_whole_file(node):
    node.files["x/a"] = b"a part of it"
    node.breaks_off = True  # as in the middle of a damaged block
    with pytest.raises(StoreRefused, match=r"broke off its answer \(.*Is a block damaged"):
        WebHdfs(node.connection()).read("x/a")


def test_what_is_no_namenode_or_does_not_answer_says_where(node):
    node.refuses = "go away\n\tat org.apache"
    with pytest.raises(StoreRefused, match=r"go away$"):
        WebHdfs(node.connection()).entries("x")
    node.refuses = None
    port = node.port
    silent = Connection("hdfs", "127.0.0.1", extra={"http_port": 9})
    with pytest.raises(StoreUnreachable, match=r"does not answer at http://127.0.0.1:9"):
        WebHdfs(silent).check()
    node.answer = lambda method, url: (200, {"beans": []})
    with pytest.raises(StoreRefused, match=f"{port} does not answer as a NameNode does"):
        WebHdfs(node.connection()).version()


def test_a_login_is_told_to_hdfs(node):
    connection = Connection("hdfs", "127.0.0.1", login="bench", extra={"http_port": node.port})
    WebHdfs(connection).remove("x")
    assert "user.name=bench" in node.asked[-1][1] and "recursive=true" in node.asked[-1][1]


@pytest.mark.parametrize(("told", "promised"), [(None, "memory"), ("false", "memory"), ("true", "disk")])
def test_what_hdfs_promises_is_what_its_namenode_says(node, told, promised):
    node.synced = told
    found = file_server("hdfs", node.connection(hadoop={"dfs.replication": "1"}), lambda: None)
    synced = told or "false"
    assert (found.title, found.version()) == ("HDFS", "3.5.0")
    assert found.settings() == {
        "dfs.replication": "1",
        "dfs.datanode.synconclose": synced,
        "dfs.blocksize": "134217728",
    }
    stated = f"dfs.replication=1, dfs.datanode.synconclose={synced}"
    assert (found.durability().kind, found.durability().stated) == (promised, stated)


def test_what_a_namenode_does_not_tell_promises_nothing(node):
    node.answer = lambda method, url: (404, {})
    assert file_server("hdfs", node.connection(), lambda: None).durability().kind == "unknown"
