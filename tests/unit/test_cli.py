import pytest
from click.testing import CliRunner

from storebench.cli import main
from storebench.errors import StoreUnreachable


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_has_help(command):
    result = CliRunner().invoke(main, [command, "--help"])
    assert result.exit_code == 0 and "Usage:" in result.output


@pytest.mark.parametrize(
    "arguments",
    [["results"], ["run"], ["migrate"], ["runs"], ["grid"], ["compare", "a", "b"], ["export", "latest"]],
)
def test_a_command_without_its_servers_says_how_to_name_them(arguments, monkeypatch, tmp_path):
    monkeypatch.setenv("STOREBENCH_HOME", str(tmp_path))
    for name in ("AIRFLOW_CONN_STOREBENCH_RESULTS", "STOREBENCH_AIRFLOW_URL"):
        monkeypatch.delenv(name, raising=False)
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "is not set" in result.output and f"{tmp_path}/run/env" in result.output


def test_a_dataset_without_a_connection_is_refused(monkeypatch):
    monkeypatch.delenv("STOREBENCH_CONN_S3", raising=False)
    result = CliRunner().invoke(main, ["dataset", "--rows", "10"])
    assert result.exit_code == 2 and "STOREBENCH_CONN_S3 is not set" in result.output


def test_a_baseline_that_compare_could_not_name_is_refused():
    result = CliRunner().invoke(main, ["baseline", "a,b", "latest"])
    assert result.exit_code == 2 and "'a,b' cannot be a baseline's name" in result.output


@pytest.fixture
def stopped_run(monkeypatch):
    """A results database with a run that goes on there and has failed in Airflow, and what was closed."""
    from storebench.grid import Cell
    from storebench.results import left, prune, repository, stopped, summary, table
    from storebench.results.left import Undropped

    run = {"id": "d/r", "dag_id": "d", "airflow_run_id": "r", "airflow_id": "this"}
    cell = Cell("d", "mongodb", "reference", (), 1000, 42)
    closed = []
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    for name in ("URL", "USER", "PASSWORD"):
        monkeypatch.setenv(f"STOREBENCH_AIRFLOW_{name}", "http://nowhere")
    monkeypatch.setattr("storebench.trigger.Airflow.variable", lambda self, name: "this")
    monkeypatch.setattr(repository.Repository, "open_runs", lambda self: [] if closed else [run])
    monkeypatch.setattr(repository.Repository, "runs", lambda self, limit: [])
    monkeypatch.setattr(left.Left, "undropped", lambda self: [Undropped("d/r", "d", "r", cell, 1, "")])
    monkeypatch.setattr(stopped, "close", lambda repository, run, state: closed.append(run["id"]) or 3)
    monkeypatch.setattr(prune.Pruning, "old", lambda self, before: (0, 0))
    monkeypatch.setattr(prune.Pruning, "remove", lambda self, before: [])
    monkeypatch.setattr(summary, "refresh", lambda repository, keys: None)
    monkeypatch.setattr(table, "runs_table", lambda rows: "the table")
    return closed


LEFT = "r has left data in mongodb (1 of its turns): the next run removes it"


@pytest.mark.parametrize("command", [["runs"], ["prune", "--older-than", "90"]])
def test_a_run_that_was_stopped_and_what_it_left_are_told(stopped_run, monkeypatch, command):
    monkeypatch.setattr("storebench.trigger.Airflow.run_state", lambda self, dag_id, run_id: "failed")
    result = CliRunner().invoke(main, command)
    assert "r does not go on: it is marked as failed in Airflow" in result.output
    assert LEFT in result.output and stopped_run == []


def test_prune_closes_a_run_that_was_stopped(stopped_run, monkeypatch):
    monkeypatch.setattr("storebench.trigger.Airflow.run_state", lambda self, dag_id, run_id: None)
    result = CliRunner().invoke(main, ["prune", "--older-than", "90", "--yes"])
    assert "closed r, deleted from Airflow: 3 operations were not run" in result.output
    assert LEFT in result.output and stopped_run == ["d/r"]


def test_a_run_that_goes_on_has_left_nothing(stopped_run, monkeypatch):
    monkeypatch.setattr("storebench.trigger.Airflow.run_state", lambda self, dag_id, run_id: "running")
    assert CliRunner().invoke(main, ["runs"]).output.strip() == "the table"


def test_runs_are_listed_where_airflow_does_not_answer(stopped_run, monkeypatch):
    def away(self, dag_id, run_id):
        raise StoreUnreachable("Airflow at http://nowhere does not answer")

    monkeypatch.setattr("storebench.trigger.Airflow.run_state", away)
    result = CliRunner().invoke(main, ["runs"])
    assert result.exit_code == 0 and "whether runs go on is not known: Airflow at" in result.output


@pytest.mark.parametrize(
    "arguments", [["compare", "a", "b", "--fail-over", "5"], ["plan-repeats", "a", "--difference", "5"]]
)
def test_a_difference_within_the_margin_is_refused(arguments, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and "5 % does not count with a margin of 5 %" in result.output
    assert CliRunner().invoke(main, [*arguments, "--margin", "2"]).exit_code != 2
