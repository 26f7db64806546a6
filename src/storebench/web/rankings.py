"""Build the API's answer about a ranking."""

from __future__ import annotations

from typing import Any, get_args

from storebench.results.ranking import Line, Ranking
from storebench.results.ranking_apart import Measured
from storebench.results.verdicts import TEST
from storebench.web.figures import Origins, named, spread_of
from storebench.web.models.rankings import (
    Apart,
    Included,
    LeftOutCell,
    RankedDataset,
    RankedEnvironment,
    RankedLine,
)
from storebench.web.models.rankings import Ranking as Answer
from storebench.web.reading import Reading

BEST = "the best"


def answer_of(read: Reading, found: Ranking) -> Answer:
    """Build the API answer of a ranking."""
    question, metric, chosen = found.question, found.metric, found.chosen
    some = [*(line.measured for line in found.lines), *(one.measured for one in found.left_out)]
    origins = Origins(read.machines(row for one in some for row in one.rows))

    def cell(one: Measured) -> dict[str, Any]:
        first = next(iter(one.counted if one.took else ()), {})
        return {
            **named(one.cell.key),
            "took": one.took and spread_of(one.took),
            "runs": len(one.runs),
            "kind": one.kind,
            **{name: first.get(name) for name in ("environment_hash", "parameters_hash", "method_version")},
            "origin": origins.of(one.rows),
        }

    return Answer(
        study=question.study,
        studies=read.study_names(),
        operation=str(question.operation),
        metric=metric.name,
        title=metric.title,
        unit=metric.unit,
        better=metric.better,
        rows=chosen.rows,
        seed=chosen.seed,
        datasets=[RankedDataset(rows=rows, seed=seed) for rows, seed in chosen.datasets],
        axes=dict(chosen.axes),
        offered={name: list(values) for name, values in chosen.offered.items()},
        environment=question.conditions,
        environments=[RankedEnvironment.model_validate(vars(one)) for one in found.environments],
        kind=question.kind,
        kinds=list(found.kinds),
        included=[one for one in get_args(Included) if one in question.included],
        margin_percent=round(question.margin * 100, 6),
        lines=[RankedLine.model_validate({**cell(line.measured), **_told(line)}) for line in found.lines],
        left_out=[
            LeftOutCell(
                **cell(one.measured),
                reasons=[Apart.model_validate(vars(why)) for why in one.reasons],
            )
            for one in found.left_out
        ],
        test=TEST,
        caution=found.caution,
    )


def _told(line: Line) -> dict[str, Any]:
    against = line.against
    verdict = against.verdict if against else None
    interval = verdict.interval if verdict else None
    return {
        "place": line.place,
        "label": against.label if against else BEST,
        "reason": against.reason if against else None,
        "times": against.times if against else 1.0,
        "ratio": verdict.ratio if verdict else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "remarks": list(line.remarks),
    }
