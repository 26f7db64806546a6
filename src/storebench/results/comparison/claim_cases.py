"""Find the cases of a claim: the figures and runs to compare."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from storebench.results.comparison.sides import Side, Sides, design_of_cells, lacking, of_one_cell
from storebench.results.database.connection import Row
from storebench.results.database.queries import Queries, counts
from storebench.results.runs.conditions import conditions_of, id_of
from storebench.results.statistics.verdicts import MIN_UNITS, Pair
from storebench.stores.base import split
from storebench.study.cell import Cell
from storebench.study.claim import Claim
from storebench.study.record import StudyRecord
from storebench.study.reserved import CLIENT, OPERATION, STORE

SERVER = "server"  # the place of a cell's topology or connection, common to both sides
DATASET = ("rows", "seed")
Where = Mapping[str, str]  # values by place
# The job of an attempt, common to both sides: rows, seed, and the id of the conditions
Job = tuple[str, str, str]


_PLACE = {"rounds": 2, "runs": 1, "repeats": 0}


@dataclass(frozen=True)
class UnjudgedCase:
    """A case of a claim without its verdict: the places and attempts of both sides, and the pair to compare, or the reason why there is no pair.

    `places`: common to both sides, and unique among the claim's cases.
    """

    a: Where
    b: Where
    places: Where
    before: Sequence[Row]
    after: Sequence[Row]
    pair: Pair | None
    without: str | None
    units: str
    runs: tuple[str, ...] = ()
    rows: int | None = None
    caution: str | None = None


@dataclass(frozen=True)
class Attempt:
    """An attempt with its places: its cell's places, its operation, and the parameters that claims name."""

    row: Row
    where: Where
    job: Job | None  # None: the attempt does not count

    @property
    def run(self) -> str:
        """Return the id of the attempt's run."""
        return str(self.row["run_id"])


Groups = dict[tuple[tuple[str, str], ...], list[Attempt]]  # attempts by all places except the dataset


@dataclass(frozen=True)
class _Choice:
    """A choice of comparable runs of both sides. A better choice has a higher `rank`."""

    rank: tuple[bool, int, int, Any]
    before: tuple[str, ...]
    after: tuple[str, ...]
    job: Job


def attempts_of(
    queries: Queries,
    study: StudyRecord,
    claims: Sequence[Claim],
    metrics: Mapping[str, str],
    runs: Sequence[Row] | None,
) -> dict[str, list[Attempt]]:
    """Return the attempts of each claim by the claim's text: newest tries of the present method, without warm-ups.

    `metrics`: the name of each claim's metric by the claim's text. `runs`: the runs to use; None: all runs.
    """
    asked: dict[tuple[str, str], list[Claim]] = defaultdict(list)
    for claim in claims:
        if claim.text in metrics:
            for operation in dict.fromkeys((*claim.side("a")[OPERATION], *claim.side("b")[OPERATION])):
                asked[operation, metrics[claim.text]].append(claim)
    read: dict[str, list[Row]] = defaultdict(list)
    of_runs: dict[str, list[Row]] = {}
    for (operation, metric), claims_of_metric in asked.items():
        if runs is None:
            keys = [cell["key"] for cell in queries.cells_of_study(study.name, operation)]
            wanted = [key for key in keys if any(_is_about(study, claim, key) for claim in claims_of_metric)]
            rows = queries.compared_at(wanted, operation, metric)
        else:
            if metric not in of_runs:
                of_runs[metric] = [row for run in runs for row in queries.compared_of_run(run["id"], metric)]
            rows = [row for row in of_runs[metric] if row["operation"] == operation]
        # an attempt that failed early has no method version
        rows = [row for row in rows if row["method_version"] in (None, study.method_version)]
        cells = {row["cell_key"] for row in rows}
        for claim in claims_of_metric:
            cells_of_claim = {key for key in cells if _is_about(study, claim, key)}
            read[claim.text] += [row for row in rows if row["cell_key"] in cells_of_claim]
    hashes = {row["environment_hash"] for rows in read.values() for row in rows} - {None}
    conditions = _Conditions(study, queries.environments(hashes))
    return {
        text: _attempts(read[text], claim, conditions) for claim in claims if (text := claim.text) in metrics
    }


def _where_is(study: StudyRecord, key: str) -> dict[str, str]:
    """Return the places of a cell."""
    cell = Cell.from_key(key)
    store, server = split(cell.store)
    places = {STORE: store, SERVER: server, CLIENT: cell.client, **study.values_of(cell)}
    return {**places, "rows": str(cell.rows), "seed": str(cell.seed)}


def _is_about(study: StudyRecord, claim: Claim, key: str) -> bool:
    """Return whether a cell is on a side of a claim. A place that the cell lacks is ignored."""
    axes = {axis.name for axis in study.axes}
    where, lenient = _where_is(study, key), axes & set(claim.both)
    known = {STORE, CLIENT, *DATASET, *axes}
    return any(
        all(
            where.get(place) in {split(value)[0] if place == STORE else value for value in values}
            or (place in lenient and place not in where)
            for place, values in side.items()
            if place in known
        )
        for side in (claim.side("a"), claim.side("b"))
    )


class _Conditions:
    """The conditions that attempts must share to be compared, as ids."""

    def __init__(self, study: StudyRecord, environments: Mapping[str, Mapping[str, Any]]) -> None:
        self.study, self._environments = study, environments
        self._known: dict[tuple[Any, ...], str] = {}
        # A parameter that was not recorded has its earlier value
        self.earlier = {param.name: str(param.rules.get("earlier")) for param in study.params}

    def of(self, row: Row, named: frozenset[str]) -> str:
        """Return the id of an attempt's conditions, without the parameters in `named`."""
        key = row["environment_hash"], row["parameters_hash"], str(row["parameters"]), named
        if key not in self._known:
            kept = {name: value for name, value in (row["parameters"] or {}).items() if name not in named}
            environment = self._environments.get(row["environment_hash"] or "", {})
            self._known[key] = id_of(conditions_of(self.study, {**row, "parameters": kept}, environment))
        return self._known[key]


def _attempts(rows: Sequence[Row], claim: Claim, conditions: _Conditions) -> list[Attempt]:
    named = frozenset({*claim.side("a"), *claim.side("b")})
    attempts = []
    for row in rows:
        parameters = row["parameters"] or {}
        where = {**_where_is(conditions.study, row["cell_key"]), OPERATION: row["operation"]}
        for place in named - where.keys():
            if place in parameters or place in conditions.earlier:
                where[place] = str(parameters.get(place, conditions.earlier.get(place)))
        counted = counts(row) and row["value"] is not None
        job = (where["rows"], where["seed"], conditions.of(row, named)) if counted else None
        attempts.append(Attempt(row, where, job))
    return attempts


def cases_of(
    study: StudyRecord, claim: Claim, better: str, attempts: Sequence[Attempt]
) -> list[UnjudgedCase]:
    """Return the cases of a claim: the measured cases, and the cases that the claim names without a measurement.

    `better`: the preferred direction of the claim's metric.
    """
    lenient = {axis.name for axis in study.axes} & set(claim.both)
    groups: Groups = defaultdict(list)
    for attempt in attempts:
        groups[tuple((p, v) for p, v in attempt.where.items() if p not in DATASET)].append(attempt)
    cases: dict[tuple[Any, ...], UnjudgedCase] = {}
    for a, b in claim.cases():
        sides = [_of_side(groups, side, lenient) for side in (a, b)]
        pairs = list(_pairs(claim, a, b, *sides))
        for places, before, after in pairs:
            case = _compared(claim, better, (a, b), places, before, after)
            cases[tuple(a.items()), tuple(b.items()), tuple(places.items())] = case
        if not pairs:
            lacks = [name for name, side in zip("AB", sides, strict=True) if not side]
            reason = f"{' and '.join(lacks)} not measured" if lacks else "A and B were not measured alike"
            places = {place: value for place, value in a.items() if place not in claim.apart()}
            case = UnjudgedCase(a, b, places, (), (), None, reason, "rounds")
            cases[tuple(a.items()), tuple(b.items()), ()] = case
    return _with_differing_places(list(cases.values()))


def _of_side(groups: Groups, side: Where, lenient: set[str]) -> Groups:
    """Return the groups of attempts on a side. A cell may lack the `lenient` axes."""
    wanted = {place: value for place, value in side.items() if place not in DATASET}
    store, server = split(wanted.get(STORE, ""))
    if server:
        wanted |= {STORE: store, SERVER: server}
    groups_of_side: Groups = {}
    for key, attempts in groups.items():
        where = dict(key)
        if all(
            where.get(place) == value or (place in lenient and place not in where)
            for place, value in wanted.items()
        ):
            dataset = [(place, side[place]) for place in DATASET if place in side]
            if of_dataset := [
                attempt for attempt in attempts if all(attempt.where[p] == v for p, v in dataset)
            ]:
                groups_of_side[key] = of_dataset
    return groups_of_side


def _pairs(
    claim: Claim, a: Where, b: Where, before: Groups, after: Groups
) -> Iterator[tuple[dict[str, str], list[Attempt], list[Attempt]]]:
    """Yield the pairs of groups whose cells are equal in every common place that neither side names."""
    differing = claim.apart()
    if "@" in a.get(STORE, "") + b.get(STORE, ""):
        differing = differing | {SERVER}
    for key_a, attempts_a in before.items():
        for key_b, attempts_b in after.items():
            cell_a, cell_b = dict(key_a), dict(key_b)
            places = {place: cell_a.get(place) or cell_b.get(place, "") for place in {**cell_a, **cell_b}}
            places = {place: value for place, value in places.items() if place not in differing and value}
            if all(
                cell_a.get(place) in (None, "", value) and cell_b.get(place) in (None, "", value)
                for place, value in places.items()
            ):
                yield places, attempts_a, attempts_b


def _compared(
    claim: Claim,
    better: str,
    sides: tuple[Where, Where],
    places: Where,
    before: Sequence[Attempt],
    after: Sequence[Attempt],
) -> UnjudgedCase:
    chosen = max(_choices(claim, before, after), key=lambda choice: choice.rank, default=None)
    if chosen is None:
        a, b = ([attempt.row for attempt in attempts] for attempts in (before, after))
        counted = [any(attempt.job for attempt in attempts) for attempts in (before, after)]
        reason = (
            "A and B were not measured alike: the dataset, the machine or the parameters differ"
            if all(counted)
            else ", ".join(
                f"{name} has {lacking(rows)}"
                for name, rows, has_counted in zip("AB", (a, b), counted, strict=True)
                if not has_counted
            )
        )
        runs = tuple(dict.fromkeys(row["run_id"] for row in (*a, *b)))
        return UnjudgedCase(*sides, places, a, b, None, reason, "rounds", runs[-1:])
    fields = {OPERATION: claim.operation, "better": better}
    a, b = (
        [{**attempt.row, **fields} for attempt in side if attempt.run in runs and _is_of(attempt, chosen.job)]
        for side, runs in ((before, chosen.before), (after, chosen.after))
    )
    both = Sides(
        Side(a, chosen.before, is_cell=True, pair_of=of_one_cell),
        Side(b, chosen.after, is_cell=True, pair_of=of_one_cell),
        design_of_cells(chosen.before, chosen.after),
    )
    pairs, without = both.pairs()
    return UnjudgedCase(
        *sides,
        places,
        a,
        b,
        next(iter(pairs.values()), None),
        next(iter(without.values()), None),
        both.design.units,
        tuple(dict.fromkeys((*chosen.before, *chosen.after))),
        int(chosen.job[0]),
        both.design.caution,
    )


def _choices(claim: Claim, before: Sequence[Attempt], after: Sequence[Attempt]) -> Iterator[_Choice]:
    """Yield comparable choices: the rounds of a run with both sides, several runs with both sides, or two runs.

    Choices with enough units rank first, then rounds before runs before repeats, then the newest runs.
    """
    jobs = [{attempt.job for attempt in side if attempt.job} for side in (before, after)]
    for job in jobs[0] & jobs[1]:
        a, b = (_by_run([attempt for attempt in side if attempt.job == job]) for side in (before, after))
        common = [run for run in a if run in b]
        tried: list[tuple[tuple[str, ...], tuple[str, ...], int]] = []
        for run in common:
            rounds = {attempt.row["repeat"] for attempt in a[run]} & {
                attempt.row["repeat"] for attempt in b[run]
            }
            tried.append(((run,), (run,), len(rounds)))
        if len(common) > 1:
            groups = {run: (_group(a[run]), _group(b[run])) for run in common}
            newest = max(common, key=lambda run: _newest(a[run]))
            alike = tuple(run for run in common if groups[run] == groups[newest])
            tried.append((alike, alike, len(alike)))
        if not common:
            run_a, run_b = (max(side, key=lambda run: _newest(side[run])) for side in (a, b))
            if _same_parameters(claim, a[run_a][0].row, b[run_b][0].row):
                tried.append(((run_a,), (run_b,), min(len(a[run_a]), len(b[run_b]))))
        for runs_a, runs_b, units in tried:
            kind = _PLACE[design_of_cells(runs_a, runs_b).units]
            enough = units >= MIN_UNITS
            yield _Choice((enough, kind, 0 if enough else units, _newest(a[runs_a[0]])), runs_a, runs_b, job)


def _is_of(attempt: Attempt, job: Job) -> bool:
    """Return whether an attempt is of this job. For an attempt that does not count, only the dataset must match."""
    return attempt.job == job or (
        attempt.job is None and (attempt.where["rows"], attempt.where["seed"]) == job[:2]
    )


def _by_run(attempts: Sequence[Attempt]) -> dict[str, list[Attempt]]:
    by_run: dict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_run[attempt.run].append(attempt)
    return by_run


def _newest(attempts: Sequence[Attempt]) -> Any:
    return max(attempt.row["recorded_at"] for attempt in attempts)


def _group(attempts: Sequence[Attempt]) -> set[tuple[str | None, str | None]]:
    """Return the environments and parameters of some attempts."""
    return {(attempt.row["environment_hash"], attempt.row["parameters_hash"]) for attempt in attempts}


def _same_parameters(claim: Claim, before: Row, after: Row) -> bool:
    """Return whether two attempts have the same parameters, ignoring the parameters that the claim names."""
    a, b = before["parameters"] or {}, after["parameters"] or {}
    return all(a[name] == b[name] for name in (a.keys() & b.keys()) - claim.apart())


def _with_differing_places(cases: list[UnjudgedCase]) -> list[UnjudgedCase]:
    """Return the cases in order, each with only the places in which the cases differ."""
    names = list(dict.fromkeys(place for case in cases for place in case.places))
    varying = [name for name in names if len({case.places.get(name) for case in cases} - {None}) > 1]
    return [
        UnjudgedCase(**{**vars(case), "places": {n: case.places[n] for n in varying if n in case.places}})
        for case in cases
    ]
