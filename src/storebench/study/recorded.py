"""Restore a study from its recorded details, for the page: the page may lack the study's file and its stores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from storebench.errors import SpecError, unknown
from storebench.fields import Field, field_of
from storebench.stores import load
from storebench.stores.base import Pod, Store, split
from storebench.study.claim import Claim
from storebench.study.dataset import Dataset, File
from storebench.study.model import Axis, Operation, Preset, Study


@dataclass(frozen=True)
class Recorded(Study):
    """A study restored from its details. It cannot be run: its stores have no pods."""

    classes: Mapping[str, type[Store]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check nothing: the study was checked when its file was loaded."""

    def store(self, name: str) -> type[Store]:
        """Return the class of a store as the details describe it. Raises SpecError for a store of another study."""
        base, _ = split(name)
        if base not in self.classes:
            raise unknown("store", base, self.classes)
        return self.classes[base]


def recorded(details: Mapping[str, Any]) -> Recorded:
    """Return the study of these details (`Study.details`). Raises SpecError for incomplete details of an earlier version."""
    try:
        return _recorded(details)
    except (KeyError, TypeError) as error:
        raise SpecError(
            f"What is known of the study {details.get('name')!r} was recorded by another version of Storebench: {error}"
        ) from None


def _recorded(details: Mapping[str, Any]) -> Recorded:
    asked = {
        one["name"]: field_of(one["title"], one["description"], one["rules"]) for one in details["params"]
    }
    of_stores = {name for store in details["stores"] for name in store["options"]}
    dataset = details["dataset"]
    return Recorded(
        name=details["name"],
        title=details["title"],
        description=details["description"],
        stores=tuple(one["name"] for one in details["stores"]),
        operations=tuple(
            Operation(one["name"], tuple(one["metrics"]), tuple(one["needs"]))
            for one in details["operations"]
        ),
        metrics=(),
        axes=tuple(_axis(one) for one in details["axes"]),
        dataset=dataset
        and Dataset(
            name=dataset["name"],
            version=dataset["version"],
            text=dataset["text"],
            row_bytes=dataset["row_bytes"],
            max_rows=dataset["max_rows"],
            pod=Pod(),
            axes=tuple(dataset["axes"]),
            own=File(**own, pod=Pod()) if (own := dataset.get("own")) else None,
        ),
        rows=details["rows"],
        params={name: one for name, one in asked.items() if name not in of_stores},
        presets={one["name"]: _preset(one) for one in details["presets"]},
        method_version=details["method_version"],
        claims=tuple(Claim.of(one) for one in details.get("claims", ())),
        classes={one["name"]: _store(details["name"], one, asked) for one in details["stores"]},
    )


def _axis(told: Mapping[str, Any]) -> Axis:
    return Axis(
        name=told["name"],
        title=told["title"],
        description=told["description"],
        pattern=told["pattern"],
        hint=told["hint"],
        default=tuple(told["default"]),
        choices=tuple(told["choices"]),
        grid=tuple(told["grid"]),
        where={name: tuple(values) for name, values in told["where"].items()},
        whole=told["whole"],
        of_copies=told.get("of_copies", False),
        workload=told.get("workload", False),  # absent in details of earlier versions
    )


def _preset(told: Mapping[str, Any]) -> Preset:
    return Preset(told["description"], told["params"], told["embedded"], told["once"])


def _store(study: str, told: Mapping[str, Any], asked: Mapping[str, Field]) -> type[Store]:
    """Return a class of the store without operations. Its `least_s`, `needs_agents` and `own_servers_only` come from the store's module, if
    this process can load the module."""
    try:
        known = load(study, told["name"])
    except SpecError:
        known = Store  # type: ignore[type-abstract] # no instance is made

    def least_s(operation: str, values: Mapping[str, str]) -> float:
        try:
            return known.least_s(operation, values)
        except KeyError:  # the details of an earlier version have fewer parameters
            return 0.0

    return type(
        told["name"],
        (Store,),
        {
            "name": told["name"],
            "operations": tuple(told["operations"]),
            "clients": tuple(told["clients"]),
            "keeps_data": told["keeps_data"],
            "limit": told["limit"],
            "connection": told["server"],
            "elsewhere": tuple(told["elsewhere"]),
            "filled_by": told["filled_by"],
            "options": {name: asked[name] for name in told["options"]},
            "least_s": staticmethod(least_s),
            "needs_agents": staticmethod(known.needs_agents),
            "own_servers_only": known.own_servers_only,
        },
    )
