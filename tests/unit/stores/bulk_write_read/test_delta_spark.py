from unittest.mock import MagicMock

from storebench.spark.options import OPTIONS
from storebench.stores.bulk_write_read.delta_spark import DeltaSpark


def test_the_server_is_the_same_whatever_the_axes_and_parameters_say():
    spark = MagicMock(version="4.2")
    described = []
    for executors, memory in ((1, "1g"), (2, "2g")):
        values = {**dict.fromkeys(OPTIONS, memory), "executors": str(executors)}
        store = DeltaSpark(client="reference", target="t", connection=None, source=None, values=values)
        store._session, store._executors = spark, executors
        described.append(store.describe())
    assert described[0] == described[1]
