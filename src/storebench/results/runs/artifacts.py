"""Find the histograms and series of attempts."""

from __future__ import annotations

from collections.abc import Sequence

from storebench.errors import SpecError, unknown
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of
from storebench.results.database.queries import Queries, counts, superseded

KINDS = {"histogram": "counts", "series": "at_s"}  # a key that only the content of this kind has


def attempts_with_artifact(queries: Queries, rows: Sequence[Row], kind: str, metric: str) -> list[Row]:
    """Return the attempts that count and have the metric, with its `content` and unit. `kind`: "histogram" or "series".

    `rows`: rows of `results`. The newest try of each operation counts. Raises SpecError if no study of the rows has such a metric.
    """
    of_study = {name: metrics_of(queries.study(name)) for name in {row["study"] for row in rows}}
    known = sorted(
        {
            metric_record.name
            for metrics in of_study.values()
            for metric_record in metrics.values()
            if metric_record.kind == kind
        }
    )
    if metric not in known:
        if not known:
            raise SpecError(f"There is no {kind} in these results: their studies have none")
        raise unknown(kind, metric, known)
    old = superseded(rows)
    fit = [row for row in rows if counts(row) and not row["warm_up"] and row["attempt_id"] not in old]
    artifacts = queries.artifacts([row["attempt_id"] for row in fit])
    contents = {
        artifact["attempt_id"]: artifact["content"] for artifact in artifacts if artifact["name"] == metric
    }
    return [
        {
            **row,
            "content": contents[row["attempt_id"]],
            "unit": of_study[row["study"]][metric].unit,
        }
        for row in fit
        if KINDS[kind] in contents.get(row["attempt_id"], {})
    ]
