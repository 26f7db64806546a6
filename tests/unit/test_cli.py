import pytest
from click.testing import CliRunner

from storebench.cli import main


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


@pytest.mark.parametrize(
    "arguments", [["compare", "a", "b", "--fail-over", "5"], ["plan-repeats", "a", "--difference", "5"]]
)
def test_a_difference_within_the_margin_is_refused(arguments, monkeypatch):
    monkeypatch.setenv("AIRFLOW_CONN_STOREBENCH_RESULTS", "postgresql://nowhere")
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2 and "5 % does not count with a margin of 5 %" in result.output
    assert CliRunner().invoke(main, [*arguments, "--margin", "2"]).exit_code != 2
