"""Print the leftovers that no run needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.answers.units import column, figure_text
from storebench.cli.output.listing import Column, print_listing
from storebench.results.leftovers.unneeded import Unneeded

RUNS = [Column("run"), Column("state", prose=True)]
DATA = [Column("store"), Column("data"), Column("size", number=True), Column("run")]
DATASETS = [Column("dataset"), Column("size", number=True)]
SERVERS = [Column("servers"), Column("run")]
SECRETS = [Column("connection"), Column("node pool"), Column("run")]


def print_unneeded(console: Console, unneeded: Unneeded) -> None:
    """Print a table for each kind of leftover, and the size of the data."""
    if unneeded.stopped:
        rows = [
            (stopped.run["airflow_run_id"], f"open, but {stopped.outcome}") for stopped in unneeded.stopped
        ]
        print_listing(console, RUNS, rows, "Runs that were stopped, and are still to be closed")
    if unneeded.data:
        sizes = _sizes([leftover.size_bytes for leftover in unneeded.data])
        data = [
            (leftover.cell.store, leftover.target, size, leftover.airflow_run_id)
            for leftover, size in zip(unneeded.data, sizes, strict=True)
        ]
        print_listing(console, DATA, data, "Data that runs which are over have left in stores")
    if unneeded.datasets:
        sizes = _sizes([dataset["bytes"] for dataset in unneeded.datasets])
        sets = [(dataset["id"], size) for dataset, size in zip(unneeded.datasets, sizes, strict=True)]
        print_listing(console, DATASETS, sets, "Datasets in S3 that are of no run in the results")
    if secrets := [(name, pool or "default", run) for run, held in unneeded.secrets for pool, name in held]:
        print_listing(console, SECRETS, secrets, "Secrets in the cluster that no run needs any more")
    if servers := [(name, run) for run, names in unneeded.servers for name in names]:
        print_listing(
            console, SERVERS, servers, "Servers in the cluster that runs which are over have brought"
        )
    all_bytes = [leftover.size_bytes for leftover in unneeded.data] + [
        dataset["bytes"] for dataset in unneeded.datasets
    ]
    known = [size for size in all_bytes if size is not None]
    if known:
        unknown = (
            f", and {len(all_bytes) - len(known)} of unknown size" if len(known) < len(all_bytes) else ""
        )
        console.print(f"Together {figure_text(sum(known), 'bytes')}{unknown}", soft_wrap=True)


def _sizes(sizes: Sequence[int | None]) -> list[str]:
    return column(sizes, ["bytes"] * len(sizes))
