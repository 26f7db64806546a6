import io
from dataclasses import replace

import pytest
from rich.console import Console

from storebench.cli.output.overview import print_overview
from storebench.study.model import Metric, Operation
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY

SECONDS = {
    ("delta-spark", "all", "write"): 8.0,
    ("delta-spark", "all", "read"): 6.0,
    ("mongodb", "1000", "write"): 2.0,
    ("mongodb", "1000", "read"): 3.0,
    ("mongodb", "all", "write"): 4.0,
    ("mongodb", "all", "read"): 4.0,
    ("null", "all", "write"): 1.0,
    ("delta-kernel", "all", "read"): 30.0,
}


def row(store, batch, operation, took_s, **changes):
    executors = "/executors=1" if store == "delta-spark" else ""
    return {
        "cell_key": f"s/{store}/reference/batch={batch}{executors}/rows=20000/seed=42",
        "store": store,
        "operation": operation,
        "status": "verified",
        "error_kind": None,
        "error": None,
        "disturbed": None,
        "not_judged": None,
        "perhaps_disturbed": None,
        "client_bound": False,
        "service_bound": None,
        "durability": "disk" if operation == "write" else None,
        "delivers": "dicts" if operation == "read" else None,
        # of the third, no way is better, and it is not shown
        "metrics": {"only_s": took_s, "rows_per_s": 20_000 / took_s, "source_s": 0.5},
    } | changes


ROWS = [row(*place, took_s) for place, took_s in SECONDS.items()]


def printed(rows=ROWS, width=100):
    console = Console(width=width, file=io.StringIO())
    print_overview(console, rows, StudyRecord.of(STUDY), {})
    return console.file.getvalue()


def table(text):
    """Return the headings and the lines of a printed table as words."""
    _, head, _, *lines = text.splitlines()
    return " ".join(head.split()), [" ".join(line.split()) for line in lines[: lines.index("")]]


def test_the_table_has_the_best_of_each_operation_first_and_the_floor_last():
    text = printed(width=140)
    assert text.splitlines()[0] == "client reference  executors 1  rows 20,000  seed 42"
    head, lines = table(text)
    assert head == "operation store batch only_s times the best rows_per_s guarantee state"
    assert lines == [
        "write mongodb 1000 2.00 s 1 10,000 rows/s disk verified",
        "write mongodb all 4.00 s 2 5,000 rows/s disk verified",
        "write delta-spark all 8.00 s 4 2,500 rows/s disk verified",
        "write null all 1.00 s - 20,000 rows/s disk verified, floor",
        "read mongodb 1000 3.00 s 1 6,670 rows/s dicts verified",
        "read mongodb all 4.00 s 1.33 5,000 rows/s dicts verified",
        "read delta-spark all 6.00 s 2 3,330 rows/s dicts verified",
        "read delta-kernel all 30.0 s 10 667 rows/s dicts verified",
    ]


def test_figures_of_several_metrics_have_their_names():
    metrics = (
        Metric("ops_per_s", "operations per second", "higher"),
        Metric("p99_s", "99th percentile of the latency"),
        Metric("first_s", "time of the first operation"),
        Metric("last_s", "time of the last operation"),
    )
    operations = (Operation("write", ("ops_per_s", "p99_s")), Operation("read", ("first_s", "last_s")))
    study = replace(STUDY, operations=operations, metrics=metrics, charts=())
    figures = {"ops_per_s": 5120.0, "p99_s": 0.25, "first_s": 1.5, "last_s": 0.5}
    rows = [row("mongodb", "all", name, 1.0, metrics=figures) for name in ("write", "read")]
    console = Console(width=200, file=io.StringIO())
    print_overview(console, rows, StudyRecord.of(study), {})
    head, lines = table(console.file.getvalue())
    assert head == "operation figure metric times the best next figure guarantee state"
    assert lines == [
        "write 5,120 ops/s ops_per_s - p99_s 250 ms disk verified",
        "read 1.50 s first_s - last_s 500 ms dicts verified",
    ]


@pytest.mark.parametrize("width", [80, 100])
def test_it_is_as_wide_as_the_terminal_and_cuts_nothing(width):
    text = printed(width=width)
    assert all(len(line) <= width for line in text.splitlines())
    for value in ("delta-kernel", "4.00 s", "30.0 s", "1.33", "verified"):
        assert value in text


def test_what_is_not_verified_comes_last_with_its_state_and_one_sentence_has_the_reason():
    bad = row(
        "mongodb", "1000", "write", 0.1, status="failed", error_kind="oom_killed", error="raise pod_memory"
    )
    disturbed = row("mongodb", "1000", "read", 0.1, disturbed="throttled")
    text = printed([bad, disturbed, *ROWS[:2], *ROWS[2:4], ROWS[1]], width=200)
    _, lines = table(text)
    assert [line.split()[1] for line in lines] == ["mongodb", "delta-spark", "mongodb", "delta-spark"]
    assert "1 failed, 1 verified" in lines[0] and "1 disturbed, 1 verified" in lines[2]
    reason = "2 of 7 attempts do not count, for example mongodb write: oom_killed: raise pod_memory. `storebench results` lists each reason.\n"
    assert reason in text
    _, lines = table(printed([bad, *ROWS[:1]], width=200))
    assert [" ".join(line.split()[:3]) for line in lines] == ["write delta-spark all", "write mongodb 1000"]
    assert lines[1].endswith("failed")


def test_a_run_ends_with_at_most_five_sentences():
    rows = [row("mongodb", "all", "write", 1.0, durability="disk", client_bound=True)]
    rows += [row("delta-spark", "all", "write", 1.0, durability="s3", service_bound=True, not_judged="short")]
    rows += [row("mongodb", "all", "read", 1.0, status="failed")]
    text = printed(rows, width=200)
    said = text.partition("\n\n")[2].splitlines()
    assert len(said) == 5
    assert (
        "1 of 1 pair is not compared: durability differs (1); `storebench ranking` lists the cells." in said
    )
    assert "Not the store but the client limits mongodb write; the service limits delta-spark write." in said
