"""Write the measured figures of the documentation: `python -m local.reference.figures`. A test compares the pages with the runs.

A table of figures follows a block with one command that ends with `--format markdown`, and ends with a caption `*Measured: …*`. The command
answers from the shipped runs, so a reader who types the command sees the same figures. The caption below a picture is written, too.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from zipfile import ZipFile

import psycopg
from click.testing import CliRunner

from local.reference.shipped import BUNDLES, RESULTS, ROOT, shipped
from storebench.cli import main

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FIGURES = re.compile(
    r"(?P<block>^```console\n\$ storebench (?P<command>[^\n]* --format markdown)\n```\n).*?^\*Measured: [^\n]*\*$",
    re.MULTILINE | re.DOTALL,
)
# A picture of a shipped run, with its caption.
PICTURE = re.compile(
    r"(?P<picture>^(?:!\[|<img )[^\n]*images/(?P<stem>[\w-]+)\.[^\n]*\n\n)\*Measured: (?P<study>\w+), [^\n]*; repeats: [^\n]*\*$",
    re.MULTILINE,
)
# The origin of a study's figures, or of the figures of one dataset. These runs have one method, and ran on one machine.
ORIGIN = """
SELECT DISTINCT r.method_version, r.code_version, r.recorded_at::date AS day, e.details ->> 'cpus' AS cpus,
    e.details ->> 'cpu_model' AS cpu_model, e.details ->> 'memory_gib' AS memory_gib,
    (SELECT max(repeat) FROM storebench.results AS o WHERE (o.study, o.rows, o.seed) = (r.study, r.rows, r.seed)) AS repeats
FROM storebench.results AS r JOIN storebench.environment AS e ON e.hash = r.environment_hash
WHERE r.study = %s AND r.rows = COALESCE(%s, r.rows) AND r.seed = COALESCE(%s, r.seed) AND r.status = 'verified'
"""

DATASET = ("--rows", "--seed")  # the options of a ranking that choose its dataset
Answer = Callable[[Sequence[str]], str]
Origin = Callable[[Sequence[str]], str]


def commands(text: str) -> list[str]:
    """Return the commands of a page that write tables of figures."""
    return [found["command"] for found in FIGURES.finditer(text)]


def with_figures(text: str, answer: Answer, origin: Origin) -> str:
    """Return a page with the tables that its commands print, and with captions. `answer`: of a command's words. `origin`: the caption for a command's words."""

    def table(found: re.Match[str]) -> str:
        words = shlex.split(found["command"])
        return f"{found['block']}\n{answer(words)}\n{origin(words)}"

    def caption(found: re.Match[str]) -> str:
        words = ["ranking", "--study", found["study"], *_dataset_of_picture(found["stem"])]
        return f"{found['picture']}{origin(words)}"

    return PICTURE.sub(caption, FIGURES.sub(table, text))


def _dataset_of_picture(stem: str) -> list[str]:
    """Return the options of `storebench ranking` for the dataset of a picture: that of the bundle with the picture's name, or else no options."""
    for bundle in BUNDLES:
        if bundle.stem == stem:
            cell = json.loads(ZipFile(bundle).read("cell.json"))[0]
            return ["--rows", str(cell["rows"]), "--seed", str(cell["seed"])]
    return []


def answer_from(uri: str) -> Answer:
    """Return a function that runs `storebench` with these words on the database of the URI. Raises RuntimeError if the command fails."""

    def answer(words: Sequence[str]) -> str:
        result = CliRunner().invoke(main, list(words), env={RESULTS: uri})
        if result.exit_code:
            raise RuntimeError(f"storebench {shlex.join(words)}: {result.output}") from result.exception
        return result.stdout

    return answer


def origin_from(uri: str) -> Origin:
    """Return a function that writes the caption of a command's figures: study, method, versions, repeats, days, and machine.

    The function raises ValueError if the command names no study.
    """
    answer = answer_from(uri)

    def origin(words: Sequence[str]) -> str:
        options = dict(pairwise(words))
        if "--study" not in options:
            raise ValueError(f"The command names no study: {shlex.join(words)}")
        if words[0] != "ranking":
            return caption(options["--study"])
        choice = [word for name in ("--study", *DATASET) if name in options for word in (name, options[name])]
        return caption(options["--study"], *chosen(*choice))

    @cache  # a page has a caption for each of its tables and pictures
    def chosen(*choice: str) -> tuple[int, int]:
        """Return the rows and the seed of the dataset that a ranking chooses."""
        ranking = json.loads(answer(["ranking", *choice, "--format", "json"]))
        return ranking["rows"], ranking["seed"]

    @cache
    def caption(study: str, rows: int | None = None, seed: int | None = None) -> str:
        with psycopg.connect(uri) as connection:
            found = connection.execute(ORIGIN, [study, rows, seed]).fetchall()
        methods, codes, days, cpus, models, memories, repeats = (
            list(dict.fromkeys(column)) for column in zip(*sorted(found, key=lambda row: row[2]), strict=True)
        )
        when = " to ".join(dict.fromkeys(f"{day:%-d %B %Y}" for day in (days[0], days[-1])))
        return (
            f"*Measured: {study}, method {_only(methods)}, version {', '.join(codes)}; repeats: {_only(repeats)}, on {when},"
            f" {_only(cpus)} CPUs ({_only(models)}), {_only(memories)} GiB of memory.*"
        )

    return origin


def _only(values: Sequence[object]) -> object:
    """Return the only value. Raises ValueError for several values."""
    (value,) = values
    return value


if __name__ == "__main__":
    with shipped(os.environ[RESULTS]) as shipped_uri:
        for page in PAGES:
            before = page.read_text()
            after = with_figures(before, answer_from(shipped_uri), origin_from(shipped_uri))
            if after != before:
                page.write_text(after)
                print(page.relative_to(ROOT))
