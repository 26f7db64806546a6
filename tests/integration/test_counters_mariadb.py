"""The counters of a real MariaDB, read by the store of a study."""

from storebench.connection import Connection
from storebench.stores.column_scan.mariadb import Mariadb
from tests.integration.test_mariadb_login import folder, running

__all__ = ["folder"]

PASSWORD = "hunter2"


def test_mariadb_reports_rows_log_and_buffer_pool(folder):
    with running(folder, PASSWORD) as port:
        connection = Connection("mariadb", "127.0.0.1", port, "root", PASSWORD)
        store = Mariadb(client="reference", target="counted", connection=connection, operation="hot_sum")
        store.connect()
        store._ask("CREATE DATABASE counted")
        store._use()
        store._ask("CREATE TABLE t (id int) ENGINE=InnoDB")
        before = store.read_counters()
        assert before.keys() == {counter.name for counter in store.counters}
        store._ask("INSERT INTO t SELECT seq FROM seq_1_to_1000")
        store._ask("COMMIT")
        after = store.read_counters()
        grown = {name: after[name] - before[name] for name in before}
        assert grown["rows_written"] == 1_000
        assert min(grown[name] for name in ("log_bytes", "pool_requests", "statements", "sent_bytes")) > 0
        assert after["pool_bytes"] > 0
        store.close()
