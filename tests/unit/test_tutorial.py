"""The study of docs/studies/README.md: its reader's files are usable, and the typed commands are valid."""

import ast
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import click
import pytest

from storebench import stores
from storebench.cli import main
from storebench.errors import SpecError
from storebench.planning.conf import axis_values_of
from storebench.planning.params import grid_of, run_values
from storebench.study import studies
from storebench.study.cell import Cell
from storebench.study.record import StudyRecord
from tests import tutorial
from tests.attempted import attempted
from tests.unit.results.test_study_views import made

NAME = "gzip_levels"
FIRST = "first_study"  # what the page begins with
STUDY, ZLIB, GZIP = tutorial.files()
STORES = ("zlib", "gzip")
TYPED = tutorial.commands()
ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Yield a folder with the tutorial's files up to section 2."""
    tutorial.put(tmp_path)
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path / "dags"))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(
        stores, "__path__", [*stores.__path__, str(tmp_path / "src" / "storebench" / "stores")]
    )
    before = set(sys.modules)
    yield tmp_path
    stores._class_of.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith(f"storebench.stores.{NAME}"):
            del sys.modules[name]


@pytest.fixture
def study(checkout):
    """Return the finished study with both stores, after all changes to its file."""
    (edit,) = [line for line in TYPED if line.startswith("sed ")]
    subprocess.run(edit, shell=True, cwd=checkout, check=True)
    return studies.find(NAME)


@pytest.fixture
def attempt(study, monkeypatch, tmp_path):
    """Return a function that runs an attempt, and returns its exit code and its recorded result."""

    def attempt_at(store, operation, level="6", seed=42, **environment):
        program = study.store(store).pod_of(operation).command
        axes = {"level": level}
        return attempted(monkeypatch, tmp_path, NAME, store, operation, axes, program, seed, **environment)

    return attempt_at


def test_the_files_are_three_and_the_first_two_are_short():
    assert (
        f"dags/{NAME}.py",
        *(f"src/storebench/stores/{NAME}/{store}.py" for store in STORES),
    ) == (STUDY, ZLIB, GZIP)
    lines = {path: len(content.splitlines()) for path, content in tutorial.files().items()}
    assert lines[STUDY] + lines[ZLIB] <= 100 and lines[GZIP] <= 60


def test_without_its_store_the_study_says_which_module_is_missing(checkout):
    (checkout / ZLIB).unlink()
    with pytest.raises(SpecError, match=f"no module storebench/stores/{NAME}/zlib.py"):
        studies.find(NAME)


def test_the_study_is_what_its_text_says(study):
    record = StudyRecord.of(study)
    assert record.store_names == tuple(STORES)
    assert study.steps == ("pack", "unpack"), "nothing is kept, so nothing is dropped"
    assert [(metric.name, metric.unit, metric.better) for metric in record.metrics] == [
        ("pack_s", "s", "lower"),
        ("unpack_s", "s", "lower"),
        ("mb_per_s", "MB/s", "higher"),
        ("packed_share", "ratio", "lower"),
    ]
    assert record.dataset is None and [axis.name for axis in record.axes] == ["level"]
    whole = grid_of(study, run_values(study, {}))
    assert len(whole.cells) == 2 * 3 and {cell.rows for cell in whole.cells} == {200_000}


@pytest.mark.parametrize("operation", ["pack", "unpack"])
@pytest.mark.parametrize("store", STORES)
def test_an_attempt_is_verified_and_reports_what_it_has_to(attempt, study, store, operation):
    code, found = attempt(store, operation)
    assert (code, found.status) == (0, "verified"), found.error
    assert found.metrics.keys() == set(study.operation(operation).metrics)
    assert all(value > 0 for value in found.metrics.values())
    assert found.metrics.get("packed_share", 0) < 1


@pytest.mark.parametrize("seed", [0, 42, 2**53 - 1])
def test_both_stores_work_on_the_same_text(attempt, seed):
    one, other = (attempt(store, "unpack", seed=seed)[1].verification for store in STORES)
    assert one == other and re.fullmatch(r"\d+ bytes compared; SHA-256 [0-9a-f]{12}", one)


@pytest.mark.parametrize("store", STORES)
def test_a_higher_level_packs_better(attempt, store):
    fast, best = (attempt(store, "pack", level)[1].metrics["packed_share"] for level in "19")
    assert best < fast


@pytest.mark.parametrize("operation", ["pack", "unpack"])
def test_a_library_that_gives_back_other_bytes_is_found_out(attempt, monkeypatch, operation):
    monkeypatch.setattr("zlib.decompress", lambda packed: b"x")
    code, found = attempt("zlib", operation)
    assert (code, found.status, found.error_kind) == (4, "failed", "verification_failed")


@pytest.mark.parametrize("operation", ["pack", "unpack"])
def test_a_program_that_gives_back_other_bytes_is_found_out(attempt, tmp_path, operation):
    fake = tmp_path / "bin" / "gzip"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho x\n")
    fake.chmod(0o755)
    code, found = attempt("gzip", operation, PATH=f"{fake.parent}:{os.environ['PATH']}")
    assert (code, found.status, found.error_kind) == (4, "failed", "verification_failed")


def test_what_is_typed_is_understood(study, monkeypatch):
    monkeypatch.setenv("STOREBENCH_STUDY", NAME)
    understood = []
    for line in TYPED:
        program, *arguments = shlex.split(line)
        if program == "storebench":
            name, *options = arguments
            if name == "sql":
                view = made(study)[NAME]
                assert f'"{NAME}"' in view and '"level"' in view and '"mb_per_s"' in view
            command = main.commands[name]
            if isinstance(command, click.Group):
                command, options = command.commands[options[0]], options[1:]
            context = command.make_context(name, options, resilient_parsing=True)
            for option in (one for one in options if one.startswith("--") and one != "--help"):
                assert any(option in known.opts for known in context.command.params), line
            for key in (one for one in options if one.startswith(f"{NAME}/")):
                assert Cell.from_key(key) in grid_of(study, run_values(study, {})).cells, line
            if "--metric" in options:
                assert options[options.index("--metric") + 1] in {one.name for one in study.metrics}
        elif program == "make":
            target, *variables = arguments
            assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)
            given = dict(one.split("=", 1) for one in variables)
            assert given.keys() <= {"STUDY", "AXES", "REPEATS"} and given["STUDY"] in (NAME, FIRST)
            axis_values_of(given.get("AXES", ""), study)
        else:
            assert program in (".", "export", "mkdir", "sed"), line
        understood.append(program)
    assert understood.count("make") == 3 and understood.count("storebench") >= 10
    assert isinstance(main, click.Group)


def test_the_dataset_that_is_shown_is_that_of_the_other_study():
    (block,) = re.findall(
        r"^    ```python\n(    DATASET.*?)^    ```$", tutorial.PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    (shown,) = ast.parse(textwrap.dedent(block)).body
    study = ast.parse((ROOT / "tests" / "e2e" / "words" / "words_study.py").read_text())
    calls = [node for node in ast.walk(study) if isinstance(node, ast.Call)]
    (used,) = [given.value for call in calls for given in call.keywords if given.arg == "dataset"]
    assert isinstance(shown, ast.Assign) and ast.dump(shown.value) == ast.dump(used)
