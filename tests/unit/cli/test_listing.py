import io

import pytest
from rich.console import Console

from storebench.cli.output.listing import Column, print_listing

COLUMNS = [
    Column("run"),
    Column("store"),
    Column("client"),
    Column("rows", number=True),
    Column("memory MiB", number=True, needed=False),
    Column("server", needed=False),
    Column("remark", prose=True),
]
RUNS = [f"manual__2026-11-23T12:33:59.12345{n}+00:00" for n in range(2)]
REASON = "oom_killed: The pod was over its limit of 200Mi: raise the parameter pod_memory"
ROWS = [
    (RUNS[0], "delta-standalone", "reference", "20,000", "1,123", "Elasticsearch 9.1.2", "-"),
    (RUNS[1], "mongodb", "reference", "20,000", "1,123,000", "FerretDB v2.7.0", REASON),
]


def printed(width, rows=ROWS, columns=COLUMNS):
    console = Console(width=width, file=io.StringIO())
    print_listing(console, columns, rows)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_what_is_needed_is_whole_at_any_width(width):
    text = printed(width)
    for row in ROWS:
        for column, value in zip(COLUMNS, row, strict=True):
            if column.needed and not column.prose and value != "-":
                assert value in text, column
    assert "…" not in text
    for word in REASON.split():
        assert word in text
    if width >= 60:
        assert all(len(line) <= width for line in text.splitlines() if REASON not in line)


def test_a_wide_terminal_has_one_line_for_each_row_and_all_columns():
    head, _, *lines = printed(260).splitlines()
    assert head.split("  ")[0] == "run" and len(lines) == 2
    assert all(f" {column.heading}" in f" {head}" for column in COLUMNS)


def test_what_is_alike_in_all_rows_is_said_once_before_anything_is_excluded():
    columns, rows = COLUMNS[1:6], [row[1:6] for row in ROWS]
    assert "Omitted" not in printed(66, rows, columns)
    assert printed(66, rows, columns).startswith("client reference  rows 20,000\n")
    text = printed(45, rows, columns)
    assert "Omitted in 45 columns: server" in text and "1,123,000" in text
    text = printed(26, rows, columns)
    assert "Omitted in 26 columns: memory MiB, server" in text and "delta-standalone" in text


def test_rows_that_fit_no_table_are_lines_below_each_other_with_all_columns():
    first, second, *_ = printed(60).splitlines()
    assert first == f"run {RUNS[0]}" and second == "  store delta-standalone  client reference  rows 20,000"
    assert "FerretDB v2.7.0" in printed(60) and f"  remark {REASON}\n" in printed(60)


def test_text_is_never_taken_for_markup():
    assert "[red]x[/red]" in printed(80, [("[red]x[/red]",)], [Column("error")])


def test_no_rows_are_a_heading_alone():
    assert printed(80, [], COLUMNS[:2]).split() == ["run", "store", "─" * 10]
