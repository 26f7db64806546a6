"""The log of a load generator's requests, and the figures of the requests."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from storebench.stores.point_operations.distribution import Exact

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]

# The outcomes of a request. Logs have the position in this tuple.
OUTCOMES = ("done", "timeout", "connection", "server", "missing", "wrong")
DONE, TIMEOUT, CONNECTION, SERVER, MISSING, WRONG = range(len(OUTCOMES))
PERCENTILES: Mapping[str, float] = {
    "p50_s": 50,
    "p90_s": 90,
    "p95_s": 95,
    "p99_s": 99,
    "p999_s": 99.9,
    "p100_s": 100,
}


class Log:
    """The log of a load generator's requests. An entry costs less than a microsecond."""

    def __init__(self) -> None:
        self.number, self.began_s, self.latency_s = array("q"), array("d"), array("d")
        self.served_s, self.outcome = array("d"), array("b")

    def note(self, number: int, began_s: float, latency_s: float, served_s: float, outcome: int) -> None:
        """Log a request for the entity `number`. `began_s`: its planned start on the monotonic clock. `latency_s`: its seconds from the
        planned start. `served_s`: its seconds from the actual start."""
        self.number.append(number)
        self.began_s.append(began_s)
        self.latency_s.append(latency_s)
        self.served_s.append(served_s)
        self.outcome.append(outcome)

    def save(self, path: Path, users: Sequence[tuple[float, int]]) -> None:
        """Write the log to a file. `users`: pairs of a second and the number of users."""
        import numpy as np

        np.savez(
            path,
            number=np.array(self.number, dtype=np.int64),
            began_s=np.array(self.began_s, dtype=np.float64),
            latency_s=np.array(self.latency_s, dtype=np.float64),
            served_s=np.array(self.served_s, dtype=np.float64),
            outcome=np.array(self.outcome, dtype=np.int8),
            users=np.array(users, dtype=np.float64).reshape(-1, 2),
        )


@dataclass(frozen=True)
class Requests:
    """All requests of an operation. The figures only use the `measured` requests, which began after the warm-up and before the end."""

    number: Numbers
    began_s: Numbers  # seconds since the begin of the first load generator
    latency_s: Numbers
    served_s: Numbers
    outcome: Numbers
    measured_from_s: float
    measured_to_s: float
    users: Mapping[int, int]  # number of users by second

    @classmethod
    def of(cls, paths: Sequence[Path], zero_s: float, from_s: float, to_s: float) -> Requests:
        """Read the requests from files. Seconds are on the monotonic clock."""
        import numpy as np

        parts = [dict(np.load(path)) for path in paths]
        joined = {
            name: np.concatenate([part[name] for part in parts])
            for name in ("number", "began_s", "latency_s", "served_s", "outcome")
        }
        seconds = range(int(max(part["users"][:, 0].max(initial=zero_s) for part in parts) - zero_s) + 1)
        users = {second: sum(_users(part["users"], zero_s + second) for part in parts) for second in seconds}
        joined["began_s"] = joined["began_s"] - zero_s
        return cls(**joined, measured_from_s=from_s - zero_s, measured_to_s=to_s - zero_s, users=users)

    def those(self, mask: Numbers) -> Requests:
        """Return the requests that `mask` selects."""
        names = ("number", "began_s", "latency_s", "served_s", "outcome")
        return replace(self, **{name: getattr(self, name)[mask] for name in names})

    def between(self, from_s: float, to_s: float) -> Requests:
        """Return the requests with another measured interval."""
        return replace(self, measured_from_s=from_s, measured_to_s=to_s)

    @property
    def seconds(self) -> float:
        return self.measured_to_s - self.measured_from_s

    @property
    def measured(self) -> Numbers:
        """Return a mask of the requests that began in the measured interval."""
        mask: Numbers = (self.began_s >= self.measured_from_s) & (self.began_s < self.measured_to_s)
        return mask

    def latencies(self, *, served: bool = False, successful: bool = False) -> Numbers:
        """Return the latencies of the measured requests in seconds, ascending. A failed request has the time that its user waited.

        `served`: return service times instead. `successful`: exclude failed requests."""
        import numpy as np

        taken = self.served_s if served else self.latency_s
        chosen = self.measured & (self.outcome == DONE) if successful else self.measured
        ordered: Numbers = np.sort(taken[chosen])
        return ordered

    def distribution(self, *, served: bool = False, successful: bool = False) -> Exact:
        """Return the latencies of the measured requests in seconds; the parameters are those of `latencies`."""
        return Exact(self.latencies(served=served, successful=successful))

    def done_each_second(self) -> list[int]:
        """Count the successful requests that began in each full second of the measured time; in all of it if it is shorter than a second."""
        import numpy as np

        since_s = self.began_s[self.measured & (self.outcome == DONE)] - self.measured_from_s
        if (seconds := int(self.seconds + 1e-6)) < 1:
            return [len(since_s)]
        counts: list[int] = np.bincount(since_s.astype(np.int64), minlength=seconds)[:seconds].tolist()
        return counts

    def busiest_per_s(self) -> float:
        """Return the largest number of successful requests that began in a second of the measured time.

        A measured time below one second gives its mean rate."""
        return busiest_per_s(self.done_each_second(), self.seconds)

    def counts(self) -> dict[str, int]:
        """Count the measured requests by outcome."""
        return _counts(self.outcome[self.measured])

    def all_counts(self) -> dict[str, int]:
        """Count all requests by outcome, including the warm-up."""
        return _counts(self.outcome)

    def distributions_each_second(self) -> Iterator[tuple[int, Exact, int]]:
        """Yield what `each_second` yields, with the latencies as a distribution."""
        return ((second, Exact(latencies), errors) for second, latencies, errors in self.each_second())

    def acknowledged(self) -> Numbers:
        """Return the numbers of all written entities, including the warm-up."""
        numbers: Numbers = self.number[self.outcome == DONE]
        return numbers

    def each_second(self) -> Iterator[tuple[int, Numbers, int]]:
        """Yield each second from the first user on, with the ascending latencies of its requests, including failed requests, and the number
        of failed requests."""
        import numpy as np

        if not len(self.began_s):
            return
        order = np.argsort(self.began_s, kind="stable")
        seconds = self.began_s[order].astype(np.int64)
        latencies_s, successful = self.latency_s[order], self.outcome[order] == DONE
        last = int(self.measured_to_s + 0.5)
        edges = np.searchsorted(seconds, np.arange(last + 1))
        for second in range(last):
            part = slice(edges[second], edges[second + 1])
            yield second, np.sort(latencies_s[part]), int((~successful[part]).sum())


def _counts(outcomes: Numbers) -> dict[str, int]:
    return {name: int((outcomes == place).sum()) for place, name in enumerate(OUTCOMES)}


def busiest_per_s(done: Sequence[int], seconds: float) -> float:
    """Return the largest of the counts of each second of a measured time of `seconds`, or the mean rate below one second."""
    return float(max(done)) if seconds + 1e-6 >= 1 else done[0] / seconds


def _users(seen: Numbers, from_s: float) -> int:
    """Return the last number of users of a load generator before the end of a second."""
    before = seen[seen[:, 0] < from_s + 1]
    return int(before[-1, 1]) if len(before) else 0
