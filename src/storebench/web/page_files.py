"""The page's files, as they travel: packed once, not anew for everybody who opens the page."""

from __future__ import annotations

import gzip
import mimetypes
from functools import lru_cache
from pathlib import Path

from fastapi import Response
from fastapi.responses import FileResponse


def answer(path: Path, accepted: str) -> Response:
    """The file; packed, where `accepted`, the encodings that the browser takes, have gzip."""
    if "gzip" not in accepted:
        return FileResponse(path)
    found = path.stat()
    plain = FileResponse(path, stat_result=found)
    headers = {name: plain.headers[name] for name in ("etag", "last-modified")}
    return Response(
        _packed(path, found.st_mtime_ns, found.st_size),
        media_type=mimetypes.guess_type(path.name)[0],
        headers={**headers, "content-encoding": "gzip", "vary": "accept-encoding"},
    )


@lru_cache(maxsize=4)
def _packed(path: Path, changed_ns: int, size: int) -> bytes:
    """Of the file as it was changed last."""
    return gzip.compress(path.read_bytes())
