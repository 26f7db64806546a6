"""Tables and pictures of figures name their method and version."""

import re
from functools import cache
from pathlib import Path

import pytest

from storebench.study import studies

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# A decision keeps the figures by which it was taken. The reference has no figures: its numbers are defaults and limits.
NOT_MEASURED = ("decisions", "reference")
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if p.parent.name not in NOT_MEASURED)]
WITHOUT_FIGURES = {"how-it-works.svg", "backfill.png"}  # a drawing, and a dialog of Airflow
CAPTION = re.compile(
    r"\*Measured: (\w+), method (\d+), version {0}(?:, {0})*[;.] ".format(r"\d+\.\d+\.\d+\+g[0-9a-f]{12}")
)
PICTURE = re.compile(r"(?:\]\(|src=\")[\w./]*images/([\w.-]+)")
NUMBER = re.compile(
    r"-?\d[\d,]*(\.\d+)?( ?(%|s|ms|µs|ns|MiB|kB|MB|GB)| \(client\))?( to \d[\d.]*)?( \((n \d+|[\d.]+ to [^)]*)\))?"
)
# The paragraphs that a ranking prints below its table
OF_RANKING = ("Not ranked: ", "Axes with one value: ")


def blocks(page):
    """Return the paragraphs and tables of a page as lists of lines."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    return [block.splitlines() for block in re.split(r"\n\s*\n", text) if block.strip()]


def cells_of(line):
    return [cell.strip().replace("`", "") for cell in line.strip().strip("|").split("|")]


def table(block):
    """Return a table's header and rows."""
    header, _, *rows = map(cells_of, block)
    return header, rows


def is_measured(block):
    """Return whether a block has a picture, or is a table with at least a third of numbers; the first cell of a line names the line."""
    if not block[0].startswith("|"):
        return bool(set(PICTURE.findall("\n".join(block))) - WITHOUT_FIGURES)
    cells = [cell for row in table(block)[1] for cell in row[1:] if cell]
    return sum(bool(NUMBER.fullmatch(cell)) for cell in cells) * 3 >= len(cells) > 0


def captions(found):
    """Return each measured block with the caption in the paragraph below, or None. A ranking's own paragraph may stand between."""
    found = [block for block in found if not block[0].startswith(OF_RANKING)]
    below = [*found[1:], [""]]
    return [
        (block, CAPTION.match(after[0]))
        for block, after in zip(found, below, strict=True)
        if is_measured(block)
    ]


@cache
def method_of(study):
    return studies.find(study).method_version


def mistakes(page):
    found = []
    for block, caption in captions(blocks(page)):
        if caption is None:
            found.append(f"no line '*Measured: STUDY, method N, version V; …*' below {block[0][:60]}")
        elif (method := int(caption[2])) != (now := method_of(caption[1])):
            found.append(f"method {method}, and {caption[1]} has {now} today: {block[0][:60]}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_was_measured_says_by_which_version_and_by_the_present_method(page):
    assert mistakes(page) == []


PLAIN = "| store | s |\n|---|---|\n| null | 1.50 |\n"
PRESENT = f"*Measured: point_operations, method {method_of('point_operations')}, version 0.1.0+g97e28f31da79; once.*\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PLAIN, "no line"),
        ("![A chart](images/page-charts.png)\n", "no line"),
        ('<img src="images/page-dark.png">\n', "no line"),
        (f"{PLAIN}\nText between.\n\n{PRESENT}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace(', version 0.1.0+g97e28f31da79', '')}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace('method 2', 'method 1')}", "method 1, and point_operations has 2 today"),
        (f"{PLAIN}\n{PRESENT.replace('method 2', 'method 1 (other words)')}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace('; once', '.dirty.0d5aa07b; once')}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace('; once', ', 0.1.0+g1259b2d5fea9.dirty.0d5aa07b; once')}", "no line"),
        (f"{PLAIN}\n{PRESENT.replace('; once', ', 0.1.0+g1259b2d5fea9; once')}", None),
        (f"{PLAIN}\n{PRESENT}", None),
        ("![A drawing](images/how-it-works.svg)\n", None),
        ("| code | meaning |\n|---|---|\n| 0 | no operation is slower |\n", None),
    ],
)  # fmt: skip
def test_a_caption_that_lacks_or_is_old_is_found(text, reason, tmp_path):
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}")
    found = mistakes(tmp_path / "page.md")
    assert len(found) == bool(reason) and all(reason in mistake for mistake in found)
