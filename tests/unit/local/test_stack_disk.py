"""The uncached rate of the stack's disk, and Airflow's variable of it."""

from pathlib import Path

import pytest

from local.stack import disk, environment, render
from local.stack.settings import Settings
from storebench.attempt.disk import AIRFLOW_VARIABLE, Uncached
from storebench.errors import StoreRefused

VARIABLE = f"AIRFLOW_VAR_{AIRFLOW_VARIABLE.upper()}"


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Start the stack on a disk that reads so many MB per second, None for one that cannot be measured; returns what Airflow is told."""
    said = []

    def start(rate, own=()):
        if "kubernetes" in own:
            monkeypatch.setenv("KUBECONFIG", "/somewhere")
        settings = Settings(home=tmp_path, own=frozenset(own))
        for folder in (settings.run, settings.data):
            folder.mkdir(exist_ok=True)

        def measure(folder):
            if rate is None:
                raise StoreRefused("noatime")
            return Uncached(int(rate * 1e6), 16, 1.0)

        monkeypatch.setattr(disk.disk, "measure", measure)
        disk.measure(settings, said.append)
        return environment.build(settings, render.secrets(settings), {}).get(VARIABLE)

    start.said = said
    return start


def test_airflow_is_told_the_highest_rate_of_all_starts(start):
    assert [start(rate) for rate in (87.1, 180.6, 60)] == ["87.1", "180.6", "180.6"]


def test_a_disk_that_cannot_be_measured_is_not_known(start):
    assert start(None) is None
    assert start.said == ["cold reads are not compared with the disk: noatime"]


def test_of_a_cluster_of_ones_own_nothing_is_measured_here(start):
    assert start(87.1) == "87.1" and start(200, own=["kubernetes"]) is None


def test_each_start_measures_before_it_writes_the_environment():
    text = Path(disk.__file__).with_name("lifecycle.py").read_text()
    assert text.index("disk.measure(settings") < text.index("variables = render.write_environment")
