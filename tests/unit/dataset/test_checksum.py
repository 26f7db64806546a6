import random

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storebench.dataset import checksum
from storebench.dataset.checksum import TableChecksum, column_hashes, text_hash
from storebench.dataset.generate import generate_chunk
from storebench.dataset.schema import FIELD_NAMES
from tests.unit.dataset import reference


def columns(rows):
    return {name: [row[name] for row in rows] for name in FIELD_NAMES}


def checksum_of(rows):
    result = TableChecksum()
    result.update(columns(rows))
    return result


def test_the_generators_checksums_are_those_of_the_definition(chunk, golden_rows):
    fields, row_sum = reference.checksums(golden_rows)
    assert chunk.checksums.fields == fields
    assert chunk.checksums.row_sum == row_sum
    assert chunk.checksums.rows == 1000


def test_verification_of_the_same_rows_finds_nothing(rows, manifest):
    assert checksum_of(rows).diff(manifest) == []


def test_the_order_of_rows_and_the_cut_into_chunks_do_not_matter(rows, manifest):
    random.Random(1).shuffle(rows)
    result = TableChecksum()
    for start in range(0, len(rows), 77):
        result.update(columns(rows[start : start + 77]))
    assert result.diff(manifest) == []


def test_a_lost_row_is_found(rows, manifest):
    del rows[500]
    assert "rows: 999 of 1,000" in checksum_of(rows).diff(manifest)


def test_a_row_that_came_twice_in_place_of_another_is_found(rows, manifest):
    rows[3] = rows[4]
    assert "field id: checksum differs" in checksum_of(rows).diff(manifest)


@pytest.mark.parametrize("name", FIELD_NAMES)
def test_one_changed_value_is_found(rows, manifest, name):
    rows[7][name] += "x"
    assert checksum_of(rows).diff(manifest) == [f"field {name}: checksum differs"]


@pytest.mark.parametrize("name", FIELD_NAMES)
def test_a_value_that_two_rows_exchanged_is_found(rows, manifest, name):
    other = next(row for row in rows if row[name] != rows[0][name])
    rows[0][name], other[name] = other[name], rows[0][name]
    (difference,) = checksum_of(rows).diff(manifest)
    assert "moved between rows" in difference


def test_values_that_two_fields_of_a_row_exchanged_are_found(rows, manifest):
    row = next(row for row in rows if row["created_at"] != row["measured_at"])
    row["created_at"], row["measured_at"] = row["measured_at"], row["created_at"]
    assert len(checksum_of(rows).diff(manifest)) == 2


def test_a_null_is_the_empty_text(rows, manifest):
    nulls = [{name: text or None for name, text in row.items()} for row in rows]
    assert checksum_of(nulls).diff(manifest) == []


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary"])
def test_arrow_columns_give_the_same(rows, manifest, kind):
    def array(texts):
        values = [text or None for text in texts]
        if kind == "dictionary":
            return pa.array(values).dictionary_encode()
        return pa.array(values, type=getattr(pa, kind)())

    result = TableChecksum()
    result.update({name: array(texts) for name, texts in columns(rows[:400]).items()})
    result.update(
        {
            name: pa.chunked_array([array(texts)[450:], array(texts)[400:450]])
            for name, texts in columns(rows).items()
        }
    )
    assert result.diff(manifest) == []


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=60)


@given(st.lists(texts, max_size=30))
def test_a_column_is_hashed_as_its_texts(column):
    assert column_hashes(column).tolist() == [reference.text_hash(text) for text in column]
    assert column_hashes(pa.array(column, pa.string())).tolist() == [text_hash(text) for text in column]


@pytest.mark.parametrize(
    "long", [1, checksum.BLOCK_BYTES - 1, checksum.BLOCK_BYTES, checksum.BLOCK_BYTES + 1]
)
def test_long_texts(long):
    column = ["ä", "x" * long, "", "y" * long, "z" * (long // 2), "end"]
    expected = [text_hash(text) for text in column]
    assert column_hashes(column).tolist() == expected
    assert column_hashes(pa.array(column)).tolist() == expected


def test_missing_and_unknown_fields_are_named(rows):
    data = columns(rows)
    data["_id"] = data.pop("email")
    with pytest.raises(ValueError, match="missing fields: email; unknown fields: _id"):
        TableChecksum().update(data)


def test_columns_of_uneven_length_are_named(rows):
    data = columns(rows)
    data["email"] = data["email"][1:]
    with pytest.raises(ValueError, match="field email has 999 values for 1,000 rows"):
        TableChecksum().update(data)


@pytest.mark.parametrize("value", [5, 5.0, b"5", True, "a\0b"])
def test_a_value_that_is_no_text_is_named(rows, value):
    rows[3]["quantity"] = value
    with pytest.raises(TypeError, match="field quantity"):
        checksum_of(rows)


def test_an_arrow_column_that_is_no_text_is_named(rows):
    data = {**columns(rows), "quantity": pa.array(range(1000))}
    with pytest.raises(TypeError, match="field quantity: int64 is not text"):
        TableChecksum().update(data)


def test_rows_of_several_chunks_add_up(chunk):
    first, second = generate_chunk(42, 0, 300).checksums, generate_chunk(42, 300, 1000).checksums
    first.add(second)
    assert vars(first) == vars(chunk.checksums)
