"""A ranking in a real browser, and the way from each figure to Airflow's log. In the real Airflow, with real runs."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import check_accessible, saved, view
from tests.e2e.harness import ROWS, SEED, storebench

STUDY = "bulk_write_read"
CELL = f"{STUDY}/mongodb/reference/batch=500/rows={ROWS}/seed={SEED}"
# The choice without which other tests' runs would decide what is ranked
CHOSEN = {
    "rank:study": STUDY,
    "rank:operation": "write",
    "rank:rows": str(ROWS),
    "rank:seed": str(SEED),
    "rank:axis:batch": "500",
    "rank:guarantee": "disk",
}


@pytest.fixture
def run(runs):
    """Return the id of a run of two stores, each measured three times."""
    return runs[0]


def address_of(tab):
    """Path and question, to be opened again."""
    parts = urlsplit(tab.url)
    return f"{parts.path}?{parts.query}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_ranking_can_be_used_by_everybody(visit, token, run, scheme):
    tab = visit(token, view("ranking", run, **CHOSEN), color_scheme=scheme)
    # the server's first verdict loads SciPy
    expect(
        tab.get_by_label("Places").get_by_role("link", name="FerretDB (store mongodb) reference")
    ).to_be_visible(timeout=30_000)
    null = tab.get_by_label("Excluded").locator("tbody tr", has_text="null reference")
    expect(null).to_contain_text("floor")
    check_accessible(tab)


def test_a_link_restores_all_that_was_chosen(visit, token, run):
    tab = visit(token, view("ranking", run, **CHOSEN))
    floor = tab.get_by_role("checkbox", name="floors: clients without a store")
    floor.focus(timeout=30_000)
    tab.keyboard.press("Space")
    expect(floor).to_be_checked()
    expect(floor).to_be_focused()
    expect(tab.get_by_label("Places").get_by_role("link", name="null reference")).to_be_visible()
    tab.get_by_role("combobox", name="Margin").select_option("10")
    tab.get_by_role("combobox", name="Metric").select_option(label="dataset rows per second")
    expect(
        tab.get_by_role("heading", name="Write: dataset rows per second, higher is better")
    ).to_be_visible()
    tab.wait_for_url("**metric=rows_per_s*")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(tab.url).query).items()}
    assert asked["rank:include"] == "floor" and asked["rank:margin"] == "10"
    assert asked["rank:environment"] and asked["rank:metric"] == "rows_per_s"
    other = visit(token, address_of(tab))
    expect(other.get_by_label("Places").locator("tbody tr").first).to_be_visible(timeout=30_000)
    for label in ("Places", "Excluded"):
        here, there = (one.get_by_label(label) for one in (tab, other))
        assert here.count() == there.count()
        if here.count():
            assert here.locator("tbody").inner_text() == there.locator("tbody").inner_text()
    assert address_of(other) == address_of(tab)


def test_the_command_prints_the_same(visit, token, run):
    tab = visit(token, view("ranking", run, **CHOSEN))
    expect(tab.get_by_label("Places").locator("tbody tr").first).to_be_visible(timeout=30_000)
    shown = json.loads(
        saved(tab, "Save Write: time until the write is durable and visible, lower is better as JSON")
    )
    options = {"--study": STUDY, "--operation": "write", "--rows": str(ROWS), "--seed": str(SEED)}
    options |= {"--axis": "batch=500", "--guarantee": "disk", "--format": "json"}
    said = storebench("ranking", *(part for pair in options.items() for part in pair))
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout)
    cells = [*told["ranked"], *told["excluded"]]
    same = (
        "cell_key",
        "runs",
        "guarantee",
        "place",
        "verdict",
        "relative_to_best",
        "ratio_low",
        "ratio_high",
    )
    assert [[one[name] for name in same] for one in shown] == [
        [one.get(name) for name in same] for one in cells
    ]
    figures = ("n", "median", "interval_low", "interval_high", "interval_coverage")
    assert [[one[name] for name in figures] for one in shown] == [
        [one["spread"][name] for name in figures] for one in cells
    ]


def test_each_figure_leads_on_to_airflows_log(visit, token, run):
    """Links go from the ranking to the cell, and from a bar over attempts and phases to the log."""
    tab = visit(token, view("ranking", run, **CHOSEN))
    tab.get_by_label("Places").get_by_role("link", name="FerretDB (store mongodb) reference").click(
        timeout=30_000
    )
    expect(
        tab.get_by_role("heading", name=f"Write: time until the write is durable and visible of {CELL}")
    ).to_be_visible()

    tab = visit(token, view("charts", run, scale="linear"))
    chart = tab.locator(
        "figure.sb-chart", has_text="Write: time until the write is durable and visible"
    ).first
    # below the dots, which lead to one attempt each
    chart.locator("svg .mark-rect.role-mark path").first.click(position={"x": 5, "y": 7})
    expect(tab.get_by_text(f"Only {CELL}")).to_be_visible()
    expect(tab.get_by_label("Attempts").locator("tbody tr")).to_have_count(3)
    check_accessible(tab)
    tab.get_by_role("link", name="phases", exact=True).first.click()
    expect(tab.get_by_role("heading", name="Write: where the time went")).to_be_visible()
    expect(tab.locator("figure.sb-chart svg")).to_have_count(1)
    check_accessible(tab)
    tab.get_by_role("link", name="its log in Airflow").click()
    tab.wait_for_url("**/tasks/cell.write/mapped/*?try_number=1*")
    expect(tab.get_by_text("cell.write").first).to_be_visible()


def test_the_figures_of_a_chart_lead_on_by_the_keyboard(visit, token, run):
    tab = visit(token, view("charts", run))
    chart = tab.locator("figure.sb-chart", has_text="Read: time in the store's client").first
    expect(chart.get_by_role("link", name="attempts")).to_have_count(0)
    chart.get_by_text("Figures").focus()
    tab.keyboard.press("Enter")
    expect(chart.get_by_role("link", name="attempts")).to_have_count(2)
    check_accessible(tab)
    chart.get_by_role("link", name="attempts").first.focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_text(f"Only {STUDY}/")).to_be_visible()
    tab.get_by_role("button", name="all cells").click()
    expect(tab.get_by_label("Attempts").locator("tbody tr")).to_have_count(6)


@pytest.mark.parametrize("width", [1000, 1280, 1700])
def test_there_is_no_hole_between_cards(visit, token, run, width):
    tab = visit(token, view("charts", run), width=width)
    expect(tab.locator("figure.sb-chart svg").first).to_be_visible()
    cards = tab.evaluate(
        "[...document.querySelectorAll('.sb-charts > div')].map(one => one.getBoundingClientRect())"
        ".filter(box => box.width).map(({left, right, top, bottom}) => ({left, right, top, bottom}))"
    )
    edge = tab.evaluate("document.querySelector('.sb-charts').getBoundingClientRect().right")
    lines = {}
    for card in cards:
        lines.setdefault(round(card["top"]), []).append(card)
    for line in lines.values():
        assert abs(max(card["right"] for card in line) - edge) < 2, lines
        assert len({round(card["bottom"]) for card in line}) == 1, lines


def test_phases_are_sorted_by_store(visit, token, run):
    tab = visit(token, view("phases", run))
    tab.get_by_role("combobox", name="Order").select_option(label="by store")
    chart = tab.locator("figure.sb-chart").first
    chart.get_by_text("Figures").click()
    expect(chart.locator("tbody tr")).to_have_count(2)
    assert parse_qs(urlsplit(tab.url).query)["lines"] == ["store"]
