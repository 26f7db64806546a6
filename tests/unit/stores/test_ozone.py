import json
import threading
from contextlib import contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest

from storebench.connection import Connection
from storebench.errors import StoreRefused, StoreUnreachable, VerificationFailed
from storebench.spark import session as spark_session
from storebench.stores.file_servers import file_server
from storebench.stores.hadoop_files import HadoopFiles
from storebench.stores.ozone_manager import INFO, OzoneManager

CONFIGURATION = {
    "ozone.scm.block.size": "256MB",
    "hdds.container.chunk.write.sync": "false",
    "ozone.om.address": "not told",
}


@contextmanager
def om(configuration=CONFIGURATION, bean=None):
    """Start an OM's web server. Yield a connection to it."""
    bean = {"SoftwareVersion": "2.2.1"} if bean is None else bean

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            url = urlsplit(self.path)
            if url.path == "/jmx":
                assert parse_qs(url.query) == {"qry": [INFO]}
                body = {"beans": [bean] if bean else []}
            elif configuration is not None:
                assert self.headers["Accept"] == "application/json"
                body = {"properties": [{"key": key, "value": value} for key, value in configuration.items()]}
            else:
                return self.send_error(403)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, format, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield lambda **extra: Connection(
            "ozone", "127.0.0.1", extra={"http_port": server.server_address[1], **extra}
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_om_tells_its_version_and_what_decides_what_a_write_promises():
    with om() as connection:
        manager = OzoneManager(connection())
        assert manager.version() == "2.2.1"
        assert manager.settings() == {
            "ozone.scm.block.size": "256MB",
            "hdds.container.chunk.write.sync": "false",
        }


def test_how_many_copies_there_are_is_the_clients_choice_and_never_the_oms():
    with om({**CONFIGURATION, "ozone.server.default.replication": "1"}) as connection:
        assert OzoneManager(connection()).replication == "3"
        assert OzoneManager(connection(hadoop={"ozone.replication": 1})).replication == "1"


def test_what_an_om_does_not_tell_is_unknown():
    with om(configuration=None) as connection:
        assert OzoneManager(connection()).settings() == {}


def test_what_is_no_om_is_refused_and_what_is_not_there_is_unreachable():
    with om(bean={}) as connection:
        there = connection()
        with pytest.raises(StoreRefused, match=r"does not answer as an OM does: .*http_port"):
            OzoneManager(there).version()
    with pytest.raises(StoreUnreachable, match="Ozone's OM does not answer"):
        OzoneManager(there).version()


@pytest.mark.parametrize(
    ("sync", "kind"), [("false", "memory"), ("true", "disk"), (None, "unknown"), ("maybe", "unknown")]
)
def test_an_acknowledgement_promises_what_the_om_says_of_chunks(sync, kind):
    told = {**CONFIGURATION, "hdds.container.chunk.write.sync": sync}
    with om({name: value for name, value in told.items() if value}) as connection:
        there = file_server("ozone", connection(), lambda: None)
        found = there.durability()
        assert found.kind == kind and found.stated.startswith("ozone.replication=3, ")
        assert (there.title, there.version()) == ("Ozone", "2.2.1")
        assert there.settings().items() >= {"ozone.replication": "3", "ozone.scm.block.size": "256MB"}.items()


def test_an_om_that_does_not_answer_is_said_before_ozones_client_tries():
    with om() as connection:
        there = connection()
    with pytest.raises(StoreUnreachable, match="Ozone's OM does not answer"):
        file_server("ozone", there, lambda: None).files.check()


class Client:
    """Hadoop's client, of files below a folder."""

    def __init__(self, root):
        self.root = root

    def at(self, path):
        return self.root / path.removeprefix("fs://")

    def exists(self, path):
        return self.at(path).exists()

    def listStatus(self, path):  # noqa: N802 - as Hadoop has it
        return [
            SimpleNamespace(
                getPath=lambda one=one: SimpleNamespace(getName=lambda: one.name),
                getLen=lambda one=one: one.stat().st_size,
                isFile=one.is_file,
            )
            for one in self.at(path).iterdir()
        ]

    def mkdirs(self, path):
        self.at(path).mkdir(parents=True)

    def copyToLocalFile(self, remove, source, destination, raw):  # noqa: N802
        assert raw is True and remove is False, "no file with checksums beside it, and the source stays"
        Path(destination.removeprefix("file://")).write_bytes(self.at(source).read_bytes())


class HadoopPath(str):
    """A path whose file system is known."""

    def __new__(cls, path, client):
        found = super().__new__(cls, path)
        found.getFileSystem = lambda configuration: client
        return found


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(spark_session, "errors", lambda what: nullcontext())  # py4j's, which is in pods
    (tmp_path / "a" / "_other").mkdir(parents=True)
    for name, data in (("_SUCCESS", b""), ("part-0", b"0123"), ("part-1", b"45")):
        (tmp_path / "a" / name).write_bytes(data)
    hadoop = SimpleNamespace(fs=SimpleNamespace(Path=lambda path: HadoopPath(path, Client(tmp_path))))
    session = SimpleNamespace(
        _jvm=SimpleNamespace(org=SimpleNamespace(apache=SimpleNamespace(hadoop=hadoop))),
        sparkContext=SimpleNamespace(_jsc=SimpleNamespace(hadoopConfiguration=lambda: None)),
    )
    return HadoopFiles(SimpleNamespace(uri=lambda path: f"fs://{path}"), lambda: session)


def test_files_are_seen_by_hadoops_client(files):
    assert files.entries("a") == {"_SUCCESS": 0, "part-0": 4, "part-1": 2, "_other": 0}
    assert files.entries("away") is None
    assert list(files.parts("a")) == [("part-0", b"0123"), ("part-1", b"45")]


def test_a_folder_is_made_with_those_above_it(files):
    files.make("new/one")
    assert files.entries("new") == {"one": 0}


def test_the_bucket_is_made_before_anything_is_looked_for_in_it(monkeypatch):
    made = []
    monkeypatch.setattr(HadoopFiles, "make", lambda self, folder: made.append(folder))
    file_server("ozone", Connection("ozone", "om"), lambda: None).prepare()
    assert made == [""]


def test_a_folder_that_is_not_there_is_not_whole(files):
    with pytest.raises(VerificationFailed, match="away is not there"):
        files.listed("away")
