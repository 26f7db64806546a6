"""A CA of one's own, and servers behind its certificates: openssl makes them, once for all tests of a process."""

import contextlib
import socket
import ssl
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Authority:
    """A CA's certificate as text, and the files of a server of 127.0.0.1 and localhost."""

    certificate: str
    authority_file: Path
    server_certificate: Path
    server_key: Path

    def context(self) -> ssl.SSLContext:
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(self.server_certificate, self.server_key)
        return found


@cache
def authority() -> Authority:
    folder = Path(tempfile.mkdtemp(prefix="storebench-certificates-"))

    def openssl(*arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\nbasicConstraints=CA:FALSE\n")
    openssl(
        "req", "-x509", *key, "-days", "2", "-subj", "/CN=ca of a test", "-keyout", "ca.key", "-out", "ca.pem"
    )
    openssl("req", *key, "-subj", "/CN=server of a test", "-keyout", "server.key", "-out", "server.csr")
    openssl(
        *("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"),
        *("-days", "2", "-extfile", "names", "-out", "server.pem"),
    )  # fmt: skip
    text = (folder / "ca.pem").read_text()
    return Authority(text, folder / "ca.pem", folder / "server.pem", folder / "server.key")


@contextlib.contextmanager
def behind_tls(port: int):
    """Yield the port of 127.0.0.1 on which the server at `port` answers behind a certificate of `authority`."""
    listener = socket.create_server(("127.0.0.1", 0))
    context = authority().context()

    def serve():
        with contextlib.suppress(OSError):  # the listener is closed
            while True:
                client, _ = listener.accept()
                threading.Thread(target=forward, args=(client,), daemon=True).start()

    def forward(client):
        with (
            contextlib.suppress(OSError),
            context.wrap_socket(client, server_side=True) as encrypted,
            socket.create_connection(("127.0.0.1", port)) as server,
        ):
            threading.Thread(target=pump, args=(encrypted, server), daemon=True).start()
            pump(server, encrypted)

    def pump(source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
