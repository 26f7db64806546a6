"""The results page in a real browser, in the real Airflow, with real runs."""

import csv
import io
import json
import os
import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from storebench.trigger import Airflow
from tests.e2e.browser import check_accessible, saved, view
from tests.e2e.harness import ROWS, SEED, soon, storebench

STUDY = "bulk_write_read"
VIEWS = ("run", "charts", "phases", "compare", "history", "table")
CELL = f"{STUDY}/null/reference/batch=500/rows={ROWS}/seed={SEED}"


@pytest.fixture(scope="session")
def airflow(url):
    return Airflow(url, os.environ["STOREBENCH_AIRFLOW_USER"], os.environ["STOREBENCH_AIRFLOW_PASSWORD"])


def conf(**changes):
    return {
        "rows": ROWS,
        "seed": SEED,
        "stores": ["null", "mongodb"],
        "clients": ["reference"],
        "batch_sizes": ["500"],
        "repeats": 3,
        **changes,
    }


@pytest.fixture(scope="session")
def runs(airflow):
    """A run of two stores with three repeats, and one with a single repeat; their ids here."""
    found = []
    for repeats in (3, 1):
        run = airflow.trigger(STUDY, conf(repeats=repeats))
        assert airflow.follow(STUDY, run, print) == "success"
        found.append(f"{STUDY}/{run}")
    return found


def test_a_run_is_seen_from_queued_to_verified(airflow, visit, token):
    # so many rows that its pods can be watched
    run = airflow.trigger(STUDY, conf(rows=50 * ROWS, stores=["mongodb"], repeats=1))
    soon(lambda: storebench("results", "--run", run, "--format", "json").returncode == 0, 60)
    tab = visit(token, view("run", f"{STUDY}/{run}"))
    expect(tab.locator("td.sb-queued").first).to_be_visible(timeout=30_000)
    expect(tab.locator("td.sb-running").first).to_be_visible(timeout=60_000)
    expect(tab.locator("td.sb-running", has_text="running: ").first).to_be_visible(timeout=60_000)
    expect(tab.get_by_text(re.compile("about .* left"))).to_be_visible(timeout=60_000)
    assert airflow.follow(STUDY, run, print) == "success"
    expect(tab.locator("td:is(.sb-verified, .sb-client-bound, .sb-disturbed)")).to_have_count(
        2, timeout=30_000
    )
    expect(tab.get_by_text("2 of 2 operations, 2 verified")).to_be_visible()
    tab.locator("td.sb-square a").first.click()
    tab.wait_for_url("**/tasks/cell.write/mapped/0*")
    expect(tab.get_by_text("cell.write").first).to_be_visible()


def test_the_charts_with_their_figures(visit, token, runs):
    """Six, and two more: the null store's memory is the engine's, the MongoDB client's is without its server."""
    tab = visit(token, view("charts", runs[0]))
    expect(tab.locator("figure.sb-chart")).to_have_count(8)
    expect(tab.locator("figure.sb-chart svg")).to_have_count(8)
    for operation, differs in (
        ("Write", "Writes differ in durability: disk (mongodb), none (null)."),
        ("Read", "Reads deliver different things: dicts (mongodb), nothing (null)."),
    ):
        for title, series in (
            ("memory of the client (its server is not in it)", "mongodb reference"),
            ("memory of the engine and its executors", "null reference"),
        ):
            chart = tab.locator("figure.sb-chart", has_text=f"{operation}: {title}")
            chart.get_by_text("Figures").click()
            assert chart.locator("tbody td:first-child").all_inner_texts() == [series]
        expect(tab.locator("figure.sb-chart", has_text=f"{operation}-only time")).to_contain_text(differs)
    first = tab.locator("figure.sb-chart", has_text="Write-only time")
    expect(first.locator("svg .mark-symbol.role-mark path")).to_have_count(6)
    first.get_by_text("Figures").click()
    rows = first.locator("tbody tr")
    expect(rows).to_have_count(2)
    assert sorted(rows.locator("td:first-child").all_inner_texts()) == ["mongodb reference", "null reference"]
    check_accessible(tab)


@pytest.mark.parametrize(
    ("name", "title", "rows"),
    [
        ("run", "the run", 12),
        ("charts", "Write-only time", 2),
        ("phases", "Where the time of reads went", 2),
        ("compare", "B / A, the ratio of the times in the store's client", 4),
        ("history", f"Write-only time of {CELL}", None),
        ("table", "this page of attempts", 12),
    ],
)
def test_each_view_can_be_taken_away(visit, token, runs, name, title, rows):
    tab = visit(token, view(name, runs[0], cell=CELL, before=runs[0], after=runs[1]))
    picture = saved(tab, f"Save {title} as SVG").decode()
    assert picture.startswith("<svg")
    assert runs[0] in picture or name == "history"
    assert "Writes differ in durability" in picture or name != "charts"
    assert saved(tab, f"Save {title} as PNG").startswith(b"\x89PNG")
    table = list(csv.DictReader(io.StringIO(saved(tab, f"Save {title} as CSV").decode())))
    same = json.loads(saved(tab, f"Save {title} as JSON"))
    assert [list(row) for row in table] == [list(row) for row in same]
    assert len(same) == rows if rows else len(same) >= 4


def test_where_the_time_went(visit, token, runs):
    tab = visit(token, view("phases", runs[0]))
    expect(tab.locator("figure.sb-chart svg")).to_have_count(2)
    expect(tab.locator("figure.sb-chart").first).to_contain_text("operation")
    check_accessible(tab)


def test_two_runs_are_compared(visit, token, runs):
    tab = visit(token, view("compare", runs[1], before=runs[0], after=runs[1]))
    expect(tab.get_by_text("4 compared: 0 faster, 0 slower, 0 the same, 4 cannot tell")).to_be_visible()
    expect(tab.get_by_text("a drift of the machine between the two runs")).to_be_visible()
    expect(tab.locator("td.sb-verdict", has_text="too few repeats (A has 3, B 1; 3 at least)")).to_have_count(
        4
    )
    expect(tab.get_by_label("Verdicts").locator("tbody tr")).to_have_count(4)
    expect(tab.locator("figure.sb-chart svg")).to_have_count(1)
    check_accessible(tab)


def test_a_cells_history(visit, token, runs):
    tab = visit(token, view("history", runs[0], cell=CELL, operation="read"))
    expect(tab.locator("figure.sb-chart svg")).to_have_count(1)
    assert tab.locator("svg .mark-symbol.role-mark path").count() >= 4
    check_accessible(tab)


def test_the_table_is_sorted_and_filtered_and_its_address_shared(visit, token, runs):
    tab = visit(token, view("table", runs[0]))
    expect(tab.locator("tbody tr")).to_have_count(12)
    tab.get_by_role("button", name="total time").click()
    expect(tab.locator("th[aria-sort=descending]")).to_have_text("total time ↓")
    tab.get_by_label("operation").select_option("read")
    expect(tab.locator("tbody tr")).to_have_count(6)
    other = visit(token, urlsplit(tab.url).path + "?" + urlsplit(tab.url).query)
    expect(other.locator("tbody tr")).to_have_count(6)
    assert other.locator("tbody").inner_text() == tab.locator("tbody").inner_text()
    check_accessible(tab)


def test_it_is_on_the_dag_and_on_its_run(visit, token, runs):
    run = quote(runs[0].removeprefix(f"{STUDY}/"), safe="")
    tab = visit(token, f"/dags/{STUDY}/plugin/storebench-dag?view=table")
    expect(tab.locator("tbody tr").first).to_be_visible()
    tab = visit(token, f"/dags/{STUDY}/runs/{run}/plugin/storebench-run?view=run")
    expect(tab.get_by_text("12 of 12 operations")).to_be_visible()


@pytest.mark.parametrize("name", VIEWS)
def test_it_fits_a_phone(visit, token, runs, name):
    tab = visit(token, view(name, runs[0], cell=CELL), width=400)
    expect(tab.locator("h2")).to_be_visible()
    tab.wait_for_load_state("networkidle")
    wide, there = tab.evaluate(
        "(() => { const page = document.querySelector('.sb-page'); return [page.scrollWidth, page.clientWidth]; })()"
    )
    assert wide <= there


def test_the_keyboard_reaches_everything(visit, token, runs):
    tab = visit(token, view("charts", runs[0]))
    expect(tab.locator("figure.sb-chart svg")).to_have_count(8)
    wanted = tab.locator(".sb-page :is(a, button, select, summary)").count()
    tab.locator(".sb-views a").first.focus()
    reached = {tab.evaluate("document.activeElement.outerHTML")}
    for _ in range(2 * wanted):
        tab.keyboard.press("Tab")
        reached.add(
            tab.evaluate("document.activeElement.closest('.sb-page') ? document.activeElement.outerHTML : ''")
        )
    missing = tab.evaluate(
        "found => [...document.querySelectorAll('.sb-page :is(a, button, select, summary)')]"
        ".map(one => one.outerHTML).filter(html => !found.includes(html))",
        list(reached),
    )
    assert missing == []


def test_a_report_needs_no_airflow(chromium, runs, tmp_path):
    assert storebench("report", runs[0], "--out", str(tmp_path)).returncode == 0
    context = chromium.new_context(offline=True)
    tab = context.new_page()
    problems = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto((tmp_path / "report.html").as_uri())
    expect(tab.locator("figure.sb-chart svg")).to_have_count(10)
    rows = list(csv.DictReader((tmp_path / "attempts.csv").open()))
    assert len(rows) == len(json.loads((tmp_path / "attempts.json").read_text())) == 12
    assert not problems
    context.close()
