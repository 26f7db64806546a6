"""A run is stopped, completed and repeated on the results page, in a real browser, by the real Airflow."""

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import check_accessible, view
from tests.e2e.harness import ROWS, SEED
from tests.e2e.test_backfill import study

__all__ = ["study"]

SETTLED = "td:is(.sb-verified, .sb-client-bound, .sb-disturbed)"


@pytest.fixture
def started(airflow, study):
    """Start a run of four turns, and return its DAG and its name."""
    name = study(["100", "200"])
    return name, airflow.trigger(name, {"rows": ROWS, "seed": SEED, "repeats": 2})


def test_a_run_is_stopped_and_a_second_run_measures_what_is_missing(visit, token, airflow, started):
    name, run = started
    tab = visit(token, view("run", f"{name}/{run}"), expected=(404,))  # until the run is planned
    expect(tab.locator(SETTLED).first).to_be_visible(timeout=120_000)
    expect(tab.get_by_text("Now:")).to_be_visible()
    expect(tab.get_by_label("Results of write")).to_be_visible()
    check_accessible(tab)
    tab.get_by_role("button", name="Stop", exact=True).click()
    tab.get_by_role("button", name="Stop the run").click()
    expect(tab.get_by_text("The run is stopped.")).to_be_visible()
    assert airflow.wait(name, run, print) == "failed"

    tab.get_by_role("button", name="Measure what is missing").click(timeout=30_000)
    tab.get_by_role("link", name="Follow the run").click()
    second = max(
        airflow.call("GET", f"/api/v2/dags/{name}/dagRuns")["dag_runs"], key=lambda run: run["queued_at"]
    )
    assert second["conf"] == {"rows": ROWS, "seed": SEED, "repeats": 2, "skip_done": True}
    assert airflow.wait(name, second["dag_run_id"], print) == "success"
    expect(tab.get_by_role("button", name="Repeat")).to_be_visible(timeout=30_000)
    expect(tab.locator("td:is(.sb-failed, .sb-not-run)")).to_have_count(0)
    check_accessible(tab)
