"""Compute the free disk space that a set-up needs: the files of its steps in STOREBENCH_HOME, and space to build and to run.

Only Python's own library is used, as in local/progress.py.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

GB = 1024**3
# GB that a step keeps, measured with du. An image counts with its own layers in buildah's store, including the layers of its build stages.
# The nodes of the cluster link them. The layers of Debian count for base-image.
KEPT_GB = {
    "base-image": 0.2,
    "elasticsearch": 0.2,
    "kubernetes": 0.4,  # the release: compiled programs share 0.2
    "page": 0.3,
    "postgres": 0.5,
    "python": 2.0,
    "image-chdb": 1.0,
    "image-columns": 0.4,
    "image-formats": 0.4,
    "image-iceberg": 0.5,
    "image-iceberg-spark": 1.7,
    "image-jvm": 1.7,
    "image-load": 0.2,
    "image-python": 0.5,
    "image-servers-agent": 0.5,
    "image-servers-api": 0.1,
    "image-servers-cassandra": 0.7,
    "image-servers-elasticsearch": 0.7,
    "image-servers-hdfs": 0.5,
    "image-servers-mariadb": 0.1,
    "image-servers-mongodb": 1.3,
    "image-servers-postgresql": 0.9,
    "image-servers-zeo": 0.1,
    "image-wendelin": 1.1,
}
IMAGE_GB = 1.5  # an image without a measurement
STEP_GB = 0.1  # any other step
# The compilation of Kubernetes uses this space, and frees it before the stack starts. Then the stack needs it for data, logs and volumes.
ROOM_GB = 5


def kept_gb(step: str) -> float:
    """Return the GB that a step keeps."""
    return KEPT_GB.get(step, IMAGE_GB if step.startswith("image-") else STEP_GB)


def needed_gb(new: Iterable[str]) -> float:
    """Return the GB that must be free for these steps, which this home has never built; 0 without steps."""
    kept = [kept_gb(step) for step in new]
    return (
        round(sum(kept), 1) + ROOM_GB if kept else 0.0
    )  # rounded, since a sum of floats depends on its order


def free_gb(home: Path) -> float:
    """Return the GB that are free on the home's disk, also before the home is made."""
    there = next(path for path in (home, *home.parents) if path.exists())
    return shutil.disk_usage(there).free / GB


def refusal(what: str, new: Iterable[str], home: Path) -> str | None:
    """Return why `what` must not begin with these steps, which this home has never built; None if there is room."""
    new = sorted(new, key=kept_gb, reverse=True)
    needed, free = needed_gb(new), free_gb(home)
    if needed <= free:
        return None
    largest = ", ".join(f"{step} {kept_gb(step):.1f}" for step in new[:5])
    return (
        f"{what} needs {needed:.1f} GB of free disk, and {home} has {free:.1f} GB: {needed - ROOM_GB:.1f} GB stay"
        f" ({largest}{', and others' if len(new) > 5 else ''}), and {ROOM_GB} GB are room to build and to run. Free some space, or give"
        " the stack a folder on another disk: STOREBENCH_HOME=..."
    )
