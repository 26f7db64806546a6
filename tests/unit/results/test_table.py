import csv
import io
import json
from datetime import UTC, datetime

from rich.console import Console

from storebench.results.table import as_csv, as_json, as_table

ROW = {
    "store": "mongodb",
    "client": "reference",
    "batch_size": "10000",
    "executors": None,
    "rows": 100000,
    "repeat": 2,
    "warm_up": False,
    "arm": "A",
    "operation": "write",
    "status": "failed",
    "error_kind": "unreachable",
    "error": "nobody, at home",
    "disturbed": None,
    "write_only_s": 1.23456,
    "read_only_s": None,
    "source_s": None,
    "barrier_s": 0.0,
    "total_s": 12.0,
    "pod_total_s": 12.0,
    "figures_cover": "client",
    "durability": "disk",
    "all_memory_working_set_peak_bytes": 100 * 2**20,
    "all_memory_peak_bytes": None,
    "all_cpu_s": 3.0,
    "client_bound": True,
    "server_name": "FerretDB",
    "server_version": "v2.7.0",
    "finished_at": datetime(2026, 1, 1, tzinfo=UTC),
}


def test_the_table_shows_units_figures_and_the_reason_of_a_failure():
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(as_table([ROW]))
    text = console.export_text()
    for words in ("only s", "1.23", "100", "FerretDB v2.7.0", "unreachable: nobody, at home", "100,000"):
        assert words in text


def test_what_was_not_measured_is_a_dash_and_never_zero():
    console = Console(width=250, record=True, file=io.StringIO())
    console.print(as_table([{**ROW, "write_only_s": None, "total_s": None}]))
    text = console.export_text()
    assert text.count("0.00") == 1  # the barrier, which was measured
    assert text.count(" -  ") >= 3


def test_parameters_are_json_in_csv_too():
    (row,) = csv.DictReader(io.StringIO(as_csv([{"parameters": {"cpu_limit": True}}])))
    assert json.loads(row["parameters"]) == {"cpu_limit": True}


def shown(*rows):
    console = Console(width=300, record=True, file=io.StringIO())
    console.print(as_table(rows))
    return console.export_text()


VERIFIED = {**ROW, "status": "verified", "error_kind": None, "error": None}


def test_what_memory_and_cpu_are_of_stands_beside_them():
    text = shown(ROW, {**ROW, "figures_cover": "engine"})
    assert " client  " in text and " engine  " in text


def test_a_disturbed_attempt_is_marked_with_its_reason():
    text = shown({**VERIFIED, "disturbed": "lost 1 of 2 executors"})
    assert "disturbed: lost 1 of 2 executors; client_bound" in text


def test_writes_of_different_durability_are_marked():
    read = {**VERIFIED, "operation": "read", "durability": None}
    assert "differ in durability" not in shown(VERIFIED, VERIFIED, read)
    assert "differ in durability (disk, memory)" in shown(VERIFIED, {**VERIFIED, "durability": "memory"})


def test_csv_and_json_hold_every_column():
    (row,) = csv.DictReader(io.StringIO(as_csv([ROW])))
    assert row["error"] == "nobody, at home" and set(row) == set(ROW)
    (entry,) = json.loads(as_json([ROW]))
    assert entry["finished_at"] == "2026-01-01T00:00:00+00:00" and set(entry) == set(ROW)
