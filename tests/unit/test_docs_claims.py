"""The pages of the studies: each claim in a table there is one of the study's file, in its words."""

import re
from pathlib import Path

import pytest

from storebench.cli.output.claims import CLAIM
from storebench.study import studies

PAGES = Path(__file__).parents[2] / "docs" / "studies"
LINK = re.compile(r"\[(.*?)\]\(.*?\)")


def rows_of(text):
    """Yield the first cell of each row of the tables of claims, without its link; rows that go on with a claim have none."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if not line.startswith(f"| {CLAIM} |"):
            continue
        for row in lines[number + 2 :]:
            if not row.startswith("|"):
                break
            if first := LINK.sub(r"\1", row.split("|")[1]).strip():
                yield first


def drifted(text, known):
    return [row for row in rows_of(text) if row not in known]


@pytest.mark.parametrize("name", studies.names())
def test_each_claim_of_a_studys_page_is_one_of_its_file(name):
    known = {claim.text for claim in studies.find(name).claims}
    text = (PAGES / f"{name}.md").read_text()
    without_original = "This study has no original." in text
    assert bool(list(rows_of(text))) != without_original, "the page has no table of claims"
    assert bool(known) != without_original
    assert drifted(text, known) == []


def test_a_claim_that_was_changed_in_one_of_both_is_found():
    text = f"| {CLAIM} | verdict |\n|---|---|\n| [A is fast](#a) | confirmed |\n| | refuted |\n| B is slow | refuted |\n\n| C | d |\n"
    assert list(rows_of(text)) == ["A is fast", "B is slow"]
    assert drifted(text, {"A is fast", "B is very slow"}) == ["B is slow"]
