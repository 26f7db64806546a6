"""The tables of figures in the documentation are the answers of the shipped runs."""

import re

import pytest

from local.reference import figures
from local.reference.shipped import ROOT, shipped
from tests.integration.conftest import required

STUDY = "bulk_write_read"
COMMAND = f"storebench ranking --study {STUDY} --operation read --format markdown"
PAGE = f"""
```console
$ {COMMAND}
```

| store | s |
|---|---|
| mongodb | 1.5 |

*Measured: by hand.*

The sentence below the table.

![A chart](../images/page-charts.png)

*Measured: bulk_write_read, method 1, version 0.1.0+g0123456789ab; repeats: 1, by hand.*
"""


@pytest.fixture(scope="module")
def database():
    with shipped(required(figures.RESULTS)) as uri:
        yield uri


def test_each_table_has_the_figures_of_the_shipped_runs(database):
    answer, origin = figures.answer_from(database), figures.origin_from(database)
    pages = {page: page.read_text() for page in figures.PAGES}
    written = {page: figures.with_figures(text, answer, origin) for page, text in pages.items()}
    stale = [str(page.relative_to(ROOT)) for page in pages if written[page] != pages[page]]
    assert stale == [], "`make docs-figures` writes the tables again"


def test_a_table_and_a_caption_that_were_written_by_hand_are_replaced(database):
    assert figures.commands(PAGE) == [COMMAND.removeprefix("storebench ")]
    answer, origin = figures.answer_from(database), figures.origin_from(database)
    text = figures.with_figures(PAGE, answer, origin)
    assert "1.5" not in text and "| elasticsearch | reference |" in text
    (caption,) = set(re.findall(r"^\*Measured: .*", text, re.MULTILINE))
    assert caption == origin(["ranking", "--study", STUDY]) and text.count(caption) == 2
    assert "\nThe sentence below the table.\n\n![A chart](../images/page-charts.png)\n" in text
    assert figures.with_figures(text, answer, origin) == text
    with pytest.raises(RuntimeError, match="Unknown operation 'nonesuch'"):
        figures.with_figures(PAGE.replace("--operation read", "--operation nonesuch"), answer, origin)
