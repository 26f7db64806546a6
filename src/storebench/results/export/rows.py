"""Write rows of results as CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

Rows = Sequence[Mapping[str, Any]]


def as_csv(rows: Rows) -> str:
    """Return all columns as CSV with a header. Objects are JSON."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def as_json(rows: Rows) -> str:
    """Return a JSON list of objects with all columns. Times are in ISO 8601."""
    return json.dumps([dict(row) for row in rows], default=_plain, indent=2) + "\n"


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
