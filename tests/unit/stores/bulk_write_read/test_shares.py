"""The shares of a table that the parts of a read have: ranges of `_id`, slices, and files."""

import io
import random
import threading
from itertools import chain
from types import SimpleNamespace

import pytest
from bson import ObjectId

from storebench.attempt.clock import OperationClock
from storebench.attempt.parts.part import Part
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.custom_file import encoded
from storebench.dataset.schema import Field
from storebench.stores.bulk_write_read.delta_rs import DeltaRs
from storebench.stores.bulk_write_read.delta_shares import deal
from storebench.stores.bulk_write_read.elasticsearch import Elasticsearch
from storebench.stores.bulk_write_read.elasticsearch_slices import Slices
from storebench.stores.bulk_write_read.mongodb_ranges import bounds, range_of
from storebench.stores.bulk_write_read.source import Source
from tests.parts import Exchange

PARTS = (1, 2, 3, 7)


class Collection:
    """Documents that answer the questions of `bounds`, and of its ranges."""

    def __init__(self, count):
        self.ids = [ObjectId(f"{number:024x}") for number in range(0, 7 * count, 7)]
        random.Random(1).shuffle(self.ids)

    def count_documents(self, query):
        return len(self.ids)

    def matching(self, query):
        limits = query.get("_id", {})
        if "$in" in limits:
            return []
        return [
            id
            for id in sorted(self.ids)
            if id >= limits.get("$gte", id) and not ("$lt" in limits and id >= limits["$lt"])
        ]

    def find(self, query, projection, sort, skip, limit):
        assert sort == [("_id", 1)]
        return iter([{"_id": id} for id in self.matching(query)[skip : skip + limit]])


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("count", [0, 1, 2, 6, 7, 8, 1_000])
def test_each_document_is_in_one_range_and_the_ranges_are_alike(parts, count):
    collection = Collection(count)
    begins = bounds(collection, parts)
    ranges = [collection.matching(range_of(begins, number)) for number in range(parts)]
    assert list(chain.from_iterable(ranges)) == sorted(collection.ids)
    assert max(map(len, ranges)) - min(map(len, ranges)) <= 1


def test_documents_that_come_after_the_bounds_were_found_are_in_a_range():
    collection = Collection(10)
    begins = bounds(collection, 3)
    collection.ids += [ObjectId("f" * 24), ObjectId("0" * 23 + "1")]
    ranges = [collection.matching(range_of(begins, number)) for number in range(3)]
    assert sorted(chain.from_iterable(ranges)) == sorted(collection.ids)


@pytest.mark.parametrize("parts", PARTS)
@pytest.mark.parametrize("files", [0, 1, 5, 40])
def test_files_are_dealt_once_and_by_their_bytes(parts, files):
    generator = random.Random(files)
    sizes = {f"part-{n:03}.parquet": generator.randint(1, 1_000) for n in range(files)}
    dealt = deal(sizes, parts)
    assert sorted(chain.from_iterable(dealt)) == sorted(sizes) and len(dealt) == parts
    shuffled = dict(generator.sample(sorted(sizes.items()), files))
    assert deal(shuffled, parts) == dealt, "every pod deals alike"
    loads = [sum(sizes[path] for path in paths) for paths in dealt]
    assert max(loads) - min(loads) <= max(sizes.values(), default=0)


class Agreeing:
    """The attempts of parts, whose leader gets these values."""

    def __init__(self, number, values):
        self.part, self.values = Part(number, len(values)), values

    def agree(self, name, value, decide):
        assert value == self.values[self.part.number]
        return decide(self.values)


@pytest.mark.parametrize("workers", [[1, 1, 1], [2, 4, 3], [5]])
def test_all_slices_of_one_point_in_time_are_read_once(workers):
    found = [Slices.agreed(Agreeing(n, workers), workers[n], lambda: "pit") for n in range(len(workers))]
    slices = [share[n] for share in found for n in range(share.count)]
    assert slices == [{"id": n, "max": sum(workers)} for n in range(sum(workers))]
    assert {share.pit for share in found} == {"pit"}


def test_there_are_no_more_slices_than_elasticsearch_takes():
    share = Slices.agreed(Agreeing(0, [2] * 512), 8, lambda: "pit")
    assert (share.count, share.total) == (2, 1024)


class Searched:
    """A client of Elasticsearch with one page for each slice. Keeps what it was asked."""

    def __init__(self):
        self.slices, self.opened, self.closed = [], 0, []

    def open_point_in_time(self, index, keep_alive):
        self.opened += 1
        return {"id": f"pit {self.opened}"}

    def close_point_in_time(self, id):
        self.closed.append(id)

    def search(self, pit, size, sort, slice=None, search_after=None, **_):
        assert pit["id"] == f"pit {self.opened}"
        hits = [] if search_after else [{"sort": [1]}] * 3
        if hits:
            self.slices.append(slice)
        return {"hits": {"hits": hits}, "pit_id": pit["id"]}

    def close(self):
        pass


@pytest.mark.parametrize(("client", "workers"), [("reference", 1), ("tuned", 2)])
def test_the_leader_opens_one_point_in_time_for_both_passes_and_closes_it_at_the_end(client, workers):
    store = Elasticsearch(
        client=client, target="t", connection=Connection("elasticsearch", "es"), source=None, operation="read"
    )
    store._client = searched = Searched()
    store._tuning = {"workers": 2} if client == "tuned" else {}
    store.take_share(Agreeing(0, [workers] * 3), None)
    for _ in ("the timed pass", "the second pass"):
        assert sum(store._read_pages(len)) == 3 * workers
    expected = [{"id": n, "max": 3 * workers} for n in range(workers)]
    assert sorted(searched.slices, key=lambda one: one["id"]) == sorted(
        expected * 2, key=lambda one: one["id"]
    )
    assert (searched.opened, searched.closed) == (1, [])
    assert store.verified_by() == "search_after over slices of a point in time"
    store.close()
    assert searched.closed == ["pit 1"]


def test_an_undivided_read_has_no_slice():
    store = Elasticsearch(
        client="reference", target="t", connection=Connection("elasticsearch", "es"), source=None
    )
    store._client = searched = Searched()
    assert sum(store._read_pages(len)) == 3
    assert (searched.slices, searched.opened, searched.closed) == ([None], 1, ["pit 1"])


class Folder(DeltaRs):
    """A store whose table is in a folder instead of S3."""

    folder, storage_options = "", {}

    def uri(self, scheme="s3"):
        return self.folder

    def check_table(self):
        pass


@pytest.mark.parametrize("client", DeltaRs.clients)
@pytest.mark.parametrize("batch", ["7", "all"])
@pytest.mark.parametrize("parts", [2, 3])
def test_the_parts_of_a_read_see_the_files_of_one_version(monkeypatch, tmp_path, client, batch, parts):
    import smart_open

    names = ("n", "text")
    rows = [(str(n), f'a "b",\n{n}' * (n % 3)) for n in range(50)]
    data = encoded([names, *rows])
    monkeypatch.setattr(
        smart_open,
        "open",
        lambda uri, mode="r", **_: (
            io.BytesIO(data) if "b" in mode else io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="")
        ),
    )
    source = Source(None, "b", "k")
    source.schema = [Field("n", "integer", "", True), Field("text", "string", "", True)]

    def store_of(operation):
        store = Folder(
            client=client, target="t", connection=Connection("s3"), source=source, values={"batch": batch}
        )
        store.folder, store.operation = str(tmp_path), operation
        return store

    writer = store_of("write")
    writer.write(writer.batch, OperationClock())
    version = writer.open_table().version()
    seen, total = 0, TableChecksum(names)
    for number in range(parts):
        store = store_of("read")
        asked = SimpleNamespace(part=Part(number, parts), agree=lambda name, value, decide: version)
        store.take_share(asked, None)
        if number == 0:  # a commit after the leader has found the version is in no part
            store_of("write").write(25, OperationClock())
        seen += store.read(OperationClock())
        total.add(store.checksum())
        assert "pyarrow FileSystemDataset" in store.verified_by()
    expected = TableChecksum(names)
    expected.update({name: [row[n] for row in rows] for n, name in enumerate(names)})
    assert seen == 50 and vars(total) == vars(expected)


def test_an_exchange_ends_all_parts_when_the_leader_fails():
    """The tests of divided operations rely on this exchange."""
    exchange = Exchange(2)
    errors = []

    def follow():
        try:
            exchange.meet(1)
        except threading.BrokenBarrierError as error:
            errors.append(error)

    thread = threading.Thread(target=follow)
    thread.start()
    with pytest.raises(ZeroDivisionError):
        exchange.meet(0, None, lambda values: 1 / 0)
    thread.join()
    assert len(errors) == 1
