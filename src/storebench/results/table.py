"""Prints results: a table to read, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table

Rows = Sequence[Mapping[str, Any]]


def as_table(rows: Rows) -> Table:
    """The columns that most users look at first, with units; memory and CPU with those of executors, and what they are of: a client
    without its server, or the engine itself. The rest is in CSV, JSON and SQL."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("store", "client", "batch", "executors", "rows", "repeat", "operation", "status"):
        table.add_column(heading, no_wrap=True)
    for heading in ("only s", "source s", "barrier s", "total s", "pod s"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("of", no_wrap=True)
    for heading in ("memory MiB", "peak MiB", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("durability", no_wrap=True)
    table.add_column("server", no_wrap=True)
    table.add_column("remark", overflow="fold", max_width=60)
    for row in rows:
        only_s = row["write_only_s"] if row["operation"] == "write" else row["read_only_s"]
        table.add_row(
            row["store"],
            row["client"],
            row["batch_size"] or "-",
            str(row["executors"] or "-"),
            f"{row['rows']:,}",
            "warm-up" if row["warm_up"] else f"{row['repeat']} {row['arm'] or ''}".rstrip(),
            row["operation"],
            row["status"],
            _seconds(only_s),
            _seconds(row["source_s"]),
            _seconds(row["barrier_s"]),
            _seconds(row["total_s"]),
            _seconds(row["pod_total_s"]),
            row["figures_cover"] or "-",
            _mebibytes(row["all_memory_working_set_peak_bytes"]),
            _mebibytes(row["all_memory_peak_bytes"]),
            _seconds(row["all_cpu_s"]),
            row["durability"] or "-",
            f"{row['server_name'] or ''} {row['server_version'] or ''}".strip(),
            _remark(row),
        )
    if len(promised := {row["durability"] for row in rows if row["durability"]}) > 1:
        table.caption = f"The writes differ in durability ({', '.join(sorted(promised))}): compare those that are promised the same"
    return table


def _remark(row: Mapping[str, Any]) -> str:
    if row["error_kind"]:
        return f"{row['error_kind']}: {row['error']}"
    marks = [f"disturbed: {row['disturbed']}"] if row["disturbed"] else []
    return "; ".join([*marks, *(["client_bound"] if row["client_bound"] else [])])


def runs_table(rows: Rows) -> Table:
    """Runs, newest first."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("run", "study", "state", "started", "finished"):
        table.add_column(heading, no_wrap=True)
    for heading in ("verified", "others"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        times = [
            f"{at:%Y-%m-%d %H:%M:%S}" if (at := row[name]) else "-" for name in ("started_at", "finished_at")
        ]
        counts = (str(row["verified"]), str(row["others"]))
        table.add_row(row["airflow_run_id"], row["study"], row["state"], *times, *counts)
    return table


def as_csv(rows: Rows) -> str:
    """All columns, with a header; an object is JSON."""
    out = io.StringIO()
    if rows:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)
    return out.getvalue()


def as_json(rows: Rows) -> str:
    """A list of objects with all columns; times in ISO 8601."""
    return json.dumps([dict(row) for row in rows], default=_plain, indent=2) + "\n"


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value


def _plain(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _mebibytes(value: int | None) -> str:
    return "-" if value is None else f"{value / 2**20:,.0f}"
