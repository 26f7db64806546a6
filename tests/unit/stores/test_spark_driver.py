"""What drivers of Spark share."""

from types import SimpleNamespace

import pytest

from storebench.stores.spark import SparkDriver


class Driver(SparkDriver):
    name = "driver"
    operations = ("work",)

    def connect(self):
        pass

    def operate(self, attempt):
        return ""

    def drop(self):
        pass


@pytest.mark.parametrize("executors", [{"m": 2.0, "": 1.0}, None])  # None: one does not answer
def test_the_pods_of_a_driver_are_its_executors(executors):
    driver = Driver(client="reference", target="t", connection=None)
    assert driver.cpu_of_pods_s() == {}, "without executor pods"
    driver._monitor = SimpleNamespace(cpu_s=lambda: executors)
    assert driver.cpu_of_pods_s() == executors
