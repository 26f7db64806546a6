"""Each benchmark's output in each format, for all values, positions and interfaces, compared with the plain definition."""

import io

import pyarrow
import pytest

from storebench.errors import SpecError
from storebench.stores.map_formats.check import digest
from storebench.stores.map_formats.common import INTERFACES
from storebench.stores.map_formats.formats import ACCESSES, FORMATS, format_of
from storebench.stores.map_formats.job import work_of
from storebench.stores.map_formats.tables import BENCHMARKS, FEW, POSITIONS, VALUES, benchmark_of
from tests.unit.stores.map_formats.checking import checked

SEED, PART = 7, 3
TABLES = [
    (benchmark, values)
    for benchmark in BENCHMARKS
    for values in VALUES
    if (benchmark, values) != ("write", "few")
]
CASES = [
    (name, benchmark, values, position, interface, access)
    for name in FORMATS
    for benchmark, values in TABLES
    for position in (POSITIONS if benchmark == "extend" else ["end"])
    for interface in INTERFACES
    for access in (ACCESSES if (name, interface) == ("arrow", "direct") else ["row"])
]


def rows_of(name, benchmark):
    if benchmark == "wide":
        return 3_000  # three rows of a job
    return 11_003 if name == "arrow" else 503  # more than one batch of Arrow


def encoded(name, bench, rows):
    sink = io.BytesIO()
    format_of(name, bench).encode(bench.table, bench.input(rows, SEED, PART), sink)
    return sink.getvalue()


def mapped(name, benchmark, rows, data, position="end", interface="direct", access="row"):
    sink = io.BytesIO()
    numbers = BENCHMARKS[benchmark].part(rows, PART)
    work_of(name, benchmark, numbers, position, interface, access)(io.BytesIO(data), sink)
    return sink.getvalue()


@pytest.fixture(scope="module")
def wrong():
    """Return the errors in the table of each case, and in the job's output."""
    wanted, tables = {}, {}
    asked = []
    for name, benchmark, values, position, interface, access in CASES:
        rows, bench = rows_of(name, benchmark), benchmark_of(benchmark, values, position)
        if (key := (name, benchmark, values)) not in tables:
            tables[key] = encoded(name, bench, rows)
        for side, of in (("input", bench.input), ("output", bench.expected)):
            if (key := (benchmark, values, position, rows, side)) not in wanted:
                wanted[key] = digest(of(rows, SEED, PART))
        data = tables[name, benchmark, values]
        given = b"" if benchmark == "write" else data
        sides = {"input": data, "output": mapped(name, benchmark, rows, given, position, interface, access)}
        for side, found in sides.items():
            if side == "output" or (position, interface, access) == ("end", "direct", "row"):
                expected = wanted[benchmark, values, position, rows, side]
                asked.append((name, (benchmark, values, position), side, rows, SEED, PART, expected, found))
    said = iter(checked(asked))
    found = {}
    for case in CASES:
        if case[3:] == ("end", "direct", "row"):
            found[case[:3]] = next(said)
        found[case] = next(said)
    return found


@pytest.mark.parametrize(("benchmark", "values"), TABLES)
@pytest.mark.parametrize("name", FORMATS)
def test_a_table_has_its_rows(wrong, name, benchmark, values):
    assert wrong[name, benchmark, values] == ""


@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_a_job_has_the_rows_of_the_plain_definition(wrong, case):
    assert wrong[case] == ""


def columns_of(data):
    with pyarrow.ipc.open_stream(data) as stream:
        return {field.name: field.type for field in stream.schema}, stream.read_all()


def test_only_few_values_have_dictionaries_of_strings_and_numbers():
    kinds, _ = columns_of(encoded("arrow", benchmark_of("modify"), 11_000))
    assert not any(map(pyarrow.types.is_dictionary, kinds.values()))
    kinds, table = columns_of(encoded("arrow", benchmark_of("modify", "few"), 11_000))
    assert {name for name, kind in kinds.items() if not pyarrow.types.is_dictionary(kind)} == {"flag"}
    assert all(len(one.dictionary) <= FEW for one in table.column("note").chunks)
    kinds, _ = columns_of(encoded("arrow", benchmark_of("complex", "few"), 11_000))
    assert [name for name, kind in kinds.items() if pyarrow.types.is_dictionary(kind)] == ["note"]


def test_a_dictionary_is_only_where_it_makes_a_table_smaller():
    few = benchmark_of("modify", "few")
    kinds, _ = columns_of(encoded("arrow", few, 100))  # ten rows of a job
    assert not any(map(pyarrow.types.is_dictionary, kinds.values()))
    wide = benchmark_of("wide", "few")
    kinds, _ = columns_of(data := encoded("arrow", wide, 60_000))
    small = {
        column.kind for column in wide.table.columns if not pyarrow.types.is_dictionary(kinds[column.name])
    }
    assert small == {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float"}
    assert len(data) < len(encoded("arrow", benchmark_of("wide"), 60_000))
    ((zeros,),) = wide.expected(60_000, SEED, PART)
    assert columns_of(mapped("arrow", "wide", 60_000, data, access="column"))[1].to_pylist() == [
        {"zeros": zeros}
    ]


def test_a_job_on_columns_keeps_the_indices_of_a_dictionary_and_passes_what_it_does_not_need():
    data = encoded("arrow", benchmark_of("extend", "few"), 11_000)
    for position, place in (("end", 10), ("middle", 5)):
        kinds, table = columns_of(mapped("arrow", "extend", 11_000, data, position, access="column"))
        assert list(kinds)[place] == "next_qty" and kinds["next_qty"] == kinds["qty"]
        old, new = table.column("qty").chunk(0), table.column("next_qty").chunk(0)
        assert new.indices.equals(old.indices)
        assert new.dictionary.to_pylist() == [value + 1 for value in old.dictionary.to_pylist()]
        assert table.column("email").type == columns_of(data)[0]["email"]
    plain = len(encoded("arrow", benchmark_of("extend"), 11_000))
    assert len(data) < plain / 3, "dictionaries are written once, and not with each batch"
    assert len(mapped("arrow", "extend", 11_000, data, access="column")) < plain / 3


def test_the_position_is_that_of_the_column_in_skiff():
    data = encoded("skiff", benchmark_of("extend"), 100)
    end, middle = (mapped("skiff", "extend", 100, data, position) for position in POSITIONS)
    assert len(end) == len(middle) and end != middle
    assert middle[: 2 + 4 * 8 + 1] == data[: 2 + 4 * 8 + 1], "what is before it stays"


@pytest.mark.parametrize(
    ("name", "benchmark", "position", "interface", "says"),
    [
        ("yson", "extend", "start", "direct", "Unknown position 'start'. There are end, middle"),
        ("yson", "extend", "end", "comon", "Unknown interface 'comon'. Did you mean common?"),
        ("yson", "wide", "middle", "direct", "position=middle: the benchmark 'wide' adds no column"),
        ("null", "extend", "middle", "direct", "null decodes nothing"),
        ("null", "wide", "end", "common", "null decodes nothing"),
    ],
)
def test_a_job_that_cannot_be_is_refused(name, benchmark, position, interface, says):
    with pytest.raises(SpecError) as refused:
        work_of(name, benchmark, range(1), position, interface)
    assert says in str(refused.value)


@pytest.mark.parametrize("name", FORMATS)
def test_a_column_that_is_not_there_is_an_error_of_a_record(name):
    bench = benchmark_of("modify")
    format_ = format_of(name, bench)
    format_.ready()
    row = next(iter(format_.records().read(io.BytesIO(encoded(name, bench, 100)))))
    assert row.get("id") == row.get(0) == 30
    for column in ("quantity", 10, "next_qty"):
        with pytest.raises(KeyError):
            row.get(column)
        with pytest.raises(KeyError):
            row.set(column, 1)
