"""Studies as files in a folder of DAGs."""

import sys

import pytest
from click.testing import CliRunner

from storebench import stores
from storebench.cli import main
from storebench.errors import SpecError
from storebench.study import studies
from storebench.study.model import Study

TOY = """
from storebench.airflow.dags.study import study_dag
from storebench.dataset.csv50 import CSV50
from storebench.study.model import Metric, Operation, Study

TOY = Study(
    name="{name}",
    title="A toy",
    description="",
    operations=(Operation("put", ("puts_per_s",)), Operation("get", ("puts_per_s",))),
    metrics=(Metric("puts_per_s", "puts a second", "higher"),),
    dataset=CSV50,
    stores={stores},
)
dag = study_dag(TOY)
"""
STORE = """
from storebench.stores.base import Store

class Paper(Store):
    name = "paper"
    operations = ("put", "get")
"""
PAPER = ("paper",)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Yield a folder of DAGs. `write` writes a study to it."""
    monkeypatch.setenv("AIRFLOW__CORE__DAGS_FOLDER", str(tmp_path))
    monkeypatch.delenv("STOREBENCH_STUDY", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(stores, "__path__", [*stores.__path__, str(tmp_path / "stores")])
    before = set(sys.modules)
    yield tmp_path
    stores._class_of.cache_clear()
    for name in set(sys.modules) - before:
        if name.startswith("storebench.stores."):
            del sys.modules[name]


@pytest.fixture
def write(folder):
    def written(name, text=TOY, **values):
        content = text.format(**{"name": name, "stores": PAPER, **values}) if text is TOY else text
        (folder / f"{name}.py").write_text(content)
        (folder / "stores" / name).mkdir(parents=True, exist_ok=True)
        (folder / "stores" / name / "paper.py").write_text(STORE)

    return written


def test_a_study_is_the_one_of_its_files_name(write):
    write("toy")
    found = studies.find("toy")
    assert isinstance(found, Study) and (found.name, found.title) == ("toy", "A toy")
    write("third")
    write("other", TOY.format(name="third", stores=PAPER))
    with pytest.raises(
        SpecError, match=r"other\.py has no study of the name 'other', but one of the name 'third'"
    ):
        studies.find("other")


def test_an_unknown_study_is_refused_with_those_that_there_are(write):
    write("toy")
    with pytest.raises(SpecError, match=r"Unknown study 'toi'. Did you mean toy\? There is toy"):
        studies.find("toi")


BROKEN = [
    ("a contradiction", TOY.format(name="bad", stores=()), "it has no store"),
    (
        "a mistake in Python",
        "import nonesuch  # study_dag",
        "ModuleNotFoundError: No module named 'nonesuch'",
    ),
    ("no Python", "study_dag(", "SyntaxError: "),
    ("no study", "x = 'study_dag'", "has no study of the name 'bad'"),
]


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_a_broken_study_is_named_with_its_file_and_reason(write, folder, text, words):
    write("bad", text)
    with pytest.raises(SpecError) as caught:
        studies.find("bad")
    assert str(caught.value).startswith(f"{folder / 'bad.py'}") and words in str(caught.value)


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_the_list_of_studies_names_the_broken_one_and_has_the_others(write, text, words):
    write("alpha")
    write("bad", text)
    write("toy")
    result = CliRunner().invoke(main, ["studies"])
    assert result.exit_code == 2
    assert "bad: cannot be used: " in result.stderr and words in result.stderr
    lines = result.stdout.splitlines()
    assert [line for line in lines if not line.startswith(" ")][:2] == ["alpha: A toy", "toy: A toy"]
    for line in (
        "operations: put, get",
        "axes: none",
        "dataset: 1,000,000 rows are a CSV of 484 MB.",
        "stores: paper",
    ):
        assert lines.count(f"  {line}") == 2


def test_the_list_of_studies_that_can_all_be_used_ends_well(write):
    write("toy")
    result = CliRunner().invoke(main, ["studies"])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("`storebench run --study NAME --help` describes a study\n")


def test_without_a_folder_of_dags_they_are_those_of_the_checkout(monkeypatch):
    monkeypatch.delenv("AIRFLOW__CORE__DAGS_FOLDER", raising=False)
    assert studies.folder() == studies.CHECKOUT_DAGS and "bulk_write_read" in studies.names()


def test_a_task_finds_a_study_in_the_bundle_of_its_dag(write, folder, tmp_path_factory, monkeypatch):
    """Airflow adds the folder of the task's bundle, such as a clone of a git repository, to Python's path."""
    write("toy")
    bundle = tmp_path_factory.mktemp("bundle")
    monkeypatch.setattr(sys, "path", [*sys.path, str(bundle)])
    (folder / "toy.py").rename(bundle / "study.txt")
    (bundle / "toy.py").write_text("# no study\n")
    with pytest.raises(SpecError, match="Unknown study 'toy'"):
        studies.find("toy")
    (bundle / "study.txt").replace(bundle / "toy.py")
    assert studies.find("toy").title == "A toy"
