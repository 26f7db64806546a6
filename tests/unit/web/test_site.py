"""Names of a site's files, and the treatment of an existing folder."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from storebench.errors import SpecError
from storebench.web import report
from storebench.web.site import MARK, _files_of, _tidy, pages_of, write_site

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


def runs(*names, **changes):
    """Rows of runs, the newest first."""
    return [
        {
            "id": f"toy/{name}",
            "study": "toy",
            "airflow_run_id": name,
            "state": "success",
            "started_at": BEGUN + timedelta(hours=n),
            **changes,
        }
        for n, name in enumerate(names)
    ][::-1]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("manual__1", "manual__1"),
        ("manual__2026-01-01T00:00:00+00:00", "manual__2026-01-01T00_00_00_00_00"),
        ("../../a b?%20ü", "_.._a_b_20_"),
    ],
)
def test_a_page_has_a_name_that_every_system_and_every_address_takes(name, file):
    assert pages_of(runs(name)) == {f"toy/{name}": f"runs/toy/{file}.html"}


def test_no_two_pages_have_one_name_and_a_newer_run_never_changes_an_older_one_s():
    names = ["a:b", "a+b", "A b"]
    pages = pages_of(runs(*names))
    assert list(pages.values()) == ["runs/toy/a_b.html", "runs/toy/a_b-2.html", "runs/toy/A_b-3.html"]
    assert pages_of(runs(*names[:2])) == {key: pages[key] for key in ("toy/a:b", "toy/a+b")}


def test_a_run_that_was_refused_has_no_page():
    assert pages_of(runs("a", state="refused")) == {}


@pytest.fixture
def built(monkeypatch, tmp_path):
    script = tmp_path / "built.js"
    script.touch()
    monkeypatch.setattr(report, "SCRIPT", script)
    return tmp_path


@pytest.mark.parametrize("mark", [None, "", "[]", "{}", '{"files": 1}'])
def test_a_folder_with_anything_in_it_that_is_no_site_is_refused_before_any_work(built, mark):
    folder = built / "home"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    if mark is not None:
        (folder / MARK).write_text(mark)
    before = sorted(folder.iterdir())
    with pytest.raises(SpecError, match="home is not empty, and `storebench site` has not written it"):
        next(write_site(NOWHERE, folder))
    assert sorted(folder.iterdir()) == before


def test_a_file_is_no_folder(built):
    with pytest.raises(SpecError, match=r"built\.js is a file: give a folder"):
        next(write_site(NOWHERE, built / "built.js"))


def test_a_site_needs_the_front_end(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "SCRIPT", tmp_path / "none.js")
    with pytest.raises(SpecError, match="not built"):
        next(write_site(NOWHERE, tmp_path))


def test_a_folder_that_is_empty_or_not_there_or_a_site_is_taken(tmp_path):
    assert _files_of(tmp_path) == _files_of(tmp_path / "new") == set()
    (tmp_path / MARK).write_text(json.dumps({"files": ["a", "b"]}))
    assert _files_of(tmp_path) == {"a", "b"}


def test_what_a_site_has_no_more_goes_with_its_empty_folders_and_nothing_else(tmp_path):
    folder = tmp_path / "site"
    for name in ("runs/old/a.html", "runs/new/b.html", "mine.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    (tmp_path / "outside.txt").touch()
    _tidy(folder, ["runs/old/a.html", "runs/never.html", "../outside.txt", str(tmp_path / "outside.txt")])
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == [
        "outside.txt",
        "site",
        "site/mine.txt",
        "site/runs",
        "site/runs/new",
        "site/runs/new/b.html",
    ]
