"""Write a static site of a results database: pages of all runs of all studies, readable without a server, and data files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from psycopg import sql

from storebench.answers import figures
from storebench.answers.claims import study_claims_answer
from storebench.answers.rankings import Ranking, ranking_answer
from storebench.answers.runs import Run
from storebench.answers.studies import Study
from storebench.errors import SpecError, StoreUnreachable
from storebench.results.database.connection import Row
from storebench.results.database.runs import RUN_COUNTS
from storebench.results.export.flat_files import FlatFiles
from storebench.results.ranking.choice import Question
from storebench.results.ranking.rank import ranking_of
from storebench.study.check import NAME
from storebench.version import code_version
from storebench.web.reading import Reading
from storebench.web.report import content_of, document, front_end

MARK = "storebench-site.json"  # marks a folder as a site, and lists the site's files
INDEX, SCRIPT = "index.html", "report.js"
# A study's tables: the suffix of the view's name after the study's name.
TABLES = {"attempts": "", "summary": "_summary"}
RUNS = "data/runs"
FORMATS = ("csv", "parquet")
MOST_RUNS = 1_000_000


def write_site(dsn: str, folder: Path) -> Iterator[str]:
    """Write a site into `folder`, and yield lines about the progress. The folder is created; an existing site is rewritten, and other files
    stay.

    Each run and each study's rankings have a page of their own, so that the first page is small. A study whose records cannot be read is
    excluded: the site has all other studies, and at the end SpecError names the excluded studies. Raises SpecError for a folder that is
    neither empty nor a site, for a database without results, and if the front end was never built.
    """
    script = front_end()
    before = _files_of(folder)
    read = Reading(dsn, Reading(dsn, []).dags())
    runs = read.runs_page(MOST_RUNS, 0)
    if not runs:
        raise SpecError("There are no results yet")
    pages = pages_of(runs)
    titles = {name: record.title for name, record in read.studies().items()}
    shown = {row["study"] for row in runs if row["id"] in pages} | {*read.study_names()}
    # a study whose runs were all refused has no record, and nothing to show
    studies = [name for name in dict.fromkeys(row["study"] for row in runs) if name in shown]
    if odd := [name for name in studies if not NAME.fullmatch(name)]:
        raise SpecError(f"{odd[0]!r} is no name of a study, and cannot be a folder of the site")
    tables = [f"data/{study}/{table}" for study in studies for table in TABLES]
    files = [*pages.values(), *(f"{table}.{end}" for table in (*tables, RUNS) for end in FORMATS)]
    files += [SCRIPT, INDEX]
    folder.mkdir(parents=True, exist_ok=True)
    # mark the files first: an interrupted site owns them, too
    _mark(folder, {*before, *files, *map(_page_of_rankings, studies)})
    (folder / SCRIPT).write_bytes(script.read_bytes())
    entries = []
    excluded: list[str] = []
    for study in studies:
        run_ids = [row["id"] for row in runs if row["study"] == study and row["id"] in pages]
        try:
            for run_id in run_ids:
                _write(folder / pages[run_id], f"Storebench: {run_id}", content_of(read, run_id), up="../../")
            record, rankings = figures.study_answer(read, study), rankings_of(read, study)
            page = _write_rankings(folder, read, record, rankings) if rankings else None
            rows = {table: _write_table(dsn, folder, study, table) for table in TABLES}
        except (OSError, StoreUnreachable):
            raise
        except Exception as error:  # noqa: BLE001 - a broken record of one study must not cost other studies their pages
            excluded.append(study)
            without = {_page_of_rankings(study), *(pages.pop(run_id) for run_id in run_ids)}
            files = [file for file in files if file not in without and not file.startswith(f"data/{study}/")]
            before |= without | {f"data/{study}/{table}.{end}" for table in TABLES for end in FORMATS}
            yield f"{study}: excluded: {error}"
            continue
        entries.append(
            {
                "name": study,
                "title": titles.get(study) or study,
                "rows": rows,
                "rankings": page,
                "overview": {"study": record, "rankings": overview_of(rankings)},
            }
        )
        yield f"{study}: {len(run_ids):,} runs, {rows['attempts']:,} attempts"
    query = sql.SQL(RUN_COUNTS).format(runs=sql.SQL("(SELECT * FROM storebench.run)"))
    FlatFiles(dsn).write(query, folder / RUNS)
    _write(folder / INDEX, "Storebench: results", {"site": _site(runs, pages, entries)})
    files += [entry["rankings"] for entry in entries if entry["rankings"]]
    _tidy(folder, before - set(files))
    _mark(folder, files)
    yield str(folder / INDEX)
    if excluded:
        raise SpecError(f"The site is written without {', '.join(excluded)}: the lines above say why")


def pages_of(runs: Iterable[Row]) -> dict[str, str]:
    """Return the file name of each run's page, by run ID, oldest run first. Names are unique, and valid on any system and any server. A
    refused run has no page: the run measured nothing.
    """
    pages: dict[str, str] = {}
    taken: set[str] = set()
    for row in sorted(runs, key=lambda row: (row["started_at"], row["id"])):
        if row["state"] == "refused":
            continue
        stem = re.sub(r"[^\w.-]+", "_", row["airflow_run_id"], flags=re.ASCII).lstrip(".")
        name, more = stem, 1
        while (file := f"runs/{row['study']}/{name}.html").casefold() in taken:
            more += 1
            name = f"{stem}-{more}"
        taken.add(file.casefold())
        pages[row["id"]] = file
    return pages


def rankings_of(read: Reading, study: str) -> list[Ranking]:
    """Rank a study's stores and clients for each operation and dataset, by the operation's ranking metric. The dataset of most cells comes
    first. Axes and environment have the values of most cells. Return an empty list where nothing can be ranked.
    """
    rankings = []
    for operation in figures.study_answer(read, study).operations:
        try:
            first = ranking_of(read, Question(study, operation.name))
        except SpecError:  # the operation was not measured, or its metric has no better direction
            continue
        chosen = first.chosen
        others = [dataset for dataset in chosen.datasets if dataset != (chosen.rows, chosen.seed)]
        questions = [Question(study, operation.name, rows=rows, seed=seed) for rows, seed in others]
        rankings += [first, *(ranking_of(read, question) for question in questions)]
    return [ranking_answer(read, ranking) for ranking in rankings if ranking.lines or ranking.excluded]


def overview_of(rankings: Iterable[Ranking]) -> list[Ranking]:
    """Return the first ranking of each operation, which has the dataset of most cells, as the page's overview does."""
    first: dict[str, Ranking] = {}
    for ranking in rankings:
        first.setdefault(ranking.operation, ranking)
    return list(first.values())


def _page_of_rankings(study: str) -> str:
    return f"rankings/{study}.html"


def _write_rankings(folder: Path, read: Reading, study: Study, rankings: list[Ranking]) -> str:
    """Write the page of a study's rankings, and return its file name."""
    content = {"study": study, "rankings": rankings, "claims": study_claims_answer(read, study.name)}
    title = f"Storebench: rankings of {study.name}"
    _write(folder / (page := _page_of_rankings(study.name)), title, content, up="../")
    return page


def _site(runs: Iterable[Row], pages: dict[str, str], studies: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the content of the first page: a line per run."""
    return {
        "written_at": datetime.now(UTC),
        "code_version": code_version(),
        "studies": studies,
        "runs": [
            {**Run.model_validate(row).model_dump(exclude={"params"}), "page": pages.get(row["id"])}
            for row in runs
        ],
    }


def _write(path: Path, title: str, content: dict[str, Any], up: str = "") -> None:
    """Write a page. `up` is the relative path from the page to the site's first page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    script = f'<script src="{up}{SCRIPT}"></script>'
    path.write_text(document(title, {**content, "home": f"{up}{INDEX}"} if up else content, script))


def _write_table(dsn: str, folder: Path, study: str, table: str) -> int:
    stem = folder / "data" / study / table
    stem.parent.mkdir(parents=True, exist_ok=True)
    view = sql.Identifier("storebench", study + TABLES[table])
    order = "recorded_at, attempt_id" if table == "attempts" else "cell_key, operation, metric"
    return FlatFiles(dsn).write(sql.SQL(f"SELECT * FROM {{}} ORDER BY {order}").format(view), stem)


def _files_of(folder: Path) -> set[str]:
    """Return the files of the site that was last written to the folder; none if the folder is empty or missing."""
    if folder.exists() and not folder.is_dir():
        raise SpecError(f"{folder} is a file: give a folder")
    if not folder.is_dir() or not any(folder.iterdir()):
        return set()
    try:
        return set(json.loads((folder / MARK).read_text())["files"])
    except (OSError, ValueError, TypeError, KeyError):
        raise SpecError(
            f"{folder} is not empty, and `storebench site` has not written it: give an empty folder, or one that is not there"
        ) from None


def _mark(folder: Path, files: Iterable[str]) -> None:
    (folder / MARK).write_text(json.dumps({"files": sorted(files)}, indent=1) + "\n")


def _tidy(folder: Path, files: Iterable[str]) -> None:
    """Remove the site's obsolete files. Files outside of the folder stay, even if the mark lists them."""
    root = folder.resolve()
    for file in files:
        path = (folder / file).resolve()
        if path.is_relative_to(root) and path.is_file():
            path.unlink()
            for parent in path.parents:
                if parent == root or any(parent.iterdir()):
                    break
                parent.rmdir()
