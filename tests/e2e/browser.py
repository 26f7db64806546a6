"""Chromium, and the common actions of tests of the results page."""

import os
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import expect, sync_playwright

from bench.api_server import login
from bench.page import HOME, PAGE, launched

AXE = Path(HOME, "page", "node_modules", "axe-core", "axe.min.js")
# On two busy cores, the first answer of an API server takes longer than the default of 5 s.
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def url():
    return os.environ["STOREBENCH_AIRFLOW_URL"]


@pytest.fixture(scope="session")
def chromium():
    with sync_playwright() as playwright:
        browser = launched(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def token(url):
    """Return a token of the stack's user, who has all rights."""
    return login(url)


@pytest.fixture
def visit(chromium, url):
    """Open a tab of whoever has the token. No script may fail in it, no answer of ours but the expected, and nobody else is asked."""
    contexts, problems = [], []

    def open_tab(token, path, width=1280, expected=(), url=url, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        if token:
            context.add_cookies([{"name": "_token", "value": token, "url": url}])
        tab = context.new_page()

        def look(answer):
            ours = "/storebench/" in answer.url and answer.status >= 400
            if (ours and answer.status not in expected) or not answer.url.startswith((url, "data:", "blob:")):
                problems.append(f"{answer.status} {answer.url}")

        tab.on("response", look)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        tab.goto(url + path)
        return tab

    yield open_tab
    for context in contexts:
        context.close()
    assert not problems, problems


def view(name, run, **query):
    """Return the address of a view."""
    asked = {"view": name, "run": run, **query}
    return f"{PAGE}?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in asked.items())


def check_accessible(tab):
    """Check that axe finds no problem in the page, except in Airflow's frame around it."""
    tab.add_script_tag(path=AXE)
    found = tab.evaluate("axe.run('.sb-page', {resultTypes: ['violations']})")
    issues = [
        (violation["id"], [node["html"][:200] for node in violation["nodes"][:3]])
        for violation in found["violations"]
    ]
    assert not issues, issues


def open_exports(tab, title):
    """Open the menu of exports of a chart or a table."""
    tab.get_by_role("button", name=f"Export {title}", exact=True).click()


def saved(tab, label):
    """Return the content of the file that an item of a menu of exports downloads. `label` is `Save TITLE as TYPE`."""
    open_exports(tab, label.removeprefix("Save ").rpartition(" as ")[0])
    with tab.expect_download() as download:
        tab.get_by_role("button", name=label, exact=True).click()
    return Path(download.value.path()).read_bytes()
