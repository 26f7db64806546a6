"""The results page of two studies that have nothing in common, in every view: wide, on a phone and in the dark. In the real Airflow, with a
database of its own."""

import os
import re
import runpy
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from bench.api_server import api_server, reader_of
from bench.scratch import scratch
from storebench import stores
from storebench.attempt.result import AttemptResult
from storebench.results.database.attempts import AttemptKey, PodRecord
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.study.cell import Cell
from storebench.study.order import turns
from tests.bulk import bulk_study
from tests.e2e.browser import check_accessible, open_exports, view
from tests.e2e.test_any_study import NAME, STUDY_FILE, WORDS, add_store

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
ROWS, SEED, REPEATS = 20_000, 7, 7
WIDE, PHONE = 1280, 390  # pixels
VIEWS = ("run", "charts", "phases", "ranking", "compare", "history", "table")


def words_study(folder):
    """Return the tests' own study, whose store is found in this folder."""
    add_store(folder)
    stores.__path__.append(str(folder))
    try:
        return runpy.run_path(str(WORDS / STUDY_FILE))["WORDS"], str(folder)
    except BaseException:
        stores.__path__.remove(str(folder))
        raise


def result_of(study, operation, value):
    """Return the result of an attempt in which each scalar has this value, with the operation's histograms and series."""
    kinds = {metric.name: metric.kind for metric in study.metrics}
    by_kind = {kind: [name for name in operation.metrics if kinds[name] == kind] for kind in kinds.values()}
    spread = {"values": [value / 100 * n for n in range(1, 101)], "counts": [101 - n for n in range(1, 101)]}
    return AttemptResult(
        status="verified",
        metrics=dict.fromkeys(by_kind.get("scalar", ()), value),
        histograms=dict.fromkeys(by_kind.get("histogram", ()), spread),
        series={
            name: {"at_s": [0, 1, 2], "values": [0, value, 3 * value]} for name in by_kind.get("series", ())
        },
        total_s=value + 4,
        memory_working_set_peak_bytes=2**28,
        figures_cover="client",
        environment={
            "server_name": "MongoDB",
            "server_version": "1",
            "cpus": 2,
            "cpu_model": "Example 9",
            "memory_gib": 24,
        },
        method_version=study.method_version,
    )


def record(repository, study, cells, name, factor):
    """Record a run of these cells, each with its own value."""
    planned = turns(dict.fromkeys(cells, REPEATS), 1)
    repository.start_run(
        study=study,
        dag_id=study.name,
        airflow_run_id=name,
        params={},
        turns=planned,
        order_seed=1,
        skipped={},
    )
    run_id = run_id_of(study.name, name)
    for n, turn in enumerate(planned):
        begun = BEGUN + timedelta(minutes=n)
        for operation in study.operations_in(turn.cell):
            value = factor * cells[turn.cell] * (1 + turn.repeat / 100)
            repository.add_attempt(
                AttemptKey(run_id, turn.cell.key, turn.repeat, operation.name, 1),
                result_of(study, operation, value),
                PodRecord("p", "n", 0, value + 4, begun, begun + timedelta(seconds=value + 4)),
                phases={"scheduled": 1.0, "connect": 0.2, "operation": value, "verify": 1.0},
                metric=operation.ranked_by,
                target=None,
                dataset=None,
            )
    repository.finish_run(run_id)
    return run_id


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Record two runs of each study, the second slower by half, and start the API server that shows them."""
    words, folder = words_study(tmp_path_factory.mktemp("stores"))
    bulk = bulk_study()
    cells = [
        {
            Cell(bulk.name, store, "reference", (("batch", size),), ROWS, SEED): seconds * share
            for store, seconds in (("mongodb", 1.0), ("elasticsearch", 30.0), ("null", 0.01))
            for size, share in (("10000", 1.0), ("all", 0.5))
        },
        {
            Cell(words.name, "words", "reference", (("parts", parts),), ROWS, SEED): value
            for parts, value in (("2", 1.0), ("lines", 3.0))
        },
    ]
    try:
        with scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as database:
            migrate(database)
            repository = Repository(database)
            found = {
                study.name: [record(repository, study, some, name, factor) for name, factor in SIDES]
                for study, some in zip((bulk, words), cells, strict=True)
            }
            with api_server(reader_of(database)) as url:
                yield url, found
    finally:
        stores.__path__.remove(folder)


SIDES = (("before", 1.0), ("after", 1.5))
CELLS = {
    "bulk_write_read": f"bulk_write_read/mongodb/reference/batch=all/rows={ROWS}/seed={SEED}",
    NAME: f"{NAME}/words/reference/parts=lines/rows={ROWS}/seed={SEED}",
}


@pytest.fixture
def show(visit, token, runs):
    """Open a view of a study's second run."""
    url, found = runs

    def look(study, name, width=WIDE, scheme="light"):
        before, after = found[study]
        path = view(name, after, before=before, after=after, cell=CELLS[study], dag=study)
        tab = visit(token, path, width=width, url=url, color_scheme=scheme)
        expect(tab.locator("h2")).to_be_visible(timeout=30_000)
        return tab

    return look


@pytest.mark.parametrize(
    ("study", "name"),
    # the tests' own study has no DAG here: its form and grid are looked at where it has one (test_any_study)
    [
        *((study, name) for study in CELLS for name in ("overview", *VIEWS)),
        *(("bulk_write_read", name) for name in ("start", "backfill")),
    ],
)
def test_each_view_of_each_study_fits_and_can_be_used_by_everybody(show, study, name):
    """Change the width and the colour scheme of an open view: loading the page again would take most of the test's time."""
    tab = show(study, name)
    for width, scheme in ((WIDE, "light"), (PHONE, "light"), (PHONE, "dark"), (WIDE, "dark")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        expect(tab.locator(f"html.{scheme}")).to_have_count(1)
        content = ":is(figure.sb-chart svg, .sb-scroll tbody tr, .sb-bars li, .sb-store-card)"
        expect(tab.locator(content).first).to_be_visible(timeout=30_000)
        tab.wait_for_function(
            "(() => { const page = document.querySelector('.sb-page'); return page.scrollWidth <= page.clientWidth; })()"
        )
        check_accessible(tab)


def test_the_overview_says_what_a_verdict_lacks_and_leads_to_a_history(show):
    """MongoDB is 30 times faster than Elasticsearch in both runs, but two runs are too few for a verdict."""
    tab = show("bulk_write_read", "overview")
    best = tab.locator(".sb-bars li").first
    expect(best).to_contain_text("mongodb reference", timeout=30_000)
    expect(tab.get_by_text("Write: no winner yet.")).to_be_visible()
    expect(tab.get_by_text("too few runs (A has 2, B 2; 5 at least)").first).to_be_visible()
    best.get_by_role("link").click()
    expect(tab.get_by_role("heading", name="History", exact=True)).to_be_visible()


def test_a_store_that_keeps_nothing_is_a_line_and_what_is_far_apart_is_logarithmic(show):
    tab = show("bulk_write_read", "charts")
    first = tab.locator(
        "figure.sb-chart", has_text="Write: time until the write is durable and visible"
    ).first
    expect(first.locator("svg")).to_contain_text("logarithmic")
    expect(first.locator("svg")).to_contain_text("(floor)")
    expect(first.locator("svg .mark-rule.role-mark [stroke-dasharray]")).to_have_count(2)
    expect(tab.locator(".sb-common")).to_contain_text("Medians of 7 repeats, with intervals of 95 % or more")
    tab.get_by_role("combobox", name="Scale").select_option(label="relative to the best")
    best = first.locator("svg .mark-text.role-mark text", has_text="best: ")
    expect(best).to_have_text("best: 780 ms")


@pytest.mark.parametrize("study", CELLS)
@pytest.mark.parametrize("name", VIEWS)
def test_each_view_says_where_its_figures_come_from(show, study, name):
    """The origin is in the page, and in copied text."""
    tab = show(study, name)
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    menu = tab.locator(".sb-exports").first
    for way, wanted in (("CSV", ["server", "durability", "machine", "code_version"]), ("SQL", ["-- "])):
        menu.get_by_role("button", name=re.compile("^Export ")).click(timeout=30_000)
        menu.get_by_role("button", name=re.compile(f"^Copy .* as {way}$")).click()
        expect(tab.locator(".sb-exports").first).to_contain_text(f"{way} copied")
        text = tab.evaluate("navigator.clipboard.readText()")
        for one in (*wanted, *(["MongoDB 1", "Example 9", "24 GiB"] if way == "SQL" else [])):
            assert one in text, text


def test_a_chart_is_copied_as_a_picture(show):
    tab = show("bulk_write_read", "charts")
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for way, kind in (("PNG", "image/png"), ("SVG", "text/plain")):
        open_exports(tab, "Write: time until the write is durable and visible")
        tab.get_by_role(
            "button", name=f"Copy Write: time until the write is durable and visible as {way}"
        ).click()
        expect(tab.locator("figure.sb-chart").first).to_contain_text(f"{way} copied")
        types = tab.evaluate("navigator.clipboard.read().then(items => items[0].types)")
        assert kind in types


def test_a_distribution_is_a_curve_and_a_series_a_line(show):
    tab = show(NAME, "charts")
    for title, axis in (
        ("Put: time of one put", "99 %"),
        ("Put: bytes put", "seconds since the operation began"),
    ):
        chart = tab.locator("figure.sb-chart", has_text=title)
        expect(chart.locator("svg .curve_marks path")).to_have_count(2)
        expect(chart.locator("svg")).to_contain_text(axis)


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("bulk_write_read", "12 compared: 0 faster, 12 slower, 0 the same, 0 cannot tell"),
        # two rates have risen, and a time
        (NAME, "6 compared: 0 faster, 4 better, 2 slower, 0 worse, 0 the same, 0 cannot tell"),
    ],
)
def test_a_comparison_has_the_words_of_its_metrics(show, study, words):
    tab = show(study, "compare")
    expect(tab.get_by_text(words)).to_be_visible(timeout=30_000)
