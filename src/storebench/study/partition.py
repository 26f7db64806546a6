"""The partitions of a study: a key and a date for each cell of its grid, by which Airflow's backfills know it.

Each axis has a part of the date, and a value's place in its axis is its number in that part: the third store is the third
year. A date must never change. So the lists are only ever added to, at their ends: a study's stores, their clients, and the values
that `Axis.grid` has.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from storebench.errors import SpecError
from storebench.study.cell import Cell
from storebench.study.grid import repeats
from storebench.study.model import Study

FIRST_YEAR = 2001
# What the axes behind store (its part is the year) and client (the month) may have at most.
LIMITS = {"day": 28, "hour": 24, "minute": 60, "second": 60, "microsecond": 1_000_000}
MONTHS = 12


def partitions(study: Study) -> dict[str, datetime]:
    """The dates of the partitions by their keys, in the order of the dates.

    A key is a cell's without study and dataset (`mongodb/reference/batch=10000`): that is a parameter of the run, as all else.
    Raises SpecError for an axis that has too many values.
    """
    if len(study.axes) > len(LIMITS):
        raise SpecError(f"{study.name}: a backfill can tell {len(LIMITS)} axes apart, not {len(study.axes)}")
    for axis, (part, limit) in zip(study.axes, LIMITS.items(), strict=False):
        if len(axis.grid) > limit:
            raise SpecError(
                f"{axis.title}: at most {limit} values, one for each {part}, not {len(axis.grid)}"
            )
    if len(study.clients) > MONTHS:
        raise SpecError(f"{study.name}: at most {MONTHS} clients, not {len(study.clients)}")
    found: dict[str, datetime] = {}
    for (year, store), (month, client) in itertools.product(
        enumerate(study.stores), enumerate(study.clients)
    ):
        info = study.store(store)
        if client not in info.clients:
            continue
        for values in itertools.product(*(enumerate(axis.grid) for axis in study.axes)):
            places: dict[str, tuple[int, str]] = {}
            for axis, place in zip(study.axes, values, strict=True):
                if axis.means_something(store, client, {name: value for name, (_, value) in places.items()}):
                    places[axis.name] = place
            parts = {
                part: places.get(axis.name, (0, ""))[0]
                for axis, part in zip(study.axes, LIMITS, strict=False)
            }
            parts["day"] = parts.get("day", 0) + 1  # the others count from 0
            key = "/".join([store, client, *(f"{name}={value}" for name, (_, value) in places.items())])
            found[key] = datetime(FIRST_YEAR + year, month + 1, **parts, tzinfo=UTC)
    return dict(sorted(found.items(), key=lambda item: item[1]))


def cell_of(study: Study, key: str, rows: int, seed: int) -> Cell:
    """The cell that a partition is with this dataset; raises SpecError for a key that is none of the study's."""
    if key not in partitions(study):
        raise SpecError(f"{key!r} is no cell of the grid of {study.name}: `storebench grid` lists them")
    return cell_at(study.name, key, rows, seed)


def repeated(study: Study, keys: Iterable[str], rows: int) -> dict[str, str]:
    """Those of these partitions of a study that measure the same as another one in a dataset of so many rows, each with the reason."""
    found: dict[str, str] = {}
    keys = list(keys)
    for axis in study.axes:
        alike: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # by all other places: key by value
        for key in keys:
            if place := re.search(rf"(?<=/){axis.name}=([^/]+)", key):
                alike[key[: place.start()], key[place.end() :]][place[1]] = key
        found |= {
            by_value[value]: repeats(axis, value, kept, rows)
            for by_value in alike.values()
            for value, kept in axis.repeated(by_value, rows).items()
        }
    return found


def cell_at(study: str, key: str, rows: int, seed: int) -> Cell:
    """As `cell_of`, for a key that is known to be the study's."""
    return Cell.from_key(f"{study}/{key}/rows={rows}/seed={seed}")
