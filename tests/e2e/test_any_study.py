"""A user's study with its own operations, metrics, dataset and pods: started, backfilled, compared, and shown.

The study is tests/e2e/words: a DAG file, and the module of its store, one of whose operations is a shell script.
"""

import json
import os
import shlex
import shutil
import uuid
from pathlib import Path

import pytest
from playwright.sync_api import expect

from bench.variant import copied_checkout, pod_image, used
from storebench import stores
from tests.e2e.browser import check_accessible, view
from tests.e2e.harness import SEED, run, storebench
from tests.e2e.test_backfill import backfill, known_as

WORDS = Path(__file__).parent / "words"
NAME, STUDY_FILE = "words_study", "words_study.py"
ROWS = "400"
GRID = ("--study", NAME, "--rows", ROWS, "--seed", str(SEED))


def add_store(folder, study=NAME):
    """Put the store's module where it is found: below the folder of all stores."""
    (folder / study).mkdir()
    shutil.copy(WORDS / "words.py", folder / study)
    return folder / study


@pytest.fixture(scope="module")
def image():
    if "kubernetes" not in os.environ["STOREBENCH_EMBEDDED"].split():
        pytest.skip("puts an image into the embedded cluster's containerd")
    with copied_checkout() as copy:
        add_store(copy / "src" / "storebench" / "stores")
        with pod_image(copy) as name:
            yield name


@pytest.fixture
def words(airflow, image):
    """Install the study's DAG, its store and its image in the stack."""
    folder = Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"])
    store = add_store(Path(stores.__file__).parent)
    shutil.copy(WORDS / STUDY_FILE, folder)
    try:
        with used(airflow, image):
            known_as(airflow, NAME, "2 cells, by backfill")
            yield
    finally:
        (folder / STUDY_FILE).unlink()
        shutil.rmtree(store)
        airflow.call("DELETE", f"/api/v2/dags/{NAME}")


def measure(*arguments):
    code, text, rows = run("--study", NAME, "--stores", "words", "--rows", ROWS, *arguments)
    assert code == 0, text
    return text, rows


def undisturbed(rows):
    """Return the undisturbed operations of cells, which comparisons and charts use."""
    return {(row["cell_key"], row["operation"]) for row in rows if not row["disturbed"]}


def test_it_is_measured_backfilled_compared_and_shown(words, airflow, visit, token, tmp_path):
    text, rows = measure("--axis", "parts=2,lines")
    assert "puts/s" in text and "the best of" not in text
    assert sorted({(row["operation"], row["metric"], row["unit"]) for row in rows}) == [
        ("count", "count_s", "s"),
        ("put", "puts_per_s", "puts/s"),
        ("sort", "words_per_s", "words/s"),
    ]
    assert {row["status"] for row in rows} == {"verified"} and len(rows) == 2 * 3
    shell = [row for row in rows if row["operation"] == "sort"]
    assert all(row["node_cpu_some_share"] is not None for row in shell), "the agent has watched the node"
    assert {row["figures_cover"] for row in shell} == {"engine"}
    assert all((row["not_judged"] or "it took").startswith("it took") for row in shell)
    newest = f"/api/v2/assets/events?source_dag_id={NAME}&order_by=-timestamp&limit=1"
    (event,) = airflow.call("GET", newest)["asset_events"]
    disturbed = sum(row["disturbed"] is not None for row in rows)
    assert event["extra"] == {"run": rows[0]["run_id"], "verified": 6, "disturbed": disturbed}
    printed = storebench("results", "--run", rows[0]["run"], "--histogram", "latency_s", "--format", "json")
    assert printed.returncode == 0 and len(json.loads(printed.stdout)) > 0
    printed = storebench("results", "--run", rows[0]["run"], "--series", "progress_bytes", "--format", "csv")
    assert printed.returncode == 0 and len(printed.stdout.splitlines()) > 4

    printed = storebench("grid", *GRID).stdout
    assert printed.count("missing") == 1 and "2 of" not in printed.splitlines()[-2]
    backfill(airflow, printed.strip().splitlines()[-1])
    assert "All 2 cells are verified" in storebench("grid", *GRID).stdout

    _, again = measure("--axis", "parts=2")
    compared = storebench("compare", rows[0]["run"], again[0]["run"], "--format", "json")
    verdicts = json.loads(compared.stdout)
    compared = [(one["cell_key"], one["operation"]) for one in verdicts["verdicts"]]
    assert (
        sorted(compared) == sorted(undisturbed(rows) & undisturbed(again)) and verdicts["differences"] == []
    )
    by_metric = storebench("compare", rows[0]["run"], again[0]["run"], "--metric", "work_total_s")
    assert by_metric.returncode == 0
    assert (
        "Unknown metric 'puts'"
        in storebench("compare", rows[0]["run"], again[0]["run"], "--metric", "puts").stderr
    )

    assert storebench("report", rows[0]["run"], "--out", str(tmp_path)).returncode == 0
    assert '"percentiles":{"latency_s":[[' in (tmp_path / "report.html").read_text()

    tab = visit(token, view("charts", rows[0]["run_id"]))
    for title in ("Put: parts put a second", "Sort: words sorted a second"):
        expect(tab.get_by_role("heading", name=title)).to_be_visible(timeout=30_000)
    for title, axis in (
        ("Put: time of one put", "99 %"),
        ("Put: bytes put", "seconds since the operation began"),
    ):
        curves = tab.locator("figure.sb-chart", has_text=title)
        lines = [cell for cell, operation in undisturbed(rows) if operation == "put"]
        expect(curves.locator("svg .mark-line.curve_marks path")).to_have_count(len(lines))
        expect(curves.locator("svg")).to_contain_text(axis)
    check_accessible(tab)
    for name in ("run", "start", "backfill"):  # test_page_any_study.py has the views that need no DAG
        tab = visit(token, view(name, rows[0]["run_id"], dag=NAME))
        expect(tab.locator("h2")).to_be_visible(timeout=30_000)
        check_accessible(tab)
    for width, scheme in ((390, "light"), (390, "dark"), (1280, "dark")):
        path = view("backfill", rows[0]["run_id"], dag=NAME)
        tab = visit(token, path, width=width, color_scheme=scheme)
        expect(tab.locator(".sb-scroll tbody tr").first).to_be_visible(timeout=30_000)
        check_accessible(tab)


def test_a_study_with_a_mistake_is_named_and_the_others_go_on(airflow):
    folder, name = Path(os.environ["AIRFLOW__CORE__DAGS_FOLDER"]), f"broken_{uuid.uuid4().hex[:8]}"
    path = folder / f"{name}.py"
    text = (WORDS / STUDY_FILE).read_text().replace(f'"{NAME}"', f'"{name}"')
    path.write_text(text.replace('needs=("put",)', 'needs=("load",)'))
    try:
        listed = storebench("studies")
        assert listed.returncode == 2
        assert f"{name}: cannot be used: " in listed.stderr
        assert "the operation 'count' needs 'load', which is not there" in listed.stderr
        assert "bulk_write_read: " in listed.stdout
        refused = storebench(*shlex.split(f"run --study {name} --stores words"))
        assert refused.returncode == 2 and "which is not there" in refused.stderr
    finally:
        path.unlink()
