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
    from storebench.results.units import figure_text

    found = measure(folder)
    read, took = figure_text(found.bytes_read, "bytes"), figure_text(found.seconds, "s")
    click.echo(f"{read} of {found.files} files in {took}\n{AIRFLOW_VARIABLE}={found.mb_per_s:.1f}")
