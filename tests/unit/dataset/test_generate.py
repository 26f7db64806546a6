import csv
import hashlib
import io
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storebench.dataset import generate, pieces
from storebench.dataset.generate import ESTIMATED_ROW_BYTES, MAX_ROWS, MAX_SEED, check, generate_chunk, header
from storebench.dataset.layout import layout
from storebench.dataset.schema import FIELD_NAMES, FIELDS, SCHEMA_VERSION
from storebench.errors import SpecError

# Other bytes are another schema version: raise it, and only then change these.
GOLDEN = {1: "a23e332b5bc95850daf3e0116d72d17c33167793132702f6d37474276083324f"}


def test_the_bytes_of_a_schema_version_never_change(chunk):
    assert hashlib.sha256(header() + chunk.csv).hexdigest() == GOLDEN[SCHEMA_VERSION]


def test_fifty_fields_in_the_order_of_the_header():
    assert len(FIELD_NAMES) == len(set(FIELD_NAMES)) == 50
    assert header().decode() == ",".join(FIELD_NAMES) + "\n"


def test_every_piece_is_in_the_schemas_order():
    fields = [field for piece in layout() for field in piece.fields]
    assert sorted(set(fields)) == list(range(50))
    assert fields == sorted(fields)


def test_the_csv_is_what_pythons_csv_module_writes(chunk, golden_rows):
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, FIELD_NAMES, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")
    writer.writerows(golden_rows)
    assert text.getvalue().encode() == chunk.csv


CANONICAL = {
    "integer": lambda text, field: str(int(text)),
    "decimal": lambda text, field: f"{float(text):.{field.scale}f}",
    "float": lambda text, field: repr(float(text)),
    "boolean": lambda text, field: {"true": "true", "false": "false"}[text],
    "date": lambda text, field: date.fromisoformat(text).isoformat(),
    "timestamp": lambda text, field: datetime.strptime(text, "%Y-%m-%dT%H:%M:%S%z").strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    ),
    "string": lambda text, field: text,
}


@pytest.mark.parametrize("field", FIELDS, ids=FIELD_NAMES)
def test_a_typed_value_gives_its_canonical_text_back(field):
    """Over all entries of the field's tables that rows of a big range take."""
    texts = VALUES[field.name]
    assert ("" in texts) == field.nullable
    texts = texts - {""}
    assert all(CANONICAL[field.type](text, field) == text for text in texts)
    if field.type == "string":
        assert all(text == text.strip() and "\0" not in text for text in texts)
        assert not any(INFERRED.fullmatch(text) for text in texts)


INFERRED = re.compile(
    r"[+-]?\d*[.,]?\d*(e[+-]?\d+)?[fd]?|true|false|null|none|na|n/a|nan|inf|infinity|\d+-\d+-\d+.*",
    re.IGNORECASE,
)


def _values():
    data = generate_chunk(7, 10_000_000, 10_020_000).csv
    columns = zip(*csv.reader(io.StringIO(data.decode(), newline="")), strict=True)
    return {name: set(column) for name, column in zip(FIELD_NAMES, columns, strict=True)}


VALUES = _values()


@pytest.mark.parametrize(
    ("name", "at_least"),
    [("id", 20_000), ("event_key", 19_900), ("created_at", 19_900), ("unit_price", 17_000), ("total_amount", 19_900),
     ("balance", 19_000), ("latitude", 19_500), ("email", 19_900), ("phone", 19_900), ("last_name", 15_000),
     ("comment", 18_000), ("description", 19_800), ("quantity", 2_000)],
)  # fmt: skip
def test_stores_that_keep_dictionaries_are_not_flattered(name, at_least):
    assert len(VALUES[name]) >= at_least


def test_free_text_has_all_that_is_hard_in_a_csv():
    text = "".join(VALUES["comment"] | VALUES["description"])
    assert all(mark in text for mark in (",", '"', "\n", "ö", "Ł", "–", "€"))
    assert {"明", "Σοφία"} <= VALUES["first_name"]


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, MAX_SEED),
    start=st.integers(0, MAX_ROWS - 400),
    sizes=st.lists(st.integers(1, 97), min_size=1, max_size=4),
)
def test_any_cut_into_chunks_gives_the_same_bytes_and_checksums(seed, start, sizes):
    whole = generate_chunk(seed, start, start + sum(sizes))
    parts = []
    for size in sizes:
        parts.append(generate_chunk(seed, start, start + size))
        start += size
    assert b"".join(part.csv for part in parts) == whole.csv
    total = parts[0].checksums
    for part in parts[1:]:
        total.add(part.checksums)
    assert vars(total) == vars(whole.checksums)


def test_the_size_of_a_block_changes_nothing(chunk, monkeypatch):
    monkeypatch.setattr(generate, "BLOCK_ROWS", 333)
    again = generate_chunk(42, 0, 1000)
    assert again.csv == chunk.csv and vars(again.checksums) == vars(chunk.checksums)


def test_threads_make_the_same_bytes(chunk):
    with ThreadPoolExecutor(4) as pool:
        parts = pool.map(lambda start: generate_chunk(42, start, start + 50).csv, range(0, 1000, 50))
        assert b"".join(parts) == chunk.csv


def test_another_seed_gives_other_rows(chunk):
    assert generate_chunk(43, 0, 1000).csv != chunk.csv


@pytest.mark.parametrize(
    ("rows", "seed", "message"),
    [(0, 1, "rows"), (-5, 1, "rows"), (MAX_ROWS + 1, 1, "rows"), (1, -1, "seed"), (1, 2**63, "seed")],
)
def test_bad_input_is_named(rows, seed, message):
    with pytest.raises(SpecError, match=message):
        check(rows, seed)


@pytest.mark.parametrize(("start", "stop"), [(5, 5), (6, 5), (-1, 5)])
def test_a_range_without_rows_is_refused(start, stop):
    with pytest.raises(SpecError):
        generate_chunk(1, start, stop)


def test_a_part_behind_the_first_must_have_one_length():
    with pytest.raises(ValueError, match="street: only its first table"):
        pieces.composed("street", ["a"], ["b", "cc"])


def test_entries_must_have_one_length_in_the_csv():
    with pytest.raises(ValueError, match="city, region have several lengths"):
        pieces.entire("city region", [("a", "b"), ("a", "bc")])


def test_all_rows_have_the_length_that_the_disk_check_reckons_with(chunk):
    assert len(chunk.csv) == 1000 * ESTIMATED_ROW_BYTES
