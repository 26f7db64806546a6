"""The rows of several pods: each reads its share of the CSV, and no bytes before or after."""

import io
import itertools
from dataclasses import replace

import pytest

from storebench.attempt.parts.part import Part
from storebench.dataset import offsets, typed
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.custom_file import encoded
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.manifest import Manifest
from storebench.dataset.offsets import RowOffsets, bytes_of
from storebench.dataset.schema import FIELDS, Field
from storebench.dataset.typed import canonical
from storebench.errors import StoreRefused
from storebench.stores.bulk_write_read.source import Source

ROWS = (10, 5_003)
PARTS = (1, 2, 3, 7)
NAMES = ("n", 'a "name", quoted', "text")
SCHEMA = tuple(
    Field(name, kind, "", True) for name, kind in zip(NAMES, ("integer", "string", "string"), strict=True)
)


def manifest_of(data, rows, schema=FIELDS, **more):
    return Manifest(1, rows, 7, len(data), "0" * 64, {}, 0, "1", "bucket", "data.csv", schema, **more)


def csv50(rows):
    data = header() + bytes(generate_chunk(7, 0, rows).csv)
    return data, manifest_of(data, rows)


def custom(rows):
    """Return a CSV with long texts, line breaks, quotes and lone carriage returns, in rows of many lengths, and its manifest."""
    texts = ['one\n"two", three\n', "", "x" * 300, 'é\n"\n"', "\rlone", "plain"]
    found = RowOffsets()
    data = b""
    values = [(str(n), texts[n % 6], "y" * 9_000 if n % 97 == 5 else texts[n * 7 % 5]) for n in range(rows)]
    for chunk in [[NAMES], *(values[first : first + 1_234] for first in range(0, rows, 1_234))]:
        part = encoded(list(chunk))
        found.update(part[:77])  # a part of the upload may end anywhere in a row
        found.update(part[77:])
        data += part
    return data, manifest_of(data, rows, SCHEMA, file="s3://b/k.csv", offsets=found.offsets())


class Ranges(io.BytesIO):
    """The object in S3. Keeps the first byte and the end of what was read."""

    def __init__(self, data, seen):
        super().__init__(data)
        self.seen = seen

    def read(self, size=-1):
        begin = self.tell()
        data = super().read(size)
        if data:
            self.seen.append((begin, begin + len(data)))
        return data


@pytest.fixture
def source_of(monkeypatch):
    import smart_open

    def made(data, manifest, share):
        source = Source(None, "bucket", "data.csv")
        source.schema = manifest.schema
        source.take(share, manifest)
        seen = []

        def opened(uri, mode="r", *, encoding=None, newline=None, transport_params=None):
            stream = Ranges(data, seen)
            return stream if "b" in mode else io.TextIOWrapper(stream, encoding, newline=newline)

        monkeypatch.setattr(smart_open, "open", opened)
        return source, seen

    return made


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr(offsets, "STEP_ROWS", 100)
    monkeypatch.setattr(offsets, "BLOCK_BYTES", 4_000)
    monkeypatch.setattr(typed, "BLOCK_BYTES", 20_000)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("make", [csv50, custom])
def test_the_parts_rows_one_after_the_other_are_all_rows(source_of, make, rows, parts):
    data, manifest = make(rows)
    whole = list(source_of(data, manifest, None)[0].rows())
    assert len(whole) == rows
    found, texts = [], []
    for number in range(parts):
        share = Part(number, parts).share(rows)
        found += list(source_of(data, manifest, share)[0].rows())
        source, _ = source_of(data, manifest, share)
        batches = list(source.batches(300))
        assert [len(batch) for batch in batches[:-1]] == [300] * (len(batches) - 1)
        texts += list(itertools.chain.from_iterable(batches))
    assert found == texts == whole


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("make", [csv50, custom])
@pytest.mark.parametrize("rows", [None, 300, 5_003])
def test_the_parts_tables_have_all_rows_once(source_of, make, parts, rows):
    data, manifest = make(ROWS[1])
    names = [field.name for field in manifest.schema]
    total = TableChecksum(names)
    for number in range(parts):
        share = Part(number, parts).share(ROWS[1])
        sizes = []
        for table in source_of(data, manifest, share)[0].tables(rows):
            sizes.append(len(table))
            columns = dict(zip(table.column_names, table.columns, strict=True))
            total.update(canonical(columns, manifest.schema))
        step = rows or len(share)
        assert sizes == [min(step, len(share) - start) for start in range(0, len(share), step)]
    expected = TableChecksum(names)
    whole = list(source_of(data, manifest, None)[0].rows())
    expected.update({name: [row[name] for row in whole] for name in names})
    assert vars(total) == vars(expected)


@pytest.mark.parametrize("make", [csv50, custom])
def test_a_part_reads_the_bytes_of_its_own_rows(source_of, make):
    data, manifest = make(5_003)
    source, seen = source_of(data, manifest, range(2_050, 2_150))
    assert len(list(source.rows())) == 100
    first, last = seen[0][0], seen[-1][1]
    if make is csv50:
        assert (first, last) == (len(header()) + 2_050 * 484, len(header()) + 2_150 * 484)
    else:
        assert first == manifest.offsets[20]
        assert manifest.offsets[21] < last <= manifest.offsets[22]


@pytest.mark.parametrize("make", [csv50, custom])
def test_an_empty_share_has_no_rows_and_reads_nothing(source_of, make):
    data, manifest = make(10)
    source, seen = source_of(data, manifest, range(4, 4))
    assert list(source.rows()) == list(source.batches(3)) == list(source.tables(None)) == seen == []


def test_the_offsets_are_the_begins_of_rows():
    data, manifest = custom(250)
    assert len(manifest.offsets) == 3
    for number, offset in zip((0, 100, 200), manifest.offsets, strict=True):
        assert data[:offset].endswith(b"\n") and data[offset:].lstrip(b'"').startswith(f"{number}".encode())


@pytest.mark.parametrize("rows", [99, 100, 101, 200])
def test_there_is_an_offset_for_each_step_and_none_at_the_end(rows):
    _, manifest = custom(rows)
    assert len(manifest.offsets) == -(-rows // 100)
    assert bytes_of(manifest, range(rows)).end == manifest.bytes


def test_a_manifest_that_does_not_say_where_rows_begin_is_refused_with_what_to_do():
    _, manifest = custom(250)
    with pytest.raises(
        StoreRefused, match="Start another run, which adds the offsets, or measure with pods=1"
    ):
        bytes_of(replace(manifest, offsets=None), range(10))
    with pytest.raises(StoreRefused, match="2 offsets of rows for 250 rows"):
        bytes_of(replace(manifest, offsets=manifest.offsets[:2]), range(10))
    _, generated = csv50(10)
    with pytest.raises(StoreRefused, match="all have the same length"):
        bytes_of(replace(generated, bytes=generated.bytes + 1), range(10))
