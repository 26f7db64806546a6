"""Arrow by pyarrow: rows in batches of columns, as an IPC stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import mul
from typing import IO, Any

from storebench.stores.base import TypicalTime
from storebench.stores.map_formats.base import MapStore
from storebench.stores.map_formats.common import Key, Record, Records, names_of
from storebench.stores.map_formats.formats import Format
from storebench.stores.map_formats.tables import ADDED, INTEGERS, WRITTEN, Benchmark, Column, Row, Table

BATCH_ROWS = 1_000
DICTIONARY_BYTES = 210  # approximate overhead of a dictionary in a stream, without its values


class ArrowColumns(Format):
    """Jobs on columns. A column that a job reads becomes a list of values; other columns pass unchanged.

    The job's own work is in Python, as for all formats, not in Arrow's kernels. In a dictionary the job reads or changes each distinct
    value once.
    """

    decoded_by = "arro3, the implementation in Rust"

    def __init__(self, benchmark: Benchmark) -> None:
        super().__init__(benchmark)
        import pyarrow

        self._arrow = pyarrow
        self._new = self._schema(self.output)

    def ready(self) -> None:
        # the first array and dictionary import further modules
        self._total(self._arrow.array([0]).dictionary_encode(), list)

    def _schema(self, table: Table) -> Any:
        return self._arrow.schema([(column.name, self._type(column.kind)) for column in table.columns])

    def _type(self, kind: str) -> Any:
        arrow = self._arrow
        special = {
            "float": arrow.float32(),
            "double": arrow.float64(),
            "boolean": arrow.bool_(),
            "string": arrow.binary(),
            "optional_string": arrow.binary(),
            "double_list": arrow.list_(arrow.float64()),
            "point": arrow.struct([("x", arrow.int64()), ("y", arrow.binary())]),
            "marks": arrow.map_(arrow.binary(), arrow.int64()),
        }
        return special.get(kind) or getattr(arrow, kind)()

    def encode(self, table: Table, rows: Iterable[Row], sink: IO[bytes]) -> None:
        arrow, columns = self._arrow, []
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True):
            encoded = arrow.array([_value(column, value) for value in values], self._type(column.kind))
            columns.append(self._dictionary(encoded) if self._pays(column, values) else encoded)
        encoded_table = arrow.Table.from_arrays(columns, names=table.names)
        with arrow.ipc.new_stream(sink, encoded_table.schema) as stream:
            stream.write_table(encoded_table, max_chunksize=BATCH_ROWS)

    def _pays(self, column: Column, values: Sequence[Any]) -> bool:
        """Return whether a dictionary makes the column smaller. Only tables with few distinct values have dictionaries, of strings and
        numbers.
        """
        if self.values != "few" or not (size := _size(column.kind)):
            return False
        plain, distinct = (
            sum(size + (len(value) if isinstance(value, bytes) else 0) for value in sample)
            for sample in (values, set(values))
        )
        return plain > len(values) + distinct + DICTIONARY_BYTES

    def _dictionary(self, column: Any) -> Any:
        """Return the column with 8-bit indices into a dictionary that all batches share."""
        encoded = column.dictionary_encode()
        return self._arrow.DictionaryArray.from_arrays(
            encoded.indices.cast(self._arrow.int8()), encoded.dictionary
        )

    def decode(self, table: Table, source: IO[bytes]) -> Iterator[Row]:
        from arro3.io import read_ipc_stream

        for batch_view in read_ipc_stream(source):
            batch = self._arrow.record_batch(batch_view)
            batch.validate(full=True)
            if self._plain_schema(batch.schema) != self._schema(table):
                raise ValueError("a batch has other columns than its table")
            columns = [
                [_plain(column, value) for value in batch.column(place).to_pylist()]
                for place, column in enumerate(table.columns)
            ]
            yield from zip(*columns, strict=True)

    def _plain_schema(self, schema: Any) -> Any:
        """Return the schema without dictionaries."""
        arrow = self._arrow
        return arrow.schema(
            [
                field.with_type(field.type.value_type) if arrow.types.is_dictionary(field.type) else field
                for field in schema
            ]
        )

    def _batches(self, source: IO[bytes]) -> Any:
        return self._arrow.ipc.open_stream(source)

    def _each(self, batches: Any) -> Iterator[Any]:
        """Yield each batch after validation: pyarrow would follow offsets and indices outside their buffers, and the process would
        crash.
        """
        for batch in batches:
            batch.validate(full=True)
            yield batch

    def _dump(self, batches: Iterable[Any], sink: IO[bytes], schema: Any = None) -> None:
        schema = schema or self._new
        with self._arrow.ipc.new_stream(sink, schema) as stream:
            for columns in batches:
                stream.write_batch(self._arrow.RecordBatch.from_arrays(columns, schema=schema))

    def _is_dictionary(self, column: Any) -> bool:
        return isinstance(column, self._arrow.DictionaryArray)

    def _total(self, column: Any, measure: Callable[[list[Any]], list[int]]) -> int:
        """Return the sum of `measure` over all values. In a dictionary, distinct values are measured once and weighted by their counts."""
        if not self._is_dictionary(column):
            return sum(measure(column.to_pylist()))
        from numpy import bincount

        measured = measure(column.dictionary.to_pylist())
        times = bincount(column.indices.to_numpy(), minlength=len(measured)).tolist()
        return sum(map(mul, measured, times))

    def _changed(self, column: Any, change: Callable[[list[Any]], list[Any]]) -> Any:
        """Return the column with changed values. In a dictionary, only the distinct values change."""
        if self._is_dictionary(column):
            changed = self._changed(column.dictionary, change)
            return self._arrow.DictionaryArray.from_arrays(column.indices, changed)
        return self._arrow.array(change(column.to_pylist()), column.type)

    def records(self) -> Records:
        return _Records(self)

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        zeros = 0
        for batch in self._each(self._batches(source)):
            for column in batch.columns:
                if self._is_dictionary(column):
                    zeros += self._total(column, lambda values: [value == 0 for value in values])
                    continue
                for value in column.to_pylist():
                    if value == 0:
                        zeros += 1
        self._dump([[self._arrow.array([zeros])]], sink)

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length = 0
        for batch in self._each(self._batches(source)):
            if any(map(self._is_dictionary, batch.columns)):
                numbers, texts = batch.columns
                length += self._total(
                    numbers, lambda all_: [(number.bit_length() + 7) // 8 for number in all_]
                )
                length += self._total(texts, lambda all_: list(map(len, all_)))
                continue
            for number, text in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                length += (number.bit_length() + 7) // 8 + len(text)
        self._dump([[self._arrow.array([length])]], sink)

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place, batches = self.table.names.index("qty"), self._batches(source)

        def modified() -> Iterator[list[Any]]:
            for batch in self._each(batches):
                columns = batch.columns
                columns[place] = self._changed(columns[place], _incremented)
                yield columns

        self._dump(modified(), sink, batches.schema)

    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place, batches, added = self.table.names.index("qty"), self._batches(source), self.added

        def extended() -> Iterator[list[Any]]:
            for batch in self._each(batches):
                columns = batch.columns
                columns.insert(added, self._changed(columns[place], _incremented))
                yield columns

        fields = list(batches.schema)
        fields.insert(added, fields[place].with_name(ADDED.name))
        self._dump(extended(), sink, self._arrow.schema(fields))

    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place, batches = self.table.names.index("scores"), self._batches(source)

        def incremented() -> Iterator[list[Any]]:
            for batch in self._each(batches):
                columns = batch.columns
                columns[place] = self._changed(columns[place], _appended)
                yield columns

        self._dump(incremented(), sink, batches.schema)

    def write(self, numbers: range, sink: IO[bytes]) -> None:
        self._dump(self._put_together((number, *WRITTEN) for number in numbers), sink)

    def _put_together(self, rows: Iterable[Sequence[Any]]) -> Iterator[list[Any]]:
        remaining, types = iter(rows), [self._type(column.kind) for column in self.output.columns]
        while batch := list(islice(remaining, BATCH_ROWS)):
            yield list(map(self._arrow.array, zip(*batch, strict=True), types))


class ArrowRows(ArrowColumns):
    """Jobs row by row, as in the other formats. All columns of a batch become values, and output rows become new columns without
    dictionaries.
    """

    def ready(self) -> None:
        """Do nothing: jobs on rows import no further modules."""

    def _rows(self, source: IO[bytes]) -> Iterator[Row]:
        for batch in self._each(self._batches(source)):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)

    def wide(self, source: IO[bytes], sink: IO[bytes]) -> None:
        zeros = 0
        for row in self._rows(source):
            for value in row:
                if value == 0:
                    zeros += 1
        self._dump([[self._arrow.array([zeros])]], sink)

    def narrow(self, source: IO[bytes], sink: IO[bytes]) -> None:
        length = 0
        for number, text in self._rows(source):
            length += (number.bit_length() + 7) // 8 + len(text)
        self._dump([[self._arrow.array([length])]], sink)

    def modify(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place = self.table.names.index("qty")
        rows = ((*row[:place], row[place] + 1, *row[place + 1 :]) for row in self._rows(source))
        self._dump(self._put_together(rows), sink)

    def extend(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place, added = self.table.names.index("qty"), self.added
        rows = ((*row[:added], row[place] + 1, *row[added:]) for row in self._rows(source))
        self._dump(self._put_together(rows), sink)

    def complex(self, source: IO[bytes], sink: IO[bytes]) -> None:
        place = self.table.names.index("scores")
        rows = (
            (*row[:place], [*(score + 1 for score in row[place]), float(len(row[place]))], *row[place + 1 :])
            for row in self._rows(source)
        )
        self._dump(self._put_together(rows), sink)


class _Record(Record):
    __slots__ = ("names", "row")

    def __init__(self, row: list[Any], names: Mapping[Key, int]) -> None:
        self.row, self.names = row, names

    def get(self, column: Key) -> Any:
        return self.row[self.names[column]]

    def set(self, column: Key, value: Any) -> None:
        self.row[self.names[column]] = value


class _Records(Records):
    """Rows as lists of values: all columns are decoded, without dictionaries."""

    def __init__(self, format_: ArrowColumns) -> None:
        self._format = format_
        self._read, self._new = _places(format_.table), _places(format_.output)

    def read(self, source: IO[bytes]) -> Iterator[Record]:
        names = self._read
        for batch in self._format._each(self._format._batches(source)):
            lists = [column.to_pylist() for column in batch.columns]
            yield from (_Record(list(values), names) for values in zip(*lists, strict=True))

    def new(self) -> Record:
        return _Record([None] * len(self._format.output.columns), self._new)

    def widened(self, row: Any) -> Record:
        row.row.insert(self._format.added, None)
        return _Record(row.row, self._new)

    def write(self, rows: Iterable[Any], sink: IO[bytes]) -> None:
        self._format._dump(self._format._put_together(row.row for row in rows), sink)


def _places(table: Table) -> dict[Key, int]:
    return {key: table.names.index(name) for key, name in names_of(table).items()}


def _incremented(values: list[int]) -> list[int]:
    return [value + 1 for value in values]


def _appended(lists: list[list[float]]) -> list[list[float]]:
    return [[*(score + 1 for score in scores), float(len(scores))] for scores in lists]


def _size(kind: str) -> int:
    """Return the bytes of a value in Arrow, for a string without its text; 0 for a kind without dictionaries."""
    if kind in INTEGERS:
        return (INTEGERS[kind][0] + 7) // 8
    return {"float": 4, "double": 8, "string": 4, "optional_string": 4}.get(kind, 0)


def _value(column: Column, value: Any) -> Any:
    return {"x": value[0], "y": value[1]} if column.kind == "point" else value


def _plain(column: Column, value: Any) -> Any:
    if column.kind == "point":
        return value["x"], value["y"]
    if column.kind == "double_list":
        return tuple(value)
    return tuple(sorted(value)) if column.kind == "marks" else value


FORMAT, COLUMNS = ArrowRows, ArrowColumns


class Arrow(MapStore):
    """The format Arrow. Jobs of the clients `python-columns` and `compiled-columns` work on columns, other clients row by row."""

    name = "arrow"
    typical = (
        TypicalTime("map", fixed_s=5, million_s=2),
        TypicalTime("map", fixed_s=5.5, million_s=17, client="python"),
        TypicalTime("map", fixed_s=5, million_s=15, client="python-columns"),
    )
    clients = (*MapStore.clients, *(f"{client}-columns" for client in MapStore.clients))
    encoding = "arrow"
    packages = ("pyarrow",)
