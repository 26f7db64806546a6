"""Print judged claims as a table, or as a Markdown table for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from storebench.answers.claims import expected_ratio, places_text, ratio_text, rules
from storebench.answers.units import NOTHING
from storebench.cli.output.listing import Column, markdown, print_listing
from storebench.results.comparison.claims import Case, Judged

# A test finds the tables of claims in the documentation by this column.
CLAIM = "the original study said"
HEADINGS = (CLAIM, "verdict", "case", "ratio B / A", "ratio", "interval", "expected ratio", "n", "run")
SHORT_HEADINGS = (CLAIM, "verdict", "ratio B / A", "ratio", "interval", "expected ratio", "remarks")
NUMBERS, PROSE = {"ratio", "interval"}, {CLAIM, "case"}


def print_claims(console: Console, study: str, claims: Sequence[Judged]) -> None:
    """Print a line for each claim and each verdict of its cases, and the limits of the comparisons."""
    if not claims:
        console.print(f"The study {study} states no claims.")
        return
    print_listing(
        console,
        [Column(name, number=name in NUMBERS, prose=name in PROSE) for name in HEADINGS],
        [tuple(text or NOTHING for text in line) for judged in claims for line in _lines(study, judged)],
    )
    for judged in claims:
        if limits := _limits(judged):
            console.print(f"{judged.claim.text}: {limits}", soft_wrap=True, markup=False)
    console.print(rules(), soft_wrap=True)


def as_markdown(study: str, claims: Sequence[Judged]) -> str:
    """Return a Markdown table for the documentation with a line for each claim."""
    return markdown(SHORT_HEADINGS, [_short_line(study, judged) for judged in claims])


def _short_line(study: str, judged: Judged) -> tuple[str, ...]:
    """Return a claim with its verdict, its ratios over all cases, and the limits of the comparisons."""
    lines = [line for line in _lines(study, judged) if line[3]]
    verdicts = [case.verdict for case in judged.cases if case.verdict]
    intervals = [verdict.interval for verdict in verdicts if verdict.interval]
    return (
        judged.claim.text,
        judged.label,
        "; ".join(dict.fromkeys(line[3] for line in lines)),
        _span(verdict.ratio for verdict in verdicts if verdict.ratio is not None),
        _span(end for interval in intervals for end in (interval.low, interval.high)),
        expected_ratio(judged),
        _limits(judged),
    )


def _lines(study: str, judged: Judged) -> list[tuple[str, ...]]:
    """Return one line for a claim whose cases share a verdict; otherwise the claim's line and a line for each verdict and ratio."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in judged.cases:
        groups.setdefault((case.label, ratio_text(judged, case)), []).append(case)
    alone = len(groups) == 1
    lines: list[tuple[str, ...]] = []
    if not alone:
        lines.append((judged.claim.text, judged.label, *("",) * 4, expected_ratio(judged), "", ""))
    for (label, of), cases in groups.items():
        verdicts = [case.verdict for case in cases if case.verdict]
        intervals = [verdict.interval for verdict in verdicts if verdict.interval]
        lines.append(
            (
                judged.claim.text if alone else "",
                judged.label if alone else label,
                places_text(cases),
                of,
                _span(verdict.ratio for verdict in verdicts if verdict.ratio is not None),
                _span(end for interval in intervals for end in (interval.low, interval.high)),
                expected_ratio(judged) if alone else "",
                ", ".join(filter(None, dict.fromkeys(map(count_text, cases)))),
                ", ".join(dict.fromkeys(name for case in cases for name in run_names(study, case))),
            )
        )
    return lines


def _limits(judged: Judged) -> str:
    """Return why a claim or some of its cases cannot be judged, and the limits of the comparison."""
    texts = [judged.reason, judged.claim.note]
    if not judged.claim.elsewhere:
        texts += [text for case in judged.cases for text in (case.reason, *case.remarks)]
    return "; ".join(dict.fromkeys(text for text in texts if text))


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
