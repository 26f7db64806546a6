"""The client `compiled`: its jobs have the rows of the plain definition, and its codecs the bytes of ytsaurus-client."""

import io
import os
import subprocess
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebench.errors import SpecError, StoreRefused
from storebench.stores.map_formats import protobuf_schema, runner
from storebench.stores.map_formats.check import digest
from storebench.stores.map_formats.formats import FORMATS, format_of
from storebench.stores.map_formats.job import work_of
from storebench.stores.map_formats.tables import (
    BENCHMARKS,
    INTEGERS,
    JOBS,
    POSITIONS,
    VALUES,
    WIDE_SHARE,
    benchmark_of,
)
from tests.unit.stores.map_formats.checking import checked

SEED, PART, ROWS = 7, 3, 3_003
BIN = Path(os.environ.get("STOREBENCH_HOME", "/nowhere"), "bin")
CODECS = ("yson", "skiff")  # of this project itself
CASES = [
    (name, benchmark, values, position)
    for name in FORMATS
    for benchmark in BENCHMARKS
    for values in (VALUES if benchmark != "write" else VALUES[:1])
    for position in (POSITIONS if benchmark == "extend" else POSITIONS[:1])
]


def program(name):
    if not (BIN / name).exists():
        pytest.fail(f"{BIN / name} is missing: run these tests with `make unit`")
    return str(BIN / name)


@cache
def encoded(name, bench, rows=ROWS):
    sink = io.BytesIO()
    format_of(name, bench).encode(bench.table, list(bench.input(rows, SEED, PART)), sink)
    return sink.getvalue()


def ways(name, bench):
    """Yield the interfaces and accesses of a job in this format."""
    yield from (("direct", "row"), ("common", "row"))
    if name == "arrow" and bench.name != "write":
        yield "direct", "column"


def ended(name, bench, data, way=("direct", "row"), numbers=None, programs=None):
    numbers = bench.part(ROWS, PART) if numbers is None else numbers

    def command(part, report):
        numbered = (str(number) for number in (numbers.start, numbers.stop, report))
        job = programs or (program("map-job"),)
        return *job, name, bench.name, *numbered, bench.position, *way

    (found,) = runner.Jobs(1, 60).run([data], command)
    assert found.cpu_s >= 0 and found.memory_peak_bytes > 1 << 20
    return found


def run(name, bench, data, way=("direct", "row"), rows=ROWS):
    """Return the output of a job."""
    return ended(name, bench, data, way, bench.part(rows, PART)).output


def case(name, bench, output, rows=ROWS):
    """Return a case for `checked`."""
    wanted = digest(bench.expected(rows, SEED, PART))
    return name, (bench.name, bench.values, bench.position), "output", rows, SEED, PART, wanted, output


def test_each_job_has_the_rows_of_the_plain_definition():
    asked, cases = [], []
    for name, *axes in CASES:
        bench = benchmark_of(*axes)
        data = b"" if bench.name == "write" else encoded(name, bench)
        for way in ways(name, bench):
            asked.append((name, *axes, *way))
            cases.append(case(name, bench, run(name, bench, data, way)))
    said = dict(zip(asked, checked(cases), strict=True))
    assert {what: wrong for what, wrong in said.items() if wrong} == {}


def test_jobs_have_several_batches_of_arrow():
    rows, cases = 25_003, []
    for values in VALUES:
        for benchmark in ("narrow", "extend", "complex"):
            bench = benchmark_of(benchmark, values)
            data = encoded("arrow", bench, rows)
            cases += [
                case("arrow", bench, run("arrow", bench, data, way, rows), rows)
                for way in ways("arrow", bench)
            ]
    assert not any(checked(cases))


@pytest.mark.parametrize("name", CODECS)
def test_a_job_writes_the_bytes_that_the_client_python_writes(name):
    for _, *axes in (one for one in CASES if one[0] == name):
        bench, sink = benchmark_of(*axes), io.BytesIO()
        data = b"" if bench.name == "write" else encoded(name, bench)
        numbers = bench.part(ROWS, PART)
        work_of(name, bench.name, numbers, bench.position, "direct")(io.BytesIO(data), sink)
        for way in ways(name, bench):
            assert run(name, bench, data, way) == sink.getvalue(), (axes, way)


def test_the_messages_of_the_job_are_those_of_the_client_python():
    """Go's generated code keeps the serialized descriptor, so the program has the bytes: the same tables, and the same types of fields."""
    described = protobuf_schema.descriptor().SerializeToString()
    assert len(described) > 10_000
    assert described in Path(program("map-job")).read_bytes()


def test_dictionaries_of_arrow_come_out_again_of_jobs_on_columns():
    import pyarrow

    bench = benchmark_of("modify", "few")
    given = pyarrow.ipc.open_stream(encoded("arrow", bench)).read_all()

    def dictionaries(access):
        output = run("arrow", bench, encoded("arrow", bench), ("direct", access))
        found = pyarrow.ipc.open_stream(output).read_all()
        assert (found.schema == given.schema) == (access == "column")
        return any(pyarrow.types.is_dictionary(field.type) for field in found.schema)

    assert dictionaries("column") and not dictionaries("row")


def program_of(client):
    return runner.PYTHON if client == "python" else (program("map-job"),)


# Without a rehearsal a job of the client `compiled` initialized the message of `wide` within its clock: 50 rows took two thirds of 500.
@pytest.mark.parametrize("client", ["python", "compiled"])
@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_prepares_is_not_in_the_time_of_a_job(client, name):
    bench, took_s = benchmark_of("wide"), {}
    for rows in (50, 500):
        data = encoded(name, bench, rows * WIDE_SHARE * JOBS)
        turns = [
            ended(name, bench, data, numbers=range(0), programs=program_of(client)).seconds for _ in range(3)
        ]
        took_s[rows] = min(turns)
    assert took_s[50] < took_s[500] / 2, took_s


def integers(kind):
    bits, signed = INTEGERS[kind]
    return st.integers(-(1 << bits) if signed else 0, (1 << bits) - 1)


TEXTS, DOUBLES = st.binary(max_size=40), st.floats(allow_nan=False)
KINDS = {
    **{kind: integers(kind) for kind in INTEGERS},
    "float": st.floats(width=32, allow_nan=False),
    "double": DOUBLES,
    "boolean": st.booleans(),
    "string": TEXTS,
    "optional_string": st.none() | TEXTS,
    "double_list": st.lists(DOUBLES, max_size=9).map(tuple),
    "point": st.tuples(integers("int64"), TEXTS),
    "marks": st.dictionaries(TEXTS, integers("int64"), max_size=5).map(
        lambda found: tuple(sorted(found.items()))
    ),
}


def rows_of(table):
    """Return up to 20 rows of a table. Up to 4 rows of the widest table repeat the values of its first columns, one of each kind."""
    kinds = [column.kind for column in table.columns]
    distinct = list(dict.fromkeys(kinds)) if len(kinds) > 100 else kinds
    assert distinct * (len(kinds) // len(distinct)) == kinds
    rows = st.tuples(*(KINDS[kind] for kind in distinct)).map(lambda row: row * (len(kinds) // len(distinct)))
    return st.lists(rows, max_size=20 if distinct is kinds else 4)


@pytest.mark.parametrize("table", ["wide", "narrow", "middle", "complex"])
@pytest.mark.parametrize("name", CODECS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_the_codecs_read_what_ytsaurus_client_writes_and_write_the_same(name, table, data):
    bench = benchmark_of({"middle": "modify"}.get(table, table))
    rows = data.draw(rows_of(bench.table))
    format_, sink = format_of(name, bench), io.BytesIO()
    format_.encode(bench.table, rows, sink)
    done = subprocess.run(
        [program("map-codecs"), "pass", name, table],
        input=sink.getvalue(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == sink.getvalue()
    assert list(format_.decode(bench.table, io.BytesIO(done.stdout))) == rows


@pytest.mark.parametrize("name", FORMATS)
def test_an_input_that_is_cut_short_is_an_error_with_its_offset(name):
    bench = benchmark_of("modify")
    table = encoded(name, bench)
    for share in (0.001, 0.4, 0.997):
        with pytest.raises(StoreRefused, match=r"^Job 0 has failed: \w+, byte \d+: .*exit code 1"):
            run(name, bench, table[: max(1, int(len(table) * share))])


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, way) for name in FORMATS for way in ways(name, benchmark_of("complex"))],
)
def test_a_changed_input_is_an_error_or_other_rows_and_never_a_crash(name, way):
    for benchmark in ("narrow", "complex"):
        bench = benchmark_of(benchmark, "few")
        table = encoded(name, bench, 300)
        for at in range(0, len(table), max(1, len(table) // 25)):
            changed = bytearray(table)
            changed[at] ^= 0xFF
            try:
                run(name, bench, bytes(changed), way, 300)
            except StoreRefused as error:
                assert "(exit code 1)" in str(error) and "byte" in str(error)


@pytest.mark.parametrize("client", ["python", "compiled"])
@pytest.mark.parametrize("read", [0, 1, 70_000, 1_000_000])
@pytest.mark.parametrize("written", [0, 10, 200_000, 3_000_000])
def test_the_job_of_null_reads_all_of_its_input_and_writes_what_it_is_told_to(client, read, written):
    taken = []

    def feed(stdin, data, bits_per_s):
        stdin.write(data)  # a job that does not read it all breaks the pipe
        stdin.close()
        taken.append(len(data))

    with mock.patch.object(runner, "feed", feed):
        found = ended(
            "null",
            benchmark_of("wide"),
            bytes(read),
            numbers=range(5, 5 + written),
            programs=program_of(client),
        )
    assert (taken, len(found.output)) == ([read], written)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("yaml", "narrow", "0", "1", "{}", "end", "direct", "row"),
            'Unknown format "yaml": one of yson, skiff',
        ),
        (
            ("yson", "narow", "0", "1", "{}", "end", "direct", "row"),
            'Unknown benchmark "narow": one of wide, narrow',
        ),
        (("yson", "narrow", "0", "-1", "{}", "end", "direct", "row"), '"-1" is not a whole number'),
        (("yson", "narrow", "0", "1", "{}", "middle", "direct", "row"), 'adds no column, only "extend" does'),
        (("null", "narrow", "0", "1", "{}", "end", "common", "row"), "null decodes nothing"),
        (("skiff", "narrow", "0", "1", "{}", "end", "direct", "column"), "only a job of arrow"),
        (("arrow", "narrow", "0", "1", "{}", "end", "common", "column"), "only a job of arrow"),
        (("arrow", "narrow", "0", "1", "{}", "end", "direct", "rows"), 'Unknown access "rows"'),
        (("yson", "narrow", "0", "1", "{}", "end", "direct"), "Usage: map-job FORMAT BENCHMARK"),
    ],
)
def test_a_job_that_is_not_there_says_so(arguments, says):
    with pytest.raises(StoreRefused) as refused:
        runner.Jobs(1, 60).run(
            [b""], lambda _, report: [program("map-job"), *(one.format(report) for one in arguments)]
        )
    assert says in str(refused.value)


def test_a_pod_without_the_job_is_an_error_before_any_work(monkeypatch, tmp_path):
    assert runner.program_of("python") == runner.PYTHON
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SpecError, match=r"map-job is not on the PATH .*build the image formats anew"):
        runner.program_of("compiled")
    job = tmp_path / "map-job"
    job.touch(0o755)
    assert runner.program_of("compiled") == (str(job),)
