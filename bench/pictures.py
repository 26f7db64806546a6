"""Take pictures of the results page for docs/images: `make pictures`. Measures nothing.

The pictures are each view with one run, and the charts of the shipped run of each study. They come from a temporary database that has only
the shipped runs, or, for another run, from the stack's results.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from zipfile import ZipFile

import click
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError

from bench.api_server import api_server, login, reader_of
from bench.page import PAGE, launched
from local.reference.shipped import BUNDLES, shipped
from storebench.errors import SpecError
from storebench.results.database.queries import Queries

IMAGES = Path(__file__).parents[1] / "docs" / "images"
EXAMPLE = IMAGES.parent / "studies" / "data" / "bulk_write_read.zip"
WIDE, PHONE = 1280, 400  # pixels
LEAST, MOST = 900, 1720  # limits of a picture's height in pixels
RUNS = 100  # number of newest runs to search for runs to show
ALL = 1_000_000  # more than exist
COMPARED = ("mongodb", "elasticsearch")  # stores to compare if the run has no earlier run
# The selector of content, which each view has once it shows data.
FIRST = ".sb-page :is(figure.sb-chart svg, .sb-scroll tbody tr, .sb-bars li, .sb-store-card)"

Run = Mapping[str, Any]  # a row of the list of runs


@dataclass(frozen=True)
class Picture:
    """A view at a width. Its file is `page-NAME.png`. `dark`: the NAME of its picture in the dark scheme; empty without such a picture."""

    name: str
    view: str
    width: int = WIDE
    dark: str = ""
    prefix: str = "page-"

    def files(self) -> dict[str, str]:
        """Return the names of the picture's files, by scheme."""
        schemes = {"light": self.name, "dark": self.dark}
        return {scheme: f"{self.prefix}{name}.png" for scheme, name in schemes.items() if name}


PICTURES = (
    Picture("overview", "overview"),
    Picture("run", "run"),
    Picture("charts", "charts", dark="dark"),
    Picture("phases", "phases"),
    Picture("ranking", "ranking"),
    Picture("compare", "compare"),
    Picture("history", "history"),
    Picture("table", "table"),
    Picture("start", "start"),
    Picture("backfill", "backfill"),
    Picture("phone", "phases", PHONE),
)


@dataclass(frozen=True)
class Shown:
    """The content of the pictures: a run, an earlier run of the same kind, and a cell that both measured. None where missing.

    Without an earlier run, the picture of a comparison compares two stores of the run, if the run has both.
    """

    run: Run
    before: Run | None
    cell: str | None

    def address(self, view: str) -> str:
        """Return the address of a view."""
        asked = {"view": view, "run": self.run["id"], "dag": self.run["dag_id"]}
        if view == "compare" and self.before:
            asked |= {"before": self.before["id"], "after": self.run["id"]}
        elif view == "compare":
            asked |= {"before": self.run["id"], "by": f"store={','.join(COMPARED)}", "after": self.run["id"]}
        if view == "ranking":
            asked |= {f"rank:{name}": self.run[name] for name in ("rows", "seed")}
        if view == "history" and self.cell:
            asked |= {"cell": self.cell}
        return f"{PAGE}?{urlencode(asked)}"

    def missing(self) -> Iterator[tuple[str, str]]:
        """Yield the views without data, each with the way to get data."""
        if self.before is None and not {*COMPARED} <= {*self.run["stores"]}:
            yield (
                "compare",
                "two runs of one study with the same rows and seed, and a store in common: `make run` twice",
            )
        if self.cell is None:
            yield "history", "a cell that a run has measured: `make run`"


def richest(runs: Sequence[Run]) -> tuple[Run, Run | None]:
    """Return the default run to show, and an earlier run to compare it with, or None. `runs`: the newest first.

    The run has ended, and is preferably comparable, with the most stores, then the most verified operations, then the newest. Raises
    SpecError if there is none.
    """
    ended = [run for run in runs if _is_over(run)]
    pairs = [(run, _like(run, ended[place + 1 :])) for place, run in enumerate(ended)]
    if not pairs:
        raise SpecError(
            f"There is no run that has ended among the newest {RUNS} with anything verified: `make run` makes one"
        )
    return max(pairs, key=lambda pair: (pair[1] is not None, len(pair[0]["stores"]), pair[0]["verified"]))


def named(runs: Sequence[Run], wanted: str) -> tuple[Run, Run | None]:
    """Return the run of an id, and an earlier run to compare it with, or None. `runs`: all runs of its study, the newest first.

    Raises SpecError if the run has no data to show.
    """
    place, run = next((place, run) for place, run in enumerate(runs) if run["id"] == wanted)
    if not _is_over(run):
        raise SpecError(f"The run {wanted} has not ended with anything verified: choose another one")
    return run, _like(run, [candidate for candidate in runs[place + 1 :] if _is_over(candidate)])


def _is_over(run: Run) -> bool:
    return run["state"] in ("success", "failed") and bool(run["verified"])


def run_of_example() -> str:
    """Return the id of the run shipped with the project, which the pictures in the documentation show."""
    return run_in(EXAMPLE)


def run_in(path: Path) -> str:
    """Return the id of the run of a bundle."""
    with ZipFile(path) as bundle:
        (run,) = json.loads(bundle.read("run.json"))
    return str(run["id"])


def pictures_of_studies() -> dict[str, Picture]:
    """Return the picture of each further shipped run's charts, by the run's id. The name of the bundle names the picture."""
    others = [path for path in BUNDLES if path != EXAMPLE]
    return {run_in(path): Picture(path.stem, "charts", prefix="") for path in others}


def _like(run: Run, earlier: Sequence[Run]) -> Run | None:
    """Return the newest earlier run that shares cells with this run, as far as the list shows it."""
    alike = (
        candidate
        for candidate in earlier
        if all(candidate[name] == run[name] for name in ("study", "rows", "seed"))
        and set(candidate["stores"]) & set(run["stores"])
    )
    return next(alike, None)


def shown_of(queries: Queries, wanted: str | None) -> Shown:
    """Choose the run `wanted`, or the run with the most data, and return the content of the pictures."""
    if wanted:
        named_run = queries.run_named(wanted)
        run, before = named(queries.runs(ALL, named_run["study"]), named_run["id"])
    else:
        run, before = richest(queries.runs(RUNS))
    cells = queries.cells_of_run(run["id"])
    both = set(cells) & set(queries.cells_of_run(before["id"])) if before else set()
    return Shown(run, before, next((cell for cell in cells if cell in both), next(iter(cells), None)))


def take(browser: Browser, url: str, token: str, shown: Shown, picture: Picture, scheme: Any) -> bytes:
    """The picture, as a PNG: as high as what there is to see, within LEAST and MOST."""
    context = browser.new_context(viewport={"width": picture.width, "height": LEAST}, color_scheme=scheme)
    try:
        context.add_cookies([{"name": "_token", "value": token, "url": url}])
        # Airflow keeps its theme in the browser; a new browser follows the system
        tab = context.new_page()
        tab.goto(url + shown.address(picture.view))
        tab.wait_for_selector(FIRST)
        _settled(tab)
        height = tab.evaluate(
            "(() => { const page = document.querySelector('.sb-page');"
            " return page.getBoundingClientRect().top + page.scrollHeight; })()"
        )
        high = min(MOST, max(LEAST, round(height)))
        tab.set_viewport_size({"width": picture.width, "height": high})
        _settled(tab)
        return tab.screenshot(animations="disabled")
    finally:
        context.close()


def _settled(tab: Page) -> None:
    """Wait until all charts are drawn and no request is pending."""
    tab.wait_for_load_state("networkidle")
    tab.wait_for_function(
        "[...document.querySelectorAll('.sb-plot')].every(plot => plot.querySelector('svg'))"
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--run",
    "wanted",
    metavar="RUN",
    default=run_of_example,
    show_default="the run that comes with the project",
    help="The run to show; 'richest' of the newest that can be compared.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=IMAGES,
    show_default="docs/images",
    help="Where the pictures go.",
)
def main(wanted: str, out: Path) -> None:
    """Take pictures of the results page, one of them in the dark scheme.

    Views without data are printed with the data that they need, and get no picture.
    """
    url, dsn = (
        os.environ.get(name) for name in ("STOREBENCH_AIRFLOW_URL", "AIRFLOW_CONN_STOREBENCH_RESULTS")
    )
    if not url or not dsn:
        raise click.ClickException("No stack is known: run this with `make pictures`")
    with ExitStack() as stack:
        others: dict[str, Picture] = {}
        if wanted == run_of_example():
            others = pictures_of_studies()
            dsn = stack.enter_context(shipped(dsn))
            url = stack.enter_context(api_server(reader_of(dsn)))
        _take_all(url, dsn, wanted, others, out)


def _take_all(url: str, dsn: str, wanted: str, others: Mapping[str, Picture], out: Path) -> None:
    """Write the pictures of the run `wanted`, and a picture of each other run, into the folder `out`.

    `url`: of Airflow, whose page reads the database `dsn`. `others`: by the run's id.
    """
    try:
        shown = shown_of(Queries(dsn), None if wanted == "richest" else wanted)
        of_studies = [(shown_of(Queries(dsn), run), picture) for run, picture in others.items()]
    except SpecError as error:
        raise click.ClickException(str(error)) from None
    failed: dict[str, str] = {}
    lacking = dict(shown.missing())
    click.echo(f"the run {shown.run['id']}, compared with {shown.before['id'] if shown.before else 'none'}")
    out.mkdir(parents=True, exist_ok=True)
    token = login(url)
    with sync_playwright() as playwright:
        browser = launched(playwright)
        for content, picture in [*((shown, picture) for picture in PICTURES), *of_studies]:
            files = {} if picture.view in lacking else picture.files()
            for scheme, name in files.items():
                path = out / name
                try:
                    path.write_bytes(take(browser, url, token, content, picture, scheme))
                except BrowserError as error:
                    failed[picture.view] = f"the page shows nothing: {str(error).splitlines()[0]}"
                    break
                click.echo(path)
        browser.close()
    for view, why in (lacking | failed).items():
        click.echo(f"no picture of {view}: {why}")
    if failed:
        raise click.ClickException("The page did not show what it should")


if __name__ == "__main__":
    main()
