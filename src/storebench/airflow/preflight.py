"""Checks before a run starts any work: clear messages instead of failing pods."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterable, Sequence

from airflow.configuration import conf

from storebench import stores
from storebench.airflow import connections, images
from storebench.dataset.generate import ESTIMATED_ROW_BYTES
from storebench.errors import SpecError
from storebench.s3 import check_bucket

# The CSV, and room for a store's copy with its indexes and journals.
DISK_FACTOR = 4


def check(rows: int) -> None:
    """Raises a StorebenchError where the run cannot work: S3 that does not answer, rows over what the disk holds."""
    check_disk(rows)
    check_bucket(connections.s3(), connections.bucket())


def check_length(turns: int) -> None:
    """Refuse more turns than Airflow makes tasks for, which it would only say when it makes them."""
    most = conf.getint("core", "max_map_length")
    if turns > most:
        raise SpecError(
            f"This run has {turns:,} turns (cells x repeats), and this Airflow allows {most:,} in a run. Ask for fewer, or raise"
            " AIRFLOW__CORE__MAX_MAP_LENGTH for all parts of Airflow"
        )


def check_embedded(names: Iterable[str]) -> None:
    """Refuse stores for which the embedded stack has not built an image or started a server yet; elsewhere there is nothing to check."""
    embedded = os.environ.get("STOREBENCH_EMBEDDED", "").split()
    if lacking := sorted(name for name in set(names) if _lacks(name, embedded)):
        raise SpecError(
            f"The embedded stack does not run what {' and '.join(lacking)} needs. It stops servers that no run has needed for a while."
            f" `make up STORES={','.join(lacking)}` builds and starts it. Then start the run again"
        )


def _lacks(store: str, embedded: Sequence[str]) -> bool:
    if "kubernetes" in embedded and images.named(stores.load(store).image) is None:
        return True
    # The S3 that has the datasets is always there, and is asked for its bucket.
    server = stores.connection(store) if stores.has_server(store) else None
    return server is not None and server in embedded and not _listens(server)


def _listens(server: str) -> bool:
    connection = connections.get(server)
    try:
        socket.create_connection((connection.host, connection.port), timeout=5).close()
    except OSError:
        return False
    return True


def check_disk(rows: int) -> None:
    """Where the stores' disk is known (STOREBENCH_DISK_PATH, as in the embedded stack), refuse what it cannot hold."""
    path = os.environ.get("STOREBENCH_DISK_PATH")
    if not path:
        return
    needed, free = rows * ESTIMATED_ROW_BYTES * DISK_FACTOR, shutil.disk_usage(path).free
    if needed > free:
        raise SpecError(
            f"{rows:,} rows need about {needed / 1e9:,.0f} GB of disk (the CSV and a store's copy),"
            f" but {path} has {free / 1e9:,.0f} GB free. At most {free // (ESTIMATED_ROW_BYTES * DISK_FACTOR):,} rows fit"
        )
