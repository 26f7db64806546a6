"""TLS with the CA that a connection names: a context for Python's clients, files for clients that take files alone."""

from __future__ import annotations

import hashlib
import ssl
import struct
import tempfile
from functools import cache
from pathlib import Path

from storebench.connection import Connection
from storebench.connection.typed import PREFIX

CA_CERTS = "ca_certs"  # in a connection's extra: certificates as text (PEM)
VERIFY = "verify_certs"  # false: any certificate is taken
# What OpenSSL, Rustls and Java say of a certificate that they do not trust, and of a server without TLS.
CERTIFICATE_REFUSED = (
    "CERTIFICATE_VERIFY_FAILED",
    "certificate verify failed",
    "invalid peer certificate",
    "PKIX path building failed",
    "unable to find valid certification path",
)
NO_TLS = (
    "WRONG_VERSION_NUMBER",
    "wrong version number",
    "InvalidContentType",
    "Unsupported or unrecognized SSL message",
)
# A key store of Java (JKS): its mark, its version, and the tag of a certificate that is trusted.
JKS, JKS_VERSION, TRUSTED = 0xFEEDFEED, 2, 2
JKS_PASSWORD = "changeit"  # Java's own default: the store holds no secret
JKS_SALT = b"Mighty Aphrodite"


def verifies(connection: Connection) -> bool:
    """Return whether the client checks the server's certificate."""
    return connection.extra.get(VERIFY) is not False


def context(connection: Connection) -> ssl.SSLContext:
    """Return the context for a client of the connection's server: the connection's CA, or else those of the system."""
    found = ssl.create_default_context(cadata=connection.extra.get(CA_CERTS))
    if not verifies(connection):
        found.check_hostname = False
        found.verify_mode = ssl.CERT_NONE
    return found


def advice(said: str, connection: Connection) -> str:
    """Return what to do where a client's error, `said`, is of a certificate or of TLS: sentences to put behind it. Else an empty text."""
    if any(words in said for words in CERTIFICATE_REFUSED):
        return (
            f". The server's certificate is refused: type the certificates of its CA (PEM) into the extra {CA_CERTS} of the connection"
            f" {PREFIX}{connection.name}"
        )
    if any(words in said for words in NO_TLS):
        return f". The server does not speak TLS there: look at the port and at TLS in the connection {PREFIX}{connection.name}"
    return ""


def authority_file(connection: Connection) -> str | None:
    """Return the path of a file with the certificates of the connection's CA (PEM); None where it names no CA."""
    text = connection.extra.get(CA_CERTS)
    return str(_file(text.encode(), ".pem")) if text else None


def java_options(certificates: str | None) -> tuple[str, ...]:
    """Return the options with which a JVM trusts these certificates (PEM) and no others; none without certificates."""
    if not certificates:
        return ()
    store = _file(key_store(certificates), ".jks")
    return (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS")


def key_store(certificates: str) -> bytes:
    """Return Java's key store of these certificates (PEM)."""
    loaded = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    loaded.load_verify_locations(cadata=certificates)
    found = loaded.get_ca_certs(binary_form=True)
    parts = [struct.pack(">III", JKS, JKS_VERSION, len(found))]
    for number, one in enumerate(found):
        parts += [struct.pack(">I", TRUSTED), _text(f"ca{number}"), struct.pack(">Q", 0), _text("X.509")]
        parts += [struct.pack(">I", len(one)), one]
    content = b"".join(parts)
    digest = hashlib.sha1(
        JKS_PASSWORD.encode("utf-16-be") + JKS_SALT + content, usedforsecurity=False
    ).digest()
    return content + digest


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


@cache
def _file(content: bytes, suffix: str) -> Path:
    """Write the content to a file of this process, once."""
    path = Path(_folder().name, hashlib.sha256(content).hexdigest()[:16] + suffix)
    path.write_bytes(content)
    return path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="storebench-tls-")
