"""Read the records of a custom CSV file, or say in words why the file is no CSV."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

LINE_CHARACTERS = 1 << 25
OTHER_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
GZIP = b"\x1f\x8b"
OTHER_FORMATS = {  # by the first bytes
    b"\xff\xfe": "UTF-16. Save it as UTF-8",
    b"\xfe\xff": "UTF-16. Save it as UTF-8",
    b"PAR1\x15": "a Parquet file. Let its name end with .parquet",
    b"PK\x03\x04": "a ZIP archive or a workbook of Excel. Save its table as CSV in UTF-8",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard. Decompress it, or compress it with gzip",
    b"BZh91AY": "compressed with bzip2. Decompress it, or compress it with gzip",
}
LINE_END = re.compile(rb"\r\n?|\n")


class Unusable(Exception):
    """Say in words what is wrong with a file."""


@contextmanager
def of_part(name: str) -> Iterator[None]:
    """Begin the words of Unusable with the name of a folder's part; "" is a file alone."""
    try:
        yield
    except Unusable as error:
        raise Unusable(f"{name}: {error}" if name else str(error)) from None


def decoded(stream: Any) -> io.TextIOWrapper:
    """Return the text of a seekable binary stream in UTF-8, decompressed if the stream is gzip. Raises Unusable for another format."""
    try:
        head = stream.read(8)
        stream.seek(0)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Unusable(f"its gzip is damaged: {error}") from None
    if head.startswith(GZIP):
        return decoded(gzip.GzipFile(fileobj=stream))
    for start, words in OTHER_FORMATS.items():
        if head.startswith(start):
            raise Unusable(f"it is {words}")
    if b"\0" in head[:2]:
        raise Unusable("it begins with a NUL: it is UTF-16, or no text. Save it as CSV in UTF-8")
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


class Records:
    """Iterate over the records of a CSV, as RFC 4180 has them, without the empty lines. `line`: number of the lines read so far.

    Raises Unusable with the number of the line.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._reader = csv.reader(self._lines(), strict=True)

    @property
    def line(self) -> int:
        return self._reader.line_num

    def __iter__(self) -> Iterator[list[str]]:
        first = 1
        try:
            for row in self._reader:
                if row:
                    yield row
                first = self.line + 1
        except csv.Error as error:
            raise Unusable(self._words(str(error), first)) from None

    def _words(self, error: str, first: int) -> str:
        """Say what the CSV reader found in the record that begins at the line `first`."""
        if error.startswith("field larger"):
            return (
                f"line {first:,}: {error}: a value has more characters. Shorten it, or leave its column out. If no value is so long, a quote is"
                " not closed"
            )
        if error.startswith("unexpected end"):
            return f"line {first:,}: {error}: a quote is not closed"
        return f"line {self.line:,}: {error}"

    def _lines(self) -> Iterator[str]:
        """Yield the lines of the stream, whose length is bounded: a file without line ends does not fit into memory."""
        read = 0
        try:
            while line := self._stream.readline(LINE_CHARACTERS):
                read += 1
                if len(line) == LINE_CHARACTERS and line[-1] not in "\r\n":
                    raise Unusable(
                        f"line {read:,} has more than {LINE_CHARACTERS:,} characters. Is it a CSV?"
                    )
                yield line
        except UnicodeDecodeError as error:
            before = len(LINE_END.findall(error.object[: error.start]))
            raise Unusable(
                f"line {read + 1 + before:,}: it is not UTF-8: {error.reason}: 0x{error.object[error.start]:02x}. Save it as UTF-8"
            ) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise Unusable(f"after line {read:,}: its gzip is damaged: {error}") from None


def header(rows: Iterator[list[str]]) -> list[str]:
    """Read the names of the columns. Raises Unusable for a header with more of another delimiter than commas."""
    names = next(rows, [])
    line = "".join(names)
    count, words = max((line.count(sign), words) for sign, words in OTHER_DELIMITERS.items())
    if count and count >= len(names):
        raise Unusable(
            f"line 1: the header has {count:,} {words} and {len(names) - 1:,} commas: only commas separate values here. Write the file"
            " with commas, or rename the columns"
        )
    return names
