"""Write a run as one self-contained HTML file with the page's charts and tables, for readers without Airflow."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from storebench.answers import figures
from storebench.answers.artifacts import artifacts_answer
from storebench.answers.attempts import Attempt
from storebench.answers.claims import study_claims_answer
from storebench.answers.rankings import Ranking, ranking_answer
from storebench.answers.runs import Run, Turn
from storebench.errors import SpecError
from storebench.results.database.queries import Queries
from storebench.results.export.flat_files import as_csv, as_json
from storebench.results.ranking.choice import Question
from storebench.results.ranking.rank import ranking_of
from storebench.web.reading import Reading

SCRIPT = Path(__file__).parent / "page" / "static" / "report.js"
MOST_CELLS, MOST_TURNS = 10_000, 100_000
DOCUMENT = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>body {{ margin: 0; font-family: system-ui, sans-serif }}</style>
</head>
<body>
<div id="report">This page needs JavaScript; its figures are in the files beside it, as CSV.</div>
<script type="application/json" id="content">{content}</script>
{script}
</body>
</html>
"""


def write_report(dsn: str, name: str, folder: Path, study: str | None = None) -> list[Path]:
    """Write a run's report.html, attempts.csv and attempts.json into `folder`, which is created, and return their paths.

    Raises SpecError for an unknown run, and if the front end was never built.
    """
    script = front_end()
    run_id = Queries(dsn).run_named(name, study)["id"]
    read = Reading(dsn, Reading(dsn, []).dags())
    page = document(
        f"Storebench: {run_id}",
        content_of(read, run_id),
        "<script>{}</script>".format(script.read_text().replace("</script", "<\\/script")),
    )
    folder.mkdir(parents=True, exist_ok=True)
    rows = read.results(run=run_id)
    files = {"report.html": page, "attempts.csv": as_csv(rows), "attempts.json": as_json(rows)}
    for file, text in files.items():
        (folder / file).write_text(text)
    return [folder / file for file in files]


def front_end() -> Path:
    """Return the path of the script that draws a report. Raises SpecError if the script was never built."""
    if not SCRIPT.is_file():
        raise SpecError("The report's front end is not built: `make setup` builds it")
    return SCRIPT


def content_of(read: Reading, run_id: str) -> dict[str, object]:
    """Return the content of a run's page."""
    keys = read.cells_of_run_page(run_id, MOST_CELLS, 0)
    attempts = read.attempts_of(run_id, keys)
    typical = figures.typical_of(attempts)
    environments = read.environments({row["environment_hash"] for row in attempts if row["environment_hash"]})
    run = Run.model_validate(read.run_counted(run_id))
    return {
        "run": run,
        "study": figures.study_answer(read, run.study),
        "turns": [Turn.model_validate(row) for row in read.turns(run_id, MOST_TURNS, 0)],
        "warm_ups": [Attempt.model_validate(row) for row in read.attempts_of(run_id, keys, warm_ups=True)],
        "cells": figures.figures_answer(attempts),
        "artifacts": artifacts_answer(attempts, read.artifacts([row["attempt_id"] for row in attempts])),
        "phases": figures.phases_answer(typical, read.phases([row["attempt_id"] for row in typical])),
        "overview": rankings_of_run(read, run.study, run_id),
        "claims": study_claims_answer(read, run.study, [run_id]),
        "environments": [
            {"hash": key, **dict(_flat(details))} for key, details in sorted(environments.items())
        ],
    }


def rankings_of_run(read: Reading, study: str, run_id: str) -> list[Ranking]:
    """Rank a run's cells for each operation by the attempts of this run alone. An operation that the run did not measure, or whose metric
    has no better direction, has no ranking.
    """
    rankings = []
    for operation in figures.study_answer(read, study).operations:
        with suppress(SpecError):
            rankings.append(ranking_of(read, Question(study, operation.name, run=run_id)))
    # a report does not tell which other studies exist
    return [
        ranking_answer(read, ranking).model_copy(update={"studies": [study]})
        for ranking in rankings
        if ranking.lines or ranking.excluded
    ]


def document(title: str, content: Mapping[str, object], script: str) -> str:
    """Return an HTML document with this content; `script` is the HTML element that draws the content."""
    text = TypeAdapter(Mapping[str, object]).dump_json(content).decode()
    # a text within the content must not end the surrounding element
    return DOCUMENT.format(title=html.escape(title), content=text.replace("<", "\\u003c"), script=script)


def _flat(details: Mapping[str, Any], within: str = "") -> Iterator[tuple[str, object]]:
    """Flatten nested details: a nested detail's name is the path to it, joined with dots."""
    for name, value in sorted(details.items()):
        if isinstance(value, Mapping):
            yield from _flat(value, f"{within}{name}.")
        else:
            yield within + name, json.dumps(value) if isinstance(value, list) else value
