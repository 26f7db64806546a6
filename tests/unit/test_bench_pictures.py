from pathlib import Path

import pytest

from bench.pictures import IMAGES, PICTURES, RUNS, Shown, named, richest, shown_of
from storebench.errors import SpecError


def run(name, **changes):
    found = {
        "id": name,
        "dag_id": "d",
        "study": "s",
        "rows": 1000,
        "seed": 7,
        "stores": ["a", "b"],
        "verified": 8,
        "state": "success",
    }
    return {**found, **changes}


def names(pair):
    return [one and one["id"] for one in pair]


def test_the_richest_run_that_can_be_compared_is_shown():
    runs = [
        run("refused", state="refused", verified=0),
        run("going", state="running"),
        run("alone", stores=["a", "b", "c"], rows=5),
        run("small", stores=["a"]),
        run("newest"),
        run("other", study="t"),
        run("older", verified=4),
    ]
    assert names(richest(runs)) == ["newest", "older"]
    assert names(richest(runs[:4])) == ["alone", None]
    assert names(richest([run("one"), run("two", stores=["c"])])) == ["one", None]


def test_a_run_that_is_named_is_compared_with_one_before_it():
    runs = [run("newer"), run("wanted"), run("going", state="running"), run("before"), run("older")]
    assert names(named(runs, "wanted")) == ["wanted", "before"]
    assert names(named(runs, "older")) == ["older", None]


def test_a_run_that_is_named_is_found_however_many_newer_ones_there_are():
    example = run("s/example", airflow_run_id="example")
    newer = [run(f"t/{n}", study="t") for n in range(RUNS)]

    class Queries:
        def run_named(self, name):
            return next(one for one in (*newer, example) if name in (one["id"], one.get("airflow_run_id")))

        def runs(self, limit, study=None):
            return [one for one in (*newer, example) if study in (None, one["study"])][:limit]

        def cells_of_run(self, run_id):
            return [f"{run_id}/cell"]

    shown = shown_of(Queries(), "example")
    assert (shown.run, shown.before, shown.cell) == (example, None, "s/example/cell")


def test_without_a_run_it_says_how_to_get_one():
    refused = run("refused", state="refused", verified=0)
    with pytest.raises(SpecError, match=f"newest {RUNS} with anything verified: `make run`"):
        richest([refused])
    with pytest.raises(SpecError, match="refused has not ended with anything verified"):
        named([refused], "refused")


def test_what_has_nothing_to_show_is_named():
    assert [view for view, _ in Shown(run("one"), None, None).missing()] == ["compare", "history"]
    assert not list(Shown(run("one"), run("two"), "a/b").missing())
    assert not list(Shown(run("one", stores=["elasticsearch", "mongodb", "null"]), None, "a/b").missing())


def test_an_address_names_what_is_seen():
    shown = Shown(run("s/one"), run("s/two"), "a/b=c")
    assert "before=s%2Ftwo&after=s%2Fone" in shown.address("compare")
    alone = Shown(run("s/one"), None, None).address("compare")
    assert "before=s%2Fone&by=store%3Dmongodb%2Celasticsearch&after=s%2Fone" in alone
    assert "cell=a%2Fb%3Dc" in shown.address("history")
    assert "rank%3Arows=1000&rank%3Aseed=7" in shown.address("ranking")
    assert "view=backfill" in shown.address("backfill") and "dag=d" in shown.address("backfill")


def test_each_picture_has_a_file_of_its_own_and_the_documentation_shows_only_such():
    files = [name for picture in PICTURES for name in picture.files().values()]
    assert len(set(files)) == len(files) == 12
    docs = IMAGES.parent
    texts = [path.read_text() for path in (*docs.rglob("*.md"), docs.parent / "README.md")]
    used = {Path(name).name for name in IMAGES.iterdir() if any(name.name in text for text in texts)}
    assert {name for name in used if name.startswith("page-")} <= set(files)
