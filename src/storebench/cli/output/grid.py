"""Print the cells of a study's grid."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.cli.output.listing import Column, print_listing
from storebench.results.forecast.missing import GridCell


def print_grid(console: Console, cells: Sequence[GridCell]) -> None:
    """Print a line for each cell."""
    columns = [Column("partition key"), Column("partition date"), Column("state")]
    print_listing(
        console, columns, [(cell.key, f"{cell.date:%Y-%m-%dT%H:%M:%S}", cell.state) for cell in cells]
    )
