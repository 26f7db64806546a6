"""Run one attempt, from its specification to its result: `storebench attempt`, the main program of a pod."""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from storebench import redact
from storebench.attempt import counters, disturbance, machine, overflow
from storebench.attempt.cgroup import Cgroup, WorkingSetSampler
from storebench.attempt.clock import OperationClock, PhaseClock
from storebench.attempt.fault import Injection
from storebench.attempt.node import NodeCounters, figures, strangers
from storebench.attempt.parts.environment import parts_of
from storebench.attempt.parts.part import Part
from storebench.attempt.parts.parts import Parts
from storebench.attempt.parts.spans import Span
from storebench.attempt.result import UNTOLD, AttemptResult
from storebench.attempt.spec import VARIABLE, AttemptSpec
from storebench.attempt.termination import leave_message, raise_on_sigterm
from storebench.attempt.usage import CpuSeconds, boot_id, sum_of
from storebench.connection import Connection
from storebench.errors import PartFailed, SpecError, StorebenchError
from storebench.s3 import client_for
from storebench.servers.watch import SET, ServersUsed, Watch
from storebench.stores import load
from storebench.stores.base import Durability, Store
from storebench.study.reserved import DROP

if TYPE_CHECKING:
    from storebench.attempt.profiler import Profiler

COUNTERS_S = 0.02  # before the common begin of all parts: the time to read the node's counters


class Attempt:
    """One attempt, whose result is filled phase by phase: a failure loses no earlier figure.

    A store's `operate` times its work with `phase`, and with `operation` inside `measuring`. It records figures with `metric`,
    `histogram`, `series` and `durability`.
    """

    def __init__(
        self,
        spec: AttemptSpec,
        store_class: type[Store],
        phases: PhaseClock,
        stuck: Callable[[PartFailed], None] = lambda error: None,
    ) -> None:
        """`stuck`: called if another part of the operation has failed and the attempt does not end."""
        self.spec = spec
        self.result = AttemptResult(not_judged=UNTOLD)  # until the operation was observed
        self.fault = Injection(spec)
        self._store_class = store_class
        self._phases = phases
        self._cgroup = Cgroup()
        self._sampler = WorkingSetSampler(self._cgroup)
        self._sampler.start()
        self._disturbances: list[str] = []
        self._watch = Watch()
        self._stuck = stuck
        self._parts = Parts()
        self._in_phase = 0
        self._counted: counters.Reading | None = None  # before the operation; None: no counters
        self._restarts: list[str] = []
        self._profiler = _profiler(spec.profile) if spec.profile else None

    @property
    def part(self) -> Part:
        """Return the part of the operation that this pod does."""
        return self._parts.part

    def run(self) -> None:
        """Run all phases of the attempt. Raises a StorebenchError if the attempt fails."""
        try:
            self._run()
        except StorebenchError as error:
            self._parts.close(error)
            raise
        except Exception as error:
            self._parts.close(StorebenchError(f"{type(error).__name__}: {error}"))
            raise
        finally:
            self._parts.close()
            self._parts.shorten(self.result)

    def _run(self) -> None:
        self._describe_machine()
        self._watch = Watch.from_environment()
        with self.phase("connect"):
            self._parts = parts_of(self._stuck)
            s3 = client_for(Connection.from_environment("s3"))
            needed = self._store_class.connection_of(self.spec.store)
            if (why := self._store_class.provisioned_servers_only) and SET not in os.environ:
                raise SpecError(
                    f"{self.spec.store} is measured only at servers that the run provisions: {why}. The run has provisioned none for this pod"
                )
            connection = Connection.from_environment(needed) if needed else None
            store = self._store = self._store_class.of(self.spec, connection, s3)
            store.connect()
            if self.spec.operation != DROP:
                self._describe_server(store)
        try:
            if self.spec.operation == DROP:
                with self.phase("teardown"):
                    store.drop()
                self.result.verification = "what was kept is removed"
            else:
                self.result.verification = self._parts.verified(store.operate(self))
            self.result.status = "verified"
        finally:
            with self.phase("teardown"):
                store.close()

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time and print the phase `name`. The times of a phase that is entered again are added."""
        print(f"phase: {name}", flush=True)
        with self._phases.phase(name):
            self._in_phase += 1
            try:
                yield
            finally:
                self._in_phase -= 1

    @contextmanager
    def measuring(self, clock: OperationClock) -> Iterator[None]:
        """Measure memory, CPU and servers inside the block, also if the block fails. A later verification is not part of these figures."""
        self._clock = clock
        if self.part.leads:  # a server's agent measures for one pod at a time
            self._watch.begin()
        worked = False
        try:
            yield
            worked = True
        finally:
            self._take_figures(worked)

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Observe the node and the server while the block runs the operation. Record the operation's times and disturbances.

        The block begins at the common begin of all parts. The method returns when the operations of all parts have ended.
        """
        store, clock, parts = self._store, self._clock, self._parts
        with self._waiting():
            parts.ready(self._count)
        processes, elsewhere_s = store.server_processes(), self._cpu_elsewhere_s()
        with self._waiting():
            parts.wait(COUNTERS_S)
        print("phase: operation", flush=True)
        throttled = self._cgroup.cpu().throttled_periods
        before, after, of_parts_s = self._node_counters(elsewhere_s), None, {}
        parts.wait()
        began_s = time.monotonic()
        try:
            yield
            ended_s = time.monotonic()
            self.fault.wait()  # the agents answer after the fault
            if self._profiler:
                self._profiler.end()
            after = self._node_counters(
                self._cpu_elsewhere_s()  # not after a failed operation: its server may not answer
            )
            cpu_s = after.own_cpu_s - before.own_cpu_s
            with self._waiting():
                of_parts_s = parts.ended(Span(began_s, ended_s, cpu_s, boot_id()))
        finally:
            self.fault.cancel()
            after = after or self._node_counters(None)
            self._phases.add("source", clock.source_s)
            self._phases.add("operation", clock.operation_s)
            node, others = figures(before, after), strangers(before, after, boot_id(), of_parts_s)
            if others and others.least == others.most:
                node = replace(node, node_strangers_cores=round(others.most, 4))
            for name, figure in vars(node).items():
                setattr(self.result, name, figure)
        throttled = self._cgroup.cpu().throttled_periods - throttled
        wall_s, cores = after.at_s - before.at_s, os.cpu_count() or 1
        self._restarts = disturbance.of_server(processes, store.server_processes())
        self._disturbances = [
            *(() if self.fault.begun else self._restarts),
            *disturbance.of_throttling(throttled, asked_for=self.spec.cpu_limited),
            *disturbance.of_node(node, others, wall_s, cores=cores),
        ]
        self.result.not_judged = disturbance.why_not_judged(node, others, wall_s)
        if perhaps := disturbance.perhaps_of_node(node, others, wall_s, cores=cores):
            self.possibly_disturbed(perhaps)

    def begin(self, lead_s: float = 0.0) -> float:
        """Wait until all parts of the operation are ready. Return the second of their common begin on this pod's monotonic clock.

        `lead_s`: the least seconds between the return of this method and the begin. The method does not wait for the begin.
        """
        with self._waiting():
            return self._parts.begin(lead_s)

    def agree(self, name: str, value: Any, decide: Callable[[list[Any]], Any]) -> Any:
        """Send `value` to the leader, and return the leader's decision, which is the same in all parts.

        `name`: the name of the step, the same in all parts. `value`, and the result of `decide`: JSON values. `decide` is called on the leader
        alone, with the values of all parts in the order of their numbers.
        """
        with self._waiting():
            return self._parts.agree(name, value, decide)

    def gather(self, tally: Any) -> list[Any] | None:
        """Leave this part's result with the leader. Return the tallies of all parts in the order of their numbers; None except on the leader.

        `tally`: a JSON value by which the leader verifies the whole. The figures of the parts become the attempt's figures, by
        `Metric.merge`. Called once, after `measuring`; a part that is not the leader then only has to end.
        """
        with self._waiting():
            return self._parts.gather(self.result, tally, self.spec.merges)

    def seconds_in(self, phase: str) -> float:
        """Return the seconds of a phase so far."""
        return self._phases.phases.get(phase, 0.0)

    def metric(self, name: str, value: float) -> None:
        """Record `value` as the scalar `name` of the study, in the unit with which the name ends."""
        self.result.metrics[name] = float(value)

    def histogram(self, name: str, counts: Mapping[float, int]) -> None:
        """Record the histogram `name` of the study.

        `counts`: by each value that was seen, the number of times that it was seen: `{0.001: 4512, 0.002: 38}`. A `collections.Counter` is
        such a dict. The name ends with the unit of the values. Raises TypeError for any other type, such as a list of values.
        """
        if not isinstance(counts, Mapping):
            raise TypeError(
                f"histogram({name!r}, …) takes counts by value, such as {{0.001: 4512, 0.002: 38}}, not a {type(counts).__name__}."
                " collections.Counter(values) makes them of a list"
            )
        values = sorted(counts)
        self.result.histograms[name] = {"values": values, "counts": [counts[value] for value in values]}

    def series(self, name: str, points: Iterable[tuple[float, float]]) -> None:
        """Record the series `name` of the study.

        `points`: pairs of the seconds since the operation began, and the value at that time: `[(0.0, 812.0), (1.0, 5120.0)]`.
        """
        at_s, values = zip(*points, strict=True) if (points := list(points)) else ((), ())
        self.result.series[name] = {"at_s": list(at_s), "values": list(values)}

    def possibly_disturbed(self, reason: str) -> None:
        """Record a reason that may have changed the attempt's time. The attempt still counts."""
        self.result.perhaps_disturbed = "; ".join(filter(None, [self.result.perhaps_disturbed, reason]))

    def durability(self, durability: Durability) -> None:
        """Record the guarantee of the operation's acknowledgements. Raises TypeError for anything but a Durability."""
        if not isinstance(durability, Durability):
            raise TypeError(
                f"durability() returned {durability!r}: return Durability(kind, stated) of storebench.stores.base, such as"
                ' Durability("disk", "fsync of each write")'
            )
        self.result.durability, self.result.durability_stated = durability.kind, durability.stated

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """Time a wait for other parts as the phase `parts`, unless another phase includes the wait. An undivided operation has no such phase."""
        with self.phase("parts") if self._parts.divided and not self._in_phase else nullcontext():
            yield

    def _cpu_elsewhere_s(self) -> CpuSeconds | None:
        """Return the CPU seconds so far of the store's processes outside this pod, by machine."""
        servers = self._watch.cpu_s() if self._watch.agents else self._store.cpu_of_servers_s()
        return sum_of((servers, self._store.cpu_of_pods_s()))

    def _node_counters(self, elsewhere_s: CpuSeconds | None) -> NodeCounters:
        return NodeCounters.read(self._cgroup.cpu().cpu_s, elsewhere_s)

    def _count(self) -> None:
        """Read the counters of the store before the operation, unless the run asks for none, and start the profiler."""
        if self._store.counters and self.spec.counted:
            self._counted = self._counters()
        if self._profiler:
            with nullcontext() if self._in_phase else self.phase("profiler"):
                self._profiler.begin()

    def _counters(self) -> counters.Reading:
        """Read the counters of the store, and time the reading as the phase `counters`, unless another phase includes the reading."""
        with nullcontext() if self._in_phase else self.phase("counters"):
            return counters.read(self._store)

    def _take_figures(self, worked: bool) -> None:
        """Take the figures of the measured work. `worked`: the work did not fail, and the server may answer."""
        store, clock = self._store, self._clock
        self._sampler.stop()
        if self._profiler:
            self.result.profiles = self._profiler.taken()
        self._take_figures_of_pod()
        if worked and self._counted is not None:
            self.result.counters = counters.recorded(
                store.counters, self._counted, self._counters(), self._restarts
            )
        servers = self._watch.end() if self.part.leads else ServersUsed()
        self.result.usage = [*store.usage(), *servers.rows]
        self._disturbances += servers.disturbances
        self.result.disturbed = "; ".join([*store.disturbances(), *self._disturbances]) or None
        result = self.result
        if clock.operation_s > 0:
            result.client_cpu_share = clock.operation_cpu_s / clock.operation_s
        # With the servers' figures, memory and CPU of all pods include the engine's.
        result.figures_cover = "engine" if servers.rows else store.figures_cover
        if store.figures_cover == "client":
            usable = machine.usable_cores(self._cgroup.cpu_limit_cores())
            result.client_cores_usable = min(store.client_cores(), usable)
        if service := servers.busiest:
            result.service_cpu_share, result.service_cores_usable = service.cpu_share, service.cores_usable

    def _take_figures_of_pod(self) -> None:
        result, cpu = self.result, self._cgroup.cpu()
        result.memory_peak_bytes = self._cgroup.memory_peak_bytes()
        result.memory_working_set_peak_bytes = self._sampler.peak_bytes
        result.memory_limit_bytes = self._cgroup.memory_limit_bytes()
        result.cpu_s, result.throttled_s = cpu.cpu_s, cpu.throttled_s
        result.throttled_periods, result.oom_kills = cpu.throttled_periods, self._cgroup.oom_kills()

    def _describe_machine(self) -> None:
        self.result.environment = machine.describe(self._store_class.packages)
        self.result.environment["cgroup_version"] = self._cgroup.version

    def _describe_server(self, store: Store) -> None:
        server = store.describe()
        self.result.environment |= {
            "server_name": server.name,
            "server_version": server.version,
            "server_settings": dict(server.settings),
            "client_settings": dict(store.client_settings()),
        }
        print(f"server: {server.name} {server.version}", flush=True)


def _profiler(profile: str) -> Profiler:
    from storebench.attempt.profiler import Profiler  # other attempts do not pay for the import

    return Profiler(profile)


def main() -> int:
    """Run the attempt of this pod and leave its result in the termination message. Return the exit code."""
    raise_on_sigterm()
    phases = PhaseClock()
    result = AttemptResult()
    spec = None
    exit_code = 0
    try:
        text = os.environ.get(VARIABLE)
        if not text:
            raise SpecError(f"{VARIABLE} is not set: `storebench attempt` is started by the DAG, in a pod")
        spec = AttemptSpec.from_json(text)
        print(f"attempt: {spec.operation} {spec.cell_key}", flush=True)
        store_class = load(spec.study, spec.store)
        for module in store_class.modules:
            importlib.import_module(module)
        phases.add("interpreter_and_imports", machine.seconds_since_start())

        def stuck(error: PartFailed) -> None:
            failed = replace(result, status="failed", error_kind=error.kind, error=str(error))
            os._exit(_leave(failed, phases, spec, error.exit_code))

        attempt = Attempt(spec, store_class, phases, stuck)
        result = attempt.result
        attempt.run()
    except StorebenchError as error:
        exit_code = error.exit_code
        result.error_kind, result.error = error.kind, str(error)
    except Exception as error:  # noqa: BLE001 - an error in this project also gets a row with its reason
        exit_code = StorebenchError.exit_code
        result.error_kind, result.error = StorebenchError.kind, f"{type(error).__name__}: {error}"
        redact.print_error(error)
    return _leave(result, phases, spec, exit_code)


def _leave(result: AttemptResult, phases: PhaseClock, spec: AttemptSpec | None, exit_code: int) -> int:
    """Leave the result in the termination message. Return the exit code, which is that of a result that fits nowhere."""
    result.total_s = machine.seconds_since_start()
    result.phases = dict(phases.phases)
    result.without_secrets()
    print(f"result: {replace(result, profiles={}).to_json()}", flush=True)  # without the long stacks
    try:
        result = overflow.fitting(result, spec)
    except StorebenchError as error:
        exit_code = exit_code or error.exit_code
        result = overflow.without(result, error.kind, str(error))
    leave_message(result.to_json())
    if exit_code:
        print(f"failed ({result.error_kind}): {result.error}", file=sys.stderr, flush=True)
    return exit_code
