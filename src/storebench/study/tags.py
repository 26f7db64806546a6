"""Tags: labels that a user gives to runs, such as the version of a release. A tag changes no figure, no cell and no estimate."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from storebench.errors import SpecError, quoted
from storebench.fields import Text

TAGS = "tags"  # the run's parameter
MOST_TAGS = 20
TAG = r"[A-Za-z0-9][A-Za-z0-9._:/+-]{0,63}"
HINT = (
    f"a list of at most {MOST_TAGS} tags with commas between them. A tag has at most 64 characters: letters, digits and . _ : / + -,"
    " and begins with a letter or a digit"
)
FIELD = Text(
    title="Tags",
    text="Labels of the run, with commas between them, for example **release:1.2, nightly**. The lists of runs show the tags, and can be"
    " filtered by them. A tag changes no figure.",
    default="",
    examples=("release:1.2", "nightly"),
    pattern=rf"({TAG}(\s*,\s*{TAG}){{0,{MOST_TAGS - 1}}})?",
    hint=HINT,
)


def tags_of(text: str) -> list[str]:
    """Return the tags of a valid value of the parameter, sorted, without duplicates."""
    return sorted({tag.strip() for tag in text.split(",")} - {""})


def requested_tags(value: object) -> list[str]:
    """Return the tags of an unchecked value of the parameter; no tags if the value is invalid."""
    try:
        return tags_of(FIELD.read(value))
    except SpecError:
        return []


def without_tags(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return a run's parameters without its tags, which are a column of their own: a repeated run does not inherit them."""
    return {name: value for name, value in params.items() if name != TAGS}


def check_tags(tags: Iterable[str]) -> list[str]:
    """Return these tags, sorted. Raises SpecError for an invalid tag, and for too many tags."""
    names = sorted(set(tags))
    for tag in names:
        if not re.fullmatch(TAG, tag):
            raise SpecError(f"Tags: {quoted(tag)} is no tag. The tags of a run are {HINT}")
    if len(names) > MOST_TAGS:
        raise SpecError(f"Tags: a run would have {len(names)} tags. The tags of a run are {HINT}")
    return names


def changes_of(texts: Iterable[str]) -> tuple[list[str], list[str]]:
    """Parse changes of tags: `+TAG` adds a tag, and `-TAG` removes it. Return the added and the removed tags. Raises SpecError for another text."""
    added, removed = set[str](), set[str]()
    for text in texts:
        if text[:1] not in ("+", "-"):
            raise SpecError(f"{quoted(text)} is no change of a tag: +TAG adds a tag, and -TAG removes it")
        (added if text[0] == "+" else removed).add(text[1:])
    if both := sorted(added & removed):
        raise SpecError(f"{quoted(both[0])} cannot be added and removed at once")
    return check_tags(added), check_tags(removed)
