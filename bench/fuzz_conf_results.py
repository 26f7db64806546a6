"""Stand in for the results database in `bench.fuzz_conf`: take what a plan records, and refuse what Postgres cannot store."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from psycopg.types.json import Jsonb

from storebench.results.database.repository import Repository


class Cursor:
    """A stand-in for a cursor of Postgres. Raises ValueError for a value that Postgres cannot store."""

    rowcount = 0  # the study is known: no view is made

    def execute(self, statement: Any, values: Sequence[Any] = ()) -> None:
        """Check the values of one row."""
        for value in values:
            if isinstance(value, Jsonb):
                _check_storable(json.loads(json.dumps(value.obj, allow_nan=False)))
            else:
                _check_storable(value)

    def executemany(self, statement: Any, rows: Sequence[Sequence[Any]]) -> None:
        """Check the values of several rows."""
        for row in rows:
            self.execute(statement, row)


def _check_storable(value: Any) -> None:
    if isinstance(value, str):
        value.encode()
        if "\x00" in value:
            raise ValueError("Postgres stores no NUL")
    elif isinstance(value, dict):
        for pair in value.items():
            _check_storable(list(pair))
    elif isinstance(value, list | tuple):
        for item in value:
            _check_storable(item)


class Results(Repository):
    """A repository without a database or earlier attempts. It keeps the plan of the newest run."""

    def __init__(self) -> None:
        super().__init__("")
        self.started: dict[str, Any] | None = None

    @contextlib.contextmanager
    def _cursor(self) -> Iterator[Any]:
        yield Cursor()

    def start_run(self, **values: Any) -> None:
        """Keep the plan."""
        super().start_run(**values)
        self.started = values

    def recorded_turns(self, run_id: str) -> list[Any]:
        """Return no turns: each run is new."""
        return []

    def durations(self, *_: Any) -> list[Any]:
        """Return no durations."""
        return []

    def seconds_between(self, study: str) -> None:
        """Return no measured pause."""

    def attempts_of_cells(self, keys: Any) -> list[Any]:
        """Return no attempts."""
        return []

    def newest_measured(self, *_: Any) -> None:
        """Return no attempt."""

    def refused_of_a_cell(self, study: str) -> list[Any]:
        """Return no refused runs."""
        return []
