"""docs/glossary.md has every word of the model, in their order."""

import re
from dataclasses import is_dataclass
from pathlib import Path

import pytest

from storebench.stores import base
from storebench.study import cell, dataset, model

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"
FOUND = re.findall(r"^\| \*\*(.+?)\*\* \|", PAGE.read_text(), re.MULTILINE)
# A record (DatasetRecord) is the recorded form of a word, and has no entry of its own.
CLASSES = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", " ", value.__name__).lower()  # CustomFile: a custom file
    for module in (model, dataset, cell, base)
    for value in vars(module).values()
    if isinstance(value, type) and is_dataclass(value) and value.__module__ == module.__name__
    if not value.__name__.endswith("Record")
}
# What the classes say of a store and its operations, and results and docs call by these names.
SAID = {
    "case",
    "claim",
    "client",
    "cover",
    "delivers",
    "floor",
    "need",
    "option",
    "parameter",
    "step",
    "topology",
    "volume",
}


@pytest.mark.parametrize("word", sorted(CLASSES | SAID | {"store", "backfill", "cache"}))
def test_each_word_of_the_model_is_there(word):
    assert word in FOUND


def test_the_words_are_in_their_order():
    assert sorted(FOUND, key=str.lower) == FOUND
