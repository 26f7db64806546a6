"""The results page in a real browser, in the real Airflow, with real runs."""

import csv
import io
import json
import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import check_accessible, saved, view
from tests.e2e.harness import ROWS, SEED, soon, storebench

STUDY = "bulk_write_read"
CONTROLS = "a, button:enabled, input, select, summary"
CELL = f"{STUDY}/null/reference/batch=500/rows={ROWS}/seed={SEED}"


def test_a_run_is_seen_from_queued_to_verified(airflow, visit, token):
    # enough rows to watch the pods
    conf = {
        "rows": 50 * ROWS,
        "seed": SEED,
        "stores": ["mongodb"],
        "clients": ["reference"],
        "batch": ["500"],
    }
    run = airflow.trigger(STUDY, {**conf, "repeats": 1})
    soon(lambda: storebench("results", "--run", run, "--format", "json").returncode == 0, 60)
    tab = visit(token, view("run", f"{STUDY}/{run}"))
    expect(tab.locator("td.sb-queued").first).to_be_visible(timeout=30_000)
    expect(tab.locator("td.sb-running").first).to_be_visible(timeout=60_000)
    expect(tab.locator("td.sb-running", has_text="running: ").first).to_be_visible(timeout=60_000)
    expect(tab.get_by_text(re.compile("(about|at least) .* left"))).to_be_visible(timeout=60_000)
    assert airflow.wait(STUDY, run, print) == "success"
    expect(tab.locator("td:is(.sb-verified, .sb-client-bound, .sb-disturbed)")).to_have_count(
        2, timeout=30_000
    )
    expect(tab.get_by_text("2 of 2 operations, 2 verified")).to_be_visible()
    tab.locator("td.sb-square a").first.click()
    tab.wait_for_url("**/tasks/cell.write/mapped/0*")
    expect(tab.get_by_text("cell.write").first).to_be_visible()


def chart_of(tab, title):
    return tab.locator("figure.sb-chart", has_text=title).first


def rows_of(chart):
    """Open the figures below a chart, and return their rows."""
    if not chart.locator("tbody").is_visible():
        chart.get_by_text("Figures").click()
    return chart.locator("tbody tr")


def test_the_charts_with_their_figures(visit, token, runs):
    """Eight, and two more: the null store's memory is the engine's, the MongoDB client's is without its server."""
    tab = visit(token, view("charts", runs[0]))
    expect(tab.locator("figure.sb-chart")).to_have_count(10)
    expect(tab.locator("figure.sb-chart svg")).to_have_count(10)
    expect(tab.locator(".sb-common")).to_contain_text(f"rows {ROWS:,}, seed {SEED}")
    for operation, time, differs in (
        (
            "Write",
            "time until the write is durable and visible",
            "Their durability differs: disk (mongodb), none (null).",
        ),
        (
            "Read",
            "time in the store's client",
            "What they deliver differs: dicts (mongodb), nothing (null).",
        ),
    ):
        for title, series in (
            ("memory of the client (its server is not in it)", "mongodb"),
            ("memory of the engine, in all its pods", "null"),
        ):
            chart = tab.locator("figure.sb-chart", has_text=f"{operation}: {title}")
            chart.get_by_text("Figures").click()
            expect(chart.locator("tbody td:nth-child(2)")).to_have_text([series])
        expect(tab.locator("figure.sb-chart", has_text=f"{operation}: {time}")).to_contain_text(differs)
    first = tab.locator("figure.sb-chart", has_text="Write: time until the write is durable and visible")
    expect(first.locator("svg .mark-symbol.role-mark path")).to_have_count(6)
    first.get_by_text("Figures").click()
    rows = first.locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.get_by_role("link", name="attempts")).to_have_count(2)
    assert sorted(rows.locator("td:nth-child(2)").all_inner_texts()) == ["mongodb", "null"]
    check_accessible(tab)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    ("scale", "bars", "says"),
    [("linear", 1, " s"), ("logarithmic", 0, " s"), ("relative to the best", 1, "best: ")],
)
def test_a_charts_scale_and_the_values_at_its_bars(visit, token, runs, theme, scale, bars, says):
    """The null store has no bar: it is a line."""
    tab = visit(token, view("charts", runs[0]), color_scheme=theme)
    tab.get_by_role("combobox", name="Scale").select_option(label=scale)
    first = chart_of(tab, "Write: time until the write is durable and visible")
    expect(first.locator("svg .mark-rect.role-mark path")).to_have_count(bars)
    values = first.locator("svg .mark-text.role-mark text")
    expect(values).to_have_count(2)
    expect(values.filter(has_text=says)).not_to_have_count(0)
    check_accessible(tab)


def test_a_charts_mark_has_its_exact_figures_where_the_mouse_rests(visit, token, runs):
    tab = visit(token, view("charts", runs[0], scale="linear"))
    first = chart_of(tab, "Write: time until the write is durable and visible")
    first.locator("svg .mark-rect.role-mark path").first.hover()
    expect(first.locator(".sb-tip")).to_contain_text("attempts in the median: 3")
    expect(first.locator(".sb-tip")).to_contain_text(f"rows {ROWS:,}, seed {SEED}")
    tab.mouse.move(0, 0)
    expect(first.locator(".sb-tip")).to_have_count(0)


def test_stores_are_hidden_and_the_address_says_so(visit, token, runs):
    """All by the keyboard."""
    tab = visit(token, view("charts", runs[0], scale="linear"))
    first = chart_of(tab, "Write: time until the write is durable and visible")
    expect(rows_of(first)).to_have_count(2)
    tab.get_by_label("Move null up").focus()
    tab.keyboard.press("Enter")
    expect(tab.locator(".sb-store label").first).to_have_text("null")
    tab.get_by_role("checkbox", name="null").focus()
    tab.keyboard.press("Space")
    expect(rows_of(first)).to_have_count(1)
    expect(first.locator("svg .mark-rect.role-mark path")).to_have_count(1)
    other = visit(token, urlsplit(tab.url).path + "?" + urlsplit(tab.url).query)
    expect(rows_of(chart_of(other, "Write: time until the write is durable and visible"))).to_have_count(1)
    tab.get_by_role("checkbox", name="mongodb").focus()
    tab.keyboard.press("Space")
    expect(first.locator("svg .mark-rect.role-mark path")).to_have_count(0)
    tab.keyboard.press("Space")
    expect(first.locator("svg .mark-rect.role-mark path")).to_have_count(1)


def test_what_a_run_cost_by_prices_that_the_browser_keeps(visit, token, runs):
    tab = visit(token, view("charts", runs[0]))
    tab.get_by_label("Price of one core for an hour").fill("0.04")
    tab.get_by_label("Price of one GiB of memory for an hour").fill("0.005")
    expect(tab.locator("figure.sb-chart", has_text=": cost of")).to_have_count(4)
    chart = chart_of(tab, "Write: cost of the client")
    rows_of(chart)
    shown = json.loads(saved(tab, "Save Write: cost of the client (its server is not in it) as JSON"))
    said = json.loads(
        storebench("price", runs[0], "--cpu-hour", "0.04", "--gib-hour", "0.005", "--format", "json").stdout
    )
    (same,) = [
        one["cost"] for one in said if one["operation"] == "write" and one["figures_cover"] == "client"
    ]
    assert [(one["median"], one["rows"], one["seed"]) for one in shown] == [(pytest.approx(same), ROWS, SEED)]
    tab.reload()
    expect(tab.get_by_label("Price of one core for an hour")).to_have_value("0.04")
    expect(tab.locator("figure.sb-chart", has_text=": cost of")).to_have_count(4)
    check_accessible(tab)


@pytest.mark.parametrize(
    ("name", "title", "rows"),
    [
        ("run", "the run", 12),
        ("charts", "Write: time until the write is durable and visible", 2),
        ("phases", "Read: where the time went", 2),
        ("compare", "B / A, the ratio of the figures", 4),
        ("history", f"Write: time until the write is durable and visible of {CELL}", None),
        ("table", "this page of attempts", 12),
    ],
)
def test_each_view_can_be_taken_away(visit, token, runs, name, title, rows):
    tab = visit(token, view(name, runs[0], cell=CELL, before=runs[0], after=runs[1]))
    picture = saved(tab, f"Save {title} as SVG").decode()
    assert picture.startswith("<svg")
    assert runs[0] in picture or name == "history"
    assert "Their durability differs" in picture or name != "charts"
    assert saved(tab, f"Save {title} as PNG").startswith(b"\x89PNG")
    table = list(csv.DictReader(io.StringIO(saved(tab, f"Save {title} as CSV").decode())))
    same = json.loads(saved(tab, f"Save {title} as JSON"))
    assert [list(row) for row in table] == [list(row) for row in same]
    assert {(row["rows"], row["seed"]) for row in table} == {(str(ROWS), str(SEED))}
    assert {"run", "run_id", "run_before"} & set(table[0])
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
    expect(tab.locator("td.sb-verdict", has_text="too few repeats (A has 3, B 1; 5 at least)")).to_have_count(
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
    expect(tab.locator("th[aria-sort=descending]")).to_contain_text("total time ↓")
    tab.get_by_role("combobox", name="operation", exact=True).select_option("read")
    expect(tab.locator("tbody tr")).to_have_count(6)
    tab.get_by_label("store").fill("ongo")  # no other key is needed
    expect(tab.locator("tbody tr")).to_have_count(3)
    tab.get_by_role("button", name="time in the store's client").click()
    expect(tab.locator("tbody tr")).to_have_count(3)
    expect(tab.get_by_label("store")).to_have_value("ongo")
    tab.get_by_label("store").fill("")
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


def test_the_keyboard_reaches_everything(visit, token, runs):
    tab = visit(token, view("charts", runs[0]))
    expect(tab.locator("figure.sb-chart svg")).to_have_count(10)
    wanted = tab.locator(f".sb-page :is({CONTROLS})").count()
    tab.locator(".sb-views a").first.focus()
    reached = {tab.evaluate("document.activeElement.outerHTML")}
    for _ in range(2 * wanted):
        tab.keyboard.press("Tab")
        reached.add(
            tab.evaluate("document.activeElement.closest('.sb-page') ? document.activeElement.outerHTML : ''")
        )
    missing = tab.evaluate(
        f"found => [...document.querySelectorAll('.sb-page :is({CONTROLS})')]"
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
    expect(tab.locator("figure.sb-chart svg")).to_have_count(12)
    expect(tab.get_by_role("region", name="Overview").locator(".sb-answer")).to_have_count(2)
    squares = tab.get_by_label("The run's cells")
    expect(squares.locator("td:is(.sb-verified, .sb-client-bound, .sb-disturbed)")).to_have_count(12)
    expect(squares.locator("a")).to_have_count(0)
    tab.get_by_label("Price of one core for an hour").fill("0.04")
    tab.get_by_label("Price of one GiB of memory for an hour").fill("0.005")
    expect(tab.locator("figure.sb-chart", has_text=": cost of")).to_have_count(4)
    tab.set_viewport_size({"width": 1280, "height": 900})
    cut = tab.evaluate(
        "[...document.querySelectorAll('section.sb-scroll:not(details *)')]"
        ".filter(one => one.scrollWidth > one.clientWidth).map(one => one.ariaLabel)"
    )
    assert cut == [], "each table that is not folded is whole at 1280 pixels"
    rows = list(csv.DictReader((tmp_path / "attempts.csv").open()))
    assert len(rows) == len(json.loads((tmp_path / "attempts.json").read_text())) == 12
    assert not problems
    check_accessible(tab)
    context.close()
