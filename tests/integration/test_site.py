"""A static site of the real database: its pages, its data, and a rewrite."""

import csv
import json
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from pyarrow import parquet

from bench.scratch import scratch
from storebench.answers import figures
from storebench.errors import SpecError
from storebench.results.database.migrate import migrate
from storebench.results.database.repository import Repository, run_id_of
from storebench.results.ranking.choice import Question
from storebench.results.ranking.rank import ranking_of
from storebench.results.runs.prune import Pruning
from storebench.results.runs.summary import refresh
from storebench.web import report
from storebench.web.reading import Reading
from storebench.web.site import write_site
from tests.integration.conftest import required
from tests.integration.recorded import STUDY

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
BAD = "</script><script>alert(1)</script>"


@pytest.fixture
def database():
    """Yield an empty database, since a site shows all results."""
    with scratch(required("AIRFLOW_CONN_STOREBENCH_RESULTS")) as uri:
        migrate(uri)
        yield uri


@pytest.fixture(autouse=True)
def front_end(monkeypatch, tmp_path):
    """Replace the built front end, of which the tests only use the path."""
    script = tmp_path / "built.js"
    script.write_text("draw()")
    monkeypatch.setattr(report, "SCRIPT", script)


def content(path):
    text = path.read_text()
    assert text.count("</script>") == 2
    return json.loads(text.partition('id="content">')[2].partition("</script>")[0])


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_site_has_a_page_for_each_run_and_all_data_beside_them(database, run, cells, tmp_path):
    names = [
        run(cells, 3),
        run(cells, 2, figures=lambda cell, operation: {"durability": "disk", "durability_stated": BAD}),
    ]
    refresh(Repository(database), [cell.key for cell in cells])
    folder = tmp_path / "new" / "site"
    lines = list(write_site(database, folder))
    assert lines == [f"{STUDY}: 2 runs, 20 attempts", str(folder / "index.html")]

    index = content(folder / "index.html")["site"]
    assert [one["id"] for one in index["runs"]] == [run_id_of(STUDY, name) for name in names[::-1]]
    (study,) = index["studies"]
    assert (study["name"], study["rows"]["attempts"]) == (STUDY, 20)
    for one, repeats in zip(index["runs"], (2, 3), strict=True):
        page = content(folder / one["page"])
        assert page["run"]["id"] == one["id"]
        assert (folder / one["page"]).parent.joinpath(page["home"]).resolve() == folder / "index.html"
        assert len(page["turns"]) == 2 * repeats
        script = (folder / one["page"]).read_text().rpartition('<script src="')[2].partition('"')[0]
        assert (folder / one["page"]).parent.joinpath(script).read_text() == "draw()"
    assert BAD not in (folder / index["runs"][0]["page"]).read_text()

    # the overview ranks each operation once
    overview = study["overview"]
    assert overview["study"]["name"] == STUDY
    assert [one["operation"] for one in overview["rankings"]] == ["write", "read"]

    page = content(folder / study["rankings"])
    assert (folder / study["rankings"]).parent.joinpath(page["home"]).resolve() == folder / "index.html"
    assert page["study"]["name"] == STUDY
    assert [one["operation"] for one in page["rankings"]] == ["write", "read"]
    for one in page["rankings"]:
        # what is not chosen is what most cells were measured at
        batch = one["axes"]["batch"]
        ranked = {line["cell_key"] for line in (*one["ranked"], *one["excluded"])}
        assert ranked == {cell.key for cell in cells if cell.value("batch") == batch} != set()

    table = parquet.read_table(folder / "data" / STUDY / "attempts.parquet")
    rows = list(csv.DictReader((folder / "data" / STUDY / "attempts.csv").open(newline="")))
    assert table.num_rows == len(rows) == 20 and table.column_names == list(rows[0])
    with psycopg.connect(database) as connection:
        asked = (
            f"SELECT attempt_id, value, recorded_at, rows, warm_up, axes, executors FROM storebench.{STUDY}"
        )
        known = {str(row[0]): row[1:] for row in connection.execute(asked)}
    for one, line in zip(table.to_pylist(), rows, strict=True):
        value, recorded_at, size, warm_up, axes, executors = known[one["attempt_id"]]
        assert (one["value"], one["recorded_at"], one["rows"]) == (value, recorded_at, size)
        assert (one["warm_up"], json.loads(one["axes"]), one["executors"]) == (warm_up, axes, executors)
        assert (line["attempt_id"], float(line["value"]), int(line["rows"])) == (
            one["attempt_id"],
            value,
            size,
        )
        assert line["error"] == "" and one["error"] is None
    assert parquet.read_table(folder / "data" / "runs.parquet").column("id").to_pylist() == [
        one["id"] for one in index["runs"]
    ]
    assert (
        parquet.read_table(folder / "data" / STUDY / "summary.parquet").num_rows
        == study["rows"]["summary"]
        > 0
    )


def test_a_site_that_is_there_is_written_anew_and_what_is_not_its_own_stays(database, run, cells, tmp_path):
    names = [run(cells, 1), run(cells, 1)]
    folder = tmp_path / "site"
    list(write_site(database, folder))
    (folder / "CNAME").write_text("example.org")
    before = files(folder)
    list(write_site(database, folder))
    assert files(folder) == before
    with psycopg.connect(database) as connection:
        gone = run_id_of(STUDY, names[0])
        connection.execute("UPDATE storebench.run SET started_at = %s WHERE id = %s", [LONG_AGO, gone])
        connection.execute("DELETE FROM storebench.undropped")
    Pruning(database).remove(LONG_AGO + timedelta(days=1))
    list(write_site(database, folder))
    assert before - files(folder) == {f"runs/{STUDY}/{names[0]}.html"}
    assert (folder / "CNAME").read_text() == "example.org"
    assert [one["id"] for one in content(folder / "index.html")["site"]["runs"]] == [
        run_id_of(STUDY, names[1])
    ]


def test_a_run_that_was_refused_is_told_and_has_no_page(database, run, cells, tmp_path):
    run(cells, 1)
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, params, datasets, method_version, code_version, state, reason)"
            " SELECT id || '-2', study, dag_id, airflow_run_id || '-2', params, datasets, method_version, code_version, 'refused', 'too many'"
            " FROM storebench.run"
        )
    list(write_site(database, tmp_path / "site"))
    refused, page = content(tmp_path / "site" / "index.html")["site"]["runs"][0], files(tmp_path / "site")
    assert (refused["state"], refused["reason"], refused["page"]) == ("refused", "too many", None)
    assert len([name for name in page if name.startswith("runs/")]) == 1


def test_without_results_there_is_no_site(database, tmp_path):
    with pytest.raises(SpecError, match="There are no results yet"):
        list(write_site(database, tmp_path / "site"))
    assert not (tmp_path / "site").exists()


def test_a_value_that_no_version_knows_breaks_neither_the_site_nor_what_reads_the_study(
    database, run, cells, tmp_path
):
    """An earlier version, which did not check the file of a study, has recorded the value."""
    name = run(cells, 6)
    with psycopg.connect(database) as connection:
        connection.execute(
            "UPDATE storebench.study SET details = jsonb_set(jsonb_set(details, '{metrics,0,better}', '\"hihger\"'),"
            " '{metrics,1,kind}', '\"histgram\"')"
        )
    queries = Reading(database, [STUDY])
    first, second, *_ = figures.study_answer(queries, STUDY).metrics
    assert (first.name, first.better, second.kind) == ("write_s", "neither", "scalar")
    ranked = queries.ranked(queries.results(run=name))
    assert {row["metric"]: row["better"] for row in ranked} == {"write_s": "neither", "only_s": "lower"}
    assert ranking_of(queries, Question(STUDY, "read")).lines
    with pytest.raises(SpecError, match="write_s"):
        ranking_of(queries, Question(STUDY, "write", metric="write_s"))
    assert list(write_site(database, tmp_path / "site"))[0] == f"{STUDY}: 1 runs, 24 attempts"


def test_a_study_whose_records_cannot_be_read_is_excluded_and_all_others_have_their_pages(
    database, run, cells, tmp_path
):
    run(cells, 1)
    columns = "params, datasets, method_version, code_version, state"
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO storebench.study (name, operations, details)"
            ' SELECT \'broken\', operations, details || \'{"name": "broken", "title": 5}\' FROM storebench.study'
        )
        connection.execute(
            f"INSERT INTO storebench.run (id, study, dag_id, airflow_run_id, {columns})"
            f" SELECT 'broken/1', 'broken', 'broken', '1', {columns} FROM storebench.run"
        )
    folder, lines = tmp_path / "site", []
    with pytest.raises(SpecError, match="written without broken: the lines above say why"):
        lines.extend(write_site(database, folder))
    assert lines == [
        (
            "broken: excluded: The record of the study 'broken' cannot be read: title: Input should be a valid string."
            " Another version of Storebench may have written the record"
        ),
        f"{STUDY}: 1 runs, 4 attempts",
        str(folder / "index.html"),
    ]
    site = content(folder / "index.html")["site"]
    assert [one["name"] for one in site["studies"]] == [STUDY]
    assert [bool(one["page"]) for one in site["runs"]] == [False, True]
    assert not [name for name in files(folder) if "broken" in name]
