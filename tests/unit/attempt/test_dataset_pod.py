"""The main program of the dataset's pod."""

import json

import pytest
from click.testing import CliRunner

from storebench.attempt import dataset
from storebench.attempt.dataset import DatasetSpec
from storebench.attempt.termination import VARIABLE as MESSAGE
from storebench.cli import main


@pytest.fixture
def dataset_pod(monkeypatch):
    """Return a function that runs a dataset's pod with a specification."""
    monkeypatch.setattr("storebench.attempt.dataset.raise_on_sigterm", lambda: None)
    monkeypatch.delenv("STOREBENCH_CONN_S3", raising=False)

    def told(program):
        monkeypatch.setenv("STOREBENCH_DATASET", DatasetSpec("b", "datasets/d/", 10, 1).to_json())
        return CliRunner().invoke(main, ["dataset", program])

    return told


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("storebench.dataset.upload:make", "STOREBENCH_CONN_S3 is not set"),
        ("storebench.dataset.nonesuch:make", "There is no dataset at 'storebench.dataset.nonesuch:make'"),
        ("storebench.dataset.upload:nonesuch", "There is no dataset at"),
        ("", "There is no dataset at ''"),
    ],
)
def test_a_dataset_that_cannot_be_made_is_refused(dataset_pod, program, words):
    result = dataset_pod(program)
    assert result.exit_code == 2 and words in result.output


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (None, "STOREBENCH_DATASET is not set"),
        ("{}", "is not a valid dataset"),
        ("[", "is not a valid dataset"),
    ],
)
def test_a_datasets_pod_that_is_told_nothing_of_use_says_so(monkeypatch, told, words):
    monkeypatch.setattr("storebench.attempt.dataset.raise_on_sigterm", lambda: None)
    monkeypatch.delenv("STOREBENCH_DATASET", raising=False)
    if told:
        monkeypatch.setenv("STOREBENCH_DATASET", told)
    result = CliRunner().invoke(main, ["dataset", "storebench.dataset.upload:make"])
    assert result.exit_code == 2 and words in result.output


def make(client, bucket, prefix, rows, seed, width):
    """Stand in for the function that makes a study's dataset."""
    print(f"{rows} rows of {width} into {bucket}/{prefix}")
    return {"rows": rows, "bytes": 5_000_000, "sum": 7}


def test_the_manifest_is_what_the_pod_leaves(monkeypatch, tmp_path):
    found = made(monkeypatch, tmp_path, seed=1)
    assert found.exit_code == 0, found.output
    manifest = json.loads((tmp_path / "message").read_text())
    assert manifest == {"rows": 10, "bytes": 5_000_000, "sum": 7}
    progress, said = found.output.splitlines()
    assert progress == "10 rows of 3 into b/datasets/d/" and said.startswith("datasets/d/ is there after ")


def made(monkeypatch, tmp_path, seed):
    monkeypatch.setattr(dataset, "raise_on_sigterm", lambda: None)
    monkeypatch.setattr(dataset, "client_for", lambda connection: None)
    monkeypatch.setenv("STOREBENCH_CONN_S3", "{}")
    monkeypatch.setenv(MESSAGE, str(tmp_path / "message"))
    spec = DatasetSpec("b", "datasets/d/", 10, seed, {"width": "3"})
    monkeypatch.setenv("STOREBENCH_DATASET", spec.to_json())
    return CliRunner().invoke(main, ["dataset", f"{__name__}:make"])
