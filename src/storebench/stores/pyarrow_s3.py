"""Make pyarrow's client of an S3 connection, for stores whose files pyarrow writes and reads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from storebench import s3
from storebench.connection import Connection, tls

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

CONNECT_S, REQUEST_S = 10, 60  # as in the project's S3 client
# As in the project's S3 client. By default, the library ends a request with a checksum, after which versitygw answers before it has read the
# end of the request: on a connection that stays open, the server takes these bytes for the next request, and refuses it.
CHECKSUMS = ("AWS_REQUEST_CHECKSUM_CALCULATION", "AWS_RESPONSE_CHECKSUM_VALIDATION")


def send_no_checksums() -> None:
    """Tell the library, in this process, to send a checksum only where S3 requires a checksum. Call it before the first client is made."""
    for variable in CHECKSUMS:
        os.environ[variable] = "when_required"


def file_system(server: Connection) -> S3FileSystem:
    """Return pyarrow's client of an S3 connection. The library finds missing values as AWS's clients do."""
    send_no_checksums()
    from pyarrow import fs

    endpoint = str(server.extra.get("endpoint_url") or "")
    options = {
        "endpoint_override": endpoint,
        "scheme": "http" if endpoint.startswith("http://") else "https",
        "region": server.extra.get("region_name") or s3.DEFAULT_REGION,
        "access_key": server.login,
        "secret_key": server.password,
        "session_token": str(server.extra.get(s3.TOKEN) or ""),
        "tls_ca_file_path": tls.authority_file(server),
    }
    given = {name: value for name, value in options.items() if value}
    return fs.S3FileSystem(connect_timeout=CONNECT_S, request_timeout=REQUEST_S, **given)
