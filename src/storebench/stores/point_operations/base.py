"""What the stores of this study are: each fills a table of entities, and reads and writes them by their ids under a load."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from storebench.attempt.clock import OperationClock
from storebench.errors import SpecError, StoreRefused, VerificationFailed, unknown
from storebench.stores.base import Durability, Pod, Store
from storebench.stores.point_operations import requests
from storebench.stores.point_operations.check import Written, check_table
from storebench.stores.point_operations.entities import Entity, entity, entity_s
from storebench.stores.point_operations.generators import Generators
from storebench.stores.point_operations.keys import DISTRIBUTIONS
from storebench.stores.point_operations.rest import Rest, address_of, told_by

if TYPE_CHECKING:
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec
    from storebench.stores.point_operations.requests import Requests

CONSISTENCIES = ("one", "quorum")
LOADS = ("closed", "open")
DIRECT = "direct"  # the client that has no service between itself and the database
FILL_BATCH = 1_000  # entities
CONNECT_S = 10
SETTLE_S = 0.2  # before the figures begin: what watches them has to begin, too


@dataclass(frozen=True)
class Load:
    """How much is asked of a store, and for how long."""

    users: int
    spawn_rate: float  # users a second
    warmup_s: float  # with all users, before anything counts
    duration_s: float
    processes: int
    timeout_s: float  # of a request
    max_error_share: float
    rate: float = 0  # requests a second of an open load; 0: it is closed

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Load:
        """Of the run's parameters; raises SpecError where they contradict each other."""
        load = cls(
            users=int(values["users"]),
            spawn_rate=float(values["spawn_rate"]),
            warmup_s=float(values["warmup_s"]),
            duration_s=float(values["duration_s"]),
            processes=int(values["load_processes"]),
            timeout_s=float(values["request_timeout_s"]),
            max_error_share=float(values["max_error_share"]),
            rate=float(values["rate"]) if _load_of(values) == "open" else 0,
        )
        if load.duration_s < load.warmup_s:
            raise SpecError(
                f"A measurement of {load.duration_s:g} s is shorter than its warm-up of {load.warmup_s:g} s: ask for a longer duration_s"
            )
        if load.users < load.processes:
            raise SpecError(
                f"{load.users} users cannot be divided among {load.processes} load generators: ask for fewer load_processes"
            )
        return load

    @property
    def before_s(self) -> float:
        """From the first user on until the figures begin."""
        return self.users / self.spawn_rate + self.warmup_s

    def shares(self) -> list[int]:
        """The users of each load generator."""
        least, more = divmod(self.users, self.processes)
        return [least + (place < more) for place in range(self.processes)]


class PointStore(Store):
    """A store of entities. Load generators, which are other processes, use `insert`, `get` and `outcome`: of the store itself, or of
    the service in front of it, which has the same."""

    operations = ("fill", "read", "write")
    clients = (DIRECT, "rest", "rest-tuned")
    pod = Pod("load")
    packages: ClassVar[tuple[str, ...]] = ("locust", "gevent")
    modules: ClassVar[tuple[str, ...]] = ("numpy",)

    @property
    def consistency(self) -> str:
        """What is asked of each read and write; raises SpecError for one that is not known."""
        asked = self.values.get("consistency", "one")
        if asked not in CONSISTENCIES:
            raise unknown("consistency", asked, CONSISTENCIES)
        return asked

    # What a store of this study has beside `connect`, `describe` and `drop`.

    @abstractmethod
    def create(self) -> None:
        """Make an empty table."""

    @abstractmethod
    def fill(self, entities: Sequence[Entity]) -> None:
        """Write them, as fast as it goes."""

    @abstractmethod
    def insert(self, new: Entity) -> None:
        """Write one, and return when that is acknowledged."""

    @abstractmethod
    def get(self, id: UUID) -> tuple[Any, ...] | None:
        """The fields of the entity with this id, if there is one."""

    @abstractmethod
    def outcome(self, error: Exception) -> int:
        """Which of requests.OUTCOMES this error of `insert` or `get` is."""

    @abstractmethod
    def scan(self) -> Iterator[tuple[Any, ...]]:
        """The fields of all entities, in any order, from as many copies as can be asked."""

    @abstractmethod
    def durability(self) -> Durability:
        """What an acknowledgement promises."""

    def scanned_by(self) -> str:
        """How `scan` has read, in words."""
        return "a scan of the table"

    def client_settings(self) -> Mapping[str, Any]:
        names = ("users", "spawn_rate", "load_processes", "request_timeout_s", "rate")
        found = {"consistency": self.consistency, **{name: self.values.get(name) for name in names}}
        if self.client != DIRECT:
            found["service"] = told_by(address_of(self.server, self.client))
        return found

    def sender(self) -> PointStore | Rest:
        """What sends the requests of a load, not connected yet."""
        if self.client == DIRECT:
            return self
        address, users = address_of(self.server, self.client), int(self.values["users"])
        timeout_s = float(self.values["request_timeout_s"])
        return Rest(address, self.target, self.consistency, users, timeout_s)

    def client_cores(self) -> int:
        return int(self.values.get("load_processes", 1))

    def operate(self, attempt: Attempt) -> str:
        load = Load.of(self.values)  # what contradicts itself is refused before a table is filled
        if self.operation == "fill":
            return self._fill(attempt)
        return self._under_load(attempt, load)

    def _fill(self, attempt: Attempt) -> str:
        spec, clock = attempt.spec, OperationClock()
        with attempt.phase("prepare"):
            self.create()
        attempt.durability(self.durability())
        with attempt.measuring(clock), attempt.operation():
            for part in clock.source(_batches(spec.seed, spec.rows)):
                with clock.operation():
                    self.fill(part)
        attempt.metric("fill_s", clock.operation_s)
        attempt.metric("entities_per_s", spec.rows / clock.operation_s)
        with attempt.phase("verify"):
            return self._check(spec, ())

    def _under_load(self, attempt: Attempt, load: Load) -> str:
        spec = attempt.spec
        with attempt.phase("prepare"):
            attempt.metric("entity_s", entity_s(spec.seed))
        if self.operation == "write":
            attempt.durability(self.durability())
        with tempfile.TemporaryDirectory() as folder:
            found = self._measured(attempt, load, Path(folder))
        _report(attempt, found, load)
        errors = _errors(found, load)
        with attempt.phase("verify"):
            said = self._check(spec, (found,)) if self.operation == "write" else _check_reads(found)
            if errors:
                raise StoreRefused(errors)
        return said

    def _measured(self, attempt: Attempt, load: Load, folder: Path) -> Requests:
        """Run the load. What the pod and the servers use is counted from the end of the warm-up on."""
        with attempt.phase("start_load"):
            generators = Generators(list(self.jobs(attempt.spec, load, folder)))
            generators.__enter__()
        try:
            clock = OperationClock(generators.cpu_s)
            begin_s = generators.begin()
            from_s = begin_s + load.before_s
            to_s = from_s + load.duration_s
            with attempt.phase("warm_up"):
                generators.wait_until(from_s - SETTLE_S)
            with attempt.measuring(clock), attempt.operation():
                generators.wait_until(from_s)
                with clock.operation():
                    generators.wait_until(to_s)
            files = generators.files(load.timeout_s)
            return requests.Requests.of(files, begin_s, from_s, to_s)
        finally:
            generators.__exit__()

    def jobs(self, spec: AttemptSpec, load: Load, folder: Path) -> Iterator[Mapping[str, Any]]:
        distribution = self.values.get("key_distribution", DISTRIBUTIONS[0])
        if distribution not in DISTRIBUTIONS:
            raise unknown("key_distribution", distribution, DISTRIBUTIONS)
        for stream, users in enumerate(load.shares()):
            yield {
                "study": spec.study,
                "store": spec.store,
                "client": self.client,
                "target": self.target,
                "connection": asdict(self.server) if self.server else None,
                "values": dict(self.values),
                "operation": self.operation,
                "users": users,
                "spawn_rate": load.spawn_rate * users / load.users,
                "seconds": load.before_s + load.duration_s,
                "timeout_s": load.timeout_s,
                "rate": load.rate,
                "rows": spec.rows,
                "seed": spec.seed,
                "key_distribution": distribution,
                "stream": stream,
                "streams": load.processes,
                "file": str(folder / f"{stream}.npz"),
            }

    def _check(self, spec: AttemptSpec, written: Iterable[Requests]) -> str:
        """Compare the whole table. Raises VerificationFailed."""
        found = check_table(self.scan(), spec.seed, Written.of(spec.rows, written))
        return f"{found}; {self.scanned_by()}"


def _load_of(values: Mapping[str, str]) -> str:
    asked = values.get("load", LOADS[0])
    if asked not in LOADS:
        raise unknown("load", asked, LOADS)
    return asked


def _batches(seed: int, rows: int) -> Iterator[list[Entity]]:
    for first in range(0, rows, FILL_BATCH):
        yield [entity(seed, number) for number in range(first, min(rows, first + FILL_BATCH))]


def _report(attempt: Attempt, found: Requests, load: Load) -> None:
    """Where nothing was done, there are only counts."""
    counts, ordered = found.counts(), found.latencies()
    asked = sum(counts.values())
    attempt.metric("error_share", 1 - counts["done"] / asked if asked else 1.0)
    attempt.metric("timeouts", counts["timeout"])
    attempt.metric("connection_errors", counts["connection"])
    attempt.metric("server_errors", counts["server"])
    attempt.metric("measured_from_s", found.measured_from_s)
    meant = load.rate * load.duration_s
    attempt.metric("not_begun_share", max(0.0, 1 - asked / meant) if meant else 0.0)
    if not len(ordered):
        return
    attempt.metric("operations_per_s", len(ordered) / found.seconds)
    for name, percent in requests.PERCENTILES.items():
        attempt.metric(name, requests.percentile(ordered, percent))
    attempt.histogram("latency_s", requests.histogram(ordered))
    served = found.latencies(served=True)
    attempt.histogram("service_s", requests.histogram(served))
    for name, percent in requests.PERCENTILES.items():
        attempt.metric(f"service_{name}", requests.percentile(served, percent))
    seconds = list(found.each_second())
    attempt.series("each_second_operations_per_s", ((at, len(took)) for at, took, _ in seconds))
    attempt.series("each_second_errors", ((at, errors) for at, _, errors in seconds))
    attempt.series("each_second_users", sorted(found.users.items()))
    for name in ("p50_s", "p99_s"):
        percent = requests.PERCENTILES[name]
        points = ((at, requests.percentile(took, percent)) for at, took, _ in seconds if len(took))
        attempt.series(f"each_second_{name}", points)


def _check_reads(found: Requests) -> str:
    """Raises VerificationFailed where a read gave nothing, or something else than its id must have; in the warm-up, too."""
    bad = {kind: int((found.outcome == kind).sum()) for kind in (requests.MISSING, requests.WRONG)}
    if any(bad.values()):
        raise VerificationFailed(
            f"Of {len(found.outcome):,} reads, {bad[requests.MISSING]:,} found nothing and {bad[requests.WRONG]:,} found other fields"
            " than their ids must have"
        )
    done = int((found.outcome == requests.DONE).sum())
    return f"{done:,} reads, each of which gave all fields that its id must have"


def _errors(found: Requests, load: Load) -> str | None:
    """What is wrong where too many requests have failed."""
    counts = found.counts()
    if not counts["done"]:
        reached = (
            f", as the load generators are far behind the rate of {load.rate:g} a second" if load.rate else ""
        )
        return f"No request was done in {found.seconds:g} s: {_counted(counts)}{reached}"
    share = 1 - counts["done"] / sum(counts.values())
    if share <= load.max_error_share:
        return None
    return f"{share:.2%} of the requests have failed, and at most {load.max_error_share:.2%} may: {_counted(counts)}"


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count) or "none was begun"
