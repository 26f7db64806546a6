"""Prints rows of text to a terminal of any width. Nothing that is needed is ever cut.

Where a table is too wide, columns that have the same value in each row are said once above it. Then columns that are not needed are left
out. Where that is not enough, each row becomes a few lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich import box
from rich.cells import cell_len
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

NOTHING = "-"  # what stands where there is no value
PROSE_WIDTH = 24  # the least for a column of sentences
GAP = 2  # between two columns


@dataclass(frozen=True)
class Column:
    """A column of texts: `number` is aligned to the right, `prose` may be broken between words, what is `needed` is in each layout."""

    heading: str
    number: bool = False
    needed: bool = True
    prose: bool = False


def print_listing(
    console: Console, columns: Sequence[Column], rows: Iterable[Sequence[str]], title: str | None = None
) -> None:
    """Print the rows, each with a text for each column, as a table where there is room."""
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
    if left_out := [columns[place].heading for place in optional if place not in layout]:
        console.print(f"Left out in {console.width} columns: {', '.join(left_out)}", soft_wrap=True)


def _table(columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for column in columns:
        justify: JustifyMethod = "right" if column.number else "left"
        table.add_column(Text(column.heading), justify=justify, no_wrap=not column.prose)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _least_width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """How many characters wide the table is, if its prose is broken into lines."""
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
    """Print as many pairs on a line as fit. The terminal breaks a longer pair, so that it can be copied."""
    lines: list[str] = []
    for pair in pairs:
        if lines and len(joined := f"{lines[-1]}  {pair}") <= console.width:
            lines[-1] = joined
        else:
            lines.append(f"  {pair}" if lines else pair)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False, highlight=False)
