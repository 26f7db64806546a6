"""The tuned client's writes to a collection that keeps the received documents."""

import threading

import pytest

from storebench.attempt.clock import OperationClock
from storebench.stores.bulk_write_read.mongodb import TUNED_REQUEST_ROWS, MongoDB
from storebench.stores.bulk_write_read.tuning import WINDOW_ROWS


class Source:
    """Batches of rows; knows whether an insert was under way while it was read."""

    def __init__(self, rows, collection):
        self.count, self.collection, self.sizes = rows, collection, []

    def batches(self, rows):
        for first in range(0, self.count, rows):
            assert not self.collection.under_way
            batch = [{"id": str(n)} for n in range(first, min(first + rows, self.count))]
            self.sizes.append(len(batch))
            yield batch


class Collection:
    def __init__(self, fails=False, together=1):
        self._barrier = threading.Barrier(together, timeout=20)
        self.requests, self.under_way, self.fails = [], 0, fails
        self._lock = threading.Lock()

    def insert_many(self, documents, ordered):
        assert not ordered
        with self._lock:
            self.under_way += 1
            self.requests.append([document["id"] for document in documents])
        self._barrier.wait()
        with self._lock:
            self.under_way -= 1
        if self.fails:
            raise ConnectionError("lost")


def store_of(rows, collection):
    store = MongoDB(
        client="tuned", target="t", connection=None, source=Source(rows, collection), operation="write"
    )
    store._raw = collection
    store._tuning = {"connections": 3, "window_rows": WINDOW_ROWS}
    return store


@pytest.mark.parametrize("batch", [400, TUNED_REQUEST_ROWS, 2_500])
def test_no_request_reaches_over_a_batch_and_all_are_answered_before_the_source_is_read_on(batch):
    collection = Collection()
    store = store_of(5_300, collection)
    assert store._write_tuned(batch, OperationClock()) == 5_300
    assert sorted(int(n) for request in collection.requests for n in request) == list(range(5_300))
    for request in collection.requests:
        assert len(request) <= TUNED_REQUEST_ROWS
        assert len({int(n) // batch for n in request}) == 1


def test_as_many_requests_are_under_way_as_there_are_connections():
    collection = Collection(together=3)
    assert store_of(300, collection)._write_tuned(None, OperationClock()) == 300, "a small batch, too"


def test_all_at_once_goes_in_blocks():
    store = store_of(WINDOW_ROWS + 1, Collection())
    assert store._write_tuned(None, OperationClock()) == WINDOW_ROWS + 1
    assert store.source.sizes == [WINDOW_ROWS, 1]


def test_a_request_that_fails_is_neither_repeated_nor_lost():
    collection = Collection(fails=True)
    store = store_of(3 * TUNED_REQUEST_ROWS, collection)
    with pytest.raises(ConnectionError):
        store._write_tuned(None, OperationClock())
    first = [request[0] for request in collection.requests]
    assert len(first) == len(set(first))
