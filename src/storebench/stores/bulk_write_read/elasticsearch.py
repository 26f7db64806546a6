"""The store Elasticsearch."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from storebench.attempt.clock import OperationClock
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.manifest import Manifest
from storebench.dataset.schema import Field
from storebench.errors import StoreRefused, StoreUnreachable
from storebench.stores import elasticsearch_server
from storebench.stores.base import Durability, Server, TypicalTime
from storebench.stores.bulk_write_read import elasticsearch_replicas, tuning
from storebench.stores.bulk_write_read.base import READ, WRITE, TableStore, columns, finer
from storebench.stores.bulk_write_read.elasticsearch_index import MAX_COLUMNS, index_of
from storebench.stores.bulk_write_read.elasticsearch_slices import Slices
from storebench.stores.bulk_write_read.maintenance import MAINTAIN
from storebench.stores.bulk_write_read.source import Row
from storebench.stores.counters import elasticsearch as elasticsearch_counters
from storebench.stores.elasticsearch_server import (
    errors,
    identify,
    options,
)

if TYPE_CHECKING:
    from elasticsearch import Elasticsearch as Client

    from storebench.attempt.run import Attempt

T = TypeVar("T")

REQUEST_TIMEOUT_S = 120
# The time for which the server keeps a point in time between two pages.
KEEP_ALIVE = "5m"
MILLISECONDS = 3  # decimal places of the second in the type date
PAGE_ROWS = 10_000  # the largest page with the default `index.max_result_window`

# Settings of the tuned client, beside the settings of storebench.stores.bulk_write_read.tuning.
SAMPLE_ROWS = 10  # number of rows whose size determines the rows of a request
SLICE_PAGE_ROWS = 2_000

SHARD_ORDER = ["_shard_doc"]  # the order on disk, without sorting
INDEX_ACTION = b'{"index":{}}'
BULK_ANSWER = ["errors", "items.*.error"]


class Elasticsearch(TableStore):
    """Elasticsearch with an index per target. An acknowledged write is durable (in the synced translog). The barrier is the refresh, which
    makes the write visible.

    The `reference` client is the study's: `helpers.bulk` of each batch, or of the CSV reader itself, into a dynamically mapped index. It
    reads by a point in time and `search_after`, 10,000 documents per page. The `tuned` client maps each field once, writes without refresh
    and replicas, and uses several workers for each of the server's processors.

    The server assigns the documents' ids: a row that was written twice is stored twice, which verification detects. Under a fault, the rows
    of a batch that is sent again may therefore be stored twice.
    """

    name = "elasticsearch"
    operations = (WRITE, MAINTAIN, READ)
    clients = ("reference", "tuned")
    delivers = ("dicts", "dicts")
    divides = (WRITE, READ)
    faults = ("kill", "pause", "restart", "partition", "compact")
    connection = "elasticsearch"
    typical = (
        TypicalTime("write", fixed_s=8, million_s=200),
        TypicalTime(MAINTAIN, fixed_s=4, million_s=120),
        TypicalTime("read", fixed_s=4, million_s=50),
    )
    counters = elasticsearch_counters.COUNTERS
    packages = ("elasticsearch", "orjson")
    modules = ("elasticsearch.helpers", "orjson")

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        for name in (field.name for field in schema):
            if "." in name or name.startswith("_"):
                return (
                    f"the name of a field, {name!r}, cannot have a point, or begin with _: rename that column"
                )
        if len(schema) > MAX_COLUMNS:
            return f"an index has 1,000 fields at most, and each text is two: {MAX_COLUMNS} columns, not {len(schema):,}"
        if cut := next((field.name for field in schema if finer(field, MILLISECONDS)), None):
            return (
                f"the column {cut!r} has parts of milliseconds, which Elasticsearch's type date cuts in its index. Round them to"
                " milliseconds, or make them text"
            )
        return ""

    _tuning: Mapping[str, int] = MappingProxyType({})
    _lifted: Mapping[str, Any] | None = (
        None  # the index's original settings of replicas while they are lifted
    )
    _share: Slices | None = None  # of a divided read
    _opened: str | None = None  # the point in time of all parts that this part has opened

    def connect(self) -> None:
        from elasticsearch import Elasticsearch as Client
        from elasticsearch import OrjsonSerializer

        assert self.server is not None
        more: dict[str, Any] = {} if self.client == "reference" else {"serializer": OrjsonSerializer()}
        self._client: Client = Client(
            **options(self.server),
            request_timeout=REQUEST_TIMEOUT_S,
            max_retries=0,  # no silent retries: they would be part of the measured time
            **more,
        )
        with self._errors():
            self._info = dict(self._client.info())
            self._nodes = elasticsearch_server.nodes_of(self._client)
        if self.client == "tuned":
            self._tuning = tuning.for_elasticsearch(self._nodes)

    def describe(self) -> Server:
        return identify(self._info, self._nodes)

    def client_settings(self) -> Mapping[str, int]:
        return self._tuning

    def durability(self) -> Durability:
        with self._errors():
            return elasticsearch_server.durability_of_index(self._client, self.target)

    def promise(self, fault: str) -> str | None:
        return elasticsearch_server.promise(fault, self.durability())

    def server_processes(self) -> Mapping[str, float]:
        from elasticsearch import ApiError, TransportError

        with suppress(ApiError, TransportError):
            nodes = self._client.nodes.info(metric=["jvm"])["nodes"]
            return {
                name: node.get("jvm", {}).get("start_time_in_millis", 0) / 1000
                for name, node in nodes.items()
            }
        return {}

    def server_cpu_s(self) -> float | None:
        return elasticsearch_server.cpu_s(self._client)

    def read_counters(self) -> Mapping[str, float | str]:
        with self._errors():
            return elasticsearch_counters.read(self._client, self.target)

    def prepare(self) -> None:
        self.drop()
        mappings, settings = index_of(self.client, self.source.schema)
        with self._errors():
            made = self._client.indices.create(index=self.target, mappings=mappings, settings=settings)
        elasticsearch_server.check_started(made, self.target)
        if "replicas_while_loading" in self._tuning:
            with self._errors():
                self._lifted = elasticsearch_replicas.lift(self._client, self.target)

    def write(self, batch: int | None, clock: OperationClock) -> int:
        with self._errors():
            if self.client == "tuned":
                return self._write_parallel(batch or self._tuning["window_rows"], clock)
            return self._write(batch, clock)

    def _write(self, batch: int | None, clock: OperationClock) -> int:
        from elasticsearch import helpers

        if batch is None:
            with clock.operation():
                actions = ({"_source": row} for row in clock.source(self.source.rows()))
                written, _ = helpers.bulk(self._client, actions, index=self.target)
            return written
        rows = 0
        for part in clock.source(self.source.batches(batch)):
            with clock.operation():
                rows += self._bulk(part)
        return rows

    def _bulk(self, batch: Sequence[Row]) -> int:
        """Write a batch as the reference client does. Return the number of rows."""
        from elasticsearch import helpers

        actions = ({"_source": row} for row in batch)
        written, _ = helpers.bulk(self._client, actions, index=self.target)
        return int(written)

    def _write_parallel(self, window_rows: int, clock: OperationClock) -> int:
        """Write the chunks of each batch concurrently. Without batches, write windows of rows one after the other: reading the source
        concurrently with chunks would prevent subtracting the source's time from the operation."""
        rows = 0
        with ThreadPoolExecutor(self._tuning["workers"]) as pool:
            for batch in clock.source(self.source.batches(window_rows)):
                with clock.operation():
                    rows += self._write_chunks(pool, batch)
        return rows

    def _write_chunks(self, pool: ThreadPoolExecutor, batch: list[Row]) -> int:
        """Write a batch as the tuned client does. Return the number of rows."""
        size = chunk_rows(batch, self._tuning["workers"], self._tuning["request_bytes"])
        chunks = [batch[start : start + size] for start in range(0, len(batch), size)]
        return sum(pool.map(self._write_chunk, chunks))

    def _write_chunk(self, chunk: list[Row]) -> int:
        import orjson
        from elasticsearch.helpers import BulkIndexError

        operations: list[Any] = []
        for row in chunk:
            operations += (INDEX_ACTION, orjson.dumps(row))
        # The answer excludes successful documents: parsing them would take longer than the write.
        answer = self._client.bulk(index=self.target, operations=operations, filter_path=BULK_ANSWER)
        if answer["errors"]:
            raise BulkIndexError(f"{len(answer['items'])} documents failed", answer["items"])
        return len(chunk)

    def send(self, batch: Sequence[Any], *, again: bool) -> None:
        with self._errors():
            if self.client == "tuned":
                with ThreadPoolExecutor(self._tuning["workers"]) as pool:
                    self._write_chunks(pool, list(batch))
            else:
                self._bulk(batch)

    def answers(self) -> None:
        """Raise StoreUnreachable unless each shard has a primary: a count leaves out the other shards without an error."""
        with self._errors():
            health = self._client.options(ignore_status=408).cluster.health(
                index=self.target, wait_for_status="yellow", timeout="10s"
            )
        if health["timed_out"]:
            raise StoreUnreachable(f"A shard of the index {self.target} has no primary")

    def barrier(self) -> None:
        with self._errors():
            self._client.indices.refresh(index=self.target)
            if self._lifted:
                elasticsearch_replicas.put_back(
                    self._client, self.target, self._lifted, REQUEST_TIMEOUT_S // 2
                )

    def maintain(self) -> None:
        """Merge each shard, and each copy of a shard, to one segment. The barrier's refresh makes the segments visible."""
        with self._errors():
            # no limit: the server goes on merging, even if the client has given up
            merged = self._client.options(request_timeout=None).indices.forcemerge(
                index=self.target, max_num_segments=1
            )
        if failed := merged["_shards"]["failed"]:
            raise StoreRefused(f"Elasticsearch did not merge {failed} of {merged['_shards']['total']} shards")

    def files(self) -> int:
        """Return the number of Lucene segments in all copies of all shards."""
        with self._errors():
            stats = self._client.indices.stats(index=self.target, metric="segments")
        return int(stats["_all"]["total"]["segments"]["count"])

    def read(self, clock: OperationClock) -> int:
        with self._errors(), clock.operation():
            return sum(self._read_pages(len))

    def _read_pages(self, of_page: Callable[[list[dict[str, Any]]], T]) -> list[T]:
        """Apply `of_page` to each page of documents, read in the client's way, for both the timed read and its second pass."""
        with self._point_in_time() as pit:
            share = self._share
            if self.client == "reference":
                part = {"slice": share[0]} if share else {}
                return list(map(of_page, self._pages(pit, PAGE_ROWS, **part)))

            slices = share.count if share else self._tuning["workers"]

            def read_slice(number: int) -> list[T]:
                part = share[number] if share else {"id": number, "max": slices}
                return list(
                    map(of_page, self._pages(pit, SLICE_PAGE_ROWS, slice=part, track_total_hits=False))
                )

            with ThreadPoolExecutor(slices) as pool:
                return list(itertools.chain.from_iterable(pool.map(read_slice, range(slices))))

    def take_share(self, attempt: Attempt, manifest: Manifest) -> None:
        """Take slices of one point in time, which the leader opens outside the timed window. Both passes of the read use it."""
        self._share = Slices.agreed(attempt, self._tuning.get("workers", 1), self._open_for_all)

    def _open_for_all(self) -> str:
        with self._errors():
            self._opened = self._open_point_in_time()
        return self._opened

    def needed_bytes(self) -> int:
        """Return the bytes of the documents, without structures for searches. The server reads a copy of the index to compute them."""
        with self._errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Elasticsearch marks the call as a technical preview
            usage = self._client.indices.disk_usage(index=self.target, run_expensive_tasks=True)
        try:
            return int(usage[self.target]["all_fields"]["stored_fields_in_bytes"])
        except KeyError:
            raise StoreRefused(
                "Elasticsearch does not report the size of the documents on disk, so no read can be proven cold"
            ) from None

    @contextmanager
    def away(self) -> Iterator[None]:
        """Wait at the end until the index has all its former copies, so that none is created during the read."""
        with self._errors():
            had = self._client.cluster.health(index=self.target)["status"]
        with super().away():
            yield
        self._await(had)

    def _await(self, status: str) -> None:
        with self._errors():
            health = self._client.options(ignore_status=408).cluster.health(
                index=self.target, wait_for_status=status, timeout=f"{REQUEST_TIMEOUT_S - 20}s"
            )
        if health["timed_out"]:
            raise StoreRefused(
                f"The index {self.target} was {status} before Elasticsearch was started again, and is {health['status']} after it"
            )

    def count(self) -> int:
        with self._errors():
            return int(self._client.count(index=self.target)["count"])

    def checksum(self) -> TableChecksum:
        total = self.checksums(self.source.fields)
        with self._errors():
            for page in self._read_pages(self._checksum_of):
                total.add(page)
        return total

    def _checksum_of(self, hits: list[dict[str, Any]]) -> TableChecksum:
        checksum = self.checksums(self.source.fields)
        checksum.update(columns([hit["_source"] for hit in hits], self.source.fields))
        return checksum

    def verified_by(self) -> str:
        sliced = self._share or self.client == "tuned"
        return f"search_after over {'slices of ' if sliced else ''}a point in time"

    def size_bytes(self) -> int | None:
        return elasticsearch_server.size_bytes(self._client, self.target)

    def drop(self) -> None:
        with self._errors():
            self._client.options(ignore_status=404).indices.delete(index=self.target)

    def close(self) -> None:
        from elasticsearch import ApiError, TransportError

        if self._opened:
            with suppress(ApiError, TransportError):
                self._client.close_point_in_time(id=self._opened)
        self._client.close()

    @contextmanager
    def _point_in_time(self) -> Iterator[str]:
        """Open a point in time of the index, and close it at the end. After a failure the server drops it after KEEP_ALIVE.

        The parts of a divided read have one point in time, which stays open for the second pass.
        """
        if self._share:
            yield self._share.pit
            return
        pit = self._open_point_in_time()
        yield pit
        self._client.close_point_in_time(id=pit)

    def _open_point_in_time(self) -> str:
        return str(self._client.open_point_in_time(index=self.target, keep_alive=KEEP_ALIVE)["id"])

    def _pages(self, pit: str, rows: int, **search: Any) -> Iterator[list[dict[str, Any]]]:
        """Yield the pages of a point in time, each of up to `rows` documents, until the first empty page."""
        view = {"id": pit, "keep_alive": KEEP_ALIVE}
        while True:
            answer = self._client.search(pit=view, size=rows, sort=SHARD_ORDER, **search)
            hits = answer["hits"]["hits"]
            if not hits:
                return
            yield hits
            view["id"] = answer["pit_id"]
            search["search_after"] = hits[-1]["sort"]

    def _errors(self) -> AbstractContextManager[None]:
        """Turn the client's errors into StoreUnreachable or StoreRefused."""
        return errors(self.server)


def chunk_rows(batch: Sequence[Row], workers: int, request_bytes: int) -> int:
    """Return the number of rows of a request: about `request_bytes`, or fewer so that every worker has a request."""
    import orjson

    sample = batch[:SAMPLE_ROWS]
    row_bytes = sum(len(orjson.dumps(row)) for row in sample) / len(sample)
    return max(1, min(int(request_bytes / row_bytes), -(-len(batch) // workers)))
