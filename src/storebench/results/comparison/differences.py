"""List the settings and versions that differ between the attempts of two sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries

Environments = Mapping[str, Mapping[str, Any]]  # details of environments by hash


@dataclass(frozen=True)
class Difference:
    """A detail that differs, such as a setting or a version, and its values on each side."""

    name: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def text(self) -> str:
        """Return the detail with the values of both sides."""
        return f"{self.name}: {', '.join(self.before)} -> {', '.join(self.after)}"


def differences(queries: Queries, before: Sequence[Row], after: Sequence[Row], are_cells: bool) -> list[str]:
    """Return a line for each detail that differs between the attempts of both sides; for runs, store by store.

    Each operation is compared separately, since each operation may have its own pod and image.
    """
    found = _method(before, after)
    environments = environments_of(queries, (*before, *after))

    def kind(row: Row) -> tuple[str, str]:
        return "" if are_cells else row["store"], row["operation"]

    kinds: dict[tuple[str, str], tuple[list[Row], list[Row]]] = {}
    for side, rows in enumerate((before, after)):
        for row in rows:
            kinds.setdefault(kind(row), ([], []))[side].append(row)
    for (store, _), alike in sorted(kinds.items(), key=lambda group: group[0]):
        prefix = f"{store}: " if store else ""
        found += [replace(one, name=prefix + one.name) for one in _conditions(environments, *alike)]
    return list(dict.fromkeys(one.text for one in found))


def details_that_differ(
    environments: Environments, before: Sequence[Row], after: Sequence[Row]
) -> list[Difference]:
    """Return the settings and versions that differ between the attempts of both sides at one operation."""
    return _method(before, after) + _conditions(environments, before, after)


def environments_of(queries: Queries, rows: Iterable[Row]) -> Environments:
    """Return the details of the attempts' environments by hash."""
    return queries.environments({row["environment_hash"] for row in rows if row["environment_hash"]})


def difference(name: str, before: set[str], after: set[str]) -> list[Difference]:
    """Return the difference between the values of a detail; an empty list if both sides have the same single value, or a side has none."""
    if (before == after and len(before) <= 1) or not before or not after:
        return []
    return [Difference(name, tuple(sorted(before)), tuple(sorted(after)))]


def _method(before: Sequence[Row], after: Sequence[Row]) -> list[Difference]:
    versions = ({str(row["method_version"]) for row in rows} for rows in (before, after))
    return difference("method_version", *versions)


def _conditions(environments: Environments, before: Sequence[Row], after: Sequence[Row]) -> list[Difference]:
    """Return the differences in environments, parameters, code and stated durability."""
    alike = (before, after)
    stated = ({row["durability_stated"] for row in rows if row["durability_stated"]} for rows in alike)
    found = difference("durability_stated", *stated)
    sides = [
        _values(
            {
                **environments[row["environment_hash"]],
                **(row["parameters"] or {}),
                "code_version": row["code_version"],
            }
            for row in _each_once(rows)
            if row["environment_hash"] in environments
        )
        for rows in alike
    ]
    if not all(sides):
        return found  # skip details that only one side has
    for name in sorted(sides[0].keys() | sides[1].keys()):
        found += difference(name, *(side.get(name, {"not there"}) for side in sides))
    return found


def _each_once(rows: Iterable[Row]) -> Iterable[Row]:
    """Yield one attempt of each set of conditions: most attempts of a run share their conditions."""
    return {
        (row["environment_hash"], row["parameters_hash"], row["code_version"]): row for row in rows
    }.values()


def _values(measured: Iterable[Mapping[str, Any]]) -> dict[str, set[str]]:
    """Return the values of each detail of some attempts. A nested detail is named a.b."""
    values: dict[str, set[str]] = {}
    for details in measured:
        for name, value in details.items():
            parts = (
                {f"{name}.{key}": part for key, part in value.items()}
                if isinstance(value, Mapping)
                else {name: value}
            )
            for part, content in parts.items():
                values.setdefault(part, set()).add(str(content))
    return values
