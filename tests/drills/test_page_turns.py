"""Open pairs of a comparison are measured in turns, started from the results page in a real browser with the real Airflow (minutes)."""

import re
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.e2e.browser import PAGE, check_accessible, chromium, token, url, view, visit
from tests.e2e.harness import ROWS, SEED
from tests.e2e.test_page_deciding import airflow, measured, study

__all__ = ["airflow", "chromium", "measured", "study", "token", "url", "visit"]

PHONE = 390  # pixels
LEAST = 5  # turns


def started(tab):
    """Start the measurement that the panel offers, and return the address of its result."""
    tab.get_by_role("button", name="measure these in turns").click()
    start = tab.get_by_role("button", name=f"Start {LEAST} turns")
    expect(start).to_be_enabled(timeout=15_000)
    check_accessible(tab)
    start.click()
    link = tab.get_by_role("link", name="one comparison")
    expect(tab.get_by_text(re.compile(r"^(\d+) of \1 runs? started\.$"))).to_be_visible(timeout=60_000)
    return link.get_attribute("href").partition("?")[2]


def test_two_runs_are_decided_in_turns_of_both_sides(visit, token, airflow, measured):
    """One repeat of each tells nothing, not even the noise: five turns are the least."""
    name, run = measured
    before, after = run(), run(pod_memory="2Gi")
    tab = visit(token, view("compare", after, before=before, after=after))
    expect(tab.get_by_text("4 cannot tell")).to_be_visible(timeout=30_000)
    query = started(tab)
    sides = {side: parse_qs(query)[side][0] for side in ("before", "after")}
    made = re.fullmatch("turns:(.+):A", sides["before"])[1]
    assert sides["after"] == f"turns:{made}:B"

    runs = airflow.call("GET", f"/api/v2/dags/{name}/dagRuns", params={"limit": 100})["dag_runs"]
    turns = {one["dag_run_id"]: one for one in runs if one["dag_run_id"].startswith("turns__")}
    order = ["001A", "001B", "002B", "002A", "003A", "003B", "004B", "004A", "005A", "005B"]
    assert sorted(turns) == sorted(f"turns__{made}__{one}" for one in order)
    for run_id, one in turns.items():
        memory = "8Gi" if run_id.endswith("A") else "2Gi"
        assert one["conf"].items() >= {"pod_memory": memory, "repeats": 1, "rows": ROWS, "seed": SEED}.items()
        assert one["conf"]["batch"] == ["100", "200"]
        assert airflow.wait(name, run_id, print) == "success"
    ended = [airflow.call("GET", f"/api/v2/dags/{name}/dagRuns/{one}") for one in turns]
    by_start = [one["dag_run_id"][-4:] for one in sorted(ended, key=lambda one: one["start_date"])]
    assert by_start == order, "they were measured in turns"

    shared = visit(token, f"{PAGE}?{query}")
    expect(shared.get_by_text(re.compile(r"5 runs \(5 success\)")).first).to_be_visible(timeout=30_000)
    expect(shared.get_by_text("4 compared:")).to_be_visible()
    expect(shared.get_by_text("too few")).to_have_count(0)
    expect(shared.get_by_text("One run on each side")).to_have_count(0)
    check_accessible(shared)


def test_two_values_of_a_run_are_decided_in_its_rounds(visit, token, airflow, measured):
    name, run = measured
    only = run()
    tab = visit(token, view("compare", only, after=only))
    tab.get_by_role("combobox", name="Compare").select_option("two values of one run")
    expect(tab.get_by_text("A is batch 100, B is batch 200")).to_be_visible(timeout=30_000)
    expect(tab.get_by_text("2 compared: ")).to_be_visible()
    query = started(tab)
    asked = {key: value[0] for key, value in parse_qs(query).items()}
    assert asked["by"] == "batch=100,200" and asked["before"] == asked["after"]
    made = asked["after"].removeprefix(f"{name}/")
    assert airflow.wait(name, made, print) == "success"
    tab.get_by_role("link", name="one comparison").click()
    expect(tab.locator(".sb-page").get_by_text("20 of 20 operations")).to_be_visible(timeout=30_000)
    assert parse_qs(urlsplit(tab.url).query)["by"] == ["batch=100,200"]
    phone = visit(token, f"{PAGE}?{query}", width=PHONE, color_scheme="dark")
    expect(phone.get_by_text("2 compared: ")).to_be_visible(timeout=30_000)
    page = phone.locator(".sb-page")
    assert page.evaluate("one => one.scrollWidth <= one.clientWidth"), "the page scrolls sideways"
    check_accessible(phone)
