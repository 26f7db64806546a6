"""Build the answers about histograms and series."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import Field, RootModel

from storebench.answers.attempts import CellArtifacts
from storebench.answers.figures import grouped, named, typical_of
from storebench.answers.studies import CellName
from storebench.results.database.connection import Row
from storebench.results.database.queries import counts
from storebench.results.database.rows import AttemptRow
from storebench.study import histogram


class Histogram(CellName):
    """The merged histograms of a cell's operation."""

    operation: str
    metric: str
    unit: str
    n: int = Field(description="Number of attempts")
    count: int = Field(description="Number of measured values of all attempts")
    percentiles: list[tuple[float, float]] = Field(description="Pairs of percentile and value")
    values: list[float] = Field(description="The values, in ascending order")
    counts: list[int] = Field(description="The number of occurrences of each value")

    def percentile(self, percent: float) -> float | None:
        """Return the least value that `percent` percent of all values do not exceed; None without values."""
        seen, needed = 0, self.count * percent / 100
        for value, count in zip(self.values, self.counts, strict=True):
            seen += count
            if seen >= needed:
                return value
        return None


class AttemptSeries(CellName):
    """The series of an attempt."""

    operation: str
    metric: str
    unit: str
    run: str
    repeat: int
    at_s: list[float] = Field(description="Seconds since the operation began, of each value")
    values: list[float]


class Histograms(RootModel[list[Histogram]]):
    """Histograms of cells' operations."""


class SeriesOfAttempts(RootModel[list[AttemptSeries]]):
    """Series of attempts."""


def histograms_answer(attempts: Sequence[Row], metric: str) -> Histograms:
    """Merge the histograms of each cell's operation. `attempts`: from `storebench.results.runs.artifacts.attempts_with_artifact`."""
    histograms = []
    for group in grouped(attempts):
        contents = [row["content"] for row in group]
        merged = histogram.merged(contents)
        histograms.append(
            Histogram(
                **named(group[0]["cell_key"]),
                operation=group[0]["operation"],
                metric=metric,
                unit=group[0]["unit"],
                n=len(group),
                count=sum(count for _, count in merged),
                percentiles=histogram.curve(contents),
                values=[value for value, _ in merged],
                counts=[count for _, count in merged],
            )
        )
    return Histograms(histograms)


def series_answer(attempts: Sequence[Row], metric: str) -> SeriesOfAttempts:
    """Build the answer about series. `attempts`: from `storebench.results.runs.artifacts.attempts_with_artifact`."""
    return SeriesOfAttempts(
        [
            AttemptSeries.model_validate(
                {**row, **named(row["cell_key"]), **row["content"], "metric": metric}
            )
            for row in attempts
        ]
    )


def artifacts_answer(rows: Sequence[AttemptRow], artifacts: Iterable[Row]) -> list[CellArtifacts]:
    """Return, for each cell's operation with artifacts, the percentiles over all counted attempts, and the series of the typical attempt.

    `rows` are newest tries without warm-ups, and `artifacts` are the artifacts of these tries.
    """
    of_attempts: dict[Any, list[Row]] = {}
    for artifact in artifacts:
        of_attempts.setdefault(artifact["attempt_id"], []).append(artifact)
    typical = {row["attempt_id"] for row in typical_of(rows)}
    entries = []
    for group in grouped(rows):
        histograms: dict[str, list[histogram.Histogram]] = {}
        series: dict[str, list[tuple[float, float]]] = {}
        series_of = None
        counted = [row for row in group if counts(row) and row["attempt_id"] in of_attempts]
        for row in counted:
            for artifact in of_attempts[row["attempt_id"]]:
                name, content = artifact["name"], artifact["content"]
                if "counts" in content:
                    histograms.setdefault(name, []).append(content)
                elif row["attempt_id"] in typical:
                    series_of = row["attempt_id"]
                    series[name] = list(zip(content["at_s"], content["values"], strict=True))
        if counted:
            entries.append(
                CellArtifacts(
                    **named(group[0]["cell_key"], group[0].get("axes")),
                    operation=group[0]["operation"],
                    n=len(counted),
                    servers=sorted({row["server_name"] for row in counted if row["server_name"]}),
                    percentiles={name: histogram.curve(contents) for name, contents in histograms.items()},
                    series=series,
                    series_of=series_of,
                )
            )
    return entries
