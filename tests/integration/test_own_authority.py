"""Servers behind a certificate of a CA of one's own: whole attempts, with the CA's text in the connection, and without."""

import os
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from storebench import s3
from storebench.connection import Connection, tls
from storebench.stores.bulk_write_read.delta_reader import CLASSPATH, ReaderProcess
from tests.certificates import authority, behind_tls


@pytest.fixture
def encrypted(connections, change_connection):
    """Put all servers of the stack behind TLS, and say so in the connections, with the CA or without."""
    with ExitStack() as stack:

        def change(*, trusts):
            more = {"ca_certs": authority().certificate} if trusts else {}
            for name in ("mongodb", "elasticsearch"):
                ((_, port),) = connections[name].addresses(0)
                port = stack.enter_context(behind_tls(port))
                asked = {"scheme": "https"} if name == "elasticsearch" else {"tls": True}
                change_connection(name, host="127.0.0.1", port=port, extra=asked | more)
            port = urlsplit(connections["s3"].extra["endpoint_url"]).port
            port = stack.enter_context(behind_tls(port))
            change_connection("s3", extra={"endpoint_url": f"https://127.0.0.1:{port}"} | more)

        yield change


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
    classpath = os.environ.get(CLASSPATH, "")
    if not any(list(Path(entry).parent.glob(Path(entry).name)) for entry in classpath.split(":")):
        pytest.fail(f"{CLASSPATH} names no reader that is built: run these tests with `make integration`")
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
