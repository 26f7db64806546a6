"""How soon the results page can be used in a full database, and how fast its API answers: `make bench-page`.

Airflow's API server is started a second time, on a port of its own, with a database that is made for it and dropped again.
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
from bench.fill import fill
from bench.scratch import scratch

CHROMIUM = "/usr/bin/chromium"
PAGE = "/plugin/storebench"
HOME = os.environ.get("STOREBENCH_HOME", "")
# What the first view and the others ask for.
QUESTIONS = (
    "runs?limit=100",
    "run?run=latest",
    "turns?run=latest&limit=500",
    "cells?run=latest",
    "phases?run=latest",
    "attempts?run=latest",
    "attempts?sort=total_s&store=mongo",
    "prices?run=latest&cpu_hour=1&gib_hour=1",
    "cell-keys?limit=500",
    "compare?before=bulk_write_read/r1&after=latest",
)


# In the page itself, so that no time of the test driver's is in it: the first rows on the screen, and a main thread that is free.
WATCH = """
new Promise(done => {
    const idle = () => requestIdleCallback(() => done(performance.now()), {timeout: 10000});
    const look = () => document.querySelector('.sb-page tbody td.sb-square')
        ? requestAnimationFrame(() => requestAnimationFrame(idle)) : requestAnimationFrame(look);
    look();
})
"""


def launched(playwright: Playwright) -> Browser:
    """Chromium, which keeps what it keeps in the stack's folder, not in the user's home."""
    kept = {"XDG_CONFIG_HOME": f"{HOME}/chromium/config", "XDG_CACHE_HOME": f"{HOME}/chromium/cache"}
    return playwright.chromium.launch(
        executable_path=CHROMIUM, args=["--no-sandbox"], env={**os.environ, **kept}
    )


def interactive_ms(browser: Browser, url: str, token: str, *, visited: bool) -> float:
    """From the address to a page that can be used; of the page itself, nothing is in the browser's cache.

    `visited`: Airflow's own files are there, as after a login.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    try:
        context.add_cookies([{"name": "_token", "value": token, "url": url}])
        tab = context.new_page()
        if visited:
            tab.goto(url, wait_until="networkidle")
        tab.goto(url + PAGE, wait_until="commit")
        return float(tab.evaluate(WATCH))
    finally:
        context.close()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--attempts", type=click.IntRange(1_000), default=100_000, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(2), default=10, show_default=True, help="Times that each is asked for."
)
def main(attempts: int, rounds: int) -> None:
    """The page's first view and its API's answers in a database with many attempts."""
    console = Console(width=110)
    table = Table(title=f"{attempts:,} attempts, ms of {rounds} rounds")
    for heading in ("what", "median, ms", "95th percentile, ms"):
        table.add_column(heading, justify="left" if heading == "what" else "right")
    with scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as uri:
        console.print(f"making {attempts:,} attempts")
        fill(uri, attempts)
        with api_server(reader_of(uri)) as url:
            token = login(url)
            with sync_playwright() as playwright:
                browser = launched(playwright)
                views = {
                    name: [interactive_ms(browser, url, token, visited=visited) for _ in range(rounds)]
                    for name, visited in (("first view", True), ("first view, nothing cached", False))
                }
                browser.close()
            answers_ms: dict[str, list[float]] = {question: [] for question in QUESTIONS}
            with httpx.Client(headers={"authorization": f"Bearer {token}"}, timeout=60) as client:
                for _, question in itertools.product(range(rounds), QUESTIONS):
                    began_s = time.perf_counter()
                    client.get(f"{url}/storebench/api/{question}").raise_for_status()
                    answers_ms[question].append((time.perf_counter() - began_s) * 1000)
    for name, times in {**views, **answers_ms}.items():
        table.add_row(name, f"{statistics.median(times):.0f}", f"{np.percentile(times, 95):.0f}")
    console.print(table)
    p95 = np.percentile(list(itertools.chain.from_iterable(answers_ms.values())), 95)
    print(
        f"interactive_ms={statistics.median(views['first view']):.0f}"
        f" uncached_interactive_ms={statistics.median(views['first view, nothing cached']):.0f}"
        f" api_p95_ms={p95:.0f} attempts={attempts} rounds={rounds}"
    )


if __name__ == "__main__":
    main()
