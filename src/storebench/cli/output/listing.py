"""Print rows of text to a terminal of any width, or as CSV. Needed columns are never cut.

If a table is too wide, columns with one value in all rows are printed once above it. Then columns that are not needed are omitted. If the
table is still too wide, each row becomes a few lines.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from storebench.answers.units import NOTHING

PROSE_WIDTH = 24  # the smallest width of a column of sentences
GAP = 2  # spaces between two columns


@dataclass(frozen=True)
class Column:
    """A column of texts. `number`: aligned to the right. `prose`: may be wrapped between words. `needed`: present in every layout."""

    heading: str
    number: bool = False
    needed: bool = True
    prose: bool = False


def print_listing(
    console: Console, columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str | None = None
) -> None:
    """Print rows with a text for each column, as a table if the terminal is wide enough."""
    texts = [tuple(row) for row in rows]
    if title:
        console.print(title, soft_wrap=True, markup=False)
    places = range(len(columns))
    same = [place for place in places if len(texts) > 1 and len({row[place] for row in texts}) == 1]
    varying = [place for place in places if place not in same]
    optional = [place for place in varying if not columns[place].needed]
    layouts = [list(places)]
    layouts += [[p for p in varying if p not in optional[n:]] for n in range(len(optional), -1, -1)]
    for layout in layouts:
        shown = [columns[place] for place in layout]
        cells = [[row[place] for place in layout] for row in texts]
        if shown and _least_width(shown, cells) <= console.width:
            if layout is not layouts[0]:
                _say_once(console, columns, same, texts)
            console.print(_table(shown, cells))
            break
    else:
        layout = list(places)
        for row in texts:
            _print_record(console, [column.heading for column in columns], row)
    if omitted := [columns[place].heading for place in optional if place not in layout]:
        console.print(f"Omitted in {console.width} columns: {', '.join(omitted)}", soft_wrap=True)


def _table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for column in columns:
        justify: JustifyMethod = "right" if column.number else "left"
        table.add_column(Text(column.heading), justify=justify, no_wrap=not column.prose)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _least_width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of the table in characters, with wrapped prose."""
    width = GAP * (len(columns) - 1)
    for place, column in enumerate(columns):
        texts = [column.heading, *(row[place] for row in rows)]
        longest = max(cell_len(text) for text in texts)
        if column.prose:
            longest_word = max(cell_len(word) for text in texts for word in text.split(" "))
            longest = min(longest, max(longest_word, PROSE_WIDTH))
        width += longest
    return width


def _say_once(
    console: Console, columns: Sequence[Column], places: Sequence[int], rows: Sequence[Sequence[str]]
) -> None:
    """Print the values that all rows share."""
    pairs = [f"{columns[place].heading} {rows[0][place]}" for place in places if rows[0][place] != NOTHING]
    if pairs:
        _print_pairs(console, pairs)


def _print_record(console: Console, headings: Sequence[str], row: Sequence[str]) -> None:
    pairs = [
        f"{heading} {text}" for heading, text in zip(headings, row, strict=True) if text not in ("", NOTHING)
    ]
    _print_pairs(console, pairs)


def _print_pairs(console: Console, pairs: Iterable[str]) -> None:
    """Print pairs, several on a line. A pair that is longer than a line is wrapped by the terminal, so that it can be copied."""
    lines: list[str] = []
    for pair in pairs:
        if lines and len(joined := f"{lines[-1]}  {pair}") <= console.width:
            lines[-1] = joined
        else:
            lines.append(f"  {pair}" if lines else pair)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows as a Markdown table. Absent values are empty cells."""
    texts = [["" if text == NOTHING else text.replace("|", "\\|") for text in row] for row in rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (headings, ["---"] * len(headings), *texts))


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV with a header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return out.getvalue()
