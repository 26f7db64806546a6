"""The sentence about a verification that passed."""

import csv
import io

import pytest

from storebench.dataset.checksum import TableChecksum
from storebench.dataset.generate import generate_chunk, header
from storebench.dataset.schema import FIELD_NAMES
from storebench.errors import VerificationFailed
from storebench.stores.bulk_write_read.null import Null
from storebench.stores.bulk_write_read.verify import verify

ROWS = 20


@pytest.fixture(scope="module")
def chunk():
    return generate_chunk(7, 0, ROWS)


class Source:
    fields = FIELD_NAMES

    def __init__(self, text):
        self.text = text

    def rows(self):
        return csv.DictReader(io.StringIO(self.text.decode(), newline=""))

    def batches(self, rows):
        yield list(self.rows())


@pytest.fixture
def store(chunk):
    source = Source(header() + bytes(chunk.csv))
    return lambda operation: Null(
        client="reference", target="t", connection=None, source=source, operation=operation
    )


@pytest.mark.parametrize(("operation", "how"), [("read", "a second pass of"), ("write", "reading back with")])
def test_it_is_said_what_was_verified_and_by_what(store, chunk, operation, how):
    assert verify(store(operation), ROWS, chunk.checksums) == (
        f"20 rows handled and counted; all 50 fields by {how} csv.DictReader over the source"
    )


def test_a_verification_that_fails_says_nothing_of_the_kind(store, chunk):
    other = TableChecksum()
    other.add(chunk.checksums)
    other.fields["city"] += 1
    with pytest.raises(VerificationFailed, match="field city: checksum differs"):
        verify(store("read"), ROWS, other)
