"""Read and write the zip file of a bundle: JSON rows of tables, with a SHA-256 checksum of each member."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from storebench.errors import SpecError

Row = dict[str, Any]

FORMAT = 1
CHECKSUMS = "SHA256SUMS"
ABOUT = "bundle.json"
# The earliest time in a zip file. A fixed time makes equal files of equal runs.
EPOCH = (1980, 1, 1, 0, 0, 0)
MOST_BYTES = 256 * 2**20  # the limit of a bundle's file; a run of 20,000 cells takes about 10 MB
MOST_UNPACKED_BYTES = 2 * 2**30


def write(path: Path, run_id: str, tables: Mapping[str, list[Row]]) -> None:
    """Write the rows of a run's tables to a zip file at `path`."""
    members = {f"{table}.json": _dump(rows) for table, rows in tables.items()}
    members[ABOUT] = _dump(
        {"format": FORMAT, "run": run_id, "rows": {table: len(rows) for table, rows in tables.items()}}
    )
    members[CHECKSUMS] = _checksums(members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)


def content_of(path: Path) -> bytes:
    """Return the bytes of a bundle's file. Raises SpecError for a file that cannot be read or is too large."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise SpecError(f"{path} cannot be read as a bundle: {error}") from error
    if len(content) > MOST_BYTES:
        raise SpecError(f"{path} is larger than {MOST_BYTES:,} bytes, the most that a bundle may have")
    return content


def read(path: Path, content: bytes, tables: Collection[str]) -> dict[str, list[Row]]:
    """Return the rows of each table in a bundle.

    `path`: the file's name in errors. `content`: the file's bytes. `tables`: the tables that a bundle may have.
    Raises SpecError for bytes that are no bundle, that are too large unpacked, or whose checksums are wrong.
    """
    try:
        members = _unpacked(path, content)
    except (OSError, ValueError, EOFError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
        raise SpecError(f"{path} cannot be read as a bundle: {error}") from error
    checksums = members.pop(CHECKSUMS, None)
    if checksums is None or ABOUT not in members:
        raise SpecError(f"{path} is not a bundle: `storebench export` makes them")
    if checksums != _checksums(members):
        raise SpecError(f"{path} is not what was exported: its checksums are wrong")
    about = _json(path, ABOUT, members.pop(ABOUT))
    version = about.get("format") if isinstance(about, dict) else None
    if version != FORMAT:
        raise SpecError(f"{path} has format {version}; this version reads format {FORMAT}")
    if unknown := sorted(members.keys() - {f"{table}.json" for table in tables}):
        raise SpecError(f"{path} has {', '.join(unknown)[:200]}, which no bundle has")
    return {name.removesuffix(".json"): _rows(path, name, text) for name, text in members.items()}


def _unpacked(path: Path, content: bytes) -> dict[str, bytes]:
    """Return the members of the zip file by name. Raises SpecError for more than MOST_UNPACKED_BYTES."""
    members: dict[str, bytes] = {}
    bytes_allowed = MOST_UNPACKED_BYTES
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for info in archive.infolist():
            if info.filename in members:
                raise SpecError(f"{path} has {info.filename[:100]!r} twice")
            with archive.open(info) as member:
                # the archive's directory may state wrong sizes: count the bytes read
                members[info.filename] = member.read(bytes_allowed + 1)
            bytes_allowed -= len(members[info.filename])
            if bytes_allowed < 0:
                raise SpecError(
                    f"{path} is larger than {MOST_UNPACKED_BYTES:,} bytes when unpacked, the most that a bundle may have"
                )
    return members


def _rows(path: Path, name: str, text: bytes) -> list[Row]:
    rows = _json(path, name, text)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise SpecError(f"{path}: {name} is not a list of rows")
    if any(row.keys() != rows[0].keys() for row in rows):
        raise SpecError(f"{path}: the rows of {name} have different columns")
    return rows


def _json(path: Path, name: str, text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{path}: {name} is not JSON: {error}") from error


def _checksums(members: Mapping[str, bytes]) -> bytes:
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(members.items())]
    return "".join(lines).encode()


def _dump(content: Any) -> bytes:
    return (json.dumps(content, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()
