"""Print the leftovers that no run needs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.cli.output.listing import Column, print_listing
from storebench.cli.output.units import column, figure_text
from storebench.results.leftovers.unneeded import Unneeded

RUNS = [Column("run"), Column("state", prose=True)]
DATA = [Column("store"), Column("data"), Column("size", number=True), Column("run")]
DATASETS = [Column("dataset"), Column("size", number=True)]
SERVERS = [Column("servers"), Column("run")]
SECRETS = [Column("connection"), Column("node pool"), Column("run")]


def print_unneeded(console: Console, found: Unneeded) -> None:
    """Print a table for each kind of leftover, and the size of the data."""
    if found.stopped:
        rows = [(one.run["airflow_run_id"], f"open, but {one.why}") for one in found.stopped]
        print_listing(console, RUNS, rows, "Runs that were stopped, and are still to be closed")
    if found.data:
        sizes = _sizes([one.size_bytes for one in found.data])
        data = [
            (one.cell.store, one.target, size, one.airflow_run_id)
            for one, size in zip(found.data, sizes, strict=True)
        ]
        print_listing(console, DATA, data, "Data that runs which are over have left in stores")
    if found.datasets:
        sizes = _sizes([one["bytes"] for one in found.datasets])
        sets = [(one["id"], size) for one, size in zip(found.datasets, sizes, strict=True)]
        print_listing(console, DATASETS, sets, "Datasets in S3 that are of no run in the results")
    if secrets := [(name, pool or "default", run) for run, held in found.secrets for pool, name in held]:
        print_listing(console, SECRETS, secrets, "Secrets in the cluster that no run needs any more")
    if servers := [(name, run) for run, names in found.servers for name in names]:
        print_listing(
            console, SERVERS, servers, "Servers in the cluster that runs which are over have brought"
        )
    all_bytes = [one.size_bytes for one in found.data] + [one["bytes"] for one in found.datasets]
    known = [size for size in all_bytes if size is not None]
    if known:
        unknown = (
            f", and {len(all_bytes) - len(known)} of unknown size" if len(known) < len(all_bytes) else ""
        )
        console.print(f"Together {figure_text(sum(known), 'bytes')}{unknown}", soft_wrap=True)


def _sizes(sizes: Sequence[int | None]) -> list[str]:
    return column(sizes, ["bytes"] * len(sizes))
