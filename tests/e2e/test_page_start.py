"""A run is started on the results page, in a real browser, and measured by the real Airflow."""

import json
import re
from urllib.parse import quote

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from playwright.sync_api import expect

from tests.e2e.browser import PAGE, check_accessible
from tests.e2e.harness import ROWS, SEED
from tests.e2e.test_backfill import measured, study

__all__ = ["study"]

STUDY = "bulk_write_read"
PHONE = 390  # pixels


def start_view(dag, path=PAGE, **conf):
    return f"{path}?view=start&dag={dag}&conf={quote(json.dumps(conf))}"


def test_a_run_is_foreseen_as_one_types_started_and_seen(visit, token, airflow, study):
    """The page's server has no file of the study."""
    name = study(["100", "200"])
    tab = visit(token, start_view(name, f"/dags/{name}/plugin/storebench-dag", seed=SEED))
    foreseen, start = tab.locator(".sb-state[role=status]"), tab.get_by_role("button", name="Start the run")
    expect(foreseen).to_contain_text("2 cells, 4 operations, about ", timeout=15_000)
    tab.get_by_label("Rows", exact=True).fill("-5")
    expect(foreseen).to_contain_text("Rows: '-5' is not a whole number")
    expect(start).to_be_disabled()
    expect(tab.get_by_label("Rows", exact=True)).to_have_attribute("aria-invalid", "true")
    check_accessible(tab)
    tab.get_by_label("Rows", exact=True).fill(str(ROWS))
    tab.get_by_role("checkbox", name="100", exact=True).uncheck()
    tab.get_by_role("textbox", name="Repeats").fill("2")
    expect(foreseen).to_contain_text("1 cell, 4 operations, about ")
    expect(tab.get_by_label("The run's cells")).to_contain_text("null reference batch=200")
    expect(start).to_be_enabled()
    check_accessible(tab)
    start.click()
    expect(tab.get_by_text("The run is started.")).to_be_visible()

    (run,) = airflow.call("GET", f"/api/v2/dags/{name}/dagRuns")["dag_runs"]
    assert run["conf"] == {"rows": ROWS, "seed": SEED, "batch": ["200"], "repeats": 2}
    assert airflow.wait(name, run["dag_run_id"], print) == "success"
    assert measured(name) == ["200", "200"]
    tab.locator(".sb-state").get_by_role("link", name="Run", exact=True).click()
    expect(tab.get_by_text("4 of 4 operations, 4 verified")).to_be_visible(timeout=30_000)


def test_every_mistake_is_told_before_anything_is_started(visit, token):
    """Show also mistakes in a folded section, and several mistakes at once."""
    tab = visit(token, start_view(STUDY, pod_cpu="0", stores="null, mongodb@nonesuch"))
    foreseen = tab.locator(".sb-state[role=status]")
    expect(foreseen).to_contain_text("CPU request of a pod: '0' is not a number of CPUs", timeout=15_000)
    field = tab.get_by_role("textbox", name=re.compile("CPU request"))
    expect(field).to_be_visible()
    field.fill("1")
    expect(foreseen).to_contain_text("'mongodb@nonesuch' means no server")
    tab.get_by_label("Other stores").fill("")
    tab.locator(".sb-store-card", has_text="mongodb").locator("summary").click()
    tab.get_by_role("checkbox", name="mongodb@one").check()
    expect(foreseen).to_contain_text(re.compile("[0-9]+ cells, [0-9]+ operations, about "))
    expect(tab.get_by_role("checkbox", name="mongodb@one")).to_be_checked()


def test_it_is_whole_on_a_phone_and_in_the_dark(visit, token):
    tab = visit(token, start_view(STUDY), width=PHONE, color_scheme="dark")
    expect(tab.locator(".sb-state[role=status]")).to_contain_text("operations", timeout=15_000)
    for section in ("Repeats", "Pods"):
        tab.locator("summary").get_by_text(section, exact=True).click()
    page = tab.locator(".sb-page")
    assert page.evaluate("one => one.scrollWidth <= one.clientWidth"), "the page scrolls sideways"
    check_accessible(tab)


def test_whoever_may_only_read_sees_the_form_and_starts_nothing(visit, url):
    token = SimpleAuthManager().generate_jwt(SimpleAuthManagerUser(username="reader", role="VIEWER"))
    tab = visit(token, start_view(STUDY))
    expect(tab.locator(".sb-state[role=status]")).to_contain_text("operations", timeout=15_000)
    expect(tab.get_by_role("alert")).to_contain_text("You may not start runs of this DAG.")
    expect(tab.locator(".sb-start")).to_be_disabled()


def test_the_form_of_airflow_has_its_fields_in_sections(visit, token):
    tab = visit(token, f"/dags/{STUDY}")
    tab.get_by_role("button", name="Trigger").first.click()
    expect(tab.locator("#element_rows")).to_be_visible()
    expect(tab.locator("#element_pod_cpu")).not_to_be_visible()
    tab.get_by_role("button", name="Pods", exact=True).click()
    expect(tab.locator("#element_pod_cpu")).to_be_visible()
