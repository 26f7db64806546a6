"""The rows, whoever makes them, and their checksum."""

import numpy as np
import pyarrow as pa
import pytest

from storebench.stores.parquet_copy.rows import Checksum, Rows, binary, matrix

ROWS = Rows(seed=42, iterations=3, rows=500, record_bytes=100)
FIRST = b"%RD<NO|mNLjBcEJ1!wPy"
LAST = b'4N4HVCDAh"/|e4pJ5l{('


def checksum(ids, values, record_bytes=100):
    found = Checksum(record_bytes)
    found.add(np.asarray(ids, dtype=np.uint64), values)
    return found.rows, found.sum


def test_rows_are_printable_and_do_not_repeat():
    values = ROWS.made(0, ROWS.total)
    assert values.shape == (1500, 100)
    assert (values.min(), values.max()) == (32, 126)
    assert len({value.tobytes() for value in values}) == 1500
    counts = np.bincount(values.reshape(-1), minlength=127)[32:]
    assert counts.min() > 0.7 * counts.mean() and counts.max() < 1.3 * counts.mean(), "each is about as often"


def test_these_rows_are_the_same_for_ever():
    assert ROWS.made(0, 1)[0, :20].tobytes() == FIRST
    assert ROWS.made(1499, 1)[0, :20].tobytes() == LAST


@pytest.mark.parametrize(("first", "count"), [(0, 1), (499, 2), (1, 1498), (700, 800)])
def test_a_part_of_the_rows_is_the_same_as_all_of_them_cut(first, count):
    assert (ROWS.made(first, count) == ROWS.made(0, ROWS.total)[first : first + count]).all()


@pytest.mark.parametrize("record_bytes", [1, 31, 32, 33, 1_000_000])
def test_any_length_can_be_made_and_checked(record_bytes):
    rows = Rows(1, 2, 5, record_bytes)
    assert rows.made(3, 4).shape == (4, record_bytes)
    assert rows.checksum().rows == 10
    assert rows.batch_rows * record_bytes <= max(4 << 20, record_bytes)


def test_other_seeds_and_iterations_are_other_rows():
    first = ROWS.made(0, 1).tobytes()
    assert first != Rows(43, 3, 500, 100).made(0, 1).tobytes()
    assert first != ROWS.made(500, 1).tobytes()


def test_the_driver_and_the_executors_make_the_same_rows():
    by_the_driver = [row for iteration in range(3) for row in ROWS.values(iteration)]
    ids = pa.RecordBatch.from_pydict({"id": np.arange(100, 1100)})
    by_executors = [
        (row["id"], row["bytes"])
        for batch in ROWS.record_batches([ids.slice(0, 0), ids])
        for row in batch.to_pylist()
    ]
    assert by_executors == by_the_driver[100:1100]
    assert by_the_driver[0][0] == 0 and by_the_driver[-1][0] == 1499


def test_the_checksum_does_not_depend_on_the_order_or_on_how_many_come_at_once():
    values, ids = ROWS.made(0, ROWS.total), np.arange(ROWS.total)
    whole = ROWS.checksum()
    order = np.random.default_rng(1).permutation(ROWS.total)
    assert checksum(ids[order], values[order]) == (whole.rows, whole.sum)
    parts = Checksum(100)
    for batch in ROWS.record_batches([pa.RecordBatch.from_pydict({"id": ids})]):
        parts.add_batch(batch.slice(0, 7))
        parts.add_batch(batch.slice(7))
    assert (parts.rows, str(parts)) == (whole.rows, str(whole))


@pytest.mark.parametrize(
    "change", ["a bit", "bytes of two rows", "ids of two rows", "twice", "missing", "words of a row"]
)
def test_the_checksum_notices(change):
    values, ids = ROWS.made(0, 100).copy(), np.arange(100)
    right = checksum(ids, values)
    if change == "a bit":
        values[50, 99] ^= 1
    elif change == "bytes of two rows":
        values[[3, 4]] = values[[4, 3]]
    elif change == "ids of two rows":
        ids[[3, 4]] = ids[[4, 3]] + [0, 1]
    elif change == "twice":
        ids, values = np.append(ids, 5), np.append(values, values[5:6], axis=0)
    elif change == "missing":
        ids, values = ids[1:], values[1:]
    else:
        values[7, :8], values[7, 8:16] = values[7, 8:16].copy(), values[7, :8].copy()
    assert checksum(ids, values) != right


def test_values_go_to_arrow_and_back():
    values = ROWS.made(0, 10)
    array = binary(values)
    assert array.to_pylist() == [value.tobytes() for value in values]
    assert (matrix(array.slice(2, 5), 100) == values[2:7]).all()
    assert (matrix(array.cast(pa.large_binary()), 100) == values).all()
    assert matrix(array.slice(0, 0), 100).shape == (0, 100)


def test_bytes_of_another_length_and_nulls_are_no_rows():
    with pytest.raises(ValueError, match="not 3"):
        matrix(pa.array([b"abc", b"ab", b"abcd"]), 3)
    with pytest.raises(ValueError, match="without an id or without bytes"):
        Checksum(3).add_batch(pa.RecordBatch.from_pydict({"id": [1], "bytes": pa.array([None], pa.binary())}))
