"""Serve the page's files, compressed once and not for each request."""

from __future__ import annotations

import gzip
import mimetypes
import re
from functools import lru_cache
from pathlib import Path

from fastapi import Response
from fastapi.responses import FileResponse

# A file with such a name never changes: the build puts a hash of the content into the name.
HASHED = re.compile(r"-[\w-]{8}\.js")
KEPT, REVALIDATED = "max-age=31536000, immutable", "no-cache"


def answer(path: Path, accepted: str, known: str = "") -> Response:
    """Return the file, gzipped where `accepted`, the browser's encodings, includes gzip. `known` are the ETags that the browser has cached.

    A browser revalidates a cached file, so that a page never requests the files of an earlier build.
    """
    status = path.stat()
    plain = FileResponse(path, stat_result=status)
    plain.headers["cache-control"] = KEPT if HASHED.search(path.name) else REVALIDATED
    headers = {name: plain.headers[name] for name in ("etag", "last-modified", "cache-control")}
    if headers["etag"] in known:
        return Response(status_code=304, headers=headers)
    if "gzip" not in accepted:
        return plain
    return Response(
        _packed(path, status.st_mtime_ns, status.st_size),
        media_type=mimetypes.guess_type(path.name)[0],
        headers={**headers, "content-encoding": "gzip", "vary": "accept-encoding"},
    )


@lru_cache(maxsize=4)
def _packed(path: Path, changed_ns: int, size: int) -> bytes:
    """Return the gzipped file; time of change and size are the cache's key."""
    return gzip.compress(path.read_bytes())
