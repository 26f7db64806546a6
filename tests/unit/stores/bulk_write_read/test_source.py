"""Reads of the source: none during the work on a batch."""

import csv
import io
import threading
import time

import pyarrow as pa
import pytest

from storebench.attempt.clock import OperationClock
from storebench.dataset import typed
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.schema import FIELD_NAMES, FIELDS
from storebench.dataset.typed import ARROW_SCHEMA, canonical, csv_reader
from storebench.stores.bulk_write_read.base import columns
from storebench.stores.bulk_write_read.source import Source
from tests.slow import slow_down

ROWS = 1_000
SIZES = (7, 300, 999, ROWS, ROWS + 1, None)


@pytest.fixture(scope="module")
def chunk():
    return generate_chunk(7, 0, ROWS)


@pytest.fixture(scope="module")
def text(chunk):
    return header() + bytes(chunk.csv)


@pytest.fixture
def source(monkeypatch, text):
    """Return the dataset from a slow source in small blocks, and its streams."""
    monkeypatch.setattr(typed, "BLOCK_BYTES", 40_000)
    streams = slow_down(monkeypatch, lambda: io.BytesIO(text))
    found = Source(None, "bucket", "key")
    found.schema = FIELDS
    return found, streams


def test_what_only_the_manifest_says_is_not_known_before_it_was_read():
    source = Source(None, "bucket", "key")
    for name in ("fields", "schema"):
        with pytest.raises(RuntimeError, match=r"call source\.manifest\(\) before"):
            getattr(source, name)


def typed_batches(source, rows):
    return source.tables(rows)


def row_batches(source, rows):
    return source.batches(rows or ROWS)


def texts(batch):
    if isinstance(batch, pa.Table):
        return canonical(dict(zip(batch.column_names, batch.columns, strict=True)))
    return columns(batch, FIELD_NAMES)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("batches", [typed_batches, row_batches])
def test_batches_have_all_rows_once_in_the_size_that_was_asked_for(source, chunk, batches, rows):
    total, sizes = TableChecksum(), []
    for batch in batches(source[0], rows):
        sizes.append(len(batch))
        total.update(texts(batch))
    step = rows or ROWS
    assert sizes == [min(step, ROWS - start) for start in range(0, ROWS, step)]
    assert vars(total) == vars(chunk.checksums)


@pytest.mark.parametrize("rows", [100, 300, None])
@pytest.mark.parametrize("batches", [typed_batches, row_batches])
def test_a_slow_source_is_no_part_of_the_operation(source, batches, rows):
    source, streams = source
    clock = OperationClock()
    for batch in clock.source(batches(source, rows)):
        with clock.operation(), streams[0].not_now():
            assert len(batch) > 0
            time.sleep(0.002)  # a client that waits for its server
    (stream,) = streams
    assert stream.readers == {threading.get_ident()}, "no other thread reads ahead"
    assert stream.trespasses == 0
    assert clock.source_s >= stream.slept_s, "all of the source's time is the source's"
    assert clock.operation_s < stream.slept_s / 2


def test_nor_is_it_where_the_client_pulls_the_rows_itself(source):
    source, streams = source
    clock = OperationClock()
    with clock.operation():
        assert sum(1 for _ in clock.source(source.rows())) == ROWS
    assert streams[0].readers == {threading.get_ident()}
    assert clock.source_s >= streams[0].slept_s > 2 * clock.operation_s


@pytest.mark.parametrize("batches", [typed_batches, row_batches])
def test_nothing_works_while_a_batch_is_held(source, batches):
    source, streams = source
    held = batches(source, 100)
    next(held)
    read, cpu_s = streams[0].bytes, time.process_time()
    time.sleep(0.2)
    assert streams[0].bytes == read
    assert time.process_time() - cpu_s < 0.1
    held.close()


def parsed(text):
    return pa.Table.from_batches(csv_reader(io.BytesIO(text)), ARROW_SCHEMA)


@pytest.mark.parametrize("size", [1, 7, 483, 484, 485, 5_000, 10**6])
def test_records_stay_whole_wherever_a_block_ends(monkeypatch, text, size):
    monkeypatch.setattr(typed, "BLOCK_BYTES", 10**9)
    few = text[: len(header()) + 12 * 484]
    whole = parsed(few)
    assert whole.num_rows == 12 and any("\n" in comment for comment in whole["comment"].to_pylist())
    monkeypatch.setattr(typed, "BLOCK_BYTES", size)
    assert parsed(few) == whole
    assert parsed(few[:-1]) == whole, "the last line may have no end"


def test_lines_may_end_as_in_windows(monkeypatch, text):
    monkeypatch.setattr(typed, "BLOCK_BYTES", 1_000)
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(csv.reader(io.StringIO(text.decode(), newline="")))
    assert parsed(out.getvalue().encode()) == parsed(text)


def test_a_dataset_without_rows_has_no_batches(source, monkeypatch, text):
    assert list(csv_reader(io.BytesIO(b""))) == []
    assert sum(batch.num_rows for batch in csv_reader(io.BytesIO(header()))) == 0
