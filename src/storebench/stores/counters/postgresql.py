"""PostgreSQL: the statistics of the store's database and table, and of the server's log and checkpoints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from storebench.protocol.counters import Counter

if TYPE_CHECKING:
    import psycopg

# A session keeps its figures back for up to 10 s. This sends them when the statement ends.
FLUSH = "SELECT pg_stat_force_next_flush()"
CHECKPOINTER_FROM = 17_00_00

DATABASE = {
    "commits": ("xact_commit", "transactions that were committed"),
    "rollbacks": ("xact_rollback", "transactions that were rolled back"),
    "blocks_hit": ("blks_hit", "blocks that were in the shared buffers"),
    "blocks_read": (
        "blks_read",
        "blocks that were not in the shared buffers, and came from the kernel or from disk",
    ),
    "tuples_returned": ("tup_returned", "rows that scans have read"),
    "tuples_fetched": ("tup_fetched", "rows that index scans have fetched"),
    "tuples_inserted": ("tup_inserted", "rows that were inserted"),
    "tuples_updated": ("tup_updated", "rows that were updated"),
    "tuples_deleted": ("tup_deleted", "rows that were deleted"),
    "temp_files": ("temp_files", "temporary files of sorts, hashes and large results"),
    "temp_bytes": ("temp_bytes", "bytes written to temporary files"),
}
LOG = {
    "wal_records": ("wal_records", "records of the write-ahead log"),
    "wal_page_images": ("wal_fpi", "full pages in the write-ahead log"),
    "wal_bytes": ("wal_bytes", "bytes of the write-ahead log"),
    "wal_buffers_full": ("wal_buffers_full", "writes of the log because its buffers were full"),
}
CHECKPOINTS = {
    "checkpoints_timed": ("num_timed", "checkpoints because of the time"),
    "checkpoints_requested": ("num_requested", "checkpoints because of max_wal_size, or on request"),
    "checkpoint_write_s": ("write_time / 1000", "time in which checkpoints wrote blocks"),
    "checkpoint_sync_s": ("sync_time / 1000", "time in which checkpoints synced files"),
    "checkpoint_blocks": ("buffers_written", "blocks that checkpoints wrote"),
}
# The columns of pg_stat_bgwriter before version 17 in place of the columns of pg_stat_checkpointer.
EARLIER = {
    "num_timed": "checkpoints_timed",
    "num_requested": "checkpoints_req",
    "write_time": "checkpoint_write_time",
    "sync_time": "checkpoint_sync_time",
    "buffers_written": "buffers_checkpoint",
}
WRITER = {
    "writer_blocks": ("buffers_clean", "blocks that the background writer wrote"),
    "blocks_allocated": ("buffers_alloc", "shared buffers that were filled with another block"),
}
TABLE = {
    "autovacuums": ("autovacuum_count", "automatic vacuums of the store's table"),
    "autoanalyzes": ("autoanalyze_count", "automatic analyses of the store's table"),
}
DEAD = Counter("dead_tuples", "", "gauge", "estimated dead rows of the store's table")


def _declared() -> Iterator[Counter]:
    for group in (DATABASE, LOG, CHECKPOINTS, WRITER, TABLE):
        for name, (_, text) in group.items():
            unit: Any = "bytes" if name.endswith("_bytes") else "s" if name.endswith("_s") else ""
            yield Counter(name, unit, "counter", text)
    yield DEAD


COUNTERS = tuple(_declared())


def flushes(session: psycopg.Connection) -> bool:
    """Return whether the server knows FLUSH. Earlier versions send the figures at once."""
    return session.info.server_version >= 15_00_00


def read(session: psycopg.Connection, table: str) -> dict[str, float | str]:
    """Read the counters. `session`: commits each statement. A view that the login may not read, or the version lacks, gives its reason."""
    version = session.info.server_version
    if flushes(session):
        session.execute(FLUSH)
    checkpoints = dict(CHECKPOINTS)
    if version < CHECKPOINTER_FROM:
        for name, (column, text) in CHECKPOINTS.items():
            first, _, more = column.partition(" ")
            checkpoints[name] = (f"{EARLIER[first]} {more}", text)
    checkpointer = "pg_stat_checkpointer" if version >= CHECKPOINTER_FROM else "pg_stat_bgwriter"
    return {
        **_asked(session, DATABASE, "pg_stat_database WHERE datname = current_database()"),
        **_asked(session, LOG, "pg_stat_wal"),
        **_asked(session, checkpoints, checkpointer),
        **_asked(session, WRITER, "pg_stat_bgwriter"),
        **_asked(
            session,
            {**TABLE, DEAD.name: ("n_dead_tup", DEAD.text)},
            "pg_stat_user_tables WHERE relid = to_regclass(quote_ident(%s))",
            table,
        ),
    }


def _asked(
    session: psycopg.Connection, columns: dict[str, tuple[str, str]], source: str, *values: str
) -> dict[str, float | str]:
    """Return the counters of a row of `source`, or the server's refusal for each counter. A null is no counter."""
    import psycopg

    chosen = ", ".join(f"({column})::double precision" for column, _ in columns.values())
    try:
        row = session.execute(f"SELECT {chosen} FROM {source}".encode(), values or None).fetchone()
    except psycopg.Error as error:
        if session.broken:
            raise
        return dict.fromkeys(columns, f"PostgreSQL refused: {' '.join(str(error).split())}")
    found = zip(columns, row, strict=True) if row else ()
    return {name: value for name, value in found if value is not None}
