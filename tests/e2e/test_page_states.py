"""The results page without results, and without the right to show them: in the real Airflow, with a database of its own."""

import os
import re
import uuid

import psycopg
import pytest
from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from playwright.sync_api import expect
from psycopg import sql

from bench.api_server import api_server, reader_of
from bench.scratch import scratch
from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.leftovers.stopped import AIRFLOW_ID
from storebench.study.order import turns
from tests.bulk import EARLIER_BUNDLE, bulk_study, cell_at
from tests.e2e.browser import PAGE, check_accessible, view
from tests.e2e.harness import storebench

STUDY = "bulk_write_read"
CELL = cell_at("null", 7, batch="10")
AIRFLOW = "this"
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>'; DROP TABLE storebench.attempt; --"


@pytest.fixture(scope="module")
def database():
    """Yield an empty database."""
    with scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as uri:
        migrate(uri)
        yield uri


@pytest.fixture(scope="module")
def own_url(database):
    """Start an API server that reads the database, and yield its URL."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"AIRFLOW_VAR_{AIRFLOW_ID.upper()}", AIRFLOW)
        with api_server(reader_of(database)) as url:
            yield url


def half_a_run(database, name):
    """Record a run that was deleted from Airflow. One of its two repeats was written and failed. Return its id."""
    repository = Repository(database)
    repository.start_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=name,
        params={"note": HOSTILE},
        turns=turns({CELL: 2}, 1),
        order_seed=1,
        skipped={},
        airflow_id=AIRFLOW,
    )
    run_id = run_id_of(STUDY, name)
    result = AttemptResult(
        status="failed", error_kind="store_failed", error=HOSTILE, environment={"server_name": HOSTILE}
    )
    key = AttemptKey(run_id, CELL.key, 1, "write", 1)
    repository.add_attempt(key, result, PodRecord(), phases={}, metric=None, target=None, dataset=None)
    return run_id


def test_before_the_first_run_the_overview_leads_to_it(visit, token, own_url, database):
    with psycopg.connect(database) as connection:
        assert connection.execute("SELECT count(*) FROM storebench.run").fetchone() == (0,)
    tab = visit(token, PAGE, url=own_url)
    study = tab.get_by_role("region", name=STUDY, exact=True)
    expect(study.get_by_text("No results yet.")).to_be_visible()
    expect(study.get_by_text(f"make run STUDY={STUDY}")).to_be_visible()
    expect(study.get_by_text("With the defaults, the run measures")).to_be_visible(timeout=30_000)
    check_accessible(tab)
    study.get_by_role("link", name="Start a run").click()
    expect(tab.get_by_role("button", name="Start the run")).to_be_enabled(timeout=30_000)


@pytest.mark.parametrize("name", ["run", "charts", "phases", "ranking", "history", "table"])
def test_half_a_run_whose_texts_are_hostile(visit, token, own_url, database, name):
    run = half_a_run(database, f"manual__{name}{HOSTILE}")
    tab = visit(token, view(name, run, cell=CELL.key), url=own_url)
    expect(tab.locator("h2")).to_be_visible()
    if name == "history":
        tab.get_by_text("Figures", exact=True).click()
    said = {
        "run": f"store_failed: {HOSTILE}",
        "charts": "1 attempt is in no median: 1 failed",
        "phases": "✕ null reference",
        "ranking": "no verified attempt: store_failed",
        "history": "store_failed",
        "table": HOSTILE,
    }
    expect(tab.locator(".sb-page")).to_contain_text(said[name])
    if name == "run":
        expect(tab.get_by_text("The run was stopped: deleted from Airflow")).to_be_visible()
        expect(tab.locator("td.sb-not-run")).to_have_count(3)
        expect(tab.get_by_text("1 of 4 operations")).to_be_visible()
    assert tab.locator(".sb-page :is(img, script)").count() == 0
    check_accessible(tab)


@pytest.mark.parametrize("name", ["run", "charts", "phases", "table", "compare"])
def test_each_view_of_a_refused_run_says_why_and_leads_to_the_form(visit, token, own_url, database, name):
    """Airflow's form takes values from a run's page, and from no address."""
    run = f"manual__refused_{name}"
    Repository(database).refuse_run(
        study=bulk_study(),
        dag_id=STUDY,
        airflow_run_id=run,
        requested={"rows": 7, "note": HOSTILE},
        reason="The disk is full.",
        airflow_id=AIRFLOW,
    )
    run_id = run_id_of(STUDY, run)
    tab = visit(token, view(name, run_id, before=run_id, after=run_id), url=own_url)
    page = tab.locator(".sb-page")
    # the server's first comparison loads SciPy
    expect(page).to_contain_text("This run was refused before any work. The disk is full.", timeout=30_000)
    expect(page).to_contain_text("Trigger again with this config")
    expect(page).to_contain_text('"rows": 7')
    link = page.get_by_role("link", name="the run in Airflow").first
    assert link.get_attribute("href").endswith(f"/dags/{STUDY}/runs/{run}")
    assert tab.locator(".sb-page :is(img, script)").count() == 0
    check_accessible(tab)


def test_a_run_is_compared_with_one_that_has_nothing_verified(visit, token, own_url, database):
    before, after = (half_a_run(database, f"manual__{name}") for name in ("before", "after"))
    tab = visit(token, view("compare", after, before=before, after=after), url=own_url)
    # the server's first comparison loads SciPy
    expect(tab.get_by_text("0 compared")).to_be_visible(timeout=30_000)
    write, read = tab.locator("tbody tr").all()
    expect(write).to_contain_text("A has no verified attempt, B has no verified attempt")
    expect(write).to_contain_text("A: 1 of 1 not verified; B: 1 of 1 not verified")
    expect(read).to_contain_text("A: 2 to come, in a run that goes on; B: 2 to come, in a run that goes on")


def test_a_database_that_is_away_is_said_to_be_until_it_is_back(visit, token, own_url, database):
    run = half_a_run(database, "manual__away")
    with (
        psycopg.connect(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"], autocommit=True) as admin,
        psycopg.connect(reader_of(database), autocommit=True) as reader,
    ):
        name = sql.Identifier(database.rpartition("/")[2])
        admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(name))
        # and those that the page's server has kept are gone
        reader.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
        )
        tab = visit(token, view("run", run), url=own_url, expected=(503,))
        expect(tab.get_by_role("alert")).to_have_text("No connection. The results database does not answer.")
        admin.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(name))
    expect(tab.get_by_text("1 of 4 operations")).to_be_visible(timeout=30_000)
    expect(tab.get_by_role("alert")).to_have_count(0)


def test_an_unknown_run_is_said_to_be(visit, token):
    tab = visit(token, view("charts", "nonesuch"), expected=(404,))
    expect(tab.get_by_role("alert")).to_contain_text("There is no run 'nonesuch'")


def test_without_a_login_there_is_nothing(chromium, url, token):
    with_login, without = (
        chromium.new_context(extra_http_headers=headers)
        for headers in ({"authorization": f"Bearer {token}"}, {})
    )
    described = with_login.request.get(f"{url}/storebench/openapi.json").json()["paths"]
    assert {"/api/runs", "/api/pods"} <= set(described)
    for path in (*described, "/static/page.js", "/static/report.js", "/openapi.json"):
        query = f"?run=latest&before=latest&after=latest&dag={STUDY}&name={STUDY}&study={STUDY}&cell=none&operation=write&attempt={uuid.UUID(int=0)}"
        assert with_login.request.get(f"{url}/storebench{path}{query}").status in (200, 404), path
        assert without.request.get(f"{url}/storebench{path}{query}").status == 401, path
    for path in (PAGE, f"/dags/{STUDY}/plugin/storebench-dag", f"/dags/{STUDY}/runs/x/plugin/storebench-run"):
        tab = without.new_page()
        tab.goto(url + path)
        tab.wait_for_url("**/login**")
        assert tab.locator(".sb-page").count() == 0
    for context in (with_login, without):
        context.close()


def test_without_permission_there_is_nothing(visit, url):
    """The user is known to Airflow and has no role."""
    token = SimpleAuthManager().generate_jwt(SimpleAuthManagerUser(username="nobody", role=None))
    tab = visit(token, PAGE, expected=(403,))
    answer = tab.request.get(f"{url}/storebench/api/runs")
    assert (answer.status, "items" in answer.json()) == (403, False)


# The first chart, of the study as the run's bundle has it, or as this database had recorded it before
WRITES = re.compile("Write: time (in the store|until the write)")


def test_a_run_of_an_earlier_version_is_seen_at_the_address_that_its_import_prints(
    visit, token, own_url, database
):
    places = {"AIRFLOW_CONN_STOREBENCH_RESULTS": database, "STOREBENCH_AIRFLOW_URL": own_url}
    first, again = (storebench("import", str(EARLIER_BUNDLE), **places).stdout.splitlines() for _ in range(2))
    assert " 33 attempt," in first[0] and " 0 attempt," in again[0]
    assert first[1] == again[1] and first[1].startswith(f"Its page: {own_url}{PAGE}")
    tab = visit(token, first[1].partition(own_url)[2], url=own_url)
    expect(tab.get_by_text("2 attempts are in no median: 2 not run")).to_be_visible(timeout=30_000)
    for text in ("197 s", "34.7 s"):  # Delta's and MongoDB's longest writes
        expect(tab.locator("figure.sb-chart", has_text=WRITES).get_by_text(text).first).to_be_visible()
    check_accessible(tab)
