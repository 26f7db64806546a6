"""How the counters of servers are taken from their reports, where no test has the real server."""

import deltalake
import pyarrow as pa
import pytest

from storebench.protocol.counters import Counter
from storebench.stores.counters import delta, elasticsearch, mariadb, mongodb
from storebench.stores.counters.report import taken
from storebench.stores.files import LocalFiles

TIME = Counter("merge_s", "s", "counter", "time")
SIZE = Counter("cache_bytes", "bytes", "gauge", "size")
PLACES = {TIME: ("new.total time (msecs)", "old.total_millis"), SIZE: "cache.bytes in the cache"}


def test_counters_are_sums_over_all_nodes_and_times_are_in_seconds():
    reports = [{"new": {"total time (msecs)": 1500}}, {"old": {"total_millis": 250}}]
    assert taken(PLACES, reports) == {"merge_s": 1.75}


def test_a_counter_that_one_node_does_not_report_is_unknown():
    report = {"cache": {"bytes in the cache": 5}}
    assert taken(PLACES, [report, report]) == {"cache_bytes": 10}
    assert taken(PLACES, [report, {}]) == {}
    assert taken(PLACES, []) == {}


@pytest.mark.parametrize("found", [True, "5", None, {"a": 1}])
def test_what_is_no_number_is_no_counter(found):
    assert taken(PLACES, [{"cache": {"bytes in the cache": found}}]) == {}


class Client:
    """A MongoDB client that gives one report."""

    def __init__(self, status):
        self.admin, self._status = self, status

    def command(self, name):
        assert name == "serverStatus"
        return self._status


def test_mongodb_reports_its_engine_in_the_words_of_its_version():
    transaction = {"transaction checkpoints": 4, "transaction checkpoint total time (msecs)": 900}
    checkpoint = {"total succeed number of checkpoints": 5, "total time (msecs)": 1000}
    seven, eight = ({"wiredTiger": {"transaction": transaction}}, {"wiredTiger": {"checkpoint": checkpoint}})
    assert mongodb.read(Client(seven)) == {"checkpoints": 4, "checkpoint_s": 0.9}
    assert mongodb.read(Client(eight)) == {"checkpoints": 5, "checkpoint_s": 1.0}


def test_a_command_that_ferretdb_has_not_seen_was_not_used():
    found = mongodb.read(Client({"metrics": {"commands": {"insert": {"total": 7, "failed": 0}}}}))
    assert (found["inserts"], found["finds"]) == (7, 0)


def test_the_size_of_an_index_in_elasticsearch_is_of_the_moment():
    late = {"store": {"size_in_bytes": 250}}
    assert taken(elasticsearch.INDEX, [late]) == {"store_bytes": 250}, "an earlier version"
    assert taken(elasticsearch.INDEX, [{**late, "docs": {"total_size_in_bytes": 7}}]) == {"store_bytes": 7}


def test_names_of_a_servers_counters_are_unique():
    for module in (elasticsearch, mariadb, mongodb):
        names = [counter.name for counter in module.COUNTERS]
        assert len(names) == len({*names})


def test_delta_lakes_table_is_counted_in_its_folder(tmp_path):
    files = LocalFiles(tmp_path)
    assert set(delta.read(files, "t").values()) == {0}, "before the first write"
    for n in range(3):
        deltalake.write_deltalake(tmp_path / "t", pa.table({"id": [n]}), mode="append")
    found = delta.read(files, "t")
    assert (found["data_files"], found["log_versions"]) == (3, 3)
    table = deltalake.DeltaTable(tmp_path / "t")
    listed = pa.table(table.get_add_actions(flatten=True))
    assert found["data_file_bytes"] == sum(listed["size_bytes"].to_pylist())
    table.create_checkpoint()
    assert delta.read(files, "t")["log_versions"] == 3, "a checkpoint is no version"
    assert delta.read(files, "t")["log_bytes"] > found["log_bytes"]
