"""The real Java program on real Delta tables: its checksum against the dataset's manifest."""

import io
import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyarrow import csv

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.custom_file import encoded
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.schema import FIELD_NAMES, FIELDS, Field
from storebench.dataset.typed import ARROW_SCHEMA, arrow_schema, csv_reader
from storebench.errors import StoreRefused, VerificationFailed
from storebench.stores.bulk_write_read.delta_reader import CLASSPATH, ReaderProcess, checksum_from
from tests import example_file, int96
from tests.integration.conftest import ROWS

LOCAL_ROWS = 3_000  # in several batches of Kernel
SOURCES = Path(__file__).parents[2] / "images/jvm/reader/src/main/java/storebench/reader"
READERS = [("delta-standalone", "reference"), ("delta-kernel", "reference"), ("delta-kernel", "tuned")]


def told(schema):
    """Return the fields in the form of the program's commands."""
    return [{"name": field.name, "type": field.type, "scale": field.scale or 0} for field in schema]


@pytest.fixture(autouse=True)
def built():
    classpath = os.environ.get(CLASSPATH, "")
    if not any(list(Path(entry).parent.glob(Path(entry).name)) for entry in classpath.split(":")):
        pytest.fail(f"{CLASSPATH} names no reader that is built: run these tests with `make integration`")


@pytest.fixture(scope="module")
def chunk():
    return generate_chunk(7, 0, LOCAL_ROWS)


def typed(chunk):
    return pa.Table.from_batches(csv_reader(io.BytesIO(header() + chunk.csv)), ARROW_SCHEMA)


def text(chunk):
    return csv.read_csv(
        io.BytesIO(header() + chunk.csv),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(FIELD_NAMES, pa.string()), null_values=[""], strings_can_be_null=True
        ),
    )


def as_spark_infers(chunk):
    """Doubles for decimals, smaller integers where they fit."""
    table = typed(chunk)
    for n, field in enumerate(FIELDS):
        column = table.column(n)
        if field.type == "decimal":
            table = table.set_column(n, field.name, column.cast(pa.string()).cast(pa.float64()))
        elif field.type == "integer" and field.name != "id":
            table = table.set_column(n, field.name, column.cast(pa.int32()))
    return table


def write(path: Path, table: pa.Table, **options: Any) -> None:
    """Write a Delta table of two files, with timestamps as Spark writes them (INT96), unlike deltalake. `options`: of pyarrow."""
    half = table.num_rows // 2
    for part in (table.slice(0, half), table.slice(half)):
        write_deltalake(path, part, mode="append")
    for log in path.glob("_delta_log/*.json"):
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        for entry in entries:
            if add := entry.get("add"):
                file = path / add["path"]
                pq.write_table(pq.read_table(file), file, use_deprecated_int96_timestamps=True, **options)
                add["size"] = file.stat().st_size
        log.write_text("\n".join(map(json.dumps, entries)) + "\n")


def write_int96(path: Path, texts: list[str]) -> None:
    """Write a Delta table of a column `id` and a column `at` with these timestamps, also timestamps that pyarrow's INT96 cannot hold."""
    moments = list(map(int96.moment, texts))
    at = pa.array([moment // 1000 for moment in moments], pa.timestamp("us", "UTC"))
    write_deltalake(path, pa.table({"id": range(1, len(texts) + 1), "at": at}))
    (log,) = path.glob("_delta_log/*.json")
    entries = [json.loads(line) for line in log.read_text().splitlines()]
    (add,) = (entry["add"] for entry in entries if "add" in entry)
    add["size"] = (path / add["path"]).write_bytes(int96.as_parquet(at=moments))
    log.write_text("\n".join(map(json.dumps, entries)) + "\n")


def variables():
    """Return the variables of the environment that a program depends on."""
    return os.environ.get(CLASSPATH), os.environ.get("JAVA_TOOL_OPTIONS")


@pytest.fixture(scope="module")
def programs():
    """Yield the started programs by their variables. The tests share a program, since a start of Java takes 4 s of CPU."""
    started = {}
    yield started
    for program in started.values():
        program.close()


@pytest.fixture
def opened(programs):
    """Open a table in a program with the variables of this test. A program with other variables than usual ends with the test."""
    usual = variables()

    def start(reader, path, client="reference"):
        if variables() not in programs or programs[variables()].process.poll() is not None:
            programs[variables()] = ReaderProcess()
        program = programs[variables()]
        return program, program.ask("open", reader=reader, client=client, table=path.as_uri(), settings={})

    yield start
    for other in programs.keys() - {usual}:
        programs.pop(other).close()


def checksum(process, schema=FIELDS):
    return checksum_from(process.ask("checksum", fields=told(schema)), schema)


def differences(found, chunk):
    """Return the names of the fields whose checksums differ, and `rows` if the rows' checksum differs."""
    names = [name for name in FIELD_NAMES if found.fields[name] != chunk.checksums.fields[name]]
    return names + ["rows"] * (found.row_sum != chunk.checksums.row_sum)


@pytest.mark.parametrize(("reader", "client"), READERS)
@pytest.mark.parametrize("columns", [text, typed, as_spark_infers])
def test_every_value_of_every_row_is_read(opened, tmp_path, chunk, reader, client, columns):
    write(tmp_path, columns(chunk))
    process, answer = opened(reader, tmp_path, client)
    assert answer["name"] == {"delta-standalone": "Delta Standalone", "delta-kernel": "Delta Kernel"}[reader]
    assert answer["version"] == {"delta-standalone": "3.3.2", "delta-kernel": "4.4.0"}[reader]
    assert process.ask("read")["rows"] == LOCAL_ROWS
    assert process.ask("count")["rows"] == LOCAL_ROWS
    found = checksum(process)
    assert (found.rows, differences(found, chunk)) == (LOCAL_ROWS, [])


@pytest.mark.parametrize(("reader", "client"), READERS)
@pytest.mark.parametrize(
    ("change", "rows", "differs"),
    [
        (lambda t: t.slice(1), LOCAL_ROWS - 1, "rows"),
        (lambda t: pa.concat_tables([t, t.slice(5, 1)]), LOCAL_ROWS + 1, "rows"),
        (lambda t: changed(t, "unit_price", lambda v: v + 1e-9), LOCAL_ROWS, "unit_price"),
        (lambda t: changed(t, "latitude", lambda v: v + 1e-12), LOCAL_ROWS, "latitude"),
        (lambda t: changed(t, "comment", lambda v: v + " "), LOCAL_ROWS, "comment"),
        (lambda t: changed(t, "due_date", lambda _: None), LOCAL_ROWS, "due_date"),
        (lambda t: changed(t, "is_active", lambda v: not v), LOCAL_ROWS, "is_active"),
    ],
    ids=["row lost", "row doubled", "decimal", "float", "text", "null", "boolean"],
)
def test_a_difference_is_noticed(opened, tmp_path, chunk, reader, client, change, rows, differs):
    write(tmp_path, change(as_spark_infers(chunk)))
    process, _ = opened(reader, tmp_path, client)
    found = checksum(process)
    assert found.rows == process.ask("count")["rows"] == rows
    assert differs in differences(found, chunk)
    if rows == LOCAL_ROWS:
        assert differences(found, chunk) == [differs, "rows"]


def changed(table, name, change):
    """Return the table with a changed value in the first row that has a value."""
    values = table[name].to_pylist()
    row = next(n for n, value in enumerate(values) if value is not None)
    values[row] = change(values[row])
    return table.set_column(
        FIELD_NAMES.index(name),
        table.schema.field(name).with_nullable(True),
        [pa.array(values, table[name].type)],
    )


@pytest.mark.parametrize("client", ["reference", "tuned"])
def test_kernel_leaves_out_what_a_commit_removed(opened, tmp_path, chunk, client):
    write_deltalake(tmp_path, text(chunk))
    DeltaTable(tmp_path).delete("priority = '1'")
    process, _ = opened("delta-kernel", tmp_path, client)
    left = DeltaTable(tmp_path).to_pyarrow_table().num_rows
    assert 0 < left < LOCAL_ROWS
    assert process.ask("read")["rows"] == process.ask("count")["rows"] == checksum(process).rows == left


def test_the_tuned_client_reads_as_many_files_at_once_as_there_are_cores(
    opened, tmp_path, chunk, monkeypatch
):
    """Pipes in the place of two data files: who opens one waits there, and only another thread opens the other."""
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:ActiveProcessorCount=2")
    write(tmp_path, text(chunk))
    waiting = sorted(tmp_path.glob("*.parquet"))
    for path in waiting:
        path.unlink()
        os.mkfifo(path)
    process, answer = opened("delta-kernel", tmp_path, "tuned")
    assert answer["client_settings"] == {"threads": 2}
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(process.ask, "read")
        ends, deadline = [], time.monotonic() + 30
        while waiting and not read.done() and time.monotonic() < deadline:
            for path in list(waiting):
                with suppress(OSError):  # nobody has opened it to read yet
                    ends.append(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                    waiting.remove(path)
            time.sleep(0.01)
        for end in ends:
            os.close(end)
        with pytest.raises(StoreRefused, match="The reader failed"):
            read.result(timeout=60)  # an empty pipe is no Parquet file
    assert waiting == [], "both files were open at the same time"


# The expression by which a reader takes a text from its library, and the expression with a wrong text instead of KEY.
TEXTS = {
    "delta-standalone": (
        "StandaloneReader.java",
        "record -> record.getString(name);",
        'record -> record.getString(name).replace("KEY", "wrong");',
    ),
    "delta-kernel": (
        "KernelColumn.java",
        "return Row::getString;",
        'return (row, column) -> row.getString(column).replace("KEY", "wrong");',
    ),
}


@pytest.mark.parametrize(("reader", "client"), READERS)
def test_one_wrong_value_of_the_library_is_noticed(opened, tmp_path, chunk, monkeypatch, reader, client):
    table, classpath = typed(chunk), os.environ[CLASSPATH]
    write(tmp_path / "table", table)
    file, right, wrong = TEXTS[reader]
    source = (SOURCES / file).read_text()
    assert source.count(right) == 1
    (tmp_path / file).write_text(source.replace(right, wrong.replace("KEY", table["event_key"][0].as_py())))
    (tmp_path / "classes").mkdir()
    subprocess.run(
        ["javac", "-d", tmp_path / "classes", "-cp", classpath, tmp_path / file], check=True, timeout=120
    )
    monkeypatch.setenv(CLASSPATH, f"{tmp_path / 'classes'}:{classpath}")
    process, _ = opened(reader, tmp_path / "table", client)
    assert process.ask("read")["rows"] == process.ask("count")["rows"] == LOCAL_ROWS
    assert differences(checksum(process), chunk) == ["event_key", "rows"]


@pytest.mark.parametrize(("reader", "client"), READERS)
def test_other_fields_and_types_are_a_mismatch(opened, tmp_path, chunk, reader, client):
    write(tmp_path / "fields", text(chunk).rename_columns(["other", *FIELD_NAMES[1:]]))
    process, _ = opened(reader, tmp_path / "fields", client)
    with pytest.raises(VerificationFailed, match=r"missing fields: \[id\]; unknown fields: \[other\]"):
        checksum(process)
    table = typed(chunk)
    write(tmp_path / "types", table.set_column(0, "id", table["id"].cast(pa.float64())))
    process, _ = opened(reader, tmp_path / "types", client)
    with pytest.raises(VerificationFailed, match=r"failed: field id: .* \(Double\) cannot be integer"):
        checksum(process)


@pytest.mark.parametrize(("reader", "client"), READERS)
def test_a_lost_file_is_a_failure_of_one_line(opened, tmp_path, chunk, reader, client):
    write(tmp_path, text(chunk))
    next(tmp_path.glob("*.parquet")).unlink()
    process, _ = opened(reader, tmp_path, client)
    with pytest.raises(StoreRefused, match=r"The reader failed: .*[^\n]parquet"):
        process.ask("read")


def test_no_table_is_a_failure(opened, tmp_path):
    with pytest.raises(StoreRefused, match="FileNotFoundException"):
        opened("delta-kernel", tmp_path)


@pytest.mark.parametrize(("reader", "client"), READERS)
def test_a_read_from_s3_is_verified(attempt, reader, client):
    assert attempt("write", store="delta-rs", batch="700")[0] == 0
    code, result = attempt("read", store=reader, batch="700", client=client)
    assert (code, result.status, result.error) == (0, "verified", None)
    assert result.metrics["rows_per_s"] == pytest.approx(ROWS / result.metrics["only_s"], rel=1e-3)
    assert result.verification.endswith(
        f"a second pass of the {client} loop of {result.environment['server_name']}"
    )
    assert 0 < result.metrics["only_s"] < result.total_s
    assert result.client_cpu_share > 0.1, "the CPU time is that of the Java program"
    assert result.phases["connect"] > 0.3, "starting Java is no part of the operation"
    assert result.environment["server_name"].startswith("Delta ")
    threads = {"threads": os.cpu_count()}
    assert result.environment["client_settings"] == (threads if client == "tuned" else {})
    assert result.delivers == ("columnar vectors" if client == "tuned" else "rows in the JVM")


@pytest.mark.parametrize(("reader", "client"), READERS)
def test_no_table_in_s3_is_named(attempt, reader, client):
    code, result = attempt("read", store=reader, client=client)
    assert (code, result.error_kind) == (5, "store_failed")
    assert "There is no Delta table" in result.error


def test_s3_that_is_down_is_unreachable(attempt, change_connection):
    change_connection("s3", extra={"endpoint_url": "http://127.0.0.1:1"})
    code, result = attempt("read", store="delta-kernel")
    assert (code, result.error_kind) == (3, "unreachable")


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(("reader", "client"), READERS)
def test_the_types_of_a_file_of_ones_own_give_its_texts(opened, tmp_path, reader, client, typed):
    rows = list(map(example_file.texts, example_file.rows()))
    schema = [
        Field(name, kind, "", nullable=True, scale=scale, precision=precision)
        for name, (kind, precision, scale) in example_file.TYPES.items()
    ]
    data = encoded([example_file.NAMES, *(tuple(row.values()) for row in rows)])
    arrow = arrow_schema(schema)
    table = pa.Table.from_batches(csv_reader(io.BytesIO(data), arrow), arrow)
    write(tmp_path / "own", table if typed else pa.Table.from_pylist(rows))
    expected = TableChecksum(example_file.NAMES)
    expected.update({name: [row[name] for row in rows] for name in example_file.NAMES})
    process, _ = opened(reader, tmp_path / "own", client)
    assert process.ask("read")["rows"] == example_file.ROWS
    assert vars(checksum(process, schema)) == vars(expected)


MOMENTS = [*int96.END_OF_TIME, "1500-01-01T00:00:00Z", "1582-10-10T00:00:00Z"]


@pytest.mark.parametrize(
    ("reader", "client", "texts", "right"),
    [
        ("delta-kernel", "reference", MOMENTS, True),
        ("delta-kernel", "tuned", MOMENTS, True),
        ("delta-standalone", "reference", ["1582-10-15T00:00:00Z", "9999-12-31T23:59:59Z"], True),
        ("delta-standalone", "reference", ["1582-10-14T00:00:00Z"], False),
        ("delta-standalone", "reference", ["0001-01-01T00:00:00Z"], False),
    ],
)
def test_dates_of_int96_far_from_today_are_the_same_ones(opened, tmp_path, reader, client, texts, right):
    """The moments that Delta Standalone gives before 1582-10-15 are others. So this store refuses them."""
    write_int96(tmp_path, texts)
    expected = TableChecksum(["id", "at"])
    expected.update({"id": [str(n + 1) for n in range(len(texts))], "at": texts})
    process, _ = opened(reader, tmp_path, client)
    found = checksum(process, [Field("id", "integer", ""), Field("at", "timestamp", "")])
    assert (vars(found) == vars(expected)) is right


@pytest.mark.parametrize(("reader", "client"), READERS)
@pytest.mark.parametrize("scale", [3, 6])
def test_parts_of_a_second_have_the_places_of_their_field(opened, tmp_path, reader, client, scale):
    texts = [f"2024-05-06T07:08:09.{n:0>3}{'0' * (scale - 3)}Z" for n in range(4)]
    write_int96(tmp_path, texts)
    expected = TableChecksum(["id", "at"])
    expected.update({"id": list("1234"), "at": texts})
    process, _ = opened(reader, tmp_path, client)
    schema = [Field("id", "integer", ""), Field("at", "timestamp", "", scale=scale)]
    assert vars(checksum(process, schema)) == vars(expected)
    with pytest.raises(VerificationFailed, match=r"field at: .* cannot be timestamp"):
        checksum(process, [schema[0], Field("at", "timestamp", "")])


@pytest.mark.parametrize(
    ("precision", "scale", "right"), [(20, 0, True), (26, 6, True), (21, 0, False), (38, 6, False)]
)
def test_delta_standalone_has_room_for_20_digits_before_the_point(opened, tmp_path, precision, scale, right):
    """Delta Standalone fails in the middle of a read with more digits, so the store refuses them (DeltaStandalone.cannot_hold_fields)."""
    text = "9" * (precision - scale) + ("." + "9" * scale if scale else "")
    write(tmp_path, pa.table({"tax": pa.array([text, "-" + text]).cast(pa.decimal128(precision, scale))}))
    expected = TableChecksum(["tax"])
    expected.update({"tax": [text, "-" + text]})
    process, _ = opened("delta-standalone", tmp_path)
    schema = [Field("tax", "decimal", "", scale=scale, precision=precision)]
    if right:
        assert vars(checksum(process, schema)) == vars(expected)
        return
    with pytest.raises(StoreRefused, match="BufferOverflowException"):
        process.ask("read")


@pytest.mark.parametrize(
    ("reader", "precision", "right"),
    [("delta-kernel", 18, True), ("delta-standalone", 19, True), ("delta-standalone", 18, False)],
)
def test_delta_standalone_reads_no_decimal_that_is_an_integer_in_parquet(
    opened, tmp_path, reader, precision, right
):
    """Spark writes decimals of at most 18 digits so; the store refuses them (DeltaStandalone.cannot_hold_fields)."""
    texts = [f"{n}.25" for n in range(100)]
    table = pa.table({"tax": pa.array(map(Decimal, texts), pa.decimal128(precision, 2))})
    write(tmp_path, table, store_decimal_as_integer=True)
    expected = TableChecksum(["tax"])
    expected.update({"tax": texts})
    schema = [Field("tax", "decimal", "", nullable=False, scale=2, precision=precision)]
    process, _ = opened(reader, tmp_path)
    assert (vars(checksum(process, schema)) == vars(expected)) is right
