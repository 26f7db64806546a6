"""Print judged claims as a table, JSON, or a Markdown table for the documentation."""

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

# A test finds the tables of claims in the documentation by this column.
CLAIM = "the original study said"
HEADINGS = (CLAIM, "verdict", "case", "ratio of", "ratio", "interval", "means", "n", "run")
NUMBERS, PROSE = {"ratio", "interval"}, {CLAIM, "case"}


def print_claims(console: Console, study: str, found: Sequence[Judged]) -> None:
    """Print a line for each claim and each verdict of its cases, and the limits of the comparisons."""
    if not found:
        console.print(f"The study {study} states no claims.")
        return
    print_listing(
        console,
        [Column(name, number=name in NUMBERS, prose=name in PROSE) for name in HEADINGS],
        [tuple(text or NOTHING for text in line) for one in found for line in _lines(study, one)],
    )
    for one in found:
        if limits := _limits(one):
            console.print(f"{one.claim.text}: {limits}", soft_wrap=True, markup=False)
    console.print(rules(), soft_wrap=True)


def rules() -> str:
    """Return a sentence about how claims are judged."""
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
        "metric": one.metric and one.metric.name,
        "title": one.metric and one.metric.title,
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
        "case": places_text([case]),
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


def as_markdown(study: str, found: Sequence[Judged]) -> str:
    """Return a Markdown table for the documentation, followed by the limits of the comparisons."""
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(line for one in found for line in _lines(study, one))]
    rows = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]
    limits = [f"- {one.claim.text}: {text}." for one in found if (text := _limits(one))]
    return "\n".join([*rows, *([""] if limits else []), *limits]) + "\n"


def _lines(study: str, one: Judged) -> list[tuple[str, ...]]:
    """Return one line for a claim whose cases share a verdict; otherwise the claim's line and a line for each verdict and ratio."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in one.cases:
        groups.setdefault((case.label, ratio_text(one, case)), []).append(case)
    alone = len(groups) == 1
    lines: list[tuple[str, ...]] = []
    if not alone:
        lines.append((one.claim.text, one.label, *("",) * 4, means(one), "", ""))
    for (label, of), cases in groups.items():
        verdicts = [case.verdict for case in cases if case.verdict]
        intervals = [verdict.interval for verdict in verdicts if verdict.interval]
        lines.append(
            (
                one.claim.text if alone else "",
                one.label if alone else label,
                places_text(cases),
                of,
                _span(verdict.ratio for verdict in verdicts if verdict.ratio is not None),
                _span(end for interval in intervals for end in (interval.low, interval.high)),
                means(one) if alone else "",
                ", ".join(filter(None, dict.fromkeys(map(count_text, cases)))),
                ", ".join(dict.fromkeys(name for case in cases for name in run_names(study, case))),
            )
        )
    return lines


def _limits(one: Judged) -> str:
    """Return why a claim or some of its cases cannot be judged, and the limits of the comparison."""
    texts = [one.reason, one.claim.note]
    if not one.claim.elsewhere:
        texts += [text for case in one.cases for text in (case.reason, *case.remarks)]
    return "; ".join(dict.fromkeys(text for text in texts if text))


def places_text(cases: Sequence[Case]) -> str:
    """Return the places that distinguish cases from the claim's other cases: `benchmark=wide, narrow`."""
    if len(names := {name for case in cases for name in case.places}) == 1:
        (name,) = names
        return (
            f"{name}={', '.join(dict.fromkeys(case.places[name] for case in cases if name in case.places))}"
        )
    texts = (" ".join(f"{name}={value}" for name, value in case.places.items()) for case in cases)
    return ", ".join(filter(None, dict.fromkeys(texts)))


def ratio_text(one: Judged, case: Case) -> str:
    """Format the ratio B / A of a case, with its metric."""
    title = f"{one.metric.title}: " if one.metric else ""
    return f"{title}{case.b} / {case.a}"


def means(one: Judged) -> str:
    """Describe the region of ratios of a claim."""
    low, high = one.claim.at_least, one.claim.at_most
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is not None:
        return f"at least {low:g}"
    return "" if high is None else f"at most {high:g}"


def count_text(case: Case) -> str:
    """Describe the number of units on each side of a case; empty without a comparison."""
    if case.verdict is None:
        return ""
    if case.matched:
        return f"{case.verdict.units_before} {case.units}"
    return f"{case.verdict.units_before} and {case.verdict.units_after} {case.units}"


def run_names(study: str, case: Case) -> list[str]:
    """Return the names of a case's runs in Airflow."""
    return [run.removeprefix(f"{study}/") for run in case.runs]


def _span(values: Iterable[float]) -> str:
    """Format the smallest and the largest number."""
    ordered = sorted(values)
    return " to ".join(dict.fromkeys(f"{end:.2f}" for end in (ordered[0], ordered[-1]))) if ordered else ""
