"""Lost and doubled rows are counted by their hashes, also where a dataset has equal rows."""

import numpy as np
import pytest

from storebench.dataset.checksum import TableChecksum
from storebench.errors import VerificationFailed
from storebench.stores.bulk_write_read.row_hashes import RowHashes
from storebench.stores.lost_rows import compare_rows


def hashes(*values):
    return np.array(values, dtype=np.uint64)


@pytest.mark.parametrize(
    ("found", "lost", "doubled", "first"),
    [
        ((3, 5, 7, 5), 0, 0, None),
        ((3, 7, 5), 1, 0, 1),
        ((3, 3, 3, 5, 5), 1, 2, 2),
        ((), 4, 0, 0),
    ],
)
def test_rows_are_counted_as_often_as_they_are_there(found, lost, doubled, first):
    """The expected rows are 3, 5, 7 and 5 again."""
    seen = compare_rows(hashes(3, 5, 7, 5), hashes(*found))
    assert (seen.rows, seen.lost, seen.doubled, seen.first_lost) == (4, lost, doubled, first)
    assert seen.kept == 4 - lost


def test_a_row_that_nobody_has_written_is_an_error():
    with pytest.raises(VerificationFailed, match="2 rows of the table are not those"):
        compare_rows(hashes(3, 5), hashes(3, 5, 8, 8))


def test_the_hashes_of_rows_add_up_to_the_checksum():
    parts, whole = [], TableChecksum(["a", "b"])
    for chunk in ({"a": ["1", "2"], "b": ["x", "y"]}, {"a": ["3"], "b": [""]}):
        parts.append(RowHashes(["a", "b"]))
        parts[-1].update(chunk)
        whole.update(chunk)
    kept = RowHashes(["a", "b"])
    for part in parts:
        kept.add(part)
    assert len(set(kept.hashes.tolist())) == 3 == kept.rows
    assert int(kept.hashes.sum(dtype=np.uint64)) == whole.row_sum == kept.row_sum
    assert kept.fields == whole.fields
    assert len(RowHashes(["a"]).hashes) == 0
