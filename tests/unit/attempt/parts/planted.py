"""Stores whose operation several processes do together, and the main program of such a process."""

import json
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from storebench.attempt import run
from storebench.attempt.clock import OperationClock
from storebench.attempt.parts import interrupt, parts
from storebench.attempt.spec import AttemptSpec
from storebench.errors import StoreRefused, VerificationFailed
from storebench.protocol import counters
from storebench.stores.base import Store
from tests.forks import redirect

LOG, DELAYED = "PLANTED_LOG", "PLANTED_DELAYED"  # a folder; number of the part that begins DELAY_S late
DELAY_S = 0.3
REQUESTS = 200
MERGES = {
    "asked_bytes": "sum",
    "slowest_s": "max",
    "asking_s": "span",
    "requests_per_s": "leader",
    "latency_s": "sum",
    "rate": "sum",
    "largest": "max",
}


def spec_of(store, merges=MERGES):
    return AttemptSpec(
        operation="ask",
        cell_key=f"s/{store}/reference/rows=1/seed=42",
        study="s",
        store=store,
        client="reference",
        axes={"pods": "2"},
        rows=REQUESTS,
        seed=42,
        target="t",
        bucket="b",
        dataset=None,
        results="results/t/ask-",
        merges=merges,
    )


class Asking(Store):
    """A client that asks REQUESTS requests, each of about 1 ms, and logs each request."""

    name = "asking"
    operations = divides = ("ask",)

    def connect(self):
        pass

    def drop(self):
        pass

    def operate(self, attempt):
        agreed = attempt.agree("first", attempt.part.number + 5, min)
        clock, share, log = OperationClock(), attempt.part.share(REQUESTS), []
        begin_s = attempt.begin(0.05)
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            began_s = time.monotonic()
            for n in share:
                log.append(self.ask(n, began_s))
            asking_s = time.monotonic() - began_s
        Path(os.environ[LOG], f"log-{attempt.part.number}.json").write_text(
            json.dumps(
                {"begin": begin_s, "began": began_s, "asking_s": asking_s, "log": log, "agreed": agreed}
            )
        )
        attempt.metric("asked_bytes", sum(size for _, _, _, size in log))
        attempt.metric("slowest_s", max(latency_s for _, latency_s, _, _ in log))
        attempt.metric("asking_s", asking_s)
        attempt.histogram("latency_s", Counter(latency_s for _, latency_s, _, _ in log))
        attempt.series("rate", sorted(Counter(at_s for _, _, at_s, _ in log).items()))
        largest = {}
        for _, _, at_s, size in log:
            largest[at_s] = max(size, largest.get(at_s, 0))
        attempt.series("largest", sorted(largest.items()))
        tallies = attempt.gather({"numbers": sum(share)})
        if tallies is None:
            return "left with the leader"
        with attempt.phase("verify"):
            if sum(tally["numbers"] for tally in tallies) != REQUESTS * (REQUESTS - 1) // 2:
                raise VerificationFailed("some requests are missing")
        attempt.metric("requests_per_s", REQUESTS / attempt.result.metrics["asking_s"])
        return "all numbers are there"

    def ask(self, n, began_s):
        sent_s = time.monotonic()
        time.sleep(0.001 + n % 3 * 0.0005)
        now_s = time.monotonic()
        return n, round(now_s - sent_s, 4), round(now_s - began_s, 1), n % 7 + 1


class Sleeping(Asking):
    """A client whose only request takes a minute."""

    name = "sleeping"

    def ask(self, n, began_s):
        time.sleep(60)


class Refused(Sleeping):
    """A client that one part's server refuses."""

    name = "refused"

    def ask(self, n, began_s):
        if n >= REQUESTS // 2:
            raise StoreRefused("The disk is full")
        super().ask(n, began_s)


class Stubborn(Refused):
    """A client whose threads cannot be interrupted."""

    name = "stubborn"

    def ask(self, n, began_s):
        if n >= REQUESTS // 2:
            raise StoreRefused("The disk is full")
        with ThreadPoolExecutor(1) as pool:
            pool.submit(time.sleep, 60).result()


class Forgetful(Asking):
    """A client that leaves no result with the leader."""

    name = "forgetful"

    def operate(self, attempt):
        with attempt.measuring(clock := OperationClock()), attempt.operation(), clock.operation():
            pass
        return "my part is right"


class Counting(Asking):
    """A client of a server that counts how often it was read. A follower prepares for DELAY_S longer than the leader."""

    name = "counting"
    counters = (counters.Counter("reads", "", "counter", "readings of the counters"),)
    reads = ()

    def read_counters(self):
        self.reads = (*self.reads, time.monotonic())
        return {"reads": len(self.reads) - 1}

    def operate(self, attempt):
        clock = OperationClock()
        if not attempt.part.leads:
            time.sleep(DELAY_S)
        prepared_s = time.monotonic()
        with attempt.measuring(clock), attempt.operation(), clock.operation():
            began_s = time.monotonic()
            time.sleep(0.1 * (attempt.part.number + 1))
            ended_s = time.monotonic()
        Path(os.environ[LOG], f"log-{attempt.part.number}.json").write_text(
            json.dumps({"prepared": prepared_s, "began": began_s, "ended": ended_s, "reads": self.reads})
        )
        attempt.gather(None)
        return "all parts have slept"


STORES = {store.name: store for store in (Asking, Sleeping, Refused, Stubborn, Forgetful, Counting)}


def main(environment, output):
    """Run the main program of a pod with this environment, and end this process."""
    os.environ.update(environment)
    redirect(output)
    run.load = lambda study, name: STORES[name]
    run.client_for = lambda connection: None
    interrupt.PATIENCE_S = 0.5
    if environment.get(DELAYED) == str(int(environment.get("JOB_COMPLETION_INDEX", "-1")) + 1):
        prompt = parts.Following.wait

        def late(self, early_s=0.0):
            prompt(self, early_s)
            if not early_s:
                time.sleep(DELAY_S)

        parts.Following.wait = late
    code = run.main()
    os._exit(code)
