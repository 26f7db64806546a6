"""Check declared values against the annotations of their classes: types, allowed values, texts that must not be empty."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from storebench.errors import did_you_mean

MAY_BE_EMPTY: Mapping[str, bool] = {
    "may_be_empty": True
}  # metadata of a field that may be "" with another default
NEAR = 0.8  # difflib's ratio from which a name counts as a misspelt class variable
SHOWN = 80  # characters to show of a refused value
WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "True or False", NoneType: "None"}


def mistakes_of(value: Any, where: str = "") -> Iterator[str]:
    """Yield the mistakes in the fields of a dataclass's instance and of nested instances, each with the path of its field.

    A text may be empty if its field's default is empty, or if its field has the metadata MAY_BE_EMPTY.

    Example:
        >>> list(mistakes_of(Metric("put_s", "time", better="hihger")))
        ["better is 'hihger', and must be 'lower', 'higher' or 'neither'. Did you mean 'higher'?"]
    """
    declared: type = type(value)
    kinds = _of_fields(declared)
    for field in fields(value):
        empty = field.default == "" or "may_be_empty" in field.metadata
        path = f"{where}.{field.name}" if where else field.name
        yield from mistakes(getattr(value, field.name), kinds[field.name], path, empty=empty)


def mistakes_of_class(declared: type) -> Iterator[str]:
    """Yield the mistakes in a class's variables: values that their annotations do not allow, and unknown names that resemble a class
    variable's name."""
    kinds = _of_variables(declared)
    for name, kind in kinds.items():
        if hasattr(declared, name):
            yield from mistakes(getattr(declared, name), kind, name)
    for base in declared.__mro__:
        members = vars(base)
        for name, value in members.items():
            known = name.startswith("_") or name in kinds or name in members.get("__annotations__", {})
            if known or hasattr(value, "__get__") or isinstance(value, type):
                continue
            if meant := did_you_mean(name, kinds, most=1, cutoff=NEAR):
                yield f"{name} means nothing.{meant} A class variable of your own begins with _"


def mistakes(value: object, kind: Any, where: str, *, empty: bool = True) -> Iterator[str]:
    """Yield how a value differs from the annotation `kind`. `where`: name of the value. `empty`: whether an empty text is allowed."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return
    if origin in (Union, UnionType):
        yield from _of_union(value, kind, where)
    elif origin is Literal:
        if not any(value == choice and type(value) is type(choice) for choice in inner):
            meant = did_you_mean(value, [*map(repr, inner)], most=1) if isinstance(value, str) else ""
            yield f"{_wrong(value, kind, where)}.{meant}".removesuffix(".")
    elif origin is tuple:
        if not isinstance(value, tuple):
            yield _wrong(value, kind, where) + _as_tuple(value)
            return
        for place, item in enumerate(value):
            yield from mistakes(item, inner[0], f"{where}[{_label(item, place)}]", empty=False)
    elif origin is Mapping:
        if not isinstance(value, Mapping):
            yield _wrong(value, kind, where)
            return
        for name, item in value.items():
            yield from mistakes(name, inner[0], f"a name in {where}", empty=False)
            yield from mistakes(item, inner[1], f"{where}[{name!r}]")
    elif origin is Callable:
        if not callable(value):
            yield _wrong(value, kind, where)
    elif not _is(value, kind):
        yield _wrong(value, kind, where)
    elif value == "" and not empty:
        yield f"{where} is empty"
    elif is_dataclass(value):
        yield from mistakes_of(value, where)


def _of_union(value: object, kind: Any, where: str) -> Iterator[str]:
    others = [inner for inner in get_args(kind) if inner is not NoneType]
    if value is None and NoneType in get_args(kind):
        return
    if len(others) == 1:
        if value == "":
            yield f"{where} is empty: leave it out"
        else:
            yield from mistakes(value, others[0], where)
    elif all(any(mistakes(value, other, where)) for other in others):
        yield _wrong(value, kind, where)


def _is(value: object, kind: type) -> bool:
    if kind in (int, float):
        if isinstance(value, bool) or not isinstance(value, int | kind):
            return False
        return not isinstance(value, float) or math.isfinite(value)
    return isinstance(value, kind)


def _wrong(value: object, kind: Any, where: str) -> str:
    shown = repr(value)
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
    return f"{where} is {shown}, and must be {_description(kind)}"


def _description(kind: Any) -> str:
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        *first, last = map(repr, inner)
        return f"{', '.join(first)} or {last}" if first else last
    if origin in (Union, UnionType):
        return " or ".join(_description(member) for member in inner)
    if origin is tuple:
        return f"a tuple, each item {_description(inner[0])}"
    if origin is Mapping:
        return "a dict"
    if origin is Callable:
        return "a function"
    name: str = getattr(kind, "__name__", str(kind))
    return WORDS.get(kind) or f"{'an' if name[0] in 'AEIOU' else 'a'} {name}"


def _as_tuple(value: object) -> str:
    """Return a hint how to write a value as a tuple; empty for a dict or None."""
    if isinstance(value, list):
        return ": write it in ( and ), not in [ and ]"
    if isinstance(value, Mapping) or value is None:
        return ""
    return ": a tuple of one item ends with a comma, as ('a',)"


def _label(item: object, place: int) -> str:
    """Return a label of a tuple's item: the item's name, or its position."""
    name = getattr(item, "name", None)
    return repr(name) if isinstance(name, str) and name else str(place)


@cache
def _of_fields(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _of_variables(declared: type) -> dict[str, Any]:
    """Return the annotations of a class's ClassVars by name, including inherited ClassVars."""
    kinds = {}
    for base in reversed(declared.__mro__):
        for name, annotation in vars(base).get("__annotations__", {}).items():
            # Resolve each annotation alone: other annotations of a store may name a client library that is not installed
            alone = type("Alone", (), {"__annotations__": {name: annotation}, "__module__": base.__module__})
            try:
                kind = get_type_hints(alone)[name]
            except NameError:
                continue
            if get_origin(kind) is ClassVar:
                (kinds[name],) = get_args(kind)
    return kinds
