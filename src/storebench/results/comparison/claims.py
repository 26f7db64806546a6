"""Judge the claims of a study by its measurements: confirmed, refuted, or cannot tell."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from storebench.errors import SpecError
from storebench.results.comparison.claim_cases import UnjudgedCase, Where, attempts_of, cases_of
from storebench.results.comparison.compare import remarks_of
from storebench.results.database.connection import Row
from storebench.results.database.measurements import metrics_of
from storebench.results.database.queries import Queries, counts
from storebench.results.statistics.intervals import CONFIDENCE
from storebench.results.statistics.power import NO_RATIO
from storebench.results.statistics.verdicts import MIN_UNITS, Effect, Verdict, effect_of, verdicts_of
from storebench.stores.base import split
from storebench.study.claim import Claim, Selection
from storebench.study.model import Metric
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, OPERATION, STORE

CONFIRMED, REFUTED, CANNOT_TELL = "confirmed", "refuted", "cannot tell"
GOES_ON = "the run still goes on"
Key = tuple[str, int]  # a claim's text, and the number of its case


@dataclass(frozen=True)
class Case:
    """A comparison of a claim. `a`, `b`: names of the sides. `places`: common to both sides, and unique among the claim's cases.

    `verdict`: the ratio B / A, its interval, and the numbers of repeats and units; None without a comparison. `runs`: ids of the runs.
    `rows`: the rows of the dataset.
    """

    a: str
    b: str
    places: Where
    label: str
    reason: str | None
    verdict: Verdict | None
    units: str
    matched: bool
    runs: tuple[str, ...]
    rows: int | None
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class Judged:
    """A claim with its cases and the resulting verdict. `metric`: None if the claim names no cells."""

    claim: Claim
    metric: Metric | None
    label: str
    reason: str | None
    cases: tuple[Case, ...]


def judged_claims(queries: Queries, study: StudyRecord, runs: Sequence[Row] | None = None) -> list[Judged]:
    """Judge all claims of a study by the attempts of its present method.

    `runs`: the runs to judge by; None: all runs, and each case uses the newest run that has both sides and
    enough repeats.
    """
    claims = study.claims
    metrics = {claim.text: _metric_of(study, claim) for claim in claims if claim.a}
    rows = attempts_of(queries, study, claims, {text: metric.name for text, metric in metrics.items()}, runs)
    going_on = {run["id"] for run in queries.open_runs()}
    all_cases = {
        (claim.text, number): case
        for claim in claims
        if claim.a
        for number, case in enumerate(cases_of(study, claim, metrics[claim.text].better, rows[claim.text]))
    }
    verdicts = verdicts_of({key: case.pair for key, case in all_cases.items() if case.pair is not None})
    labels = _labels({claim.text: claim for claim in claims}, metrics, all_cases, verdicts)
    judged = []
    for claim in claims:
        cases = tuple(
            _case(claim, case, *labels[key], verdicts.get(key), going_on)
            for key, case in all_cases.items()
            if key[0] == claim.text
        )
        judged.append(Judged(claim, metrics.get(claim.text), *_together(claim, cases), cases))
    return judged


def runs_of(queries: Queries, names: Sequence[str], study: str) -> list[Row] | None:
    """Return the rows of the named runs, which must be of the study; None without names."""
    if not names:
        return None
    rows = [queries.run_named(name, study) for name in names]
    return list({run["id"]: run for run in rows}.values())


def _metric_of(study: StudyRecord, claim: Claim) -> Metric:
    """Return the metric of a claim that names cells. Raises SpecError if the study no longer has the metric."""
    operation = claim.side("a")["operation"][0]
    ranking = {record.name: record.ranked_by for record in study.operations}
    name = claim.metric or ranking.get(operation, "")
    if name not in (known := metrics_of(study)):
        raise SpecError(f"The claim {claim.text!r} is about {name!r}, which is no metric of the study")
    return known[name]


def _labels(
    claims: Mapping[str, Claim],
    metrics: Mapping[str, Metric],
    cases: Mapping[Key, UnjudgedCase],
    verdicts: Mapping[Key, Verdict],
) -> dict[Key, tuple[str, str | None]]:
    """Return the verdict of each case, with the reason of each "cannot tell".

    The chance of a wrong verdict is corrected for the number of cases by Benjamini and Hochberg, as in comparisons.
    """
    from scipy import stats

    labels: dict[Key, tuple[str, str | None]] = {}
    for key, case in cases.items():
        claim = claims[key[0]]
        if (
            reason := claim.elsewhere
            or case.without
            or _other_server(claim, case)
            or _other_cover(metrics[key[0]], case)
        ):
            labels[key] = CANNOT_TELL, reason
    tested = {
        key: _chance(claims[key[0]], effect)
        for key, verdict in verdicts.items()
        if key not in labels
        and verdict.interval
        and (pair := cases[key].pair)
        and (effect := effect_of(pair))
    }
    adjusted = stats.false_discovery_control(list(tested.values())) if tested else ()
    chances = dict(zip(tested, map(float, adjusted), strict=True))
    for key, verdict in verdicts.items():
        if key not in labels:
            labels[key] = _label(claims[key[0]], verdict, chances.get(key), cases[key].units, len(tested))
    return labels


def _label(
    claim: Claim, verdict: Verdict, p_adjusted: float | None, units: str, tested: int
) -> tuple[str, str | None]:
    if verdict.ratio is None:
        return CANNOT_TELL, NO_RATIO
    if verdict.interval is None or p_adjusted is None:
        return (
            CANNOT_TELL,
            f"too few {units}: A has {verdict.units_before}, B {verdict.units_after}; {MIN_UNITS} at least",
        )
    low, high = _region(claim)
    inside = low <= verdict.interval.low and verdict.interval.high <= high
    outside = verdict.interval.high < low or verdict.interval.low > high
    if not (inside or outside):
        bounds = [bound for bound in (low, high) if verdict.interval.low <= bound <= verdict.interval.high]
        return CANNOT_TELL, f"the interval reaches across {' and '.join(f'{bound:g}' for bound in bounds)}"
    if p_adjusted > 1 - CONFIDENCE:
        return (
            CANNOT_TELL,
            f"too few {units} for {tested} comparisons: chance alone can cause such a difference",
        )
    return (CONFIRMED if inside else REFUTED), None


def _region(claim: Claim) -> tuple[float, float]:
    return (
        0.0 if claim.at_least is None else claim.at_least,
        math.inf if claim.at_most is None else claim.at_most,
    )


def _chance(claim: Claim, effect: Effect) -> float:
    """Return the two-sided chance of an estimate at least this far inside or outside the region, if the true ratio is at a bound."""
    from scipy import stats

    below, above = (
        [],
        [],
    )  # for each bound as the true ratio: the chance of an estimate at most, or at least, as large
    for bound in filter(None, (claim.at_least, claim.at_most)):
        distance = effect.size - math.log(bound)
        if effect.error == 0:
            below.append(0.0 if distance < 0 else 1.0)
            above.append(0.0 if distance > 0 else 1.0)
        else:
            below.append(float(stats.t.cdf(distance / effect.error, effect.df)))
            above.append(float(stats.t.sf(distance / effect.error, effect.df)))
    low, high = _region(claim)
    if low <= math.exp(effect.size) <= high:
        chances = above[:1] if claim.at_least is not None else []
        chances += below[-1:] if claim.at_most is not None else []
        # equal figures without noise are on the bound, which is within the region
        return 0.0 if effect.error == 0 else min(1.0, 2 * max(chances))
    return min(1.0, 2 * (below[0] if math.exp(effect.size) < low else above[-1]))


def _other_server(claim: Claim, case: UnjudgedCase) -> str | None:
    """Return the reason if the measured server is not the claim's server, else None."""
    for place, rows in ((case.a, case.before), (case.b, case.after)):
        store = split(place["store"])[0] if "store" in place else ""
        meant = claim.servers.get(store)
        answered = {row["server_name"] or "an unknown server" for row in rows if counts(row)}
        if meant and answered - {meant}:
            return f"{', '.join(sorted(answered))} answered for {store}, and the text is about {meant}"
    return None


def _other_cover(metric: Metric, case: UnjudgedCase) -> str | None:
    """Return the reason if a metric covers a client on one side and an engine on the other side, else None."""
    covers = [
        {row["figures_cover"] for row in rows if counts(row)} - {None} for rows in (case.before, case.after)
    ]
    if metric.by_cover and all(covers) and covers[0] != covers[1]:
        a, b = (" or ".join(sorted(cover)) for cover in covers)
        return f"A has the figures of the {a}, B those of the {b}: these cannot be compared"
    return None


def _together(claim: Claim, cases: Sequence[Case]) -> tuple[str, str | None]:
    """Return the verdict of a claim, with the reason, from its cases' verdicts."""
    if not cases or claim.elsewhere:
        return CANNOT_TELL, claim.elsewhere or "nothing was measured"
    confirmed, refuted = (sum(case.label == label for case in cases) for label in (CONFIRMED, REFUTED))
    fewest = len(cases) if claim.fewest is None else min(claim.fewest, len(cases))
    if confirmed >= fewest:
        label = CONFIRMED
    elif refuted > len(cases) - fewest:
        label = REFUTED
    else:
        label = CANNOT_TELL
    if len(cases) == 1:
        return label, cases[0].reason
    parts = [f"{n} {word}" for n, word in ((confirmed, CONFIRMED), (refuted, REFUTED)) if n]
    if rest := len(cases) - confirmed - refuted:
        parts.append(f"{rest} {CANNOT_TELL}")
    needed = "" if claim.fewest is None else f"; the text needs {fewest}"
    return label, f"of {len(cases)} cases {', '.join(parts)}{needed}"


def _case(
    claim: Claim,
    case: UnjudgedCase,
    label: str,
    reason: str | None,
    verdict: Verdict | None,
    going_on: Collection[str],
) -> Case:
    remarks = remarks_of(case.before, case.after)
    if case.caution:
        remarks.append(case.caution)
    if set(case.runs) & set(going_on):
        remarks.append(GOES_ON)
    return Case(
        a=_text(case.a, claim.a),
        b=_text(case.b, claim.b),
        places=case.places,
        label=label,
        reason=reason,
        verdict=verdict,
        units=case.units,
        matched=case.pair is not None and case.pair.matched,
        runs=case.runs,
        rows=case.rows,
        remarks=tuple(remarks),
    )


def _text(where: Where, side: Selection) -> str:
    """Name a side by the values of its own places."""
    return " ".join(
        where[place] if place in (STORE, CLIENT, OPERATION) else f"{place}={where[place]}" for place in side
    )
