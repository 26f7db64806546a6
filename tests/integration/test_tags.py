"""Tags of runs in the real database: recorded, changed, filtered, and in bundles."""

import pytest
from click.testing import CliRunner

from bench.scratch import scratch
from storebench.airflow.compat.api_server import get_user
from storebench.cli import main
from storebench.results.database.migrate import migrate
from storebench.results.database.queries import Queries
from storebench.results.database.repository import run_id_of
from storebench.results.export.bundle import Bundles
from storebench.results.leftovers.stopped import RunStates
from storebench.web.access import reading, run_states
from storebench.web.api import app
from storebench.web.reading import Reading
from tests.bulk import bulk_study
from tests.integration.recorded import STUDY


@pytest.fixture
def command(database, monkeypatch):
    """Run a command on the test's database, without Airflow."""
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", database)
    monkeypatch.delenv("STOREBENCH_AIRFLOW_URL", raising=False)

    def call(*arguments):
        result = CliRunner().invoke(main, [*arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    return call


def test_a_runs_tags_are_kept_changed_filtered_and_exported(
    database, queries, repository, run, cells, command, tmp_path
):
    tagged = run(cells, 1, asked={"a": 1, "tags": "release:1.2, nightly"})
    other = run(cells, 1)
    run_id = run_id_of(STUDY, tagged)
    recorded = queries.run_named(tagged)
    assert (recorded["tags"], recorded["params"]) == (["nightly", "release:1.2"], {"a": 1})

    told = command("tag", tagged, "+after", "-nightly", "-none")
    assert told == f"tags of {run_id}: after, release:1.2\n"
    listed = command("runs", "--tag", "release:1.2", "--tag", "after")
    assert tagged in listed and other not in listed and "after, release:1.2" in listed
    assert queries.runs(5, tags=["nightly"]) == []
    assert '"[""after"", ""release:1.2""]"' in command("results", "--run", tagged, "--format", "csv")
    assert {tuple(row["tags"]) for row in queries.results(run=tagged)} == {("after", "release:1.2")}
    with queries._cursor() as cursor:
        found = cursor.execute(f"SELECT run FROM storebench.{STUDY} WHERE 'after' = ANY(tags)").fetchall()
    assert {row["run"] for row in found} == {tagged}

    Bundles(database).export(run_id, tmp_path / "run.zip")
    with scratch(database) as copy:
        migrate(copy)
        Bundles(copy).load(tmp_path / "run.zip")
        assert Queries(copy).run_named(tagged)["tags"] == ["after", "release:1.2"]
    command("tag", tagged, "+here")
    Bundles(database).load(tmp_path / "run.zip")
    assert "here" in queries.run_named(tagged)["tags"]


def test_a_refused_run_keeps_its_tags(queries, repository):
    for name, tags, kept in (("manual__tags", "a,b", ["a", "b"]), ("manual__wrong_tags", "<a>", [])):
        repository.refuse_run(
            study=bulk_study(), dag_id=STUDY, airflow_run_id=name, requested={"tags": tags}, reason="no"
        )
        assert queries.run_named(name)["tags"] == kept


def test_the_api_lists_the_runs_with_all_given_tags(database, run, cells):
    from fastapi.testclient import TestClient

    both = run(cells, 1, asked={"tags": "api-a,api-b"})
    one = run(cells, 1, asked={"tags": "api-a"})
    app.dependency_overrides = {
        get_user: lambda: None,
        reading: lambda: Reading(database, [STUDY]),
        run_states: lambda: RunStates(lambda *_: "running", lambda *_: None, lambda: None),
    }
    try:
        client = TestClient(app)

        def listed(*tags):
            return [
                row["airflow_run_id"] for row in client.get("/api/runs", params={"tag": tags}).json()["items"]
            ]

        assert listed("api-a") == [one, both]
        assert listed("api-a", "api-b") == [both]
        assert client.get("/api/run", params={"run": both}).json()["tags"] == ["api-a", "api-b"]
    finally:
        app.dependency_overrides = {}
