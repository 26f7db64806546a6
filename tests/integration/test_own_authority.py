"""Servers behind a certificate of a user's own CA: whole attempts with and without the CA's text in the connection."""

import os
import threading
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from storebench import s3
from storebench.connection import Connection, tls
from storebench.errors import StorebenchError
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.delta_reader import CLASSPATH, ReaderProcess
from tests.certificates import authority, behind_tls


@pytest.fixture
def encrypted(connections, change_connection):
    """Put all servers of the stack behind TLS, and say so in the connections, with the CA or without."""
    with ExitStack() as stack:

        def change(*, trusts):
            more = {"ca_certs": authority().certificate} if trusts else {}
            for name in ("mongodb", "elasticsearch"):
                ((host, port),) = connections[name].addresses(0)
                port = stack.enter_context(behind_tls(port, host))
                asked = {"scheme": "https"} if name == "elasticsearch" else {"tls": True}
                change_connection(name, host="127.0.0.1", port=port, extra=asked | more)
            there = urlsplit(connections["s3"].extra["endpoint_url"])
            port = stack.enter_context(behind_tls(there.port, there.hostname))
            change_connection("s3", extra={"endpoint_url": f"https://127.0.0.1:{port}"} | more)

        yield change


@pytest.fixture
def built():
    classpath = os.environ.get(CLASSPATH, "")
    if not any(list(Path(entry).parent.glob(Path(entry).name)) for entry in classpath.split(":")):
        pytest.fail(f"{CLASSPATH} names no reader that is built: run these tests with `make integration`")


@pytest.mark.parametrize("store", ["mongodb", "elasticsearch", "delta-rs"])
@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_an_attempt_is_verified_over_tls_with_ones_own_ca(attempt, encrypted, store, client):
    encrypted(trusts=True)
    for operation in ("write", "read"):
        code, result = attempt(operation, store=store, client=client)
        assert (code, result.status, result.error) == (0, "verified", None)


def test_without_the_ca_the_error_names_the_field(attempt, encrypted):
    encrypted(trusts=False)
    code, result = attempt("write", store="delta-rs")
    assert (code, result.error_kind) == (3, "unreachable")
    assert "into the extra ca_certs of the connection storebench_s3" in result.error


@pytest.mark.parametrize("trusts", [True, False])
def test_java_reads_s3_over_tls_with_ones_own_ca_alone(
    attempt, connections, bucket, target, encrypted, trusts
):
    assert attempt("write", store="delta-rs")[0] == 0
    encrypted(trusts=trusts)
    server = Connection.from_environment("s3")
    reader = ReaderProcess(options=tls.java_options(server.extra.get(tls.CA_CERTS)))
    try:
        told = {"reader": "delta-kernel", "client": "reference", "settings": s3.hadoop_settings(server)}
        if trusts:
            reader.ask("open", table=f"s3a://{bucket}/tables/{target}", **told)
            assert reader.ask("read")["rows"] == 2_000
        else:
            with pytest.raises(Exception, match="PKIX path building failed"):
                reader.ask("open", table=f"s3a://{bucket}/tables/{target}", **told)
                reader.ask("read")
    finally:
        reader.close()


def test_every_client_of_s3_sends_the_session_token(built):
    """A server notes the header and refuses, since the stack's S3 has no temporary credentials."""
    seen = []

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers.get("x-amz-security-token"))
            self.send_response(403)
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_GET  # noqa: N815 - the name that the library calls

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        extra = {"endpoint_url": f"http://127.0.0.1:{server.server_port}", "aws_session_token": "TOKEN"}
        connection = Connection("s3", login="key", password="secret", extra=extra)
        reader = ReaderProcess()

        def java():
            told = {
                "reader": "delta-kernel",
                "client": "reference",
                "settings": s3.hadoop_settings(connection),
            }
            reader.ask("open", table="s3a://b/t", **told)
            reader.ask("read")

        clients = [
            lambda: s3.check_bucket(s3.client_for(connection), "b"),
            lambda: DeltaTable("s3://b/t", storage_options=storage_options(connection)),
            java,
        ]
        for client in clients:
            seen.clear()
            with pytest.raises((StorebenchError, OSError, DeltaError)):
                client()
            assert set(seen) == {"TOKEN"}
        reader.close()
        server.shutdown()
