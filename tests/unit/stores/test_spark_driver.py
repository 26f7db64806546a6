"""The common part of Spark drivers."""

from types import SimpleNamespace

import pytest

from storebench.attempt.usage import sum_of
from storebench.stores.spark import SparkDriver


class Driver(SparkDriver):
    name = "driver"
    operations = ("work",)
    server_s = None

    def connect(self):
        pass

    def operate(self, attempt):
        return ""

    def drop(self):
        pass

    def server_cpu_s(self):
        return self.server_s


@pytest.mark.parametrize(
    ("cover", "server_s", "executors", "found"),
    [
        ("engine", None, {"m": 2.0}, {"m": 2.0}),
        ("client", None, {"m": 2.0}, None),  # or the server's work would be that of strangers
        ("client", 3.0, {"m": 2.0, "": 1.0}, {"m": 2.0, "": 4.0}),
        ("client", 3.0, None, None),  # an executor does not answer
    ],
)
def test_what_works_outside_the_pod_are_executors_and_servers(monkeypatch, cover, server_s, executors, found):
    monkeypatch.setattr(Driver, "figures_cover", cover)
    monkeypatch.setattr(Driver, "server_s", server_s)
    driver = Driver(client="reference", target="t", connection=None)
    assert driver.cpu_of_pods_s() == {}, "without executor pods"
    driver._monitor = SimpleNamespace(cpu_s=lambda: executors)
    assert driver.cpu_of_pods_s() == executors
    assert sum_of((driver.cpu_of_servers_s(), driver.cpu_of_pods_s())) == found
