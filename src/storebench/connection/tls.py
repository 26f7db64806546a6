"""TLS with the CA of a connection: a context for Python's clients, and files for clients that only take files."""

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
VERIFY = "verify_certs"  # false: certificates are not checked
# Error texts of OpenSSL, Rustls and Java, for an untrusted certificate and for a server without TLS.
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
# A key store of Java (JKS): magic number, version, and the tag of a trusted certificate.
JKS, JKS_VERSION, TRUSTED = 0xFEEDFEED, 2, 2
JKS_PASSWORD = "changeit"  # Java's own default: the store holds no secret
JKS_SALT = b"Mighty Aphrodite"


def verifies(connection: Connection) -> bool:
    """Return whether the client checks the server's certificate."""
    return connection.extra.get(VERIFY) is not False


def context(connection: Connection) -> ssl.SSLContext:
    """Return the TLS context for a client of the connection. It trusts the connection's CA, or else the system's CAs."""
    tls_context = ssl.create_default_context(cadata=connection.extra.get(CA_CERTS))
    if not verifies(connection):
        tls_context.check_hostname = False
        tls_context.verify_mode = ssl.CERT_NONE
    return tls_context


def advice(said: str, connection: Connection) -> str:
    """Return the advice to append to a client's error `said` about a certificate or TLS; empty for another error."""
    if any(words in said for words in CERTIFICATE_REFUSED):
        return (
            f". The server's certificate is refused: type the certificates of its CA (PEM) into the extra {CA_CERTS} of the connection"
            f" {PREFIX}{connection.name}"
        )
    if any(words in said for words in NO_TLS):
        return f". The server does not speak TLS there: look at the port and at TLS in the connection {PREFIX}{connection.name}"
    return ""


def authority_file(connection: Connection) -> str | None:
    """Return the path of a file with the connection's CA certificates (PEM); None without a CA."""
    text = connection.extra.get(CA_CERTS)
    return str(_file(text.encode(), ".pem")) if text else None


def java_options(certificates: str | None) -> tuple[str, ...]:
    """Return the JVM options that make it trust only these certificates (PEM); empty without certificates."""
    if not certificates:
        return ()
    store = _file(key_store(certificates), ".jks")
    return (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS")


def key_store(certificates: str) -> bytes:
    """Return Java's key store of these certificates (PEM)."""
    loaded = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    loaded.load_verify_locations(cadata=certificates)
    authorities = loaded.get_ca_certs(binary_form=True)
    parts = [struct.pack(">III", JKS, JKS_VERSION, len(authorities))]
    for number, certificate in enumerate(authorities):
        parts += [struct.pack(">I", TRUSTED), _text(f"ca{number}"), struct.pack(">Q", 0), _text("X.509")]
        parts += [struct.pack(">I", len(certificate)), certificate]
    content = b"".join(parts)
    digest = hashlib.sha1(
        JKS_PASSWORD.encode("utf-16-be") + JKS_SALT + content, usedforsecurity=False
    ).digest()
    return content + digest


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text)) + text.encode()


@cache
def _file(content: bytes, suffix: str) -> Path:
    """Write the content to a temporary file of this process, once per content. Return the path."""
    path = Path(_folder().name, hashlib.sha256(content).hexdigest()[:16] + suffix)
    path.write_bytes(content)
    return path


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="storebench-tls-")
