"""A user's file becomes a dataset with the same rows, or is refused with the reason."""

import csv
import gzip
import hashlib
import io
import json
from types import SimpleNamespace

import pyarrow as pa
import pytest
import smart_open.s3
from pyarrow import parquet as pq

from storebench import protocol
from storebench.dataset import custom_csv, custom_file, custom_tables
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.csv50 import CUSTOM_FILE
from storebench.dataset.manifest import Manifest
from storebench.dataset.typed import arrow_schema, canonical, csv_reader
from storebench.errors import SpecError
from storebench.study import custom_files
from storebench.study.dataset import folder_of, seed_of
from tests import example_file
from tests.unit.dataset.test_upload import FakeS3

VERSION = '"1"'


class S3(FakeS3):
    """An S3 client in memory with a file and its version."""

    def head_object(self, *, Key, **_):  # noqa: N803
        return {**super().head_object(Key=Key), "ETag": VERSION}

    def get_paginator(self, _):
        def pages(Prefix, **_):  # noqa: N803
            for key in sorted(key for key in self.objects if key.startswith(Prefix)):
                data = self.objects[key]
                yield {"Contents": [{"Key": key, "ETag": hashlib.md5(data).hexdigest(), "Size": len(data)}]}

        return SimpleNamespace(paginate=pages)

    def download_fileobj(self, bucket, key, file):
        file.write(self._get(key))
        file.seek(0)


@pytest.fixture
def s3(monkeypatch):
    fake = S3()
    monkeypatch.setattr(smart_open.s3, "open", lambda bucket, key, mode, client: io.BytesIO(fake._get(key)))
    return fake


def made(s3, data, key="mine.csv", rows=10**9):
    """Run `make`, and return the manifest in the bucket, and the message."""
    s3.objects[key] = data
    return made_of(s3, f"s3://bucket/{key}", rows)


def made_of(s3, file, rows=10**9):
    files = custom_files.find(s3, file)
    seed = seed_of(file, files.version, files.size)
    folder = folder_of(CUSTOM_FILE.id(seed))
    message = custom_file.make(s3, "bucket", folder, rows, seed, file=file)
    return Manifest.load(s3, "bucket", folder + "manifest.json"), message


@pytest.mark.parametrize(
    ("key", "data"), [("a.csv", example_file.as_csv()), ("b.parquet", example_file.as_parquet())]
)
def test_a_file_becomes_the_same_rows_with_types(s3, key, data):
    manifest, message = made(s3, data, key)
    copy = s3.objects[manifest.key]
    assert list(csv.DictReader(io.StringIO(copy.decode(), newline=""))) == list(
        map(example_file.texts, example_file.rows())
    )
    found = {field.name: (field.type, field.precision, field.scale) for field in manifest.schema}
    assert found == example_file.TYPES
    assert {field.name for field in manifest.schema if field.nullable} == example_file.NULLABLE
    assert (manifest.rows, manifest.bytes) == (example_file.ROWS, len(copy))
    assert manifest.sha256 == hashlib.sha256(copy).hexdigest()
    assert protocol.problem("manifest", message) is None
    assert message["file"] == f"s3://bucket/{key}" and message["schema"][0]["name"] == "order_no"


def test_both_kinds_of_file_become_the_same_bytes(s3):
    first, _ = made(s3, example_file.as_csv(), "a.csv")
    second, _ = made(s3, example_file.as_parquet(), "b.parquet")
    assert (first.sha256, first.fields, first.row_sum) == (second.sha256, second.fields, second.row_sum)


def test_a_store_with_types_gives_the_same_texts_back(s3):
    manifest, _ = made(s3, example_file.as_csv())
    total = TableChecksum(list(example_file.NAMES))
    for batch in csv_reader(io.BytesIO(s3.objects[manifest.key]), arrow_schema(manifest.schema)):
        total.update(canonical(dict(zip(batch.schema.names, batch.columns, strict=True)), manifest.schema))
    assert total.diff(manifest) == []
    assert str(arrow_schema(manifest.schema).field("tax").type) == "decimal128(5, 4)"


def test_a_large_file_goes_up_in_parts(s3, monkeypatch):
    monkeypatch.setattr(custom_file, "PART_BYTES", 20_000)
    monkeypatch.setattr(custom_tables, "CHUNK_ROWS", 100)
    manifest, _ = made(s3, example_file.as_csv())
    assert s3.calls["upload_part"] > 5 and manifest.rows == example_file.ROWS


def test_what_is_there_is_not_made_again_and_what_is_damaged_is(s3):
    manifest, message = made(s3, b"a,b\n1,2\n")
    uploads = s3.calls["upload_part"]
    assert made(s3, b"a,b\n1,2\n")[1] == message
    assert s3.calls["upload_part"] == uploads
    s3.objects[manifest.key] = b"a"
    assert made(s3, b"a,b\n1,2\n")[1] == message
    assert s3.objects[manifest.key] == b"a,b\n1,2\n"


def test_many_columns_have_a_manifest_that_is_too_long_for_the_message(s3):
    names = [f"column_{n}" for n in range(400)]
    manifest, message = made(s3, (",".join(names) + "\n" + ",".join("x" * 400) + "\n").encode())
    assert len(manifest.fields) == 400
    assert len(json.dumps(message, separators=(",", ":"))) < protocol.MESSAGE_BYTES
    assert (message["rows"], protocol.problem("manifest", message)) == (1, None)


def test_the_file_that_was_planned_is_the_one_that_is_taken(s3):
    s3.objects["mine.csv"] = b"a\n1\n"
    seed = seed_of("s3://bucket/mine.csv", '"0"', 4)
    with pytest.raises(SpecError, match=r"mine\.csv has changed since this run was planned"):
        custom_file.make(s3, "bucket", folder_of(CUSTOM_FILE.id(seed)), 10, seed, file="s3://bucket/mine.csv")
    with pytest.raises(SpecError, match="build it from the code that Airflow runs"):
        custom_file.make(s3, "bucket", "datasets/own/v0/file=1/", 10, 1, file="s3://bucket/mine.csv")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it has no columns"),
        (b"a,b\n", "it has no rows"),
        (b"a,b,a\n1,2,3\n", "2 columns have the name 'a'"),
        (b"a,,b\n1,2,3\n", "a column has the name ''"),
        (b'a,"b\nc"\n1,2\n', r"a column has the name 'b\\nc'"),
        (b"a,b\n1,2\n1\n", "line 3: a row has 1 values, the header 2"),
        (b"a,b\n1,2,3\n", "line 2: a row has 3 values, the header 2"),
        (b'a,b\n"1"2,3\n', "line 2: "),
        (b'a,b\n1,"2\n', "line 2: unexpected end of data"),
        (b"a\n1\n\xff\n", "line 3: it is not UTF-8: invalid start byte: 0xff. Save it as UTF-8"),
        ("a\nx\ny\nKöln\n".encode("latin-1"), "line 4: it is not UTF-8: .* 0xf6. Save it"),
        (b"a\n" + b"x\n" * 9_000 + b"\xe4\n", "line 9,002: it is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "it is UTF-16. Save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16-be"), "it is UTF-16, or no text. Save it"),
        (b"PK\x03\x04x", "it is a ZIP archive or a workbook of Excel"),
        (b"PAR1\x15\x04", "it is a Parquet file. Let its name end with .parquet"),
        (
            b"a\n1\n" + b"x" * 140_000 + b"\n",
            "line 3: field larger than field limit .*: a value has more characters. Shorten",
        ),
        (b'a,b\n1,"2\n' + b"1,2\n" * 50_000, "line 2: field larger .* a quote is not closed"),
        (b"id;name;price\r\n1;Anna;2,50\r\n", "the header has 2 semicolons and 0 commas"),
        (b"id\tname\n1\tAnna\n", "the header has 1 tabs and 0 commas"),
        (b"id|name\n1|Anna\n", "the header has 1 bars and 0 commas"),
        (b"1,Anna,2.50\n2,Ben,3.25\n", "line 1 reads as a row, .* the integer column has the name '1'"),
        (b"2024-05-06,x\n2024-05-07,y\n", "the date column has the name '2024-05-06'"),
        (b"a\nx\0y\n", "a text has a NUL|line contains NUL"),
        (b"a\n1\n2\n3\n4\n", "it has more than 3 rows"),
    ],
)
def test_what_no_store_could_give_back_is_refused_with_the_reason(s3, data, why):
    with pytest.raises(SpecError, match=rf"s3://bucket/mine\.csv cannot be the dataset: .*{why}"):
        made(s3, data, rows=3)
    assert s3.uploads == {} and list(s3.objects) == ["mine.csv"], "nothing is left"


def unreadable():
    """Return a text column with invalid bytes."""
    return pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")]
    )


def written(**columns):
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"a,b\n1,2\n", "it is no Parquet file"),
        (
            written(a=[[1, 2]]),
            "the column 'a' is list<.*> which has no text|the column 'a' is list.*, which has no text",
        ),
        (written(a=[b"x"]), "the column 'a' is binary, which has no text"),
        (written(a=[float("nan")]), "the column 'a' has nan"),
        (
            written(a=["x" * 140_000]),
            "the column 'a' has a text of 140,000 characters, and 131,072 are the most. Shorten",
        ),
        (written(a=["x"], b=["x" * 20_000_000]), "the column 'b' has a text of 20,000,000 characters"),
        (written(a=["x\0y"]), "a text has a NUL"),
        (written(a=pa.array([]).cast(pa.string())), "it has no rows"),
        (written(a=unreadable()), "a text is not UTF-8"),
    ],
)
def test_what_has_no_text_is_refused(s3, data, why):
    with pytest.raises(SpecError, match=why):
        made(s3, data, "mine.parquet")


def damaged(column, at):
    """Return a Parquet file with damaged pages of a column."""
    data = bytearray(
        written(id=list(range(50_000)), note=[f"note {n * 7919 % 50_000}" for n in range(50_000)])
    )
    chunk = pq.read_metadata(io.BytesIO(data)).row_group(0).column(column)
    start = chunk.dictionary_page_offset
    data[start + at : start + at + 2_000] = b"\xff" * 2_000
    return bytes(data)


@pytest.mark.parametrize(("column", "name"), [(0, "id"), (1, "note")])
@pytest.mark.parametrize("at", [0, 30])
def test_a_damaged_page_is_refused_with_its_column(s3, column, name, at):
    with pytest.raises(
        SpecError, match=rf"mine\.parquet cannot be the dataset: the column '{name}' cannot be read"
    ):
        made(s3, damaged(column, at), "mine.parquet")
    assert s3.uploads == {} and list(s3.objects) == ["mine.parquet"], "nothing is left"


@pytest.mark.parametrize("key", ["mine.csv", "mine.csv.gz"])
def test_a_csv_that_is_compressed_with_gzip_is_taken(s3, key):
    manifest, _ = made(s3, gzip.compress(example_file.as_csv()), key)
    assert manifest.sha256 == made(s3, example_file.as_csv(), "plain.csv")[0].sha256


def test_damaged_gzip_is_refused(s3):
    data = gzip.compress(("a\n" + "".join(f"{n * 7919 % 10_007}\n" for n in range(50_000))).encode())
    for broken in (data[: len(data) // 2], data[:50_000] + b"\0" * 99 + data[50_099:], data[:5]):
        with pytest.raises(SpecError, match="its gzip is damaged"):
            made(s3, broken, "mine.csv.gz")
    assert s3.uploads == {} and list(s3.objects) == ["mine.csv.gz"], "nothing is left"


@pytest.mark.parametrize("key", ["mine.csv", "folder/1.csv"])
def test_a_file_that_changes_while_it_is_read_leaves_no_dataset(s3, monkeypatch, key):
    s3.objects[key] = b"a\n1\n"

    def send(*given):
        real(*given)
        s3.objects[key] = b"a\n2\n3\n"

    real = custom_file.send_csv
    monkeypatch.setattr(custom_file, "send_csv", send)
    with pytest.raises(SpecError, match="has changed while it was read"):
        made_of(s3, "s3://bucket/folder/" if "/" in key else f"s3://bucket/{key}")
    assert list(s3.objects) == [key], "nothing is left"


def test_a_damaged_end_is_refused_and_a_full_disk_is_no_damage(s3, monkeypatch):
    data = written(a=[1])
    with pytest.raises(SpecError, match="it is no Parquet file"):
        made(s3, data[:-30] + b"\xff" * 22 + data[-8:], "mine.parquet")
    full = OSError(28, "No space left on device")
    monkeypatch.setattr(S3, "download_fileobj", lambda *_: (_ for _ in ()).throw(full))
    with pytest.raises(OSError, match="No space left"):
        made(s3, data, "mine.parquet")


@pytest.mark.parametrize(
    "data",
    [
        b"0,1\n0.5,x\n0.25,y\n",
        b"country,2019,2020\nA,,\n",
        b"id,2019\n1,5\n",
        b"id,a;b\n1,2\n",
        b"name\nx;y\n",
    ],
)
def test_names_that_are_numbers_or_have_semicolons_can_be_a_header(s3, data):
    manifest, _ = made(s3, data)
    assert s3.objects[manifest.key] == data


def test_a_name_with_a_point_is_not_the_field_of_a_struct(s3):
    at = pa.array([1_000], pa.timestamp("ms"))
    data = written(**{"a": at, "a.b": ["x"], "$c": [1]})
    manifest, _ = made(s3, data, "mine.parquet")
    assert s3.objects[manifest.key] == b"a,a.b,$c\n1970-01-01T00:00:01Z,x,1\n"


def test_a_file_without_line_ends_is_not_read_into_memory(s3, monkeypatch):
    monkeypatch.setattr(custom_csv, "LINE_CHARACTERS", 1_000)
    with pytest.raises(SpecError, match=r"line 2 has more than 1,000 characters\. Is it a CSV"):
        made(s3, b"a\n" + b"x," * 1_000)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_chunks_of_many_columns_have_few_rows(monkeypatch, kind):
    monkeypatch.setattr(custom_tables, "CHUNK_CHARACTERS", 4_000)
    names = [f"c{n}" for n in range(400)]
    if kind == "csv":
        text = ",".join(names) + "\n" + ("," * 399 + "\n") * 100
        table = custom_tables.comma_separated(io.StringIO(text, newline=""))
    else:
        table = custom_tables.parquet(
            io.BytesIO(written(**{name: pa.nulls(100, pa.string()) for name in names}))
        )
    rows = [len(texts[0]) for texts in table.chunks]
    assert sum(rows) == 100 and max(rows) <= 6


@pytest.mark.parametrize(
    "texts", [["x" * 900, "y" * 900] * 500, [f"{n:0900}" for n in range(1_000)], ["x" * 900_000, ""] * 500]
)
def test_a_chunk_of_long_texts_has_few_rows_also_if_the_file_has_each_once(monkeypatch, texts):
    monkeypatch.setattr(custom_tables, "CHUNK_CHARACTERS", 20_000)
    data = io.BytesIO(written(a=texts, n=list(range(1_000)), none=pa.nulls(1_000, pa.string())))
    chunks = list(custom_tables.parquet(data).chunks)
    assert [text for chunk in chunks for text in chunk[0]] == texts
    assert [text for chunk in chunks for text in chunk[1]] == list(map(str, range(1_000)))
    assert max(sum(map(len, chunk[0])) for chunk in chunks) <= max(20_000, *map(len, texts))


@pytest.mark.parametrize("rows", [1, 7, 1_000])
def test_row_groups_of_any_size_are_the_same_rows(s3, rows):
    out = io.BytesIO()
    table = pa.table({"n": range(1_000), "a": [None if n % 3 else f"{n % 10}" for n in range(1_000)]})
    pq.write_table(table, out, row_group_size=rows)
    manifest, _ = made(s3, out.getvalue(), "mine.parquet")
    assert s3.objects[manifest.key].decode() == "n,a\n" + "".join(
        f"{n},{'' if n % 3 else n % 10}\n" for n in range(1_000)
    )


def test_types_of_parquet_that_no_store_keeps_become_text(s3):
    data = written(
        small=pa.array(["1.0000001"]).cast(pa.decimal128(20, 7)),
        later=pa.array([2**40], pa.timestamp("s")),
        much_later=pa.array([2_932_897], pa.date32()),
        large=pa.array([2**64 - 1], pa.uint64()),
        real=pa.array([1e-7]),
    )
    manifest, _ = made(s3, data, "mine.parquet")
    (row,) = csv.DictReader(io.StringIO(s3.objects[manifest.key].decode()))
    assert row == {
        "small": "1.0000001",
        "later": "36812-02-20T00:36:16Z",
        "much_later": "10000-01-01",
        "large": "18446744073709551615",
        "real": "1e-07",
    }
    assert [field.type for field in manifest.schema] == ["string"] * 4 + ["float"]
    assert [field.misfit for field in manifest.schema] == [*list(row.values())[:4], None]


def test_the_manifest_says_the_range_of_dates_and_the_places_of_seconds(s3):
    manifest, _ = made(
        s3, b"on,at\n0001-01-01,2024-05-06T07:08:09.123Z\n9999-12-31,1500-01-01T00:00:00.000Z\n"
    )
    on, at = manifest.schema
    assert (on.type, on.earliest, on.latest) == ("date", "0001-01-01", "9999-12-31")
    assert (at.type, at.earliest, at.latest, at.scale) == (
        "timestamp",
        "1500-01-01T00:00:00.000Z",
        "2024-05-06T07:08:09.123Z",
        3,
    )


def test_a_carriage_return_alone_comes_back(s3):
    manifest, _ = made(s3, b'a,b\n"x\ry",2\n')
    copy = io.StringIO(s3.objects[manifest.key].decode(), newline="")
    assert list(csv.DictReader(copy)) == [{"a": "x\ry", "b": "2"}]


def test_the_line_separators_of_unicode_stay_in_their_value(s3):
    manifest, _ = made(s3, 'a,b\n"x\u2028y\x85z\x0b",2\nplain\u2028text,3\n'.encode())
    copy = io.StringIO(s3.objects[manifest.key].decode(), newline="")
    assert [row["a"] for row in csv.DictReader(copy)] == ["x\u2028y\x85z\x0b", "plain\u2028text"]
    batches = csv_reader(io.BytesIO(s3.objects[manifest.key]), arrow_schema(manifest.schema))
    assert [text for one in batches for text in one["a"].to_pylist()] == [
        "x\u2028y\x85z\x0b",
        "plain\u2028text",
    ]


def test_empty_lines_are_no_rows_and_one_empty_column_has_nulls(s3):
    manifest, _ = made(s3, b'a\n\nx\n""\n')
    copy = io.StringIO(s3.objects[manifest.key].decode(), newline="")
    assert [row["a"] for row in csv.DictReader(copy)] == ["x", ""] and manifest.schema[0].nullable
