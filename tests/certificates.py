"""A user's own CA, and servers behind its certificates, made by openssl once for all tests of a process."""

import asyncio
import contextlib
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
def behind_tls(port: int, host: str = "127.0.0.1"):
    """Yield the port of 127.0.0.1 on which the server at `host` and `port` answers behind a certificate of `authority`."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def forward(reader, writer):
        with contextlib.suppress(OSError):
            back_reader, back_writer = await asyncio.open_connection(host, port)
            await asyncio.gather(pump(reader, back_writer), pump(back_reader, writer))

    async def pump(reader, writer):
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def start():
        return await asyncio.start_server(forward, "127.0.0.1", 0, ssl=authority().context())

    async def stop():
        server.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    server = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        asyncio.run_coroutine_threadsafe(stop(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
