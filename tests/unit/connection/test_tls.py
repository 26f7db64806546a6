"""Real clients, and real TLS servers behind a certificate of a user's own CA. The servers close every connection: a client that trusts the
certificate reports the closed connection, and any other client reports the certificate.
"""

import base64
import contextlib
import json
import socket
import subprocess
import sys
import threading

import pytest

from storebench import s3
from storebench.connection import Connection, tls
from storebench.errors import StorebenchError
from storebench.spark import executor, session
from storebench.spark.filesystems.s3 import S3
from storebench.stores import load
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from tests.certificates import authority, behind_tls
from tests.unit.spark.test_executor import ENVIRONMENT


@pytest.fixture(scope="module")
def closing():
    """Start a server that closes each connection after reading some bytes. Yield its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=end, args=(client,), daemon=True).start()

    def end(client):
        with client, contextlib.suppress(OSError):
            client.recv(1)

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


@pytest.fixture(scope="module")
def encrypted(closing):
    with behind_tls(closing) as port:
        yield port


def connected(study, store, port, extra):
    """Return the error of the store's `connect`."""
    server = Connection(store, host="127.0.0.1", port=port, login="bench", password="S3cr3t", extra=extra)
    values = {"consistency": "one", "request_timeout_s": "3"}
    more = {"source": None} if study == "bulk_write_read" else {}
    found = load(study, store)(
        client="reference", target="t", connection=server, values=values, operation="drop", **more
    )
    with pytest.raises(StorebenchError) as caught:
        found.connect()
    return str(caught.value)


CLIENTS = [
    ("bulk_write_read", "mongodb"),
    ("bulk_write_read", "elasticsearch"),
    ("point_operations", "mongodb"),
    ("point_operations", "cassandra"),
]


@pytest.mark.parametrize(("study", "store"), CLIENTS)
def test_a_certificate_of_ones_own_ca_is_taken_with_that_ca_and_refused_without(
    study, store, encrypted, monkeypatch
):
    monkeypatch.setattr("storebench.stores.bulk_write_read.mongodb.CONNECT_TIMEOUT_MS", 1_500)
    monkeypatch.setattr("storebench.stores.point_operations.mongodb.CONNECT_S", 2)
    monkeypatch.setattr("storebench.stores.point_operations.cassandra.CONNECT_S", 2)
    asked = {"scheme": "https"} if store == "elasticsearch" else {"tls": True}
    advised = f"certificates of its CA (PEM) into the extra ca_certs of the connection storebench_{store}"
    assert advised in connected(study, store, encrypted, asked)
    assert "certificate" not in connected(study, store, encrypted, {"ca_certs": authority().certificate})
    assert "certificate" not in connected(study, store, encrypted, asked | {"verify_certs": False})


@pytest.mark.parametrize("trusts", [True, False])
def test_boto3_takes_a_certificate_of_ones_own_ca_with_that_ca_alone(encrypted, trusts):
    extra = {"endpoint_url": f"https://127.0.0.1:{encrypted}"}
    extra |= {"ca_certs": authority().certificate} if trusts else {}
    client = s3.client_for(Connection("s3", login="k", password="x", extra=extra))
    with pytest.raises(StorebenchError) as caught:
        s3.check_bucket(client, "b")
    assert ("extra ca_certs of the connection storebench_s3" in str(caught.value)) != trusts


@pytest.mark.parametrize("trusts", [True, False])
def test_delta_rs_takes_a_certificate_of_ones_own_ca_with_that_ca_alone(encrypted, trusts):
    """The library runs in a separate process, since it reads the CA from the environment."""
    extra = {"endpoint_url": f"https://127.0.0.1:{encrypted}", "delta_rs": {"max_retries": "0"}}
    extra |= {"ca_certs": authority().certificate} if trusts else {}
    told = Connection("s3", login="k", password="x", extra=extra).to_json()
    program = (
        "import sys\n"
        "from types import SimpleNamespace\n"
        "from storebench.connection import Connection\n"
        f"from {DeltaRs.__module__} import DeltaRs\n"
        "server = Connection.from_json('s3', sys.argv[1])\n"
        "store = DeltaRs(client='reference', target='t', connection=server, source=SimpleNamespace(bucket='b'))\n"
        "with store.table_errors():\n"
        "    store.open_table()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, told], capture_output=True, text=True, timeout=60, check=False
    )
    assert "StorebenchError" in done.stderr or "StoreUnreachable" in done.stderr, done.stderr
    assert ("extra ca_certs of the connection storebench_s3" in done.stderr) != trusts, done.stderr


def test_a_server_without_tls_is_told_from_one_with_another_certificate(closing):
    said = connected("bulk_write_read", "elasticsearch", plain_http(), {"scheme": "https"})
    assert "The server does not speak TLS there" in said


@pytest.fixture(scope="module")
def mariadb():
    """Start a server that greets like MariaDB, switches to TLS on request, and closes the connection. Yield its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    capabilities = 0x200 | 0x800 | 0x8000 | 0x80000  # protocol 4.1, TLS, secure passwords, plugins for logins
    greeting = b"\x0a10.11.0-MariaDB\0" + bytes(4) + b"salt" * 2 + b"\0"
    greeting += (capabilities & 0xFFFF).to_bytes(2, "little") + b"\x2d\x02\x00"
    greeting += (capabilities >> 16).to_bytes(2, "little") + b"\x15" + bytes(10) + b"salt" * 3 + b"\0"
    greeting += b"mysql_native_password\0"

    def serve():
        with contextlib.suppress(OSError):
            while True:
                client, _ = listener.accept()
                with client, contextlib.suppress(OSError):
                    client.sendall(len(greeting).to_bytes(3, "little") + b"\0" + greeting)
                    client.recv(36)  # the request for TLS
                    authority().context().wrap_socket(client, server_side=True).close()

    threading.Thread(target=serve, daemon=True).start()
    yield listener.getsockname()[1]
    listener.close()


def test_mariadb_takes_a_certificate_of_ones_own_ca_with_that_ca_alone(mariadb):
    def said(**extra):
        server = Connection("mariadb", "127.0.0.1", mariadb, login="bench", password="S3cr3t", extra=extra)
        store = load("column_scan", "mariadb")(
            client="reference", target="t", connection=server, operation="drop"
        )
        with pytest.raises(StorebenchError) as caught:
            store._open(with_database=False)
        return str(caught.value)

    assert "into the extra ca_certs of the connection storebench_mariadb" in said(tls=True)
    assert "certificate" not in said(ca_certs=authority().certificate)
    assert "certificate" not in said(verify_certs=False)


def plain_http():
    """Start a server that answers every request in plain HTTP. Yield its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        client, _ = listener.accept()
        with client, listener:
            client.recv(1)
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            client.recv(65_536)

    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]


def test_drivers_and_executors_of_spark_trust_the_ca_of_s3():
    file_systems = [S3(Connection("s3", extra={"ca_certs": authority().certificate})), S3(Connection("s3"))]
    found = session.trusting({session.DRIVER_OPTIONS: "-Xshare:auto"}, file_systems)
    assert found[session.DRIVER_OPTIONS].startswith("-Xshare:auto -Djavax.net.ssl.trustStore=/")
    told = found[f"spark.executorEnv.{executor.CERTIFICATES}"]
    assert base64.b64decode(told).decode() == authority().certificate.strip()
    command = executor.java_command({**ENVIRONMENT, executor.CERTIFICATES: told})
    assert [one for one in command if "trustStore" in one] == list(
        tls.java_options(authority().certificate.strip())
    )
    assert session.trusting({}, [S3(Connection("s3"))]) == {}
    assert not [one for one in executor.java_command(ENVIRONMENT) if "trustStore" in one]


def test_a_connection_with_a_ca_is_the_same_behind_a_secret():
    once = Connection("mongodb", "db", extra={"ca_certs": authority().certificate})
    assert once.tls and json.loads(once.to_json())["extra"]["ca_certs"] == authority().certificate.strip()
    assert Connection.from_json("mongodb", once.to_json()) == once
