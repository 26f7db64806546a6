"""The log of a load generator's requests, and the figures of the requests."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Numbers = np.ndarray[Any, Any]

# What became of a request: its place in this list is what is noted.
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
DIGITS = 3  # of the histogram's values, as HdrHistogram is used to have


class Log:
    """The requests of a load generator. Noting one costs less than a microsecond."""

    def __init__(self) -> None:
        self.number, self.began_s, self.took_s = array("q"), array("d"), array("d")
        self.served_s, self.outcome = array("d"), array("b")

    def note(self, number: int, began_s: float, took_s: float, served_s: float, outcome: int) -> None:
        """A request for the entity `number`. `began_s` is when it was meant to begin, on the monotonic clock, `took_s` how long it took
        from then on, and `served_s` from its real begin on."""
        self.number.append(number)
        self.began_s.append(began_s)
        self.took_s.append(took_s)
        self.served_s.append(served_s)
        self.outcome.append(outcome)

    def save(self, path: Path, users: Sequence[tuple[float, int]]) -> None:
        """`users` are the seconds at which there were so many."""
        import numpy as np

        np.savez(
            path,
            number=np.array(self.number, dtype=np.int64),
            began_s=np.array(self.began_s, dtype=np.float64),
            took_s=np.array(self.took_s, dtype=np.float64),
            served_s=np.array(self.served_s, dtype=np.float64),
            outcome=np.array(self.outcome, dtype=np.int8),
            users=np.array(users, dtype=np.float64).reshape(-1, 2),
        )


@dataclass(frozen=True)
class Requests:
    """All requests of an operation. `measured` are those of the figures: those that began after the warm-up, and before the end."""

    number: Numbers
    began_s: Numbers  # since the first load generator has begun
    took_s: Numbers
    served_s: Numbers
    outcome: Numbers
    measured_from_s: float
    measured_to_s: float
    users: Mapping[int, int]  # at each second

    @classmethod
    def of(cls, paths: Sequence[Path], zero_s: float, from_s: float, to_s: float) -> Requests:
        """Read the requests from files. Seconds are on the monotonic clock."""
        import numpy as np

        parts = [dict(np.load(path)) for path in paths]
        joined = {
            name: np.concatenate([part[name] for part in parts])
            for name in ("number", "began_s", "took_s", "served_s", "outcome")
        }
        seconds = range(int(max(part["users"][:, 0].max(initial=zero_s) for part in parts) - zero_s) + 1)
        users = {second: sum(_users(part["users"], zero_s + second) for part in parts) for second in seconds}
        joined["began_s"] = joined["began_s"] - zero_s
        return cls(**joined, measured_from_s=from_s - zero_s, measured_to_s=to_s - zero_s, users=users)

    def those(self, mask: Numbers) -> Requests:
        """Only some of them."""
        names = ("number", "began_s", "took_s", "served_s", "outcome")
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
        found: Numbers = (self.began_s >= self.measured_from_s) & (self.began_s < self.measured_to_s)
        return found

    def latencies(self, *, served: bool = False, successful: bool = False) -> Numbers:
        """Return the latencies of the measured requests in seconds, ascending; a failed request has the time that its user waited.
        `served`: the service times in their place. `successful`: without the failed requests."""
        import numpy as np

        taken = self.served_s if served else self.took_s
        chosen = self.measured & (self.outcome == DONE) if successful else self.measured
        found: Numbers = np.sort(taken[chosen])
        return found

    def busiest_per_s(self) -> float:
        """Return the most successful requests that began in one second of the measured time, by seconds since its begin. A measured time
        of less than a second counts as a whole, at its mean rate."""
        import numpy as np

        since_s = self.began_s[self.measured & (self.outcome == DONE)] - self.measured_from_s
        if (whole := int(self.seconds + 1e-6)) < 1:
            return len(since_s) / self.seconds
        counts = np.bincount(since_s.astype(np.int64), minlength=whole)
        return float(counts[:whole].max())

    def counts(self) -> dict[str, int]:
        """How many of the measured ones ended in which way."""
        found = self.outcome[self.measured]
        return {name: int((found == place).sum()) for place, name in enumerate(OUTCOMES)}

    def acknowledged(self) -> Numbers:
        """The numbers of all entities that were written, in the warm-up, too."""
        found: Numbers = self.number[self.outcome == DONE]
        return found

    def each_second(self) -> Iterator[tuple[int, Numbers, int]]:
        """Yield each second from the first user on, the latencies of its requests in ascending order, failed requests included, and the
        number of failed ones."""
        import numpy as np

        if not len(self.began_s):
            return
        order = np.argsort(self.began_s, kind="stable")
        seconds = self.began_s[order].astype(np.int64)
        took, done = self.took_s[order], self.outcome[order] == DONE
        last = int(self.measured_to_s + 0.5)
        edges = np.searchsorted(seconds, np.arange(last + 1))
        for second in range(last):
            part = slice(edges[second], edges[second + 1])
            yield second, np.sort(took[part]), int((~done[part]).sum())


def _users(seen: Numbers, from_s: float) -> int:
    """How many a load generator had last, before this second was over."""
    before = seen[seen[:, 0] < from_s + 1]
    return int(before[-1, 1]) if len(before) else 0


def percentile(ordered: Numbers, percent: float) -> float:
    """The smallest value that so many percent are not above, as load generators count it."""
    import math

    place = max(1, math.ceil(len(ordered) * percent / 100 - 1e-9))
    return float(ordered[place - 1])


def histogram(values: Numbers) -> dict[float, int]:
    """How often each value was seen, to so many digits."""
    import numpy as np

    positive = np.maximum(values, 1e-9)
    power = np.floor(np.log10(positive)) - (DIGITS - 1)
    found, counts = np.unique(np.stack([np.rint(positive / 10**power), power]), axis=1, return_counts=True)
    seen: dict[float, int] = {}
    for digits, exponent, count in zip(found[0], found[1], counts, strict=True):
        value = float(
            f"{int(digits)}e{int(exponent)}"
        )  # the same text for the same value: no 0.30000000000000004
        seen[value] = seen.get(value, 0) + int(count)
    return seen
