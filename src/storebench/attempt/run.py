"""One attempt, from its specification to its result: `storebench attempt`, the main program of a pod."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from storebench import stores
from storebench.attempt import disturbance, machine, overflow
from storebench.attempt.cgroup import Cgroup, WorkingSetSampler
from storebench.attempt.clock import OperationClock, PhaseClock
from storebench.attempt.node import NodeCounters, figures
from storebench.attempt.result import AttemptResult
from storebench.attempt.source import Source
from storebench.attempt.spec import CPU_LIMIT, DROP, VARIABLE, AttemptSpec
from storebench.attempt.termination import leave_message, raise_on_sigterm
from storebench.attempt.verify import verify
from storebench.connection import Connection
from storebench.dataset.manifest import Manifest
from storebench.errors import SpecError, StorebenchError
from storebench.s3 import client_for
from storebench.stores.base import Store


class Attempt:
    """Runs the phases of one attempt and fills in its result as it goes, so that a failure loses no figure."""

    def __init__(self, spec: AttemptSpec, phases: PhaseClock) -> None:
        self.spec = spec
        self.result = AttemptResult()
        self._phases = phases
        self._cgroup = Cgroup()
        self._sampler = WorkingSetSampler(self._cgroup)
        self._sampler.start()
        self._disturbances: list[str] = []

    def run(self) -> None:
        """Raises a StorebenchError where the attempt fails."""
        store_class = stores.load(self.spec.store_name)
        self._describe_machine(store_class)
        with self._phase("connect"):
            s3 = client_for(Connection.from_environment("s3"))
            needed = stores.connection(self.spec.store_name)
            store = store_class(
                client=self.spec.client,
                target=self.spec.target,
                connection=Connection.from_environment(needed) if needed else None,
                source=Source(s3, self.spec.dataset_bucket, self.spec.dataset_key),
                values=self.spec.values,
                operation=self.spec.operation,
            )
            store.connect()
            if self.spec.operation != DROP:
                self._describe_server(store)
        try:
            if self.spec.operation == DROP:
                with self._phase("teardown"):
                    store.drop()
            else:
                with self._phase("prepare"):
                    manifest = Manifest.load(s3, self.spec.dataset_bucket, self.spec.manifest_key)
                self._measure(store, manifest)
            self.result.status = "verified"
        finally:
            with self._phase("teardown"):
                store.close()

    def _measure(self, store: Store, manifest: Manifest) -> None:
        clock = OperationClock(store.cpu_s)
        try:
            if self.spec.operation == "write":
                with self._phase("prepare"):
                    store.prepare()
                    durability = store.durability()
                    self.result.durability = durability.kind
                    self.result.durability_stated = durability.stated
                with self._operation(clock, store):
                    rows = store.write(self.spec.batch_rows, clock)
                with self._phase("barrier"):
                    store.barrier()
            else:
                self.result.delivers = _delivered(store)
                with self._operation(clock, store):
                    rows = store.read(clock)
            self.result.rows = rows
        finally:
            self._take_figures(clock, store)
        with self._phase("verify"):
            self.result.verification = verify(store, rows, manifest)
        if self.spec.operation == "write":
            with self._phase("teardown"):
                self.result.data_bytes = store.size_bytes()

    @contextmanager
    def _operation(self, clock: OperationClock, store: Store) -> Iterator[None]:
        print("phase: operation", flush=True)  # timed by the clock, which the store's method starts
        processes = store.server_processes()
        throttled = self._cgroup.cpu().throttled_periods
        before = self._node_counters()
        try:
            yield
        finally:
            after = self._node_counters()
            self._phases.add("source", clock.source_s)
            self._phases.add("operation", clock.operation_s)
            for name, figure in vars(node := figures(before, after)).items():
                setattr(self.result, name, figure)
        throttled = self._cgroup.cpu().throttled_periods - throttled
        limited = self.spec.options.get(CPU_LIMIT) == str(True)
        self._disturbances = [
            *disturbance.of_server(processes, store.server_processes()),
            *disturbance.of_throttling(throttled, asked_for=limited),
            # A store's server or executors may run on this node, too. Other work counts as a disturbance only without them.
            *disturbance.of_node(
                node,
                after.at_s - before.at_s,
                cores=os.cpu_count() or 1,
                alone=store.figures_cover == "engine" and not store.service_account,
            ),
        ]

    def _node_counters(self) -> NodeCounters:
        return NodeCounters.read(self._cgroup.cpu().cpu_s)

    def _take_figures(self, clock: OperationClock, store: Store) -> None:
        """What is measured ends here, before the verification, which is not to be seen in memory or CPU."""
        self._sampler.stop()
        self.result.executors = store.executors()
        self.result.disturbed = "; ".join([*store.disturbances(), *self._disturbances]) or None
        result, cpu = self.result, self._cgroup.cpu()
        result.operation_s = clock.operation_s
        result.source_s = clock.source_s
        result.barrier_s = self._phases.phases.get("barrier", 0.0)
        if clock.operation_s > 0:
            result.client_cpu_share = clock.operation_cpu_s / clock.operation_s
        result.figures_cover = store.figures_cover
        if store.figures_cover == "client":
            usable = machine.usable_cores(self._cgroup.cpu_limit_cores())
            result.client_cores_usable = min(store.client_cores(), usable)
        result.memory_peak_bytes = self._cgroup.memory_peak_bytes()
        result.memory_working_set_peak_bytes = self._sampler.peak_bytes
        result.memory_limit_bytes = self._cgroup.memory_limit_bytes()
        result.cpu_s, result.throttled_s = cpu.cpu_s, cpu.throttled_s
        result.throttled_periods, result.oom_kills = cpu.throttled_periods, self._cgroup.oom_kills()

    def _describe_machine(self, store_class: type[Store]) -> None:
        self.result.environment = machine.describe(store_class.packages)
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

    def _phase(self, name: str) -> Any:
        print(f"phase: {name}", flush=True)
        return self._phases.phase(name)


def _delivered(store: Store) -> str | None:
    """What a read hands to the program, where the store says it."""
    return dict(zip(store.clients, store.delivers, strict=False)).get(store.client)


def main() -> int:
    """Run the attempt of this pod; returns its exit code. The result goes to the termination message."""
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
        for module in stores.load(spec.store_name).modules:
            importlib.import_module(module)
        phases.add("interpreter_and_imports", machine.seconds_since_start())
        attempt = Attempt(spec, phases)
        result = attempt.result
        attempt.run()
    except StorebenchError as error:
        exit_code = error.exit_code
        result.error_kind, result.error = error.kind, str(error)
    except Exception as error:  # noqa: BLE001 - an error of our own gets its row and its reason, too
        exit_code = StorebenchError.exit_code
        result.error_kind, result.error = StorebenchError.kind, f"{type(error).__name__}: {error}"
        sys.excepthook(type(error), error, error.__traceback__)
    result.total_s = machine.seconds_since_start()
    result.phases = phases.phases
    print(f"result: {result.to_json()}", flush=True)
    try:
        result = overflow.fitting(result, spec)
    except StorebenchError as error:
        exit_code = exit_code or error.exit_code
        result = overflow.without(result, error.kind, str(error))
    leave_message(result.to_json())
    if exit_code:
        print(f"failed ({result.error_kind}): {result.error}", file=sys.stderr, flush=True)
    return exit_code
