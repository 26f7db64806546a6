"""Values are held against the annotations of their classes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import pytest

from storebench.declared import MAY_BE_EMPTY, mistakes_of, mistakes_of_class

if TYPE_CHECKING:
    import a_library_that_is_not_here


@dataclass(frozen=True)
class Leaf:
    name: str
    weight: float = 1.0


@dataclass(frozen=True)
class Tree:
    name: str
    note: str = field(metadata=MAY_BE_EMPTY)
    kind: Literal["oak", "maple"] = "oak"
    age: int = 1
    tall: bool = False
    leaves: tuple[Leaf, ...] = ()
    best: Leaf | None = None
    places: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    grow: Callable[[int], int] = abs
    more: Any = None
    within: str | None = None


RIGHT = {
    "name": "a",
    "note": "",
    "kind": "maple",
    "leaves": (Leaf("green", 2), Leaf("red")),
    "best": Leaf("red", 0.5),
    "places": {"north": "here", "south": ("here", "there"), "west": ""},
}


def test_what_is_as_annotated_has_no_mistake():
    assert list(mistakes_of(Tree(**RIGHT))) == []


@pytest.mark.parametrize(
    ("changes", "mistake"),
    [
        ({"name": ""}, "name is empty"),
        ({"name": 5}, "name is 5, and must be a text"),
        ({"kind": "mapel"}, "kind is 'mapel', and must be 'oak' or 'maple'. Did you mean 'maple'?"),
        ({"kind": "fir"}, "kind is 'fir', and must be 'oak' or 'maple'"),
        ({"kind": True}, "kind is True, and must be 'oak' or 'maple'"),
        ({"age": True}, "age is True, and must be a whole number"),
        ({"age": 1.0}, "age is 1.0, and must be a whole number"),
        ({"tall": 1}, "tall is 1, and must be True or False"),
        ({"leaves": "a"}, "leaves is 'a', and must be a tuple, each item a Leaf: a tuple of one item ends with a comma, as ('a',)"),
        ({"leaves": []}, "leaves is [], and must be a tuple, each item a Leaf: write it in ( and ), not in [ and ]"),
        ({"leaves": ("a",)}, "leaves[0] is 'a', and must be a Leaf"),
        ({"leaves": (Leaf("red", "much"),)}, "leaves['red'].weight is 'much', and must be a number"),
        ({"leaves": (Leaf("red", float("nan")),)}, "leaves['red'].weight is nan, and must be a number"),
        ({"leaves": (Leaf(""),)}, "leaves[0].name is empty"),
        ({"best": "red"}, "best is 'red', and must be a Leaf"),
        ({"best": Leaf(7)}, "best.name is 7, and must be a text"),
        ({"places": ("north",)}, "places is ('north',), and must be a dict"),
        ({"places": {5: "a"}}, "a name in places is 5, and must be a text"),
        ({"places": {"": "a"}}, "a name in places is empty"),
        ({"places": {"a": 5}}, "places['a'] is 5, and must be a text or a tuple, each item a text"),
        ({"grow": 5}, "grow is 5, and must be a function"),
        ({"within": ""}, "within is empty: leave it out"),
        ({"within": 5}, "within is 5, and must be a text"),
    ],
)  # fmt: skip
def test_a_value_that_is_not_as_annotated_is_named_with_its_field(changes, mistake):
    assert list(mistakes_of(Tree(**{**RIGHT, **changes}))) == [mistake]


def test_a_long_value_is_cut():
    (found,) = mistakes_of(Tree(**{**RIGHT, "age": "x" * 1000}))
    assert len(found) < 130


class Base:
    name: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ()
    cover: ClassVar[Literal["client", "engine"]] = "client"


class Right(Base):
    name = "right"
    kinds = ("a",)
    other: ClassVar[int] = 5
    own = "which is like no other name"
    _kind = "nobody's"
    client: "a_library_that_is_not_here.Client"

    @property
    def kind(self):
        return self.kinds[0]

    def covers(self):
        return True


def test_a_class_whose_variables_are_as_annotated_has_no_mistake():
    assert list(mistakes_of_class(Right)) == []


@pytest.mark.parametrize(
    ("variables", "mistake"),
    [
        ({"name": 5}, "name is 5, and must be a text"),
        ({"kinds": "a"}, "kinds is 'a', and must be a tuple, each item a text: a tuple of one item ends with a comma, as ('a',)"),
        ({"kinds": ("",)}, "kinds[0] is empty"),
        ({"cover": "engin"}, "cover is 'engin', and must be 'client' or 'engine'. Did you mean 'engine'?"),
        ({"other": "5"}, "other is '5', and must be a whole number"),
        ({"kindz": ("a",)}, "kindz means nothing. Did you mean kinds? A class variable of your own begins with _"),
    ],
)  # fmt: skip
def test_a_class_variable_that_is_not_as_annotated_is_named(variables, mistake):
    assert list(mistakes_of_class(type("Wrong", (Right,), variables))) == [mistake]
