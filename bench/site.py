"""Measure `storebench site` with a full database, and how soon its pages are usable from files: `make bench-site`."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

import click
from playwright.sync_api import Browser, sync_playwright

from bench.fill import fill
from bench.page import launched
from bench.scratch import scratch
from storebench.web.site import INDEX, write_site

OTHER = "map_formats"  # a study with the same number of attempts
# Runs in the page: wait for the first rows and an idle main thread.
WATCH = """
new Promise(done => {
    const idle = () => requestIdleCallback(() => done(performance.now()), {timeout: 10000});
    const look = () => document.querySelector(".sb-page tbody td")
        ? requestAnimationFrame(() => requestAnimationFrame(idle)) : requestAnimationFrame(look);
    look();
})
"""


def interactive_ms(browser: Browser, page: Path) -> float:
    """Return the milliseconds from opening a file to a usable page, with an empty browser cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    try:
        tab = context.new_page()
        tab.goto(page.as_uri(), wait_until="commit")
        return float(tab.evaluate(WATCH))
    finally:
        context.close()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--attempts", type=click.IntRange(1_000), default=100_000, show_default=True)
@click.option(
    "--rounds", type=click.IntRange(2), default=10, show_default=True, help="Times that each is opened."
)
def main(attempts: int, rounds: int) -> None:
    """Measure a site of many attempts, half of each of two studies."""
    with (
        scratch(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"]) as uri,
        tempfile.TemporaryDirectory() as folder,
    ):
        print(f"making {attempts:,} attempts")
        fill(uri, attempts // 2, [OTHER])
        began_s = time.perf_counter()
        for line in write_site(uri, Path(folder)):
            print(line)
        write_s = time.perf_counter() - began_s
        index = Path(folder, INDEX)
        run = next(Path(folder, "runs").glob("*/*.html"))
        rankings = next(Path(folder, "rankings").glob("*.html"))
        with sync_playwright() as playwright:
            browser = launched(playwright)
            times: dict[Path, list[float]] = {index: [], run: [], rankings: []}
            for page in (*times,) * rounds:
                times[page].append(interactive_ms(browser, page))
            browser.close()
        size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    print(
        f"index_ms={statistics.median(times[index]):.0f} run_ms={statistics.median(times[run]):.0f}"
        f" rankings_ms={statistics.median(times[rankings]):.0f}"
        f" write_s={write_s:.1f} site_mib={size / 2**20:.0f} attempts={attempts} rounds={rounds}"
    )


if __name__ == "__main__":
    main()
