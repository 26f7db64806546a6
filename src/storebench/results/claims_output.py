"""Print judged claims: a table to read, JSON, or a table for a page of the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import Console

from storebench.results.claims import Case, Judged
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.statistics import CONFIDENCE
from storebench.results.verdicts import MIN_UNITS

COLUMNS = [
    Column("claim", prose=True),
    Column("case"),
    Column("verdict"),
    Column("ratio of"),
    Column("ratio", number=True),
    Column("interval"),
    Column("means"),
    Column("n", number=True),
    Column("rows", number=True, needed=False),
    Column("run", needed=False),
    Column("why, and limits", prose=True),
]
# A test of the documentation finds its tables of claims by this column.
CLAIM = "the original study said"
HEADINGS = (CLAIM, "verdict", "case", "ratio of", "ratio", "interval", "means", "n", "run")


def print_claims(console: Console, study: str, found: Sequence[Judged]) -> None:
    """Print a line for each case of each claim, then the verdict of each claim that has several."""
    if not found:
        console.print(f"The study {study} states no claims.")
        return
    print_listing(console, COLUMNS, [line for one in found for line in _lines(study, one)])
    for one in found:
        if len(one.cases) > 1:
            console.print(f"{one.claim.text}: {one.label}: {one.reason}", soft_wrap=True, markup=False)
    console.print(rules(), soft_wrap=True)


def rules() -> str:
    """Say how claims are judged."""
    return (
        f"confirmed: the whole {CONFIDENCE:.0%} interval of B / A lies in the region that the text means; refuted: the whole interval lies"
        f" outside; both after the correction for all cases (Benjamini-Hochberg), from {MIN_UNITS} rounds on"
    )


def as_json(study: str, found: Sequence[Judged]) -> str:
    """Return the judged claims as one JSON object."""
    return json.dumps({"study": study, "rules": rules(), "claims": list(map(told, found))}, indent=2)


def told(one: Judged) -> dict[str, Any]:
    """Return a judged claim as JSON."""
    return {
        **one.claim.details(),
        "metric": one.metric and one.metric["name"],
        "title": one.metric and one.metric["title"],
        "means": means(one),
        "verdict": one.label,
        "reason": one.reason,
        "cases": [_told(one, case) for case in one.cases],
    }


def _told(one: Judged, case: Case) -> dict[str, Any]:
    verdict = case.verdict
    interval = verdict.interval if verdict else None
    return {
        "ratio_of": ratio_text(one, case),
        "a": case.a,
        "b": case.b,
        "case": case.places,
        "verdict": case.label,
        "reason": case.reason,
        "ratio": verdict.ratio if verdict else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "n": count_text(case),
        "rows": case.rows,
        "runs": list(case.runs),
        "remarks": list(case.remarks),
        "compared": asdict(verdict) if verdict else None,
    }


def as_markdown(study: str, found: Iterable[Judged]) -> str:
    """Return a table for a page of the documentation: of each claim, a line for each verdict that its cases have."""
    lines = [HEADINGS, ("---",) * len(HEADINGS)]
    limits = []
    for one in found:
        groups: dict[tuple[str, str], list[Case]] = {}
        for case in one.cases:
            groups.setdefault((case.label, ratio_text(one, case)), []).append(case)
        if len(groups) != 1:
            lines.append((one.claim.text, one.label, *("",) * 4, means(one), "", ""))
        for (label, of), cases in groups.items():
            alone = len(groups) == 1
            runs = dict.fromkeys(name for case in cases for name in run_names(study, case))
            lines.append(
                (
                    one.claim.text if alone else "",
                    one.label if alone else label,
                    ", ".join(dict.fromkeys(case.places for case in cases if case.places)),
                    of,
                    _span(
                        f"{case.verdict.ratio:.2f}" for case in cases if case.verdict and case.verdict.ratio
                    ),
                    _span(
                        f"{end:.2f}"
                        for case in cases
                        if case.verdict and case.verdict.interval
                        for end in (case.verdict.interval.low, case.verdict.interval.high)
                    ),
                    means(one) if alone else "",
                    ", ".join(dict.fromkeys(map(count_text, cases))),
                    ", ".join(runs),
                )
            )
        why = dict.fromkeys(
            text
            for text in [one.claim.note, *(_why(case) for case in one.cases), one.claim.elsewhere]
            if text
        )
        if why := dict.fromkeys(why):
            limits.append(f"- *{one.claim.text}*: {'; '.join(why)}.")
    rows = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]
    return "\n".join([*rows, *([""] if limits else []), *limits]) + "\n"


def _lines(study: str, one: Judged) -> list[tuple[str, ...]]:
    if not one.cases:
        return [(one.claim.text, NOTHING, one.label, *(NOTHING,) * 7, _limits(one, None))]
    return [
        (
            one.claim.text,
            case.places or NOTHING,
            case.label,
            ratio_text(one, case),
            f"{case.verdict.ratio:.3f}" if case.verdict and case.verdict.ratio else NOTHING,
            f"{case.verdict.interval.low:.3f} to {case.verdict.interval.high:.3f}"
            if case.verdict and case.verdict.interval
            else NOTHING,
            means(one),
            count_text(case) or NOTHING,
            f"{case.rows:,}" if case.rows else NOTHING,
            ", ".join(run_names(study, case)) or NOTHING,
            _limits(one, case) or NOTHING,
        )
        for case in one.cases
    ]


def _limits(one: Judged, case: Case | None) -> str:
    """Say why a case cannot be told, and what limits the comparison."""
    texts = [case.reason, one.claim.note, *case.remarks] if case else [one.claim.elsewhere, one.claim.note]
    return "; ".join(text for text in texts if text)


def _why(case: Case) -> str:
    return "; ".join(text for text in (case.reason, *case.remarks) if text)


def ratio_text(one: Judged, case: Case) -> str:
    """Name the ratio B / A of a case, with its metric."""
    title = f"{one.metric['title']}: " if one.metric else ""
    return f"{title}{case.b} / {case.a}"


def means(one: Judged) -> str:
    """Say which ratios the text of a claim means."""
    low, high = one.claim.at_least, one.claim.at_most
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    return "" if high is None else f"at most {high:g}"


def count_text(case: Case) -> str:
    """Say how many units each side of a case has; empty where nothing could be compared."""
    if case.verdict is None:
        return ""
    if case.matched:
        return f"{case.verdict.units_before} {case.units}"
    return f"{case.verdict.units_before} and {case.verdict.units_after} {case.units}"


def run_names(study: str, case: Case) -> list[str]:
    """Return the names of a case's runs in Airflow."""
    return [run.removeprefix(f"{study}/") for run in case.runs]


def _span(texts: Iterable[str]) -> str:
    """Return the smallest and the largest of these numbers."""
    ordered = sorted(dict.fromkeys(texts), key=float)
    return " to ".join(dict.fromkeys((ordered[0], ordered[-1]))) if ordered else ""
