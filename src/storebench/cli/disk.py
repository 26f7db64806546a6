"""The command that measures a node's disk."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
def disk(folder: Path) -> None:
    """Measure how fast a disk reads uncached data.

    Run the command on a node. It reads files on the disk of FOLDER that no process has read since the machine's start, and prints MB per
    second.

    Set the Airflow Variable storebench_uncached_mb_per_s to this number. Cold reads that are more than twice as fast are then marked.
    """
    from storebench.answers.units import figure_text
    from storebench.attempt.disk import AIRFLOW_VARIABLE, measure

    uncached = measure(folder)
    read, duration = figure_text(uncached.bytes_read, "bytes"), figure_text(uncached.seconds, "s")
    click.echo(f"{read} of {uncached.files} files in {duration}\n{AIRFLOW_VARIABLE}={uncached.mb_per_s:.1f}")
