import csv
import io
import json
import uuid
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from rich.console import Console

from storebench.cli.output.table import (
    differing_columns,
    places_of,
    print_results,
    print_runs,
)
from storebench.results.export.flat_files import as_csv, as_json
from storebench.study.record import StudyRecord
from tests.unit.example import STOP, STUDY, cell

ROW = {
    "run_id": "s/r",
    "attempt_id": uuid.uuid4(),
    "try_number": 1,
    "cell_key": "s/mongodb/reference/batch=10000/rows=100000/seed=42",
    "repeat": 2,
    "warm_up": False,
    "arm": "A",
    "operation": "write",
    "status": "failed",
    "error_kind": "unreachable",
    "error": "nobody, at home",
    "disturbed": None,
    "not_judged": None,
    "perhaps_disturbed": None,
    "metric": "only_s",
    "metrics": {"only_s": 1.23456, "source_s": 0.25},
    "study": "s",
    "value": 1.23456,
    "unit": "s",
    "work_total_s": 7.0,
    "total_s": 12.0,
    "pod_total_s": 12.0,
    "figures_cover": "client",
    "durability": "disk",
    "all_memory_working_set_peak_bytes": 100 * 2**20,
    "all_memory_peak_bytes": None,
    "all_cpu_s": 3.0,
    "client_bound": True,
    "service_bound": None,
    "server_name": "FerretDB",
    "server_version": "v2.7.0",
    "finished_at": datetime(2026, 1, 1, tzinfo=UTC),
}
VERIFIED = {**ROW, "status": "verified", "error_kind": None, "error": None}


def shown(*rows, width=300, studies=None):
    console = Console(width=width, file=io.StringIO())
    print_results(console, rows, {"s": StudyRecord.of(STUDY)} if studies is None else studies)
    return console.file.getvalue()


def test_the_table_shows_units_figures_and_the_reason_of_a_failure():
    text = shown(ROW)
    for words in (
        "only_s",
        " 1.23 s ",
        "source_s",
        "250 ms",
        "work total",
        "7.00 s",
        "12.0 s",
        "105 MB client",
        "FerretDB v2.7.0",
        "unreachable: nobody, at home",
        "100,000",
    ):
        assert words in text


def test_a_row_of_a_study_of_which_nothing_is_known_is_shown_with_what_it_has():
    text = shown({**VERIFIED, "metrics": {"only_s": 1.23456, "zeta_s": 7.5, "alpha_s": 6.5}}, studies={})
    head, _, figures, *_ = text.splitlines()
    assert head.index("alpha_s") < head.index("zeta_s")
    assert figures.index("6.50 s") < figures.index("7.50 s") and " 1.23 s " in figures


def test_what_was_not_measured_is_a_dash_and_never_zero():
    text = shown({**ROW, "value": None, "work_total_s": None, "all_cpu_s": 0.0})
    assert text.count(" 0 s ") == 1  # the CPU time, which was measured
    assert text.count(" -  ") >= 2


def test_figures_of_different_metrics_have_their_units():
    rate = {
        **VERIFIED,
        "metric": "rows_per_s",
        "value": 81_234.5,
        "unit": "rows/s",
        "attempt_id": uuid.uuid4(),
    }
    text = shown(VERIFIED, rate)
    assert " figure " in text and "1.23 s " in text and "81,200 rows/s" in text
    head, _, *lines = text.splitlines()
    assert [line[head.index("metric") :].split()[0] for line in lines[:2]] == ["only_s", "rows_per_s"]


def test_figures_below_a_millisecond_keep_their_digits():
    short = {"metrics": {"only_s": 3.1e-6, "source_s": 4e-7}, "value": 3.1e-6, "all_cpu_s": 0.0042}
    text = shown({**VERIFIED, **short}, {**VERIFIED, **short, "value": 2.9e-7, "attempt_id": uuid.uuid4()})
    for words in ("3.10 µs", "0.290 µs", "400 ns", "4.20 ms"):
        assert words in text


def test_cells_of_several_studies_are_told_apart_by_them():
    names, places = places_of([cell(), cell(study="other")], {})
    assert (names[0].heading, [place[0] for place in places]) == ("study", ["bulk_write_read", "other"])


def test_what_is_alike_in_all_cells_is_said_once():
    cells = [cell("mongodb", batch="10"), cell("delta-spark", batch="10", executors="20000")]
    names, places, alike = differing_columns(cells, {})
    assert ([name.heading for name in names], places) == (["store"], [["mongodb"], ["delta-spark"]])
    assert alike == "client reference  batch 10  executors 20000  rows 1,000  seed 42"


def test_an_axis_that_a_key_does_not_name_has_its_implied_value_where_it_applies():
    studies = {STUDY.name: StudyRecord.of(replace(STUDY, axes=(*STUDY.axes, STOP)))}
    cells = [cell(batch="10"), cell(batch="10", stop="short"), cell("null", batch="10")]
    for names, places, *_ in (places_of(cells, studies), differing_columns(cells, studies)):
        stop = [name.heading for name in names].index("stop")
        assert [place[stop] for place in places] == ["none", "short", "-"]
    assert "stop" not in [name.heading for name in places_of(cells[:1], studies)[0]]
    rows = [{**VERIFIED, "attempt_id": uuid.uuid4(), "cell_key": one.key} for one in cells]
    assert " none " in shown(*rows, studies=studies)


def test_no_cells_have_no_columns():
    assert differing_columns([], {}) == ([], [], "")


def test_parameters_are_json_in_csv_too():
    (row,) = csv.DictReader(io.StringIO(as_csv([{"parameters": {"cpu_limit": True}}])))
    assert json.loads(row["parameters"]) == {"cpu_limit": True}


def test_what_memory_and_cpu_are_of_stands_beside_them():
    text = shown(ROW, {**ROW, "figures_cover": "engine"})
    assert "105 MB client" in text and "105 MB engine" in text


def test_a_disturbed_attempt_is_marked_with_its_reason():
    text = shown({**VERIFIED, "disturbed": "lost 1 of 2 executors"})
    assert "disturbed: lost 1 of 2 executors; client_bound" in text and "service_bound" not in text


def test_an_attempt_that_was_possibly_disturbed_says_what_is_not_known():
    assert "possibly disturbed: it is not known" in shown(
        {**VERIFIED, "perhaps_disturbed": "it is not known"}
    )


def test_an_attempt_that_nobody_has_judged_says_why():
    assert "not judged: it took 20 ms" in shown({**VERIFIED, "not_judged": "it took 20 ms"})


def test_writes_of_different_durability_are_marked():
    read = {**VERIFIED, "operation": "read", "durability": None}
    assert "differ in durability" not in shown(VERIFIED, VERIFIED, read)
    assert "Durability differs (disk, memory)" in shown(VERIFIED, {**VERIFIED, "durability": "memory"})


def test_a_try_that_a_later_one_has_superseded_is_marked():
    later = {**VERIFIED, "try_number": 2, "attempt_id": uuid.uuid4()}
    other = {**VERIFIED, "repeat": 3, "attempt_id": uuid.uuid4()}
    text = shown(later, ROW, other)
    assert text.count("failed, superseded") == 1 == text.count(", superseded")
    assert "superseded" not in shown(ROW, other)


@pytest.mark.parametrize("width", [80, 100, 120])
def test_what_is_needed_is_whole_in_a_narrow_terminal(width):
    spark = "s/delta-standalone/reference/batch=100000/executors=4/rows=1000000/seed=42"
    long = {**VERIFIED, "cell_key": spark, "total_s": 12345.67, "attempt_id": uuid.uuid4()}
    text = shown(ROW, long, width=width)
    values = (
        "mongodb",
        "delta-standalone",
        "reference",
        "10000",
        "100000",
        "1,000,000",
        "1.23 s",
        "12,300 s",
    )
    for value in (*values, "write", "failed", "verified", "unreachable: nobody, at home"):
        assert value in text
    assert "…" not in text


RUN = {
    "airflow_run_id": "manual__2026-11-23T12:33:59.123456+00:00",
    "study": "s",
    "state": "failed",
    "started_at": datetime(2026, 1, 1, tzinfo=UTC),
    "finished_at": None,
    "verified": 22,
    "planned": 24,
    "failed": 1,
    "not_run": 1,
    "disturbed": 0,
    "stores": ["delta-kernel", "delta-rs", "delta-spark", "elasticsearch", "mongodb", "null"],
    "rows": 20000,
    "cell_key": None,
    "reason": "The dataset was not made: the bucket is full",
}


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_a_run_is_listed_with_its_whole_id_its_stores_and_rows(width):
    console = Console(width=width, file=io.StringIO())
    backfill = {
        **RUN,
        "airflow_run_id": "backfill__mongodb_reference_batch-10000__2026-11-23T12:33:59.12+00:00",
    }
    print_runs(
        console,
        [
            RUN,
            {
                **backfill,
                "cell_key": ROW["cell_key"],
                "state": "success",
                "rows": 1_000_000,
            },
        ],
    )
    text = console.file.getvalue()
    for run in (RUN, backfill):
        assert run["airflow_run_id"] in text
    for value in (
        *RUN["stores"],
        ROW["cell_key"],
        "22 of 24",
        "1 failed, 1 not run",
        "20,000",
        "1,000,000",
    ):
        assert value in text
    assert RUN["reason"] in text or all(word in text for word in RUN["reason"].split())
    assert "…" not in text


@pytest.mark.parametrize(("asked", "state"), [(True, "running"), (False, "running?")])
def test_a_run_is_running_only_if_airflow_was_asked(asked, state):
    console = Console(width=200, file=io.StringIO())
    print_runs(console, [{**RUN, "state": "running", "finished_at": None, "reason": None}], asked=asked)
    assert state in console.file.getvalue().split()


def test_csv_and_json_hold_every_column():
    (row,) = csv.DictReader(io.StringIO(as_csv([ROW])))
    assert row["error"] == "nobody, at home" and set(row) == set(ROW)
    (entry,) = json.loads(as_json([ROW]))
    assert entry["finished_at"] == "2026-01-01T00:00:00+00:00" and set(entry) == set(ROW)
