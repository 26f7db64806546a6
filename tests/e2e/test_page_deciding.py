"""Comparisons that cannot tell, also with more repeats. A drill starts them (tests/drills/test_page_turns.py)."""

import pytest
from playwright.sync_api import expect

from tests.e2e.browser import check_accessible, view
from tests.e2e.harness import ROWS, SEED
from tests.e2e.test_backfill import study

__all__ = ["study"]


@pytest.fixture
def measured(airflow, study):
    """Return the id of a run with these parameters of a study of two batches."""
    name = study(["100", "200"])

    def run(**params):
        made = airflow.trigger(name, {"rows": ROWS, "seed": SEED, "batch": ["100", "200"], **params})
        assert airflow.wait(name, made, print) == "success"
        return f"{name}/{made}"

    return name, run


def test_what_differs_in_nothing_is_not_measured_again(visit, token, measured):
    _, run = measured
    before, after = run(), run()
    tab = visit(token, view("compare", after, before=before, after=after))
    tab.get_by_role("button", name="measure these in turns").click(timeout=30_000)
    expect(tab.get_by_text("differ in nothing that a run could make differ")).to_be_visible(timeout=15_000)
    expect(tab.locator(".sb-start")).to_have_count(0)
    check_accessible(tab)
