"""Print the counters of attempts' servers as a table or CSV."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from storebench.answers.counters import AttemptCounters
from storebench.answers.units import column
from storebench.cli.output.listing import Column, csv_text, print_listing
from storebench.cli.output.table import Studies, places_of
from storebench.study.cell import Cell

VALUES = ("before", "after", "difference")


def print_counters(console: Console, attempts: Sequence[AttemptCounters], studies: Studies) -> None:
    """Print a line for each counter of each attempt."""
    lines = [(attempt, name, figure) for attempt in attempts for name, figure in attempt.counters.items()]
    names, places = places_of((Cell.from_key(attempt.cell_key) for attempt, _, _ in lines), studies)
    columns = [
        Column("operation"),
        Column("repeat"),
        Column("counter"),
        *(Column(name, number=True) for name in VALUES),
    ]
    rows = []
    for place, (attempt, name, figure) in zip(places, lines, strict=True):
        values = [getattr(figure, value) for value in VALUES]
        texts = column(values, [figure.unit] * len(VALUES))
        rows.append((*place, attempt.operation, str(attempt.repeat), name, *texts, figure.unknown or ""))
    print_listing(console, [*names, *columns, Column("unknown because", needed=False, prose=True)], rows)


def counters_csv(attempts: Sequence[AttemptCounters]) -> str:
    """Return CSV with a line for each counter of each attempt."""
    of_attempt = ("cell_key", "operation", "run", "repeat", "try_number", "attempt_id")
    of_counter = ("unit", "kind", *VALUES, "unknown")
    rows = (
        (
            *(getattr(attempt, field) for field in of_attempt),
            name,
            *(getattr(figure, field) for field in of_counter),
        )
        for attempt in attempts
        for name, figure in attempt.counters.items()
    )
    return csv_text((*of_attempt, "name", *of_counter), rows)
