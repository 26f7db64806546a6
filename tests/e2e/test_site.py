"""A static site as whoever gets it reads it: from files, without a network. And the history of a cell with a planted step, in the real
Airflow.
"""

import os
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from pyarrow import parquet

from bench.api_server import api_server, reader_of
from bench.scratch import scratch
from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.study.order import turns
from storebench.web.site import INDEX, write_site
from tests.bulk import RANKED_BY, bulk_study, cell_at
from tests.e2e.browser import check_accessible, view

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
RUNS, STEP = 60, 40
CELL = cell_at("mongodb", 7, 20_000, batch="10000")


def record(repository, name, n, seconds):
    """Record a run that measures the cell once."""
    study = bulk_study()
    (turn,) = turns({CELL: 1}, 1)
    repository.start_run(
        study=study,
        dag_id=study.name,
        airflow_run_id=name,
        params={},
        turns=[turn],
        order_seed=1,
        skipped={},
    )
    begun = BEGUN + timedelta(days=n)
    for operation in ("write", "read"):
        repository.add_attempt(
            AttemptKey(run_id_of(study.name, name), CELL.key, turn.repeat, operation, 1),
            AttemptResult(
                status="verified",
                metrics={RANKED_BY[operation]: seconds, "rows_per_s": CELL.rows / seconds},
                total_s=seconds + 4,
                environment={"server_name": "FerretDB", "server_version": "2.7", "cpus": 2},
                method_version=study.method_version,
            ),
            PodRecord("p", "n", 0, seconds + 4, begun, begun + timedelta(seconds=seconds + 4)),
            phases={"connect": 0.2, "operation": seconds, "verify": 1.0},
            metric=RANKED_BY[operation],
            target=None,
            dataset=None,
        )
    repository.finish_run(run_id_of(study.name, name))
    return run_id_of(study.name, name)


@pytest.fixture(scope="module")
def recorded():
    """Sixty runs of a cell that takes longer from one of them on, and a baseline; the database's address and their ids."""
    with scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as database:
        migrate(database)
        repository = Repository(database)
        ids = [
            record(repository, f"manual__{n}", n, (1.3 if n >= STEP else 1.0) + (n * 7 % 11) / 200)
            for n in range(RUNS)
        ]
        repository.set_baseline("nightly", ids[3])
        yield database, ids


@pytest.fixture(scope="module")
def airflow(recorded):
    with api_server(reader_of(recorded[0])) as url:
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_planted_step_is_shown_where_it_was_planted(visit, token, recorded, airflow, scheme):
    _, ids = recorded
    path = view("history", ids[-1], cell=CELL.key, operation="read")
    tab = visit(token, path, url=airflow, color_scheme=scheme)
    expect(tab.locator("figure.sb-chart svg")).to_have_count(1, timeout=30_000)
    lines = tab.get_by_label("Changes").locator("tbody tr")
    expect(lines).to_have_count(1)
    expect(lines.locator("td").first).to_have_text(ids[STEP])
    expect(lines).to_contain_text("slower, × 1.2")
    expect(tab.locator("figure.sb-chart svg")).to_contain_text("baseline nightly")
    expect(tab.locator("figure.sb-chart svg")).to_contain_text("slower")
    check_accessible(tab)
    lines.get_by_role("link").click()
    expect(tab.get_by_role("heading", name="Compare", exact=True)).to_be_visible()
    expect(tab.get_by_text("A", exact=True).first).to_be_visible()


@pytest.fixture(scope="module")
def site(recorded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    list(write_site(recorded[0], folder))
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_site_is_read_from_files_alone(chromium, recorded, site, scheme):
    context = chromium.new_context(offline=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    tab, problems = context.new_page(), []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("requestfailed", lambda request: problems.append(request.url))
    tab.goto((site / INDEX).as_uri())
    expect(tab.locator("tbody tr")).to_have_count(RUNS)
    check_accessible(tab)
    tab.get_by_label("Runs with these words").fill("manual__7")
    expect(tab.locator("tbody tr")).to_have_count(1)
    tab.locator("tbody a").click()
    expect(tab.locator("figure.sb-chart svg").first).to_be_visible()
    expect(tab.get_by_label("The run's cells").locator("td.sb-verified")).to_have_count(2)
    check_accessible(tab)
    tab.get_by_role("link", name="All runs").click()
    expect(tab.locator("tbody tr")).to_have_count(RUNS)
    tab.get_by_role("link", name="Ranking of").click()
    expect(tab.get_by_label("Places").first.locator("tbody tr")).to_have_count(1)
    check_accessible(tab)
    tab.get_by_role("link", name="All runs").click()
    assert not problems
    with tab.expect_download() as download:
        tab.get_by_role("link", name="bulk_write_read/attempts as Parquet").click()
    assert parquet.read_table(download.value.path()).num_rows == 2 * RUNS
    context.close()


# When the page has loaded, at which a browser without a window takes its picture: the title of each chart, and the marks drawn in it.
DRAWN = """
addEventListener("load", () => {
    window.drawn = [...document.querySelectorAll("figure.sb-chart")].map(chart => [
        chart.querySelector("h3").textContent,
        chart.querySelectorAll("svg .role-mark :is(path, line, rect, text)").length,
    ]);
})
"""


def test_a_picture_of_a_run_s_whole_page_shows_every_chart(chromium, site, tmp_path):
    page = next((site / "runs").glob("*/*.html"))
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    context.add_init_script(DRAWN)
    tab = context.new_page()
    tab.goto(page.as_uri())
    drawn = dict(tab.evaluate("window.drawn"))
    tab.screenshot(full_page=True, path=tmp_path / "page.png")
    context.close()
    assert {f"{operation}: where the time went" for operation in ("Write", "Read")} < set(drawn)
    assert len(drawn) > 6
    assert min(drawn.values()) > 0, drawn
