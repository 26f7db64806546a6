"""Delta Lake: the files of the store's table, listed in its file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from storebench.protocol.counters import Counter

if TYPE_CHECKING:
    from storebench.stores.files import Files

LOG = "_delta_log"
COUNTERS = (
    Counter(
        "data_files",
        "",
        "gauge",
        "Parquet files in the table's folder, including files that the newest version does not use",
    ),
    Counter("data_file_bytes", "bytes", "gauge", "size of these files, without copies"),
    Counter("log_versions", "", "gauge", "versions in the table's log"),
    Counter("log_bytes", "bytes", "gauge", "size of the log with its checkpoints"),
)


def read(files: Files, table: str) -> dict[str, float]:
    """Return the counters of the folder `table`; zeros if it does not exist. Raises a StorebenchError if the folder cannot be listed."""
    data = {name: size for name, size in (files.entries(table) or {}).items() if name.endswith(".parquet")}
    log = files.entries(f"{table}/{LOG}") or {}
    return {
        "data_files": len(data),
        "data_file_bytes": sum(data.values()),
        "log_versions": sum(name.endswith(".json") and name[:1].isdigit() for name in log),
        "log_bytes": sum(log.values()),
    }
