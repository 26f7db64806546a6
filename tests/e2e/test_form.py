"""The form of a study's DAG, in Airflow's own pages in a real browser."""

import os

from playwright.sync_api import expect

from storebench.results.database.queries import Queries
from tests.e2e.harness import soon

STUDY = "bulk_write_read"


def newest():
    """Return the newest run in the results; None without runs."""
    return next(iter(Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]).runs(1)), {"id": None})


def test_a_bad_number_is_refused_before_a_run(visit, token):
    before = newest()["id"]
    tab = visit(token, f"/dags/{STUDY}")
    tab.get_by_role("button", name="Trigger").first.click()
    tab.locator("#element_rows").fill("-5")
    tab.get_by_role("button", name="Trigger").last.click()
    refusal = tab.get_by_text("Invalid input for param rows: '-5'").first
    expect(refusal).to_contain_text("From 1 to 1,000,000,000")
    assert newest()["id"] == before


def test_a_text_becomes_the_values_that_it_means(visit, token):
    before = newest()["id"]
    tab = visit(token, f"/dags/{STUDY}")
    tab.get_by_role("button", name="Trigger").first.click()
    for store in ("elasticsearch", "delta-rs", "delta-spark", "delta-standalone", "delta-kernel", "mongodb"):
        tab.get_by_label(f"Remove {store}").click()
    tab.locator("#element_rows").fill("2,000")
    tab.locator("#element_batch").fill("1000")
    tab.get_by_role("button", name="Trigger").last.click()
    soon(lambda: newest()["id"] != before, 120)
    soon(lambda: newest()["state"] != "running", 300)
    run = newest()
    assert (run["state"], run["verified"]) == ("success", 2)
    asked = {name: run["params"][name] for name in ("stores", "rows", "batch")}
    assert asked == {"stores": ["null"], "rows": 2000, "batch": ["1000"]}
