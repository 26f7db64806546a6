"""How fast a node's disk is."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def disk(folder: Path) -> None:
    """Measure how fast a disk reads data that nobody has read.

    Run it on a node: it reads files on the disk of FOLDER that nobody has read since the machine's start, and prints MB per second.

    The Airflow Variable storebench_uncached_mb_per_s takes the number. Then cold reads that are more than twice as fast are marked.
    """
    from storebench.attempt.disk import AIRFLOW_VARIABLE, measure

    found = measure(folder)
    click.echo(
        f"{found.bytes_read / 1e6:,.0f} MB of {found.files} files in {found.seconds:.2f} s\n{AIRFLOW_VARIABLE}={found.mb_per_s:.1f}"
    )
