"""MariaDB: the server's `SHOW GLOBAL STATUS`."""

from __future__ import annotations

from collections.abc import Iterable

from storebench.protocol.counters import Counter
from storebench.stores.counters.report import Places, taken

STATEMENT = "SHOW GLOBAL STATUS"
PLACES: Places = {
    Counter("statements", "", "counter", "statements of clients"): "Questions",
    Counter("rows_read", "", "counter", "rows that statements read"): "Rows_read",
    Counter("rows_written", "", "counter", "rows that were inserted"): "Handler_write",
    Counter("index_steps", "", "counter", "steps to the next row of an index"): "Handler_read_next",
    Counter("scan_steps", "", "counter", "steps to the next row of a table"): "Handler_read_rnd_next",
    Counter("temp_tables_on_disk", "", "counter", "temporary tables on disk"): "Created_tmp_disk_tables",
    Counter(
        "sort_merges", "", "counter", "merges of sorts that did not fit into memory"
    ): "Sort_merge_passes",
    Counter("received_bytes", "bytes", "counter", "bytes from clients"): "Bytes_received",
    Counter("sent_bytes", "bytes", "counter", "bytes to clients"): "Bytes_sent",
    Counter(
        "pool_requests", "", "counter", "reads of pages from the buffer pool"
    ): "Innodb_buffer_pool_read_requests",
    Counter(
        "pool_misses", "", "counter", "reads of pages that were not in the buffer pool"
    ): "Innodb_buffer_pool_reads",
    Counter(
        "pool_waits", "", "counter", "waits for a free page of the buffer pool"
    ): "Innodb_buffer_pool_wait_free",
    Counter("data_read_bytes", "bytes", "counter", "bytes that InnoDB read from files"): "Innodb_data_read",
    Counter(
        "data_written_bytes", "bytes", "counter", "bytes that InnoDB wrote to files"
    ): "Innodb_data_written",
    Counter("data_syncs", "", "counter", "syncs of InnoDB's files"): "Innodb_data_fsyncs",
    Counter("log_bytes", "bytes", "counter", "bytes of the redo log"): "Innodb_os_log_written",
    Counter("log_waits", "", "counter", "waits because the log's buffer was too small"): "Innodb_log_waits",
    Counter(
        "pages_written", "", "counter", "pages of the buffer pool that were written"
    ): "Innodb_buffer_pool_pages_flushed",
    Counter("lock_waits", "", "counter", "waits for row locks"): "Innodb_row_lock_waits",
    Counter("lock_wait_s", "s", "counter", "time of the waits for row locks"): "Innodb_row_lock_time",
    Counter("pool_bytes", "bytes", "gauge", "data in the buffer pool"): "Innodb_buffer_pool_bytes_data",
    Counter(
        "dirty_bytes", "bytes", "gauge", "changed data in the buffer pool"
    ): "Innodb_buffer_pool_bytes_dirty",
    Counter(
        "checkpoint_age_bytes", "bytes", "gauge", "redo log since the last checkpoint"
    ): "Innodb_checkpoint_age",
}
COUNTERS = tuple(PLACES)


def read(rows: Iterable[tuple[str, str]]) -> dict[str, float]:
    """Return the counters of the rows that STATEMENT gives."""
    return taken(PLACES, [{name: float(value) for name, value in rows if value.isdecimal()}])
