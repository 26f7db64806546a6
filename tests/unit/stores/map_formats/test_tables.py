"""The tables, and their plain definitions."""

import hashlib

import pytest

from storebench.errors import SpecError
from storebench.stores.map_formats import check
from storebench.stores.map_formats.tables import BENCHMARKS, FEW, INTEGERS, JOBS, MIDDLE, benchmark_of

# Whoever changes a table raises the version of the dataset in dags/map_formats.py.
DIGESTS = {
    "wide": "e679bcd364fee0aa9b4075184e1011a4",
    "narrow": "882c6f368ae722293231494b913c1bab",
    "modify": "a9b3d88393001831ee32e1b03d1aa7fb",
    "extend": "b54186b2df756e64f8bcc5f4259ecb39",
    "complex": "d4468006ab671e4c00197d668f1a1376",
    "write": "6bfbc3b6f7c222dd230087db2c298bdc",
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_seed_gives_the_same_rows_everywhere(name):
    bench = BENCHMARKS[name]
    assert check.digest(bench.input(1_000, 42, 0)) == DIGESTS[name]
    assert check.digest(bench.input(1_000, 42, 1)) != DIGESTS[name]


FEW_DIGESTS = {
    "wide": "b836eacb433015327068b90968b34773",
    "modify": "f54521e86f22fa5bf9275fb6c601765a",
    "complex": "dc409ca5a5b9c2bcf5b504650e7ee4b6",
}


@pytest.mark.parametrize("name", FEW_DIGESTS)
def test_a_seed_gives_the_same_few_values_everywhere(name):
    assert check.digest(benchmark_of(name, "few").input(1_000, 42, 0)) == FEW_DIGESTS[name]


@pytest.mark.parametrize("name", ["wide", "narrow", "modify", "extend", "complex"])
def test_few_values_are_the_same_in_all_parts(name):
    bench, asked = benchmark_of(name, "few"), 40_000 if name == "wide" else 2_000
    parts = [list(bench.input(asked, 1, part)) for part in range(JOBS)]
    assert sum(map(len, parts)) == bench.rows(asked)
    columns = [set(column) for column in zip(*(row for rows in parts for row in rows), strict=True)]
    assert max(map(len, columns)) == FEW
    assert all(len(column) > 1 for column in columns)
    assert len(set(map(repr, parts))) == JOBS
    random = set(zip(*benchmark_of(name).input(asked, 1, 0), strict=True))
    assert max(map(len, map(set, random))) > FEW


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.parametrize("asked", [1_000, 1_999])
def test_the_parts_are_the_table(name, asked):
    bench = BENCHMARKS[name]
    numbers = [number for part in range(JOBS) for number in bench.part(asked, part)]
    assert numbers == list(range(asked // 100 if name == "wide" else asked))


@pytest.mark.parametrize("name", BENCHMARKS)
def test_values_fit_their_columns(name):
    bench = BENCHMARKS[name]
    for row in bench.input(20_000 if name == "wide" else 2_000, 1, 9):
        for column, value in zip(bench.table.columns, row, strict=True):
            if column.kind in INTEGERS:
                bits, signed = INTEGERS[column.kind]
                assert -(1 << bits) * signed <= value < 1 << bits


def test_too_few_rows_are_refused():
    assert BENCHMARKS["wide"].rows(1_000) == BENCHMARKS["narrow"].rows(10) == 10
    with pytest.raises(
        SpecError, match=r"999 rows are too few for the benchmark 'wide'.* Ask for 1,000 or more"
    ):
        BENCHMARKS["wide"].rows(999)
    with pytest.raises(SpecError, match="Ask for 10 or more"):
        BENCHMARKS["narrow"].rows(9)


def test_the_plain_definitions():
    def mapped(name, *rows):
        return list(BENCHMARKS[name].map(iter(rows)))

    assert mapped("wide", (0, 1, 0.0), (0, 2, 3.5)) == [(3,)]
    assert mapped("narrow", (255, b"ab"), (256, b""), (0, b"c")) == [(1 + 2 + 2 + 0 + 0 + 1,)]
    row = (1, 2, 3.0, 4, True, b"", b"", b"", 5, b"")
    assert mapped("modify", row) == [(1, 2, 3.0, 5, True, b"", b"", b"", 5, b"")]
    assert mapped("extend", row) == [(*row, 5)]
    middle = benchmark_of("extend", position="middle")
    assert list(middle.map(iter([row]))) == [(1, 2, 3.0, 4, True, 5, b"", b"", b"", 5, b"")]
    assert middle.output.names[4:7] == ("flag", "next_qty", "name") and middle.table.names == MIDDLE.names
    assert mapped("complex", (None, (1.5, 2.5), (1, b"x"), ())) == [(None, (2.5, 3.5, 2.0), (1, b"x"), ())]
    assert mapped("write", row) == [row]


def test_the_first_difference_is_said():
    def said(found):
        return check.difference(("a", "b"), iter([(1, 2.0), (3, 4.0)]), iter(found))

    assert said([(1, 2.0)]) == "only 1 rows came out"
    assert said([(1, 2.0), (3, 4.0), (5, 6.0)]) == "more than 2 rows came out"
    assert said([(1, 2.0), (3, 4)]) == "row 2, column b: 4, and not 4.0", "a type counts"


def test_a_checksum_of_bytes():
    assert check.digest_of(b"x") == hashlib.blake2b(b"x", digest_size=16).hexdigest()
