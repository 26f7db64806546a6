"""docs/reference/ follows from the code, and no other page repeats its tables."""

import re

import pytest

from local.reference.markdown import table
from local.reference.pages import FOLDER, pages
from storebench.study import studies

COMMAND = "run `make docs-reference`"


def test_the_pages_follow_from_the_code():
    expected = pages()
    assert {file.name for file in FOLDER.iterdir()} == expected.keys(), COMMAND
    for name, text in expected.items():
        assert (FOLDER / name).read_text() == text, f"{name}: {COMMAND}"


def test_a_table_keeps_its_columns_apart_and_links_pages():
    lines = table(("a", "empty", "b"), [("x|y", "", "in **docs/method.md**"), ("z\nz", "", "")])
    assert lines == ["| a | b |", "| --- | --- |", "| x\\|y | in [method.md](../method.md) |", "| z z |  |"]


@pytest.mark.parametrize("name", studies.names())
def test_the_tables_of_a_studys_page_name_what_the_study_has(name):
    """Check the first column of the tables with explanations: metrics, axes, parameters and operations."""
    study = studies.find(name)
    known = {
        "metric": {metric.name for metric in study.metrics},
        "axis": {axis.name for axis in study.axes},
        "parameter": {*study.params_and_options(), "rows"},
        "operation": {operation.name for operation in study.operations},
        "preset": {*study.presets},
    }
    text = (FOLDER.parent / "studies" / f"{name}.md").read_text()
    for kind, body in re.findall(
        rf"^\| ({'|'.join(known)}) \|.*\n\|[-| ]+\n((?:\|.*\n)+)", text, re.MULTILINE
    ):
        named = {one for row in body.splitlines() for one in re.findall(r"`([a-z0-9_]+)`", row.split("|")[1])}
        assert named and named <= known[kind], (kind, named - known[kind])
