"""Measure how soon the results page is usable with a full database, compared with Airflow's list of DAGs, and its API's speed: `make
bench-page`.

A second API server of Airflow runs on its own port with a temporary database.
"""

from __future__ import annotations

import itertools
import os
import statistics
import time

import click
import httpx
import numpy as np
from playwright.sync_api import Browser, Playwright, sync_playwright
from rich.console import Console
from rich.table import Table

from bench.api_server import api_server, login, reader_of
from bench.fill import STUDY, fill
from bench.scratch import scratch

CHROMIUM = "/usr/bin/chromium"
PAGE, DAGS = "/plugin/storebench", "/dags"
OTHER = "map_formats"  # a study with the same number of attempts
OTHER_RUN = f"{OTHER}/r1"
# Selectors of elements in the first rows.
FIRST = {PAGE: ".sb-page .sb-answer", DAGS: "a[href*='/dags/']"}
HOME = os.environ.get("STOREBENCH_HOME", "")
# The requests of the views.
QUESTIONS = (
    "runs?limit=100",
    "run?run=latest",
    f"study?name={STUDY}",
    "turns?run=latest&limit=500",
    "cells?run=latest",
    "phases?run=latest",
    "artifacts?run=latest",
    "attempts?run=latest",
    "attempts?sort=total_s&store=mongo",
    "cell-keys?limit=500",
    f"compare?before={STUDY}/r1&after=latest",
    f"ranking?study={STUDY}",
    f"history?cell={STUDY}/mongodb/reference/batch=100/rows=20000/seed=42&operation=read",
    f"runs?limit=100&dag={OTHER}",
    f"study?name={OTHER}",
    f"turns?run={OTHER_RUN}&limit=500",
    f"cells?run={OTHER_RUN}",
    f"phases?run={OTHER_RUN}",
    f"ranking?study={OTHER}",
    f"attempts?run={OTHER_RUN}",
)
# The request of Airflow's own list of DAG runs.
AIRFLOW_RUNS = "/api/v2/dags/~/dagRuns?limit=100&order_by=-run_after"
# The views to open in turns: name, address, and whether Airflow's own files are in the browser's cache.
VIEWS = (
    ("first view", PAGE, True),
    ("first view of the other study", f"{PAGE}?study={OTHER}", True),
    ("Airflow's list of DAGs", DAGS, True),
    ("first view, nothing cached", PAGE, False),
)

# Runs in the page, to exclude the test driver's time: wait for the first rows on the screen, and an idle main thread.
WATCH = """
new Promise(done => {
    const idle = () => requestIdleCallback(() => done(performance.now()), {timeout: 10000});
    const look = () => document.querySelector("FIRST")
        ? requestAnimationFrame(() => requestAnimationFrame(idle)) : requestAnimationFrame(look);
    look();
})
"""


def launched(playwright: Playwright) -> Browser:
    """Launch Chromium with its files in the stack's folder instead of the user's home."""
    kept = {"XDG_CONFIG_HOME": f"{HOME}/chromium/config", "XDG_CACHE_HOME": f"{HOME}/chromium/cache"}
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox"], env={**os.environ, **kept}
    )


def interactive_ms(browser: Browser, url: str, token: str, path: str = PAGE, *, visited: bool) -> float:
    """Return the milliseconds from opening the address to a usable page, without the results page in the browser's cache.

    `visited`: Airflow's own files are in the cache, as after a login.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        context.add_cookies([{"name": "_token", "value": token, "url": url}])
        tab = context.new_page()
        if visited:
            tab.goto(url, wait_until="networkidle")
        tab.goto(url + path, wait_until="commit")
        return float(tab.evaluate(WATCH.replace("FIRST", FIRST[path.partition("?")[0]])))
    finally:
        context.close()


def took_ms(client: httpx.Client, address: str) -> float:
    """Return the milliseconds of an answer."""
    began_s = time.perf_counter()
    client.get(address).raise_for_status()
    return (time.perf_counter() - began_s) * 1000


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--attempts", type=click.IntRange(1_000), default=100_000, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(2), default=10, show_default=True, help="Times that each is asked for."
)
def main(attempts: int, rounds: int) -> None:
    """Measure the page's first view and its API's answers with many attempts in the database."""
    console = Console(width=110)
    table = Table(
        title=f"{attempts:,} attempts of each of two studies, and a tenth of each other, ms of {rounds} rounds"
    )
    for heading in ("what", "median, ms", "95th percentile, ms"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    with scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as uri:
        console.print(
            f"making {attempts:,} attempts of {STUDY}, as many of {OTHER}, and a tenth of each other study"
        )
        fill(uri, attempts, [OTHER])
        with api_server(reader_of(uri)) as url:
            token = login(url)
            with sync_playwright() as playwright:
                browser = launched(playwright)
                views: dict[str, list[float]] = {name: [] for name, _, _ in VIEWS}
                for _, (name, path, visited) in itertools.product(range(rounds), VIEWS):
                    views[name].append(interactive_ms(browser, url, token, path, visited=visited))
                browser.close()
            answers_ms: dict[str, list[float]] = {question: [] for question in QUESTIONS}
            airflow_ms: list[float] = []
            with httpx.Client(headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
                # in turns, so that other work of the machine affects both alike
                for _, question in itertools.product(range(rounds), QUESTIONS):
                    answers_ms[question].append(took_ms(client, f"{url}/storebench/api/{question}"))
                    airflow_ms.append(took_ms(client, url + AIRFLOW_RUNS))
                airflow_runs = client.get(url + AIRFLOW_RUNS).json()["total_entries"]
    for name, times in {**views, **answers_ms, "Airflow's list of DAG runs": airflow_ms}.items():
        table.add_row(name, f"{statistics.median(times):.0f}", f"{np.percentile(times, 95):.0f}")
    console.print(table)
    # absolute times differ threefold between machines, so compare; the slower study counts
    slower = max(statistics.median(views[name]) for name in ("first view", "first view of the other study"))
    ratio = slower / statistics.median(views["Airflow's list of DAGs"])
    p95 = np.percentile(list(itertools.chain.from_iterable(answers_ms.values())), 95)
    airflow_p95 = np.percentile(airflow_ms, 95)
    print(
        f"interactive_ms={statistics.median(views['first view']):.0f}"
        f" uncached_interactive_ms={statistics.median(views['first view, nothing cached']):.0f}"
        f" ratio_to_airflow={ratio:.2f} api_p95_ms={p95:.0f} api_ratio_to_airflow={p95 / airflow_p95:.2f}"
        f" attempts={attempts} airflow_runs={airflow_runs} rounds={rounds}"
    )


if __name__ == "__main__":
    main()
