"""The tables of a study at the end of a run."""

import io
from dataclasses import replace

from rich.console import Console

from storebench.cli.output.overview import print_overview
from storebench.cli.output.tables import print_tables
from storebench.study.model import Metric, Table
from storebench.study.record import StudyRecord
from tests.unit.cli.test_overview import row
from tests.unit.example import STOP, STUDY

RECORD = StudyRecord.of(
    replace(
        STUDY,
        axes=(*STUDY.axes, STOP),
        metrics=(*STUDY.metrics, Metric("lost", "lost rows"), Metric("again_s", "until it works again")),
        tables=(Table("Stops", "stop", ("lost", "again_s"), ("write",)),),
    )
)
BROKEN = {"status": "failed", "error_kind": "broken_promise", "error": "3 writes are lost", "metrics": {}}


def stopped(store, stop="short", **changes):
    place = f"s/{store}/reference/batch=all/stop={stop}/rows=20000/seed=42"
    return row(store, "all", "write", 1.0, **{"cell_key": place, **changes})


def of(store, *figures):
    """Return attempts of a cell with these metrics each."""
    return [stopped(store, metrics={"only_s": 1.0, **some}) for some in figures]


def printed(rows, width=200):
    console = Console(width=width, file=io.StringIO())
    print_tables(console, rows, RECORD)
    return console.file.getvalue()


ROWS = [
    *of("mongodb", {"lost": 0, "again_s": 5.0}, {"lost": 0}, {"lost": 12}),
    *of("elasticsearch", *({"lost": 0, "again_s": 4 + n / 10} for n in range(1, 7))),
    row("mongodb", "all", "write", 1.0),  # its key implies the value `none` of the axis
    stopped("delta-rs", **BROKEN),
    stopped("delta-rs", **BROKEN),
]


def test_a_table_has_the_medians_of_the_cells_that_its_metrics_apply_to_with_interval_n_and_range():
    title, *text = printed(ROWS, 400).splitlines()[1:]
    assert title == "Stops: medians with interval, number of attempts n, and range"
    lines = [" ".join(line.split()) for line in text if "short" in line or "none" in line]
    assert lines == [
        "write delta-rs reference short - - 2 failed: broken_promise: 3 writes are lost",
        "write elasticsearch reference short 0 (interval 0 to 0, n 6) 4.35 s (interval 4.10 to 4.60 s, n 6, all 4.10 to 4.60 s) -",
        "write mongodb reference short 0 (interval: cannot tell, n 3, all 0 to 12) 5.00 s (interval: cannot tell, n 1 of 3) -",
    ]
    narrow = " ".join(printed(ROWS, 80).split())
    assert "cannot tell, n 1 of 3" in narrow and "broken_promise: 3 writes are lost" in narrow


def test_a_run_without_figures_of_a_table_prints_no_table():
    assert printed([row("mongodb", "all", "write", 1.0)]) == ""


def test_a_run_whose_cells_all_have_the_implied_value_prints_no_table():
    assert (
        printed(
            [
                row("mongodb", "all", "write", 1.0, metrics={"lost": 0}),
                row("null", "all", "write", 1.0, **BROKEN),
            ]
        )
        == ""
    )


def test_the_overview_has_the_tables_and_says_a_broken_guarantee_first():
    failed = row("mongodb", "all", "read", 1.0, status="failed", error_kind="oom_killed", error="memory")
    console = Console(width=200, file=io.StringIO())
    print_overview(console, [failed, stopped("delta-rs", **BROKEN)], RECORD, {})
    text = " ".join(console.file.getvalue().split())
    assert "Stops: medians" in text
    assert (
        "2 of 2 attempts do not count, for example delta-rs write: broken_promise: 3 writes are lost" in text
    )
