"""Read the rows of CSV or Parquet files in S3 as columns of canonical text (storebench.dataset.schema)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from storebench.dataset import custom_csv, custom_times
from storebench.dataset.columns import MAX_SCALE, Column
from storebench.dataset.custom_csv import Unusable, of_part
from storebench.dataset.schema import Type
from storebench.study.custom_files import Files

if TYPE_CHECKING:
    import pyarrow as pa

CHUNK_ROWS = 10_000
CHUNK_CHARACTERS = 4_000_000
VALUE_CHARACTERS = 2  # of CHUNK_CHARACTERS that each value takes: an empty text is an object, too
PARQUET_BUFFER_BYTES = 1 << 20
SAMPLED_GROUPS = 100
TEXTS = ("string", "large_string")  # of Arrow
Texts = Sequence[Sequence[str]]  # of each column, all of the same length
Part = tuple[str, Any]  # a file's name in its folder, "" of a file alone, and its stream or path


@dataclass
class Table:
    """A user's table. Its columns know their types once all chunks were read."""

    columns: list[Column]
    chunks: Iterator[Texts]

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if not names:
            raise Unusable("it has no columns")
        for name, n in Counter(names).items():
            if n > 1:
                raise Unusable(f"{n} columns have the name {name!r}")
            if not name.strip() or not name.isprintable():
                raise Unusable(f"a column has the name {name!r}: give it one of printable characters")


@contextmanager
def opened(client: Any, files: Files) -> Iterator[Table]:
    """Open the table in these files. Raises Unusable for what is no table, and S3's own errors."""
    if files.format == "CSV":
        with closing(_streams(client, files)) as parts:
            yield _of_csv(parts)
        return
    with TemporaryDirectory() as place:  # columns lie apart: over the network, each would be a request
        parquets = []
        for n, key in enumerate(files.keys):
            path = Path(place, str(n))
            with path.open("wb") as copy:
                client.download_fileobj(files.bucket, key, copy)
            parquets.append((files.name_of(key), path))
        yield _of_parquet(parquets)


def _streams(client: Any, files: Files) -> Generator[Part, None, None]:
    """Open the text of each file when it is asked for."""
    from smart_open import s3 as objects

    for key in files.keys:
        name = files.name_of(key)
        with objects.open(files.bucket, key, "rb", client=client) as stream:
            with of_part(name):
                text = custom_csv.decoded(stream)
            yield name, text


def comma_separated(stream: Any) -> Table:
    """Return the table in the text of a CSV with a header."""
    return _of_csv(iter([("", stream)]))


def _of_csv(parts: Iterator[Part]) -> Table:
    first, stream = next(parts)
    records = custom_csv.Records(stream)
    with of_part(first):
        rows = iter(records)
        names = custom_csv.header(rows)

    def chunks() -> Iterator[Texts]:
        with of_part(first):
            yield from _chunks(rows, records, len(names))
        for name, stream in parts:
            with of_part(name):
                others = custom_csv.Records(stream)
                more = iter(others)
                _check_names(custom_csv.header(more), names, first, ordered=True)
                yield from _chunks(more, others, len(names))

    return Table([Column(name) for name in names], chunks())


def _check_names(names: list[str], expected: list[str], first: str, *, ordered: bool = False) -> None:
    """Raise Unusable for a part whose columns are not those of the first part."""
    if sorted(names) != sorted(expected):
        (name, *_) = (Counter(names) - Counter(expected)) or (Counter(expected) - Counter(names))
        here, wanted = names.count(name), expected.count(name)
        where = (
            f"of {first} is missing"
            if here < wanted
            else f"is not in {first}"
            if not wanted
            else "is there twice"
        )
        raise Unusable(f"the column {name!r} {where}. Give all parts the same columns, and a header")
    if ordered and names != expected:
        raise Unusable(f"its columns have another order than those of {first}. Give all parts the same order")


def _chunks(rows: Iterator[list[str]], records: custom_csv.Records, width: int) -> Iterator[Texts]:
    def checked() -> Iterator[list[str]]:
        for row in rows:
            if len(row) != width:
                raise Unusable(f"line {records.line:,}: a row has {len(row):,} values, the header {width:,}")
            yield row

    checked_rows = checked()
    while held := list(itertools.islice(_until(checked_rows, CHUNK_CHARACTERS), CHUNK_ROWS)):
        yield list(zip(*held, strict=True))


def _until(rows: Iterator[list[str]], characters: int) -> Iterator[list[str]]:
    for row in rows:
        yield row
        characters -= sum(map(len, row)) + VALUE_CHARACTERS * len(row)
        if characters < 0:
            return


def parquet(file: Any) -> Table:
    """Return the table in a Parquet file. A null is the empty text."""
    return _of_parquet([("", file)])


def _of_parquet(parts: Sequence[Part]) -> Table:
    kinds: dict[str, str] = {}  # the first that is not null, by the column's name
    types: dict[str, tuple[Type, ...]] = {}
    names: list[str] = []
    for name, file in parts:
        with of_part(name), _readable(file) as parquet_file:
            names = names or parquet_file.schema_arrow.names
            _check_names(parquet_file.schema_arrow.names, names, parts[0][0])
            for field in parquet_file.schema_arrow:
                arrow_types, kind = _types(field), str(field.type)
                if kind != "null" and arrow_types != types.setdefault(field.name, arrow_types):
                    raise Unusable(
                        f"the column {field.name!r} is {kind} here, and {kinds[field.name]} in a part before. Give the parts the same types"
                    )
                if kind != "null":
                    kinds.setdefault(field.name, kind)
    return Table([Column(name, types.get(name, ())) for name in names], _batches(parts, names))


@contextmanager
def _readable(file: Any, **settings: Any) -> Iterator[Any]:
    """Open a Parquet file, and raise Unusable with the reader's words for what the reader does not take."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    try:
        parquet_file = pq.ParquetFile(file, buffer_size=PARQUET_BUFFER_BYTES, **settings)
    except (pa.ArrowException, OSError) as error:
        raise _unless_of_the_disk(error, "it is no Parquet file") from None
    try:
        with parquet_file:
            yield parquet_file
    except (pa.ArrowException, OSError) as error:
        raise _unless_of_the_disk(error, _damaged(file)) from None
    except UnicodeDecodeError as error:
        raise Unusable(f"a text is not UTF-8: {error.reason}") from None


def _unless_of_the_disk(error: Exception, words: str) -> Exception:
    """Return Unusable with these words; the error itself if the operating system reports it. Of the file, pyarrow raises OSError without a number."""
    return error if getattr(error, "errno", None) else Unusable(f"{words}: {error}")


def _damaged(file: Any) -> str:
    """Name the first column of a Parquet file that cannot be read."""
    import pyarrow as pa
    from pyarrow import parquet as pq

    parquet_file = pq.ParquetFile(file)
    for name in parquet_file.schema_arrow.names:
        rows = 0
        try:
            for batch in parquet_file.iter_batches(1_000, columns=[name]):
                rows += batch.num_rows
        except (pa.ArrowException, OSError):
            return f"the column {name!r} cannot be read behind its row {rows:,}. Write the file anew"
    return "it cannot be read. Write the file anew"


def _batches(parts: Sequence[Part], names: Sequence[str]) -> Iterator[Texts]:
    times = custom_times.Times()
    coded: dict[str, list[str]] = {}  # by the part's name
    for name, file in parts:
        with of_part(name), _readable(file) as parquet_file:
            times.update(file, _batch_rows(parquet_file))
            coded[name] = _coded(parquet_file)
    unit = times.int96_unit()
    for name, file in parts:
        settings = {"coerce_int96_timestamp_unit": unit, "read_dictionary": coded[name]}
        with of_part(name), _readable(file, **settings) as parquet_file:
            for batch in parquet_file.iter_batches(batch_size=_batch_rows(parquet_file)):
                for chunk in _slices(batch):
                    yield [
                        texts(column, chunk.column(column), times.places.get(column, 0)) for column in names
                    ]


def _coded(parquet_file: Any) -> list[str]:
    """Return the names of text columns that a file keeps as dictionaries. Read as such, a long text that is in many rows is in memory once."""
    groups = range(min(parquet_file.metadata.num_row_groups, SAMPLED_GROUPS))
    chunks = (
        parquet_file.metadata.row_group(group).column(n)
        for group in groups
        for n in range(len(parquet_file.schema))
    )
    coded = {chunk.path_in_schema for chunk in chunks if chunk.has_dictionary_page}
    return [
        field.name for field in parquet_file.schema_arrow if field.name in coded and str(field.type) in TEXTS
    ]


def _slices(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Cut a batch so that no part has more than about CHUNK_CHARACTERS, but at least a row."""
    import numpy as np
    import pyarrow.compute as pc

    ends = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        if str(column.type) in TEXTS:
            lengths = pc.binary_length(column)
        elif str(getattr(column.type, "value_type", "")) in TEXTS:
            lengths = pc.binary_length(column.dictionary).take(column.indices)
        else:
            continue
        ends += lengths.fill_null(0).to_numpy(zero_copy_only=False)
    ends = ends.cumsum()
    start, before = 0, 0
    while start < batch.num_rows:
        end = max(start + 1, int(np.searchsorted(ends, before + CHUNK_CHARACTERS, "right")))
        yield batch.slice(start, end - start)
        start, before = end, ends[end - 1]


def _batch_rows(parquet_file: Any) -> int:
    return max(1, min(CHUNK_ROWS, CHUNK_CHARACTERS // max(1, _row_characters(parquet_file))))


def _row_characters(parquet_file: Any) -> int:
    """Estimate the characters of a row, as a share of CHUNK_CHARACTERS."""
    groups = [parquet_file.metadata.row_group(n) for n in range(parquet_file.metadata.num_row_groups)]
    texts = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
    return texts + VALUE_CHARACTERS * len(parquet_file.schema_arrow)


def _types(field: pa.Field) -> tuple[Type, ...]:
    """Return the types beside string that the texts of this column may have. Raises Unusable for a type without a text form."""
    import pyarrow.types as t

    kind = field.type.value_type if t.is_dictionary(field.type) else field.type
    if t.is_boolean(kind):
        return ("boolean",)
    if t.is_integer(kind):
        return ("integer",)
    if t.is_floating(kind):
        return ("float",)
    if t.is_decimal(kind):
        return ("decimal",)
    if t.is_date(kind):
        return ("date",)
    if t.is_timestamp(kind):
        return ("timestamp",)
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind) or t.is_null(kind):
        return ()
    raise Unusable(
        f"the column {field.name!r} is {kind}, which has no text in a CSV. Leave it out, or make it text"
    )


def texts(name: str, column: pa.Array, places: int = 0) -> list[str]:
    """Return the canonical texts of a column's values; timestamps with `places` decimal places of the second.

    Raises Unusable for a float that is not finite: not every store gives it back.
    """
    import pyarrow as pa
    import pyarrow.types as t

    if t.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if t.is_floating(kind):
        return [_of_float(name, value) for value in column.cast(pa.float64()).to_pylist()]
    if t.is_decimal(kind) and not 0 <= kind.scale <= MAX_SCALE:
        return ["" if value is None else f"{value:f}" for value in column.to_pylist()]
    if t.is_date(kind):
        column = custom_times.of_dates(column)
    if t.is_timestamp(kind):
        column = custom_times.of_timestamps(name, column, places)
    values: list[str] = column.cast(pa.string()).fill_null("").to_pylist()
    return values


def _of_float(name: str, value: float | None) -> str:
    if value is None:
        return ""
    if not math.isfinite(value):
        raise Unusable(
            f"the column {name!r} has {value!r}, which not every store gives back. Make it a null, or text"
        )
    return repr(value)
