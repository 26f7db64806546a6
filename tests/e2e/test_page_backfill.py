"""Cells of a grid are chosen on the results page, in a real browser, and measured by the real Airflow."""

import json
import re
from urllib.parse import quote

from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from playwright.sync_api import expect

from tests.e2e.browser import PAGE, check_accessible
from tests.e2e.harness import ROWS, SEED
from tests.e2e.test_backfill import disturbed, measured, study

__all__ = ["study"]

STUDY = "bulk_write_read"


def backfill_view(dag, path=PAGE, **params):
    return f"{path}?view=backfill&dag={dag}&params={quote(json.dumps(params))}"


def key(batch):
    return f"null/reference/batch={batch}"


def test_chosen_cells_are_started_and_nothing_else_is(visit, token, airflow, study):
    name = study(["100", "200", "300"])
    tab = visit(token, backfill_view(name, f"/dags/{name}/plugin/storebench-dag", seed=SEED))
    tab.get_by_label("Rows", exact=True).fill(str(ROWS))
    start = tab.locator(".sb-start")
    expect(tab.get_by_text("3 of 3 cells are to be measured. None is chosen.")).to_be_visible(timeout=15_000)
    expect(start).to_be_disabled()
    tab.get_by_role("button", name="choose all missing cells").click()
    expect(start).to_be_enabled(timeout=15_000)  # the grid is that of these rows
    expect(tab.get_by_text("Chosen: 3 cells with 6 operations")).to_be_visible()
    expect(tab.locator("tbody tr", has_text="batch=200")).to_contain_text("2001-01-02T00:00:00")
    tab.get_by_label(f"Measure {key(200).replace('/', ' ')}").uncheck()
    expect(tab.get_by_text("Chosen: 2 cells with 4 operations")).to_be_visible()
    check_accessible(tab)
    start.click()
    expect(tab.get_by_text("2 runs started.")).to_be_visible()
    expect(tab.get_by_label("The grid's cells").get_by_role("link")).to_have_count(2, timeout=15_000)

    runs = airflow.call("GET", f"/api/v2/dags/{name}/dagRuns")["dag_runs"]
    assert sorted(run["partition_key"] for run in runs) == [key(100), key(300)]
    for run in runs:
        assert run["dag_run_id"].startswith("cell__null_reference_batch_")
        assert run["conf"] == {"rows": ROWS, "seed": SEED, "repeats": 1, "skip_done": True}
        assert airflow.wait(name, run["dag_run_id"], print) == "success"
    assert measured(name) == ["100", "300"]

    expect(tab.locator("td:is(.sb-verified, .sb-disturbed)")).to_have_count(2, timeout=30_000)
    # a cell that other work on the node disturbed is to be measured again
    remaining = 1 + len(disturbed(name))
    expect(tab.get_by_text(f"{remaining} of 3 cells are to be measured")).to_be_visible()
    expect(tab.get_by_text("Chosen: ")).to_have_count(0)
    check_accessible(tab)
    tab.locator(".sb-state").get_by_role("link", name="Run", exact=True).click()
    tab.get_by_role("button", name=re.compile(f"^Run {name} ")).click(timeout=30_000)
    runs_of_cells = tab.get_by_role("option").filter(has_text="backfill: one cell, null reference batch=")
    expect(runs_of_cells).to_have_count(2, timeout=30_000)


def test_what_is_not_valid_is_refused_before_anything_is_started(visit, token):
    tab = visit(token, backfill_view(STUDY, rows="-5"), expected=(422,))
    expect(tab.get_by_role("alert")).to_contain_text("Rows: '-5' is not a whole number")
    expect(tab.locator(".sb-start")).to_have_count(0)


def test_whoever_may_only_read_sees_the_grid_and_starts_nothing(visit, url):
    token = SimpleAuthManager().generate_jwt(SimpleAuthManagerUser(username="reader", role="VIEWER"))
    tab = visit(token, backfill_view(STUDY))
    expect(tab.get_by_text("cells are to be measured")).to_be_visible(timeout=15_000)
    expect(tab.get_by_role("alert")).to_contain_text("You may not start runs of this DAG.")
    expect(tab.locator(".sb-start")).to_be_disabled()
    answer = tab.request.post(f"{url}/api/v2/dags/{STUDY}/dagRuns", data={"logical_date": None})
    assert answer.status == 403
