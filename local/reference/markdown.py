"""Write tables and sentences of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# The form of Airflow shows the name of a page in bold; a page of the site links it.
PAGE_IN_BOLD = re.compile(r"\*\*docs/([\w./-]+\.md)\*\*")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table without the columns that are empty in all rows; no lines without rows."""
    texts = [[_cell(text) for text in row] for row in rows]
    shown = [place for place in range(len(headings)) if any(row[place] for row in texts)]
    if not shown:
        return []
    lines = [[headings[place] for place in shown], ["---"] * len(shown)]
    lines += [[row[place] for place in shown] for row in texts]
    return [f"| {' | '.join(line)} |" for line in lines]


def _cell(text: str) -> str:
    linked = PAGE_IN_BOLD.sub(r"[\1](../\1)", " ".join(text.split()))
    return re.sub(r"(?<!\\)\|", r"\\|", linked)


def code(*texts: object) -> str:
    """Return texts in code font, with commas between them."""
    return ", ".join(f"`{text}`" for text in texts)


def section(title: str, *blocks: Sequence[str]) -> list[str]:
    """Return the lines of a section with a heading, and an empty line after each block; no lines if all blocks are empty."""
    filled = [block for block in blocks if block]
    return [f"## {title}", "", *(line for block in filled for line in (*block, ""))] if filled else []


def page(title: str, source: str, *parts: Iterable[str]) -> str:
    """Return a page. `source`: the files to change instead of the page."""
    note = f"*`make docs-reference` writes this page from {source}. Do not edit the page.*"
    lines = [f"# {title}", "", note, "", *(line for part in parts for line in part)]
    return "\n".join(lines).rstrip("\n") + "\n"
