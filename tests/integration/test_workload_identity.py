"""Clients of S3 without keys: each takes the role of its pod's service account, whose token the cloud puts into the pod.

A server in place of AWS's STS gives keys with a session token, which the stack's S3 refuses. So a client that reports an invalid token has asked STS, and
has used the keys.
"""

import http.server
import os
import threading
from contextlib import closing, contextmanager
from dataclasses import replace
from urllib.parse import parse_qs

import deltalake
import pytest

from storebench import s3
from storebench.errors import StorebenchError, StoreRefused
from storebench.stores.bulk_write_read.delta import storage_options
from storebench.stores.bulk_write_read.delta_reader import CLASSPATH, ReaderProcess
from tests.certificates import authority

ROLE, JWT = "arn:aws:iam::123456789012:role/storebench", "the.pods.token"
ANSWER = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>{}</AccessKeyId><SecretAccessKey>{}</SecretAccessKey><SessionToken>of-the-role</SessionToken>
<Expiration>2099-01-01T00:00:00Z</Expiration></Credentials>
<AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/storebench/pod</Arn><AssumedRoleId>A:pod</AssumedRoleId></AssumedRoleUser>
</AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>"""


@pytest.fixture
def sts(connections, monkeypatch, tmp_path):
    """Return a context with the requests to an STS, whose address and token are in the environment as in a pod of AWS's Kubernetes."""
    login, password = connections["s3"].login, connections["s3"].password
    asked = []

    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked.append(
                {name: values[0] for name, values in parse_qs(self.path.partition("?")[2] or body).items()}
            )
            content = ANSWER.format(login, password).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/xml")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    @contextmanager
    def answering(tls=False):
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
            if tls:
                server.socket = authority().context().wrap_socket(server.socket, server_side=True)
                monkeypatch.setenv("SSL_CERT_FILE", str(authority().authority_file))
            address = f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
            monkeypatch.setenv("AWS_ENDPOINT_URL_STS", address)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield asked
            server.shutdown()

    (tmp_path / "token").write_text(JWT)
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
    monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return answering


@pytest.fixture
def keyless(connections):
    return replace(connections["s3"], login="", password="")


def is_role(asked):
    return {(one["Action"], one["RoleArn"], one["WebIdentityToken"]) for one in asked} == {
        ("AssumeRoleWithWebIdentity", ROLE, JWT)
    }


def test_the_projects_client(keyless, sts):
    with sts() as asked, pytest.raises(StoreRefused, match="InvalidToken"):
        s3.check_bucket(s3.client_for(keyless), "storebench")
    assert is_role(asked)


def test_delta_rs(keyless, sts):
    with sts(tls=True) as asked, pytest.raises(OSError, match="InvalidToken"):
        deltalake.DeltaTable("s3://storebench/none", storage_options=storage_options(keyless))
    assert is_role(asked)


@pytest.mark.skipif(
    not os.environ.get(CLASSPATH), reason="no reader is built: `make integration` builds the reader"
)
def test_hadoops_client(keyless, sts):
    """Hadoop's client of the Java readers is Spark's client, too."""
    with (
        sts() as asked,
        closing(ReaderProcess()) as reader,
        pytest.raises(StorebenchError, match="InvalidToken"),
    ):
        reader.ask(
            "open",
            reader="delta-kernel",
            client="reference",
            table="s3a://storebench/none",
            settings=s3.hadoop_settings(keyless),
        )
    assert is_role(asked)
