"""Checks before a run starts any work: clear messages instead of failing pods."""

from __future__ import annotations

import os
import shutil

from airflow.configuration import conf

from storebench.airflow import connections
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
            f"{turns:,} turns (cells x repeats) are more than the {most:,} that this Airflow allows in a run: ask for less, or raise"
            " AIRFLOW__CORE__MAX_MAP_LENGTH for all of its parts"
        )


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
