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


def test_the_table_is_sorted_by_store_with_the_operations_side_by_side():
    alike, head, _, *lines = printed().splitlines()
    assert alike == "client reference  executors 1  rows 20,000  seed 42"
    headings = " ".join(head.split())
    assert headings == "store batch write only_s write rows_per_s read only_s read rows_per_s state"
    cells = [line.split() for line in lines[: lines.index("")]]
    s, rate = "s", "rows/s"
    assert cells == [
        ["delta-kernel", "all", "-", "-", "30.0", s, "667", rate, "verified"],
        ["delta-spark", "all", "8.00", s, "2,500", rate, "6.00", s, "3,330", rate, "verified"],
        ["mongodb", "1000", "2.00", s, "10,000", rate, "3.00", s, "6,670", rate, "verified"],
        ["mongodb", "all", "4.00", s, "5,000", rate, "4.00", s, "5,000", rate, "verified"],
        ["null", "all", "1.00", s, "20,000", rate, "-", "-", "verified"],
    ]


def test_metrics_of_one_operation_have_heads_that_tell_them_apart():
    metrics = (
        Metric("ops_per_s", "operations per second", "higher"),
        Metric("p99_s", "99th percentile of the latency"),
        Metric("first_s", "time of the first operation"),
    )
    operations = (Operation("write", ("ops_per_s", "p99_s")), Operation("read", ("first_s", "p99_s")))
    study = replace(STUDY, operations=operations, metrics=metrics, charts=())
    figures = {"ops_per_s": 5120.0, "p99_s": 0.25, "first_s": 1.5}
    rows = [row("mongodb", "all", name, 1.0, metrics=figures) for name in ("write", "read")]
    console = Console(width=200, file=io.StringIO())
    print_overview(console, rows, StudyRecord.of(study), {})
    head = " ".join(console.file.getvalue().splitlines()[1].split())
    assert head == "write ops_per_s write p99_s read first_s read p99_s state"


def test_each_store_has_a_sentence_on_how_it_compares_and_what_keeps_nothing_is_not_ranked():
    text = printed(width=200)
    assert "delta-kernel: read 30.0 s (batch=all), 10 times as long as mongodb.\n" in text
    assert (
        "delta-spark: write 8.00 s (batch=all), 4.0 times as long as mongodb; read 6.00 s (batch=all), 2.0 times as long as mongodb.\n"
        in text
    )
    assert "mongodb: write 2.00 s (batch=1000); read 3.00 s (batch=1000).\n" in text
    assert "null: floor, the client without a store: write 1.00 s (batch=all).\n" in text


@pytest.mark.parametrize("width", [80, 100])
def test_it_is_as_wide_as_the_terminal_and_cuts_nothing(width):
    text = printed(width=width)
    assert all(len(line) <= width for line in text.splitlines())
    for value in ("delta-kernel", "10,000 rows/s", "30.0 s", "verified"):
        assert value in text


def test_what_is_not_verified_is_told_with_its_reason_and_compares_with_nothing():
    bad = row(
        "mongodb", "1000", "write", 0.1, status="failed", error_kind="oom_killed", error="raise pod_memory"
    )
    disturbed = row("mongodb", "1000", "read", 0.1, disturbed="throttled")
    text = printed([bad, disturbed, *ROWS[:2]], width=200)
    assert (
        "write failed, read disturbed" in text and "mongodb: nothing is verified and undisturbed.\n" in text
    )
    assert "write mongodb (batch=1000): oom_killed: raise pod_memory\n" in text
    assert "read mongodb (batch=1000): disturbed: throttled\n" in text
    assert "delta-spark: write 8.00 s (batch=all); read 6.00 s (batch=all).\n" in text


@pytest.mark.parametrize(
    ("repeats", "words"), [(1, "Each was measured once"), (3, "medians of at most 3 attempts"), (6, None)]
)
def test_how_little_few_attempts_say_is_told_once(repeats, words):
    text = printed(ROWS * repeats, width=200)
    assert text.count("may be chance") == (1 if words else 0)
    assert (words or "") in text


def test_what_makes_a_comparison_unfair_is_told():
    rows = [row("mongodb", "all", "write", 1.0, durability="disk", client_bound=True)]
    rows += [row("delta-spark", "all", "write", 1.0, durability="s3")]
    text = printed(rows, width=200)
    assert "times as long" not in text
    assert "Durability differs (disk, s3)" in text
    assert "Limited by the client, not by the store: mongodb write." in text
    assert "Limited by the service" not in text


def test_a_store_whose_service_was_the_limit_is_told():
    rows = [row("mongodb", "all", "write", 1.0, client_bound=False, service_bound=True)]
    rows += [row("delta-spark", "all", "write", 1.0, service_bound=True, disturbed="others kept it busy")]
    assert "Limited by the service, not by the store: mongodb write." in printed(rows, width=200)
