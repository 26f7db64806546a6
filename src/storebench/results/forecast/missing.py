"""Find the cells of a study's grid, and their missing repeats."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from storebench.results.database.queries import Queries
from storebench.results.forecast.done import verified_repeats
from storebench.study.cell import Cell
from storebench.study.partition import cell_at, repeated
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import CellParams


@dataclass(frozen=True)
class GridCell:
    """A cell with its partition's key and date, its verified repeats out of `wanted`, and its failed and disturbed newest tries."""

    cell: Cell
    key: str
    date: datetime
    verified: int
    failed: int
    disturbed: int
    wanted: int

    @property
    def state(self) -> str:
        """Return the state: missing, failed, disturbed, or verified n times. A disturbed repeat must be measured again."""
        if self.verified:
            return f"verified {self.verified} times" if self.verified > 1 else "verified once"
        if self.failed:
            return "failed"
        return "disturbed" if self.disturbed else "missing"

    @property
    def missing(self) -> int:
        """Return the number of repeats to measure."""
        return max(0, self.wanted - self.verified)


def cells_of(
    study: PlannedStudy, dates: Mapping[str, datetime], queries: Queries, params: CellParams
) -> list[GridCell]:
    """Return the cells of a study's partitions (`dates`: date by key) with their state for a run with the parameters `params`.

    Partitions that measure the same as another partition are excluded.
    """
    same = repeated(study, dates, params["rows"])
    cells = {
        key: cell_at(study.name, key, params["rows"], params["seed"]) for key in dates if key not in same
    }
    verified = verified_repeats(study, queries, list(cells.values()), params)
    failed, disturbed = Counter[str](), Counter[str]()
    for row in queries.attempts_of_cells([cell.key for cell in cells.values()]):
        failed[row["cell_key"]] += row["status"] != "verified"
        disturbed[row["cell_key"]] += bool(row["disturbed"])
    return [
        GridCell(
            cell, key, dates[key], verified[cell], failed[cell.key], disturbed[cell.key], params["repeats"]
        )
        for key, cell in cells.items()
    ]


def backfill_command(
    study: str, cells: Sequence[GridCell], repeats: int, asked: Mapping[str, Any] | None = None
) -> str:
    """Return the command that measures the missing cells. Its dates begin and end with missing cells; finished cells between do nothing.

    `asked`: parameters with other values than the study's defaults.
    """
    missing = [each for each in cells if each.missing]
    if not missing:
        return f"All {len(cells)} cells are verified {repeats} times: nothing is missing"
    dates = [each.date for each in missing]
    conf = {"rows": missing[0].cell.rows, "seed": missing[0].cell.seed, "repeats": repeats, **(asked or {})}
    command = [
        *("airflow", "backfill", "create", "--dag-id", study),
        *("--from-date", f"{min(dates):%Y-%m-%dT%H:%M:%S}", "--to-date", f"{max(dates):%Y-%m-%dT%H:%M:%S}"),
        *("--max-active-runs", "1", "--reprocess-behavior", "completed"),
        *("--dag-run-conf", json.dumps(conf)),
    ]
    return f"{len(missing)} of {len(cells)} cells are to be measured:\n{shlex.join(command)}"
