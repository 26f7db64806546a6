"""The base class of the study's stores, which write and read a whole table."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from storebench.attempt.clock import OperationClock
from storebench.connection import Connection
from storebench.dataset.checksum import TableChecksum
from storebench.dataset.manifest import Manifest, schema_of
from storebench.dataset.schema import Field
from storebench.errors import SpecError, StoreUnreachable
from storebench.servers.fault import Fault
from storebench.stores.base import Durability, Store, TypicalTime
from storebench.stores.bulk_write_read import maintenance
from storebench.stores.bulk_write_read.cached import AS_IS, CACHE, EMPTIED, CachedRead
from storebench.stores.bulk_write_read.source import Source
from storebench.stores.bulk_write_read.tally import Tally
from storebench.stores.bulk_write_read.under_fault import WriteUnderFault
from storebench.stores.bulk_write_read.verify import checksum_of, verify
from storebench.stores.caches import reconnect
from storebench.study.reserved import PODS

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

VERIFY_CHUNK_ROWS = 10_000
WRITE, READ = "write", "read"
ALL = "all"  # the batch of all rows
MICROSECONDS = 6  # decimal places of the second of the timestamps in `Source.tables`


class TableStore(Store):
    """A store with a table for each target, which is written from the source's rows and read back.

    If several pods divide an operation, each pod runs `operate`. The leader prepares the target, makes the written rows durable, and verifies
    the whole.
    """

    operations: ClassVar[tuple[str, ...]] = (WRITE, READ)
    # Medians of runs with 1 to 200,000 rows, and of the run with 1,000,000 rows in docs/studies/data. This class has the times of pods without
    # a server and without Java. Times of maintenance, in the stores, come from single attempts with 20,000 rows.
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime(WRITE, fixed_s=8, million_s=60),
        TypicalTime(READ, fixed_s=4, million_s=50),
    )
    written = 0  # number of rows written by all pods
    checksums: type[TableChecksum] = TableChecksum  # what `checksum` adds up the rows with
    _under_fault: WriteUnderFault | None = None  # the write of a cell with a fault

    @classmethod
    def least_s(cls, operation: str, values: Mapping[str, str]) -> float:
        pods, state = values.get(PODS, "1"), values.get(CACHE, AS_IS)
        if operation == WRITE and (fault := Fault.of(values)) and values.get("batch", ALL) == ALL:
            raise SpecError(
                f"A write of all rows in one call has no batches that could be sent again after the fault {fault.name!r}: set batch to a number"
                " of rows"
            )
        if operation == READ and READ in cls.divides and pods != "1" and state != AS_IS:
            raise SpecError(
                f"{CACHE}={state} prepares the caches for the read of one pod, and {PODS}={pods} divides the read: set {CACHE}={AS_IS} or"
                f" {PODS}=1"
            )
        return 0.0

    def __init__(
        self,
        *,
        client: str,
        target: str,
        connection: Connection | None,
        source: Source,
        values: Mapping[str, str] | None = None,
        operation: str = WRITE,
    ) -> None:
        super().__init__(
            client=client, target=target, connection=connection, values=values, operation=operation
        )
        self.source = source
        self._cached = CachedRead(self, self.values.get(CACHE, AS_IS) if operation == READ else AS_IS)

    @classmethod
    def of(cls, spec: AttemptSpec, connection: Connection | None, s3_client: Any) -> Self:
        return cls(
            client=spec.client,
            target=spec.target,
            connection=connection,
            source=Source.of(s3_client, spec.bucket, str(spec.dataset)),
            values={**spec.options, **spec.axes},
            operation=spec.operation,
        )

    @classmethod
    def cannot_hold(cls, manifest: Mapping[str, Any]) -> str:
        return cls.cannot_hold_fields(schema_of(manifest))

    @classmethod
    def cannot_hold_fields(cls, schema: Sequence[Field]) -> str:
        """Return why the table cannot hold these fields; empty if it can."""
        return ""

    @classmethod
    def cannot_give_back(cls, manifest: Mapping[str, Any], client: str) -> str:
        return cls.cannot_give_back_fields(schema_of(manifest), client)

    @classmethod
    def cannot_give_back_fields(cls, schema: Sequence[Field], client: str) -> str:
        """Return why `client` cannot read these fields back from the table; empty if it can."""
        return ""

    @classmethod
    def needs_agents(cls, values: Mapping[str, Any]) -> str:
        state = values.get(CACHE, AS_IS)
        return f"{CACHE}={state} empties the caches of servers before each read" if state in EMPTIED else ""

    @property
    def batch(self) -> int | None:
        """Return the number of rows of a write call; None for all rows at once."""
        value = self.values.get("batch", ALL)
        return None if value == ALL else int(value)

    def operate(self, attempt: Attempt) -> str:
        if self.operation == maintenance.MAINTAIN:
            return maintenance.operate(self, attempt)
        part = attempt.part
        with attempt.phase("prepare"):
            manifest = self.source.manifest()
            if part.count > 1:
                self._divide(attempt, manifest)
            if self.operation == WRITE and part.leads:
                self.prepare()
                attempt.durability(self.durability())
                if fault := Fault.of(self.values):
                    self._under_fault = WriteUnderFault(self, attempt, fault)
            self._cached.prepare()
        clock = OperationClock(self.cpu_s)
        try:
            with self._cached.watched(attempt, clock), attempt.measuring(clock):
                rows = self._timed(attempt, clock)
        finally:
            attempt.metric("only_s", clock.operation_s)
            attempt.metric("source_s", clock.source_s)
            attempt.metric("barrier_s", attempt.seconds_in("barrier"))
        tallies = attempt.gather(self._tally(attempt, rows).to_json())
        if tallies is None:
            return "left with the leader"
        whole = Tally.total(tallies)
        write_s = attempt.result.metrics["only_s"]  # of all parts
        if self.operation == WRITE:  # the barrier adds the guarantees that acknowledgements lack
            write_s += attempt.seconds_in("barrier")
            attempt.metric("write_s", write_s)
        if write_s:
            attempt.metric("rows_per_s", whole.rows / write_s)
        with attempt.phase("verify"):
            if part.count > 1:
                self.source.take(None, manifest)  # the leader verifies the whole
            proof = self._cached.proof()
            if self._under_fault:
                verified = self._under_fault.verified(manifest)
            else:
                verified = verify(self, whole.rows, manifest, whole.seen, part.count) + proof
        if self.operation == WRITE:
            with attempt.phase("teardown"):
                attempt.result.data_bytes = self.size_bytes()
        return verified

    def _divide(self, attempt: Attempt, manifest: Manifest) -> None:
        """Take this part's share of a divided operation. Raises SpecError for an operation that cannot be divided so."""
        part = attempt.part
        self.least_s(self.operation, {**self.values, PODS: str(part.count)})
        if manifest.rows < part.count:
            raise SpecError(
                f"{PODS}={part.count}: the dataset has {manifest.rows:,} rows, fewer than pods. Use fewer pods or more rows"
            )
        if self.operation == READ:
            self.take_share(attempt, manifest)
        else:
            self.source.take(part.share(manifest.rows), manifest)

    def _timed(self, attempt: Attempt, clock: OperationClock) -> int:
        """Run the timed operation, and the barrier of a write. Return the number of rows that this part has written or seen."""
        if self.operation == READ:
            attempt.result.delivers = self.delivered()
            with attempt.operation():
                return self.read(clock)
        with attempt.operation():
            if self._under_fault:
                assert self.batch is not None  # `least_s`
                rows = self._under_fault.write(self.batch, clock)
            else:
                rows = self.write(self.batch, clock)
        if self._under_fault:
            self._under_fault.heal()
        self.written = attempt.agree("written", rows, sum)
        if attempt.part.leads:
            with attempt.phase("barrier"):
                self.barrier()
        return rows

    def _tally(self, attempt: Attempt, rows: int) -> Tally:
        """Return what this part did. In a divided read, add the checksum of a second pass over this part's share."""
        if attempt.part.count == 1 or self.operation == WRITE:
            return Tally(rows)
        with attempt.phase("verify"):
            return Tally(rows, checksum_of(self))

    def durability(self) -> Durability:
        """Return the durability of an acknowledged write. Called after `prepare`. A failed query gives `unknown`, never an error."""
        return Durability("unknown", "the store does not state it")

    def disturbances(self) -> list[str]:
        return [*super().disturbances(), *self._cached.disturbances()]

    @abstractmethod
    def prepare(self) -> None:
        """Create an empty target for a write, without leftovers of an earlier attempt."""

    @abstractmethod
    def write(self, batch: int | None, clock: OperationClock) -> int:
        """Write the source in batches of `batch` rows (None: all at once). Return the number of rows written."""

    def batches(self, rows: int) -> Iterator[Sequence[Any]]:
        """Yield the source's rows in batches of `rows` rows, as `send` takes them."""
        return self.source.batches(rows)

    def send(self, batch: Sequence[Any], *, again: bool) -> None:
        """Write a batch of `batches` as `write` does, and return after the acknowledgement. Raises a StorebenchError for a failed batch.

        `again`: an earlier sending has failed, and the server may have stored rows of the batch. Only for stores with `faults`.
        """
        raise NotImplementedError(f"{self.name} cannot send a batch again")

    def reconnect(self) -> None:
        """Connect again after a failure, if the store's client does not do so itself. Only for stores with `faults`."""

    def answers(self) -> None:
        """Raise a StorebenchError unless the server answers about all rows of the target. Called after a fault."""
        self.count()

    @abstractmethod
    def barrier(self) -> None:
        """Make the written rows durable and visible, if the write did not."""

    def maintain(self) -> None:
        """Do the store's maintenance of the target's table, as its documentation advises after a bulk load. The barrier follows.

        Only for stores whose `operations` have the maintenance.
        """
        raise NotImplementedError(f"{self.name} has no maintenance")

    def files(self) -> int | None:
        """Return the number of files, segments or parts that hold the target's current rows; None if the store has no such number.

        Called before and after the maintenance. A store without the number `lacks` maintenance.FILES.
        """
        return None

    @abstractmethod
    def read(self, clock: OperationClock) -> int:
        """Read every row of the target. Return the number of rows seen."""

    def take_share(self, attempt: Attempt, manifest: Manifest) -> None:
        """Find this part's share of a divided read: `read` and `checksum` then cover the share alone. Each row belongs to one part.

        Called in the phase `prepare` of each part, so that the leader can find the shares by `attempt.agree`. Only for stores whose `divides`
        has the read.
        """
        raise NotImplementedError(f"{self.name} cannot read a share of a table")

    def needed_bytes(self) -> int:
        """Return the bytes that an uncached read must read from disk at least.

        Only for stores whose servers a run can provision. Raises StoreRefused if the server does not report the size.
        """
        raise NotImplementedError(f"{self.name} cannot compute the bytes that a cold read needs")

    @contextmanager
    def away(self) -> Iterator[None]:
        """Close the connection to the server during a restart, and reconnect at the end, when the server has the target again."""
        self.close()
        yield
        reconnect(self._connect_anew)

    def look(self) -> None:
        """Raise StoreUnreachable while a restarted server does not have the target yet. Read no data of the target."""

    def _connect_anew(self) -> None:
        try:
            self.connect()
            self.look()
        except StoreUnreachable:
            self.close()  # the next try uses another client
            raise

    @abstractmethod
    def count(self) -> int:
        """Return the exact number of rows in the target, counted by the server."""

    def scan(self) -> Iterator[Mapping[str, Any]]:
        """Yield every row of the target once, in any order, for verification, in chunks of columns of canonical text.

        After a read, the rows come from a second pass of the call that `read` times. A chunk maps each field's name to a sequence of texts
        for TableChecksum, one for each row. A null is the empty text.
        """
        raise NotImplementedError(f"{self.name} has neither a scan nor a checksum of its own")

    def checksum(self) -> TableChecksum:
        """Return the checksum of the target's rows. A store that computes the checksum at the data needs no `scan`."""
        total = self.checksums(self.source.fields)
        for chunk in self.scan():
            total.update(chunk)
        return total

    def verified_by(self) -> str:
        """Return the readable name of the call by which `checksum` gets the rows: `pymongo find()`."""
        return f"scan() of {self.name}"

    def size_bytes(self) -> int | None:
        """Return the server's figure of the target's size in bytes, including copies and indices; None if not reported, never an error.

        Called after a write was verified.
        """
        return None


def finer(field: Field, places: int) -> bool:
    """Return whether the field has timestamps with more decimal places of the second."""
    return field.type == "timestamp" and (field.scale or 0) > places


def before(field: Field, first: str) -> bool:
    """Return whether the field has dates or timestamps before the date with the text `first`."""
    return bool(field.earliest) and str(field.earliest) < first


def same_but_for_case(schema: Sequence[Field]) -> str | None:
    """Return the name, in small letters, of columns whose names differ only in case; None if there are none."""
    counts = Counter(field.name.lower() for field in schema)
    return next((name for name, count in counts.items() if count > 1), None)


def columns(rows: Sequence[Mapping[str, str]], names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Turn rows into columns. Raises ValueError or KeyError for a row with other fields than `names`."""
    for row in rows:
        if len(row) != len(names):
            raise ValueError(f"{len(row)} fields instead of {len(names)}")
    return dict(zip(names, zip(*map(itemgetter(*names), rows), strict=True), strict=True))
