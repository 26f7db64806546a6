"""Histograms and series of a run's cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from storebench.results.database import Row
from storebench.results.queries import counts
from storebench.results.rows import AttemptRow
from storebench.study.histogram import Histogram, curve
from storebench.web.figures import grouped, named, typical_of
from storebench.web.models.attempts import CellArtifacts


def artifacts_of(rows: Sequence[AttemptRow], artifacts: Iterable[Row]) -> list[CellArtifacts]:
    """Return, for each cell's operation with artifacts, the percentiles over all counted attempts, and the series of the typical attempt.

    `rows` are newest tries without warm-ups, and `artifacts` are the artifacts of these tries.
    """
    of_attempts: dict[Any, list[Row]] = {}
    for artifact in artifacts:
        of_attempts.setdefault(artifact["attempt_id"], []).append(artifact)
    typical = {row["attempt_id"] for row in typical_of(rows)}
    found = []
    for group in grouped(rows):
        histograms: dict[str, list[Histogram]] = {}
        series: dict[str, list[tuple[float, float]]] = {}
        counted = [row for row in group if counts(row) and row["attempt_id"] in of_attempts]
        for row in counted:
            for artifact in of_attempts[row["attempt_id"]]:
                name, content = artifact["name"], artifact["content"]
                if "counts" in content:
                    histograms.setdefault(name, []).append(content)
                elif row["attempt_id"] in typical:
                    series[name] = list(zip(content["at_s"], content["values"], strict=True))
        if counted:
            found.append(
                CellArtifacts(
                    **named(group[0]["cell_key"]),
                    operation=group[0]["operation"],
                    n=len(counted),
                    curves={name: curve(some) for name, some in histograms.items()},
                    series=series,
                )
            )
    return found
