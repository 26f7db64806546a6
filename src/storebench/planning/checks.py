"""Check whether the stores, a disk and Airflow can perform a run. No check contacts a server."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from storebench.errors import SpecError
from storebench.servers.capacity import GIB
from storebench.study.cell import Cell
from storebench.study.model import Study
from storebench.study.reserved import PODS
from storebench.study.run_params import RunParams

# The environment variable with the parts of the embedded stack that this process can use, separated by spaces.
EMBEDDED = "STOREBENCH_EMBEDDED"
COMPOSE = "compose"  # in that variable: the cluster of Docker Compose, which no run starts
# The disk space that a run needs, divided by the dataset's size: the dataset, and a store's copy with indexes and journals.
DISK_FACTOR = 4
# Airflow's scheduler is fast with 1,000 turns in a run and slow with 10,000 (measured by bench/grid.py).
MANY_TURNS = 2_000


def embedded_parts() -> frozenset[str]:
    """Return the names of the embedded stack's parts, such as `mongodb`; empty outside of the embedded stack."""
    return frozenset(os.environ.get(EMBEDDED, "").split())


def has_embedded_cluster() -> bool:
    """Return whether pods run on the cluster of the embedded stack, which is one machine."""
    return "kubernetes" in embedded_parts()


def on_one_machine() -> bool:
    """Return whether pods run on a cluster that is one machine: the embedded stack's, or Docker Compose's."""
    return has_embedded_cluster() or COMPOSE in embedded_parts()


def not_addressed(study: Study, cells: Iterable[Cell], bucket: str) -> dict[Cell, str]:
    """Return the cells whose store or filling store cannot address the bucket of the dataset, with the reasons."""
    reasons = {}
    for cell in cells:
        for name in study.with_fillers([cell.store]):
            if reason := study.store(name).cannot_address(bucket):
                reasons[cell] = f"{name} cannot use the bucket {bucket!r}: {reason}"
                break
    return reasons


def not_held(study: Study, cells: Iterable[Cell], manifest: Mapping[str, Any]) -> dict[Cell, str]:
    """Return the cells that cannot use the file's data, with the reasons: the store or its filling store cannot hold the data, or the
    client cannot read the data back.
    """
    reasons = {}
    for cell in cells:
        for name in study.with_fillers([cell.store]):
            if reason := study.store(name).cannot_hold(manifest):
                reasons[cell] = f"{name} cannot hold this dataset: {reason}"
                break
        else:
            if reason := study.store(cell.store).cannot_give_back(manifest, cell.client):
                reasons[cell] = (
                    f"{cell.store} cannot give this dataset back to its client {cell.client}: {reason}"
                )
    return reasons


def text_of_several_pods(study: Study, cells: Collection[Cell], params: RunParams) -> str:
    """Return what the nodes must have for operations that several pods do together; empty if each operation has one pod."""
    pods_of_cells = [int(study.values_of(cell).get(PODS, "1")) for cell in cells]
    most, divided = max(pods_of_cells, default=1), sum(pods > 1 for pods in pods_of_cells)
    if most == 1:
        return ""
    return (
        f"{divided:,} of {len(cells):,} cells divide operations among up to {most} pods. All pods of an operation run at the same time, so the"
        f" nodes need {most} x {params['pod_cpu']} CPU and {most} x {params['pod_memory']} memory"
    )


def text_of_length(turns: int) -> str:
    """Return a warning of a run with more than MANY_TURNS turns; empty for fewer turns.

    Airflow's scheduler loads all tasks of the run, each with the run's parameters, before it starts the next task.
    """
    if turns <= MANY_TURNS:
        return ""
    return (
        f"This run has {turns:,} turns, more than {MANY_TURNS:,}: Airflow's scheduler will need seconds before each task. Several runs of about"
        " 1,000 turns each are faster (docs/operating.md: What breaks first)"
    )


def check_length(turns: int, most: int) -> None:
    """Raise SpecError for more than `most` turns, the number that Airflow allows. Airflow itself refuses only when it creates the tasks."""
    if turns > most:
        raise SpecError(
            f"This run has {turns:,} turns (cells x repeats), and this Airflow allows {most:,} in a run. Ask for fewer, or raise"
            " AIRFLOW__CORE__MAX_MAP_LENGTH for all parts of Airflow"
        )


def check_disk(dataset_bytes: int) -> None:
    """Raise SpecError for a dataset that the stores' disk cannot hold. Without STOREBENCH_DISK_PATH, the disk is unknown: no check."""
    path = os.environ.get("STOREBENCH_DISK_PATH")
    if not path:
        return
    needed, free = dataset_bytes * DISK_FACTOR, shutil.disk_usage(path).free
    if needed > free:
        raise SpecError(
            f"This dataset needs about {needed / 1e9:,.0f} GB of disk ({dataset_bytes / 1e9:,.1f} GB, and a store's copy of it),"
            f" but {path} has {free / 1e9:,.0f} GB free. Choose a smaller one"
        )


def check_volumes(servers: str, volumes_bytes: int) -> None:
    """Raise SpecError if the volumes of a run's servers need more than the free disk of a cluster that is one machine, where the disk is known.

    The cluster's volumes are folders on one disk, without a limit: the servers would fill the disk for all parts of the stack.
    """
    path = os.environ.get("STOREBENCH_DISK_PATH")
    if not path or not on_one_machine():
        return
    free = shutil.disk_usage(path).free
    if volumes_bytes > free:
        raise SpecError(
            f"The servers {servers} ask for volumes of {volumes_bytes / GIB:,.0f} GiB together, but {path} has {free / GIB:,.0f} GiB free."
            " Choose a smaller server_disk, the volume of each server that holds data, or a topology with fewer servers"
        )
