"""Divide an operation in tests: the parts are threads of this process, and exchange JSON values as pods do."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import replace

from storebench.attempt.clock import PhaseClock
from storebench.attempt.parts.part import Part
from storebench.attempt.run import Attempt

TIMEOUT_S = 60.0
SPANS = ("only_s", "window_s")  # metrics that are merged by "span"


class Exchange:
    """The exchange of the parts of one operation."""

    def __init__(self, count):
        self.count = count
        self._met = threading.Barrier(count, timeout=TIMEOUT_S)
        self._said, self._decision = [None] * count, None

    def meet(self, number, value=None, decide=lambda values: values):
        """Return the leader's decision about the values of all parts."""
        self._said[number] = json.dumps(value)
        self._met.wait()
        if number == 0:
            try:
                self._decision = json.dumps(decide(list(map(json.loads, self._said))))
            except BaseException:
                self.end()
                raise
        self._met.wait()
        decision = json.loads(self._decision)
        self._met.wait()
        return decision

    def end(self):
        """Let all parts fail that wait for another part."""
        self._met.abort()


class PartAttempt(Attempt):
    """An attempt of one part. `tally`: what the part left with the leader."""

    part, tally = Part(), None

    def __init__(self, exchange, number, spec, store_class):
        super().__init__(spec, store_class, PhaseClock())
        self.exchange, self.part = exchange, Part(number, exchange.count)

    @contextmanager
    def operation(self):
        self.exchange.meet(self.part.number)
        with super().operation():
            yield
        self.exchange.meet(self.part.number)

    def agree(self, name, value, decide):
        return self.exchange.meet(self.part.number, value, decide)

    def gather(self, tally):
        self.tally = tally
        left = self.exchange.meet(self.part.number, [tally, self.result.metrics])
        if self.part.number:
            return None
        for name in self.result.metrics.keys() & SPANS:
            self.result.metrics[name] = max(metrics[name] for _, metrics in left)
        return [tally for tally, _ in left]


def run_parts(spec, store_class, count, run_part=PartAttempt.run):
    """Run the parts of an operation. Return their attempts, and their errors by the part's number. `run_part`: runs one of them."""
    exchange, errors = Exchange(count), {}
    spec = replace(spec, axes={**spec.axes, "pods": str(count)})
    attempts = [PartAttempt(exchange, number, spec, store_class) for number in range(count)]

    def run(attempt):
        try:
            run_part(attempt)
        except Exception as error:  # noqa: BLE001 - the other parts must not wait for this part
            errors[attempt.part.number] = error
            exchange.end()

    threads = [threading.Thread(target=run, args=(attempt,)) for attempt in attempts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return attempts, errors
