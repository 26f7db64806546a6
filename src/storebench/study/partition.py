"""The partitions of a study: a key and a date for each cell of its grid. Airflow's backfills identify a cell by the date.

Each axis has a part of the date; the position of a value on its axis is the number in that part: the third store has the third year.
A date must never change. So new stores, clients and values of `Axis.grid` are only added at the ends of their lists.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime

from storebench.errors import SpecError, quoted
from storebench.study.cell import Cell
from storebench.study.grid import repeats
from storebench.study.planned import PlannedStudy

FIRST_YEAR = 2001
# The largest number of values of each axis, by its part of the date. The year is the store's part, the month the client's.
LIMITS = {"day": 28, "hour": 24, "minute": 60, "second": 60, "microsecond": 1_000_000}
MONTHS = 12


def partitions(study: PlannedStudy) -> dict[str, datetime]:
    """Return the dates of a study's partitions by key, in the order of the dates.

    A partition's key is the cell's key without study, rows and seed (`mongodb/reference/batch=10000`): the dataset is a parameter of the
    run. A key does not name an axis at its implied value (`Axis.implied`). Raises SpecError for an axis that has too many values.
    """
    if len(study.axes) > len(LIMITS):
        raise SpecError(
            f"{study.name}: a backfill supports at most {len(LIMITS)} axes, not {len(study.axes)}"
        )
    for axis, (part, limit) in zip(study.axes, LIMITS.items(), strict=False):
        if len(axis.grid) > limit:
            raise SpecError(
                f"{axis.title}: at most {limit} values, one for each {part}, not {len(axis.grid)}"
            )
    if len(study.clients) > MONTHS:
        raise SpecError(f"{study.name}: at most {MONTHS} clients, not {len(study.clients)}")
    implied = {axis.name: axis.implied for axis in study.axes if axis.implied}
    dates: dict[str, datetime] = {}
    for (year, store), (month, client) in itertools.product(
        enumerate(study.store_names), enumerate(study.clients)
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
            parts["day"] = parts.get("day", 0) + 1  # the other parts count from 0
            named = (f"{name}={value}" for name, (_, value) in places.items() if implied.get(name) != value)
            key = "/".join([store, client, *named])
            dates[key] = datetime(FIRST_YEAR + year, month + 1, **parts, tzinfo=UTC)
    return dict(sorted(dates.items(), key=lambda item: item[1]))


def cell_of(study: PlannedStudy, key: str, rows: int, seed: int) -> Cell:
    """Return the cell of a partition with this dataset. Raises SpecError unless `key` is a partition of the study."""
    if key not in partitions(study):
        raise SpecError(f"{quoted(key)} is no cell of the grid of {study.name}: `storebench grid` lists them")
    return cell_at(study.name, key, rows, seed)


def repeated(study: PlannedStudy, keys: Iterable[str], rows: int) -> dict[str, str]:
    """Return the partitions that measure the same as another of `keys` in a dataset of `rows` rows, each with the reason."""
    reasons: dict[str, str] = {}
    keys = list(keys)
    for axis in study.axes:
        alike: dict[tuple[str, str], dict[str, str]] = defaultdict(
            dict
        )  # by the rest of the key: the keys by value
        for key in keys:
            if place := re.search(rf"(?<=/){axis.name}=([^/]+)", key):
                alike[key[: place.start()], key[place.end() :]][place[1]] = key
        reasons |= {
            by_value[value]: repeats(axis, value, kept, rows)
            for by_value in alike.values()
            for value, kept in axis.repeated(by_value, rows).items()
        }
    return reasons


def cell_at(study: str, key: str, rows: int, seed: int) -> Cell:
    """Return the cell of a partition like `cell_of`, without checking that the study has the partition."""
    return Cell.from_key(f"{study}/{key}/rows={rows}/seed={seed}")
