"""Take counters from a server's report: nested objects with numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from storebench.protocol.counters import Counter

# The place of each counter's number: names separated by dots, such as `merges.total`. Several places are of different versions.
Places = Mapping[Counter, str | tuple[str, ...]]


def taken(places: Places, reports: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return the sum of each counter over several reports, whose times are in milliseconds. A counter that a report lacks is absent."""
    reports = list(reports)
    values: dict[str, float] = {}
    for counter, where in places.items():
        numbers = [number for report in reports if (number := _first(report, where)) is not None]
        if numbers and len(numbers) == len(reports):
            values[counter.name] = sum(numbers) / (1000 if counter.unit == "s" else 1)
    return values


def _first(report: Mapping[str, Any], where: str | tuple[str, ...]) -> float | None:
    places = (where,) if isinstance(where, str) else where
    return next((number for place in places if (number := at(report, place)) is not None), None)


def at(report: Mapping[str, Any], place: str) -> float | None:
    """Return the number at a place; None for a report without this number."""
    found: Any = report
    for name in place.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return None if isinstance(found, bool) or not isinstance(found, int | float) else found
