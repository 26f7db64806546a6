"""Add the counts of the parts of a load that several pods generate together, so that the leader judges and reports the whole."""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Self

from storebench.stores.point_operations.check import Written
from storebench.stores.point_operations.distribution import Counted, Distribution
from storebench.stores.point_operations.requests import Requests, busiest_per_s

Counts = Mapping[float, int]


@dataclass(frozen=True)
class Tally:
    """The counts of requests: what figures need of `Requests`, under the same names."""

    measured_from_s: float
    measured_to_s: float
    outcomes: Mapping[str, int]  # of the measured requests
    all_outcomes: Mapping[str, int]  # including the warm-up
    done: Sequence[int]  # successful requests of each measured second
    users: Mapping[int, int]
    distributions: Sequence[Counts]  # in the order of `_place`
    each_second: Sequence[tuple[int, Counts, int]] = ()

    @classmethod
    def of(cls, sent: Requests) -> Self:
        """Count the requests of a part."""
        views = [
            sent.distribution(served=served, successful=successful).histogram()
            for served in (False, True)
            for successful in (False, True)
        ]
        return cls(
            *(sent.measured_from_s, sent.measured_to_s, sent.counts(), sent.all_counts()),
            *(sent.done_each_second(), sent.users, views),
            [(at, values.histogram(), errors) for at, values, errors in sent.distributions_each_second()],
        )

    @classmethod
    def merged(cls, parts: Sequence[Tally]) -> Tally:
        """Add the counts of the parts, which measured the same seconds."""
        seconds: dict[int, list[tuple[Counts, int]]] = {}
        for part in parts:
            for at, counts, errors in part.each_second:
                seconds.setdefault(at, []).append((counts, errors))
        return replace(
            parts[0],
            outcomes=_added(part.outcomes for part in parts),
            all_outcomes=_added(part.all_outcomes for part in parts),
            done=[sum(counts) for counts in zip_longest(*(part.done for part in parts), fillvalue=0)],
            users=_added(part.users for part in parts),
            distributions=[
                Counted.merged(views).counts
                for views in zip(*(part.distributions for part in parts), strict=True)
            ],
            each_second=[
                (at, Counted.merged(counts for counts, _ in found).counts, sum(errors for _, errors in found))
                for at, found in sorted(seconds.items())
            ],
        )

    @property
    def seconds(self) -> float:
        return self.measured_to_s - self.measured_from_s

    def counts(self) -> Mapping[str, int]:
        """Return the measured requests by outcome."""
        return self.outcomes

    def all_counts(self) -> Mapping[str, int]:
        """Return all requests by outcome, including the warm-up."""
        return self.all_outcomes

    def busiest_per_s(self) -> float:
        """Return the largest number of successful requests that began in a second of the measured time."""
        return busiest_per_s(self.done, self.seconds)

    def distribution(self, *, served: bool = False, successful: bool = False) -> Counted:
        """Return the latencies of the measured requests in seconds; the parameters are those of `Requests.latencies`."""
        return Counted(self.distributions[2 * served + successful])

    def distributions_each_second(self) -> Iterator[tuple[int, Counted, int]]:
        """Yield each second with its latencies and its number of failed requests, including the warm-up."""
        return ((at, Counted(counts), errors) for at, counts, errors in self.each_second)

    def data(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {
            **vars(self),
            "users": _pairs(self.users),
            "distributions": [_pairs(counts) for counts in self.distributions],
            "each_second": [(at, _pairs(counts), errors) for at, counts, errors in self.each_second],
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Self:
        """Return the counts of `data`."""
        return cls(
            **{
                **data,
                "users": _counts(data["users"]),
                "distributions": [_counts(pairs) for pairs in data["distributions"]],
                "each_second": [(at, _counts(pairs), errors) for at, pairs, errors in data["each_second"]],
            }
        )


@dataclass(frozen=True)
class Whole:
    """All requests of an operation: of this pod, or, as counts, of all pods."""

    measured: Requests | Tally
    reads: Requests | Tally
    writes: Requests | Tally
    steps: Sequence[Distribution]  # latencies of each step of a load by steps
    written: Written | None  # the entities of the table after an operation that writes

    @classmethod
    def of(cls, sent: Requests, rows: int, steps: Iterable[tuple[float, float]], *, writes: bool) -> Self:
        """Return the requests of this pod. `rows`: number of filled entities. `steps`: first and last second of each step."""
        read, new = (sent.those(mask) for mask in (sent.number < rows, sent.number >= rows))
        latencies = [sent.between(from_s, to_s).distribution() for from_s, to_s in steps]
        return cls(sent, read, new, latencies, Written.of(rows, [new]) if writes else None)

    def text(self) -> str:
        """Return the counts as a text, which a part leaves with the leader."""
        views = [
            Tally.of(view) if isinstance(view, Requests) else view
            for view in (self.measured, self.reads, self.writes)
        ]
        data = {
            "views": [view.data() for view in views],
            "steps": [_pairs(step.histogram()) for step in self.steps],
            "written": self.written and self.written.packed(),
        }
        return base64.b64encode(zlib.compress(json.dumps(data).encode())).decode()

    @classmethod
    def merged(cls, texts: Iterable[str]) -> Self:
        """Add the counts of all parts. `texts`: of `text`."""
        parts = [json.loads(zlib.decompress(base64.b64decode(text))) for text in texts]
        measured, reads, writes = (
            Tally.merged([Tally.of_data(data) for data in found])
            for found in zip(*(part["views"] for part in parts), strict=True)
        )
        steps = [
            Counted.merged(map(_counts, found))
            for found in zip(*(part["steps"] for part in parts), strict=True)
        ]
        packed = [part["written"] for part in parts]
        return cls(measured, reads, writes, steps, Written.merged(packed) if all(packed) else None)


def _added(counts: Iterable[Mapping[Any, int]]) -> dict[Any, int]:
    total: Counter[Any] = Counter()
    for part in counts:
        total.update(part)
    return dict(total)


def _pairs(counts: Mapping[Any, int]) -> list[list[float]]:
    return [list(counts), list(counts.values())]


def _counts(pairs: Sequence[Sequence[Any]]) -> dict[Any, int]:
    return dict(zip(*pairs, strict=True))
