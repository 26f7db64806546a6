"""The client `compiled`: its jobs have the rows of the plain definition, and its codecs the bytes of ytsaurus-client."""

import io
import os
import subprocess
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebench.errors import SpecError, StoreRefused
from storebench.stores.map_formats import runner
from storebench.stores.map_formats.check import digest
from storebench.stores.map_formats.common import INTERFACES
from storebench.stores.map_formats.formats import FORMATS, format_of
from storebench.stores.map_formats.job import work_of
from storebench.stores.map_formats.tables import BENCHMARKS, INTEGERS, POSITIONS, VALUES, benchmark_of
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


def run(name, bench, data, interface="direct", rows=ROWS):
    """The output of a job."""
    numbers = bench.part(rows, PART)

    def command(part, report):
        numbered = (str(number) for number in (numbers.start, numbers.stop, report))
        return program("map-job"), name, bench.name, *numbered, bench.position, interface

    (ended,) = runner.Jobs(1, 60).run([data], command)
    assert ended.cpu_s >= 0 and ended.memory_peak_bytes > 1 << 20
    return ended.output


def case(name, bench, output, rows=ROWS):
    """What `checked` takes."""
    wanted = digest(bench.expected(rows, SEED, PART))
    return name, (bench.name, bench.values, bench.position), "output", rows, SEED, PART, wanted, output


def test_each_job_has_the_rows_of_the_plain_definition():
    cases = []
    for name, *axes in CASES:
        bench = benchmark_of(*axes)
        data = b"" if bench.name == "write" else encoded(name, bench)
        cases += [case(name, bench, run(name, bench, data, interface)) for interface in INTERFACES]
    said = dict(
        zip([(*one, interface) for one in CASES for interface in INTERFACES], checked(cases), strict=True)
    )
    assert {what: wrong for what, wrong in said.items() if wrong} == {}


def test_jobs_have_several_batches_of_arrow():
    rows, cases = 25_003, []
    for values in VALUES:
        for benchmark in ("narrow", "extend", "complex"):
            bench = benchmark_of(benchmark, values)
            data = encoded("arrow", bench, rows)
            cases += [case("arrow", bench, run("arrow", bench, data, one), rows) for one in INTERFACES]
    assert not any(checked(cases))


@pytest.mark.parametrize("name", CODECS)
def test_a_job_writes_the_bytes_that_the_client_python_writes(name):
    for _, *axes in (one for one in CASES if one[0] == name):
        bench, sink = benchmark_of(*axes), io.BytesIO()
        data = b"" if bench.name == "write" else encoded(name, bench)
        numbers = bench.part(ROWS, PART)
        work_of(name, bench.name, numbers, bench.position, "direct")(io.BytesIO(data), sink)
        for interface in INTERFACES:
            assert run(name, bench, data, interface) == sink.getvalue(), (axes, interface)


def test_dictionaries_of_arrow_come_out_again():
    import pyarrow

    bench = benchmark_of("modify", "few")
    given = pyarrow.ipc.open_stream(encoded("arrow", bench)).read_all()
    found = pyarrow.ipc.open_stream(run("arrow", bench, encoded("arrow", bench))).read_all()
    assert found.schema == given.schema
    assert any(pyarrow.types.is_dictionary(field.type) for field in found.schema)


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
    """Any rows. Those of the widest table repeat the values of its first columns, one of each kind."""
    kinds = [column.kind for column in table.columns]
    distinct = list(dict.fromkeys(kinds)) if len(kinds) > 100 else kinds
    assert distinct * (len(kinds) // len(distinct)) == kinds
    rows = st.tuples(*(KINDS[kind] for kind in distinct)).map(lambda row: row * (len(kinds) // len(distinct)))
    return st.lists(rows, max_size=20)


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


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("name", FORMATS)
def test_a_changed_input_is_an_error_or_other_rows_and_never_a_crash(name, interface):
    for benchmark in ("narrow", "complex"):
        bench = benchmark_of(benchmark, "few")
        table = encoded(name, bench, 300)
        for at in range(0, len(table), max(1, len(table) // 25)):
            changed = bytearray(table)
            changed[at] ^= 0xFF
            try:
                run(name, bench, bytes(changed), interface, 300)
            except StoreRefused as error:
                assert "(exit code 1)" in str(error) and "byte" in str(error)


def test_the_job_of_null_passes_its_bytes():
    data = bytes(range(256)) * 1_000
    assert run("null", benchmark_of("wide"), data) == data


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("yaml", "narrow", "0", "1", "{}", "end", "direct"), 'Unknown format "yaml": one of yson, skiff'),
        (
            ("yson", "narow", "0", "1", "{}", "end", "direct"),
            'Unknown benchmark "narow": one of wide, narrow',
        ),
        (("yson", "narrow", "0", "-1", "{}", "end", "direct"), '"-1" is not a whole number'),
        (("yson", "narrow", "0", "1", "{}", "middle", "direct"), 'adds no column, only "extend" does'),
        (("null", "narrow", "0", "1", "{}", "end", "common"), "null passes bytes"),
        (("yson", "narrow", "0", "1", "{}", "end"), "Usage: map-job FORMAT BENCHMARK"),
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
