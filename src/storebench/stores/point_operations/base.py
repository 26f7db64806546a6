"""The base class of the study's stores: fill a table of entities, and read and write entities by id under a load."""

from __future__ import annotations

import tempfile
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from storebench.attempt.clock import OperationClock
from storebench.errors import StoreRefused, unknown
from storebench.stores.base import Durability, Pod, Store, TypicalTime
from storebench.stores.point_operations import figures
from storebench.stores.point_operations.arrivals import request_count
from storebench.stores.point_operations.capacity_run import Found, find_capacity
from storebench.stores.point_operations.check import Written, check_table
from storebench.stores.point_operations.entities import Entity, entity, entity_s
from storebench.stores.point_operations.fault_figures import UnderFault
from storebench.stores.point_operations.fault_figures import report as report_fault
from storebench.stores.point_operations.generators import LEAD_S, Generators
from storebench.stores.point_operations.healing import check_healed
from storebench.stores.point_operations.keys import DISTRIBUTIONS
from storebench.stores.point_operations.load_plan import CAPACITY, CAPACITY_PARAMS, RAMP, RAMP_PARAMS, Load
from storebench.stores.point_operations.ramp import Climb, climb
from storebench.stores.point_operations.requests import Requests
from storebench.stores.point_operations.rest import Rest, address_of, description_of
from storebench.stores.point_operations.tally import Whole

if TYPE_CHECKING:
    from storebench.attempt.parts.part import Part
    from storebench.attempt.run import Attempt
    from storebench.attempt.spec import AttemptSpec

CONSISTENCIES = ("one", "quorum")
DIRECT = "direct"  # the client without a service before the database
FILL_BATCH = 1_000  # entities of a batch
CONNECT_S = 10
LEFT = "left with the leader"  # the verification of a part that is not the leader
SETTLE_S = 0.2  # seconds before the measurement, in which the observers start


class PointStore(Store):
    """A store of entities. Load generators, which are separate processes, call `insert`, `get` and `outcome` of the store or of the service
    before it, which has the same methods."""

    operations = ("fill", "read", "write")
    divides = operations
    # Medians of runs with 1,000 rows, and the rates of docs/studies/point_operations.md for more rows. Reads and writes also take the time of
    # their load (`least_s`).
    typical: ClassVar[tuple[TypicalTime, ...]] = (
        TypicalTime("fill", fixed_s=22, million_s=200),
        TypicalTime("read", fixed_s=8),
        TypicalTime("write", fixed_s=9, million_s=100),
    )
    clients = (DIRECT, "rest", "rest-tuned")
    pod = Pod("load")
    packages: ClassVar[tuple[str, ...]] = ("locust", "gevent")
    modules: ClassVar[tuple[str, ...]] = ("numpy",)

    @classmethod
    def least_s(cls, operation: str, values: Mapping[str, str]) -> float:
        load = Load.of(values)
        return 0.0 if operation == "fill" else load.shortest_s

    @property
    def consistency(self) -> str:
        """Return the consistency level of each read and write. Raises SpecError for an unknown level."""
        level = self.values.get("consistency", "one")
        if level not in CONSISTENCIES:
            raise unknown("consistency", level, CONSISTENCIES)
        return level

    # The methods of this study's stores beside `connect`, `describe` and `drop`.

    @abstractmethod
    def create(self) -> None:
        """Create an empty table."""

    def created(self) -> None:
        """Prepare to fill the table that another pod has created."""

    @abstractmethod
    def fill(self, entities: Sequence[Entity]) -> None:
        """Write entities as fast as possible."""

    @abstractmethod
    def insert(self, new: Entity) -> None:
        """Write an entity, and return after the acknowledgement."""

    @abstractmethod
    def get(self, id: UUID) -> tuple[Any, ...] | None:
        """Return the fields of the entity with this id; None if it does not exist."""

    def get_from_all(self, id: UUID) -> tuple[Any, ...] | None:
        """Return the fields of the entity with this id, read from as many copies as possible; None if it does not exist."""
        return self.get(id)

    @abstractmethod
    def outcome(self, error: Exception) -> int:
        """Return the index in requests.OUTCOMES of an error of `insert` or `get`."""

    @abstractmethod
    def scan(self) -> Iterator[tuple[Any, ...]]:
        """Yield the fields of all entities in any order, from as many copies as possible."""

    @abstractmethod
    def durability(self) -> Durability:
        """Return the durability of an acknowledged write."""

    def scanned_by(self) -> str:
        """Describe how `scan` read the table."""
        return "a scan of the table"

    def client_settings(self) -> Mapping[str, Any]:
        names = ["users", "spawn_rate", "load_processes", "request_timeout_s", "rate"]
        names += {RAMP: RAMP_PARAMS, CAPACITY: CAPACITY_PARAMS}.get(self.values.get("load", ""), ())
        settings = {"consistency": self.consistency, **{name: self.values.get(name) for name in names}}
        if self.client != DIRECT:
            settings["service"] = description_of(address_of(self.server, self.client))
        return settings

    def sender(self) -> PointStore | Rest:
        """Return the sender of the load's requests, not connected yet."""
        if self.client == DIRECT:
            return self
        address, users = address_of(self.server, self.client), int(self.values["users"])
        timeout_s = float(self.values["request_timeout_s"])
        return Rest(address, self.target, self.consistency, users, timeout_s)

    def client_cores(self) -> int:
        return int(self.values.get("load_processes", 1))

    def operate(self, attempt: Attempt) -> str:
        load = Load.of(self.values)
        if self.operation == "fill":
            return self._fill(attempt)
        return self._under_load(attempt, load)

    def _fill(self, attempt: Attempt) -> str:
        spec, clock = attempt.spec, OperationClock()
        with attempt.phase("prepare"):
            if attempt.part.leads:
                self.create()
            attempt.agree("created", None, lambda _: None)
            if not attempt.part.leads:
                self.created()
        attempt.durability(self.durability())
        with attempt.measuring(clock), attempt.operation():
            for batch in clock.source(_batches(spec.seed, attempt.part.share(spec.rows))):
                with clock.operation():
                    self.fill(batch)
        attempt.metric("fill_s", clock.operation_s)
        if attempt.gather(None) is None:
            return LEFT
        attempt.metric("entities_per_s", spec.rows / attempt.result.metrics["fill_s"])
        with attempt.phase("verify"):
            return self._check(spec, Written.of(spec.rows, []))

    def _under_load(self, attempt: Attempt, load: Load) -> str:
        spec = attempt.spec
        with attempt.phase("prepare"):
            attempt.metric("entity_s", entity_s(spec.seed))
            promise = self.promise(load.fault.name) if load.fault else None
        if self.operation == "write":
            attempt.durability(self.durability())
        with tempfile.TemporaryDirectory() as folder:
            sent, stepped, begin_s = self._sent(attempt, load, Path(folder))
        meant = stepped.counts.request_count if stepped else request_count(load.rate, load.duration_s)
        steps = [(step.from_s, step.to_s) for step in stepped.steps] if stepped else []
        whole = Whole.of(sent, spec.rows, steps, writes=self.operation == "write")
        if stepped:
            attempt.result.client_cpu_share = stepped.cores
        if attempt.part.count > 1:
            figures.report(attempt, whole.measured, len(attempt.part.share(meant)))
            if (texts := attempt.gather(whole.text())) is None:
                return LEFT
            whole = Whole.merged(texts)
        figures.report(attempt, whole.measured, meant)
        if stepped:
            stepped.report(attempt)
            figures.report_steps(attempt, stepped.steps, whole.steps)
        if self.operation == "write" and load.read_share:
            figures.report_mix(attempt, whole.reads, whole.writes)
        problem = figures.problem(whole.measured, load.rate, load.most_errors)
        if stepped:
            problem = stepped.problem() or problem
        said = []
        if load.fault:
            fault = attempt.fault.happened().since(begin_s)
            under_fault = UnderFault(sent, fault, load.before_s - load.warmup_s)
            said.append(report_fault(attempt, under_fault))
            problem = problem or under_fault.problem()
        with attempt.phase("verify"):
            if load.fault:
                written = whole.written or Written.of(spec.rows, [])
                said.append(check_healed(self, attempt, written, promise))
            elif whole.written:
                said.append(self._check(spec, whole.written))
            if self.operation == "read" or load.read_share:
                said.append(figures.check_reads(whole.reads, may_miss=load.fault is not None))
            if problem:
                raise StoreRefused(problem)
            if behind := figures.behind(whole.measured, meant):
                said.append(behind)
        return "; ".join([*said, *([stepped.says()] if stepped else [])])

    def _sent(
        self, attempt: Attempt, load: Load, folder: Path
    ) -> tuple[Requests, Climb | Found | None, float]:
        """Run the load, and cause its fault. Return its requests, its steps, and its begin on the monotonic clock.

        The resources of the pod and the servers are measured from the end of the warm-up.
        """
        with attempt.phase("start_load"):
            generators = Generators(list(self.jobs(attempt.spec, load, folder, attempt.part)))
            generators.__enter__()
        try:
            clock = OperationClock(generators.cpu_s)
            # The parts' common begin is the first measured second, at which all parts enter the operation
            begin_s = attempt.begin(LEAD_S + load.before_s) - load.before_s
            generators.begin(begin_s)
            from_s, to_s = begin_s + load.before_s, begin_s + load.before_s + load.duration_s
            stepped: Climb | Found | None = None
            if load.fault:
                attempt.fault.at(from_s + load.fault.after_s)
            with attempt.phase("warm_up"):
                generators.wait_until(from_s - SETTLE_S)
            with attempt.measuring(clock), attempt.operation():
                generators.wait_until(from_s)
                with clock.operation():
                    if load.stepped:
                        run_steps = find_capacity if load.limits else climb
                        stepped = run_steps(generators, load, begin_s, attempt.agree)
                        from_s, to_s = begin_s + stepped.counts.from_s, begin_s + stepped.counts.to_s
                    else:
                        generators.wait_until(to_s)
            files = generators.files(load.timeout_s)
            return Requests.of(files, begin_s, from_s, to_s), stepped, begin_s
        finally:
            generators.__exit__()

    def jobs(self, spec: AttemptSpec, load: Load, folder: Path, part: Part) -> Iterator[Mapping[str, Any]]:
        """Yield the specification of each load generator of a part of the operation."""
        distribution = self.values.get("key_distribution", DISTRIBUTIONS[0])
        if distribution not in DISTRIBUTIONS:
            raise unknown("key_distribution", distribution, DISTRIBUTIONS)
        for stream, users in enumerate(load.shares(part.number), start=part.number * load.processes):
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
                "seconds": load.longest_s,
                "timeout_s": load.timeout_s,
                "schedule": load.schedule,
                "stepped": load.limits is not None,
                "slo_s": load.slo_s,
                "read_share": load.read_share,
                "rows": spec.rows,
                "seed": spec.seed,
                "key_distribution": distribution,
                "stream": stream,
                "streams": part.count * load.processes,
                "file": str(folder / f"{stream}.npz"),
            }

    def _check(self, spec: AttemptSpec, written: Written) -> str:
        """Compare the whole table with the written entities. Raises VerificationFailed."""
        said = check_table(self.scan(), spec.seed, written)
        return f"{said}; {self.scanned_by()}"


def _batches(seed: int, numbers: range) -> Iterator[list[Entity]]:
    for first in range(0, len(numbers), FILL_BATCH):
        yield [entity(seed, number) for number in numbers[first : first + FILL_BATCH]]
