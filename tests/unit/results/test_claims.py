"""Verdicts on claims: the deciding attempts, and the resulting verdicts."""

import random
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from storebench.answers.claims import claims_answer
from storebench.cli.output.claims import as_markdown, print_claims
from storebench.fields import Text
from storebench.results.comparison.claims import judged_claims
from storebench.results.database.measurements import value_of
from storebench.study.claim import Claim
from storebench.study.record import StudyRecord
from tests.unit.example import STUDY, cell
from tests.unit.results import test_sides

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)
# Noise of one round: both sides have it, so that the ratio of a round scatters less
NOISE = (0.98, 1.03, 1.0, 0.96, 1.02, 1.01, 0.99, 1.04)
FASTER = Claim(
    "Null is ten times as fast", "write", {"store": "null"}, {"store": "mongodb"}, at_least=8, at_most=12.5
)


def rows(run, seconds, *, repeats=6, day=1, operation="write", **others):
    """Return rows of each cell of a run. `seconds`: time by cell."""
    return [
        {
            **test_sides.row(
                run, repeat, took * NOISE[repeat % 8] * (1 + number * (repeat % 3 - 1) / 100), one.key
            ),
            "study": one.study,
            "operation": operation,
            "server_name": "MongoDB",
            "method_version": 1,
            "figures_cover": "client",
            "error_kind": None,
            "recorded_at": BEGAN + timedelta(days=day, minutes=repeat),
            **others,
        }
        for repeat in range(1, repeats + 1)
        for number, (one, took) in enumerate(seconds.items())
    ]


class Recorded:
    """A stand-in for `Queries` with fixed rows."""

    dag_ids = None

    def __init__(self, *some, going_on=()):
        self.rows, self.going_on = [row for rows in some for row in rows], going_on

    def cells_of_study(self, study, operation):
        return [{"key": key} for key in sorted({row["cell_key"] for row in self.rows})]

    def compared_at(self, keys, operation, metric):
        return self._of(
            metric, [row for row in self.rows if row["cell_key"] in keys and row["operation"] == operation]
        )

    def compared_of_run(self, run, metric):
        return self._of(metric, [row for row in self.rows if row["run_id"] == run])

    def _of(self, metric, rows):
        return [{**row, "value": value_of(row, metric)} for row in rows]

    def environments(self, hashes):
        return {name: {"cpus": 2 if name == "small" else 64} for name in hashes}

    def open_runs(self):
        return [{"id": run} for run in self.going_on]


def judged(queries, *claims, runs=None):
    record = StudyRecord.of(replace(STUDY, claims=claims))
    return judged_claims(queries, record, runs and [{"id": run} for run in runs])


def case_of(queries, claim, **options):
    (found,) = judged(queries, claim, **options)
    (case,) = found.cases
    assert case.label == found.label
    return case


NULL, MONGODB = cell("null"), cell("mongodb")


@pytest.mark.parametrize(
    ("took", "at_least", "at_most", "label", "reason"),
    [
        (10.0, 8, 12.5, "confirmed", None),
        (2.0, 8, 12.5, "refuted", None),
        (30.0, 8, 12.5, "refuted", None),
        (10.0, None, 12.5, "confirmed", None),
        (10.0, 8, None, "confirmed", None),
        (10.0, 10.05, None, "cannot tell", "the interval reaches across 10.05"),
        (10.0, 9.95, 10.2, "cannot tell", "the interval reaches across 9.95"),
        (10.0, 9.95, 10.05, "cannot tell", "the interval reaches across 9.95 and 10.05"),
    ],
)  # fmt: skip
def test_a_verdict_needs_the_whole_interval(took, at_least, at_most, label, reason):
    """Ten within an interval from 5.4 to 10.6 confirms nothing: the interval must lie in the region that is claimed."""
    claim = replace(FASTER, at_least=at_least, at_most=at_most)
    case = case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: took})), claim)
    assert (case.label, case.reason, case.runs, case.rows) == (label, reason, ("a",), 1000)
    interval = case.verdict.interval
    assert interval.low < case.verdict.ratio < interval.high
    low, high = at_least or 0, at_most or float("inf")
    assert (label == "confirmed") == (low <= interval.low and interval.high <= high)
    assert (label == "refuted") == (interval.high < low or interval.low > high)


@pytest.mark.parametrize("repeats", [1, 4])
def test_single_measurements_tell_nothing(repeats):
    case = case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: 2.0}, repeats=repeats)), FASTER)
    assert (case.label, case.verdict.ratio) == ("cannot tell", pytest.approx(2.0, rel=0.1))
    assert case.reason == f"too few rounds: A has {repeats}, B {repeats}; 5 at least"


def test_what_does_not_count_is_not_a_repeat():
    some = rows("a", {NULL: 1.0, MONGODB: 10.0}, repeats=8)
    assert case_of(Recorded(some), FASTER).label == "confirmed"
    some[0]["disturbed"] = some[3]["disturbed"] = "throttled"  # null of round 1, mongodb of round 2
    some[4] |= {"status": "failed"}
    assert case_of(Recorded(some), FASTER).verdict.units_before == 5
    some[6] |= {"status": "failed"}
    case = case_of(Recorded(some), FASTER)
    assert (case.label, case.verdict.units_before) == ("cannot tell", 4)
    assert "A: 2 of 8 not verified" in case.remarks and "B: 1 of 8 disturbed" in case.remarks
    for row in some:
        row["disturbed"] = "throttled"
    case = case_of(Recorded(some), FASTER)
    assert (case.label, case.verdict) == ("cannot tell", None)
    assert case.reason == "A has only disturbed attempts, B has only disturbed attempts"


def test_another_method_is_another_job():
    case = case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: 10.0}, method_version=7)), FASTER)
    assert (case.label, case.reason) == ("cannot tell", "A and B not measured")


def test_what_the_client_was_the_limit_of_is_said_beside_the_verdict():
    case = case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: 10.0}, client_bound=True)), FASTER)
    assert case.remarks == ("A: 6 of 6 client-bound", "B: 6 of 6 client-bound")


def test_the_newest_run_with_repeats_decides_unless_another_is_named():
    old, new = (
        rows("old", {NULL: 1.0, MONGODB: 2.0}, repeats=8),
        rows("new", {NULL: 1.0, MONGODB: 10.0}, day=2),
    )
    single = rows("single", {NULL: 1.0, MONGODB: 30.0}, repeats=1, day=3)
    half = rows("half", {NULL: 5.0}, day=4)
    read = Recorded(new, old, single, half)
    case = case_of(read, FASTER)
    assert (case.label, case.runs, case.units, case.matched) == ("confirmed", ("new",), "rounds", True)
    case = case_of(read, FASTER, runs=["old"])
    assert (case.label, case.runs) == ("refuted", ("old",))
    assert case_of(read, FASTER, runs=["single"]).label == "cannot tell"
    assert case_of(read, FASTER, runs=["half"]).reason == "B not measured"


def test_many_runs_of_few_repeats_are_matched_run_by_run():
    some = [rows(f"r{n}", {NULL: n, MONGODB: 10.0 * n * NOISE[n]}, repeats=2, day=n) for n in range(1, 7)]
    case = case_of(Recorded(*some), FASTER)
    assert (case.label, case.units, case.matched, case.verdict.units_before) == ("confirmed", "runs", True, 6)


def test_two_runs_are_compared_on_the_same_machine_alone_and_the_drift_is_pointed_out():
    a, b = rows("a", {NULL: 1.0}), rows("b", {MONGODB: 10.0}, day=2)
    case = case_of(Recorded(a, b), FASTER)
    assert (case.label, case.runs, case.units) == ("confirmed", ("a", "b"), "repeats")
    assert any("drift" in remark for remark in case.remarks)
    a, b = (
        [{**row, "environment_hash": machine} for row in some]
        for some, machine in ((a, "small"), (b, "large"))
    )
    case = case_of(Recorded(a, b), FASTER)
    assert case.label == "cannot tell" and case.reason.startswith("A and B were not measured alike")


def test_a_run_that_goes_on_is_pointed_out():
    assert case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: 10.0}), going_on=["a"]), FASTER).remarks == (
        "the run still goes on",
    )


def test_other_software_refutes_nothing():
    ferretdb = Recorded(rows("a", {NULL: 1.0, MONGODB: 2.0}, server_name="FerretDB"))
    claim = replace(FASTER, servers={"mongodb": "MongoDB"})
    case = case_of(ferretdb, claim)
    assert (case.label, case.verdict.ratio) == ("cannot tell", pytest.approx(2.0, rel=0.05))
    assert case.reason == "FerretDB answered for mongodb, and the text is about MongoDB"
    assert case_of(Recorded(rows("a", {NULL: 1.0, MONGODB: 2.0})), claim).label == "refuted"
    case = case_of(ferretdb, replace(FASTER, elsewhere="another generator"))
    assert (case.label, case.reason) == ("cannot tell", "another generator")
    (without,) = judged(ferretdb, Claim("It was seen", elsewhere="a picture alone shows it"))
    assert (without.label, without.reason, without.cases) == ("cannot tell", "a picture alone shows it", ())


SPARK = {(b, e): cell("delta-spark", batch=b, executors=e) for b in ("10", "all") for e in ("1", "2")}
BATCHES = Claim(
    "Larger batches are faster",
    "write",
    {"batch": "10"},
    {"batch": "all"},
    both={"store": "delta-spark"},
    at_most=1,
)


def took(*seconds):
    return rows("a", dict(zip(SPARK.values(), seconds, strict=True)))


@pytest.mark.parametrize(
    ("seconds", "fewest", "label", "reason"),
    [
        ((9.0, 8.0, 3.0, 4.0), None, "confirmed", "of 2 cases 2 confirmed"),
        ((9.0, 8.0, 3.0, 16.0), None, "refuted", "of 2 cases 1 confirmed, 1 refuted"),
        ((9.0, 8.0, 3.0, 8.05), None, "cannot tell", "of 2 cases 1 confirmed, 1 cannot tell"),
        ((9.0, 8.0, 3.0, 16.0), 1, "confirmed", "of 2 cases 1 confirmed, 1 refuted; the text needs 1"),
        ((9.0, 8.0, 30.0, 16.0), 1, "refuted", "of 2 cases 2 refuted; the text needs 1"),
    ],
)  # fmt: skip
def test_a_place_that_is_not_named_is_the_same_on_both_sides_and_makes_a_case_of_each_value(
    seconds, fewest, label, reason
):
    (found,) = judged(Recorded(took(*seconds)), replace(BATCHES, fewest=fewest))
    assert [case.places for case in found.cases] == [{"executors": "1"}, {"executors": "2"}]
    assert {(case.a, case.b) for case in found.cases} == {("batch=10", "batch=all")}
    assert (found.label, found.reason) == (label, reason)


def test_a_value_that_is_named_and_was_not_measured_keeps_the_claim_open():
    claim = replace(BATCHES, both={"store": "delta-spark", "executors": ("1", "2", "4")})
    (found,) = judged(Recorded(took(9.0, 8.0, 3.0, 4.0)), claim)
    assert [(case.places, case.label) for case in found.cases] == [
        ({"executors": "1"}, "confirmed"),
        ({"executors": "2"}, "confirmed"),
        ({"executors": "4"}, "cannot tell"),
    ]
    assert found.cases[2].reason == "A and B not measured" and found.label == "cannot tell"


def test_an_axis_that_a_store_does_not_have_pairs_with_all_of_its_values():
    claim = Claim("x", "write", {"store": "mongodb"}, {"store": "delta-spark"}, at_least=1)
    (found,) = judged(
        Recorded(rows("a", {MONGODB: 1.0, SPARK["10", "1"]: 3.0, SPARK["10", "2"]: 4.0})), claim
    )
    assert [case.places for case in found.cases] == [{"executors": "1"}, {"executors": "2"}]
    assert [round(case.verdict.ratio) for case in found.cases] == [3, 4]
    both = replace(claim, both={"executors": "2"})
    (found,) = judged(Recorded(rows("a", {MONGODB: 1.0, SPARK["10", "2"]: 4.0})), both)
    assert [(case.places, case.label) for case in found.cases] == [({}, "confirmed")]


def test_topologies_are_not_mixed():
    some = rows(
        "a",
        {
            cell(f"{store}@{name}"): took
            for store, took in (("null", 1.0), ("mongodb", 9.5))
            for name in ("one", "two")
        },
    )
    (found,) = judged(Recorded(some), FASTER)
    assert [(case.places, case.label) for case in found.cases] == [
        ({"server": "one"}, "confirmed"),
        ({"server": "two"}, "confirmed"),
    ]
    (found,) = judged(Recorded(some), replace(FASTER, b={"store": "mongodb@two"}, a={"store": "null@one"}))
    assert [(case.a, case.b, case.places) for case in found.cases] == [("null@one", "mongodb@two", {})]


def test_operations_and_parameters_are_places_too():
    reads = rows("a", {MONGODB: 0.5}, operation="read")
    claim = Claim(
        "Reads are faster",
        a={"operation": "write"},
        b={"operation": "read"},
        both={"store": "mongodb"},
        at_most=1,
    )
    case = case_of(Recorded(rows("a", {MONGODB: 1.0}), reads), claim)
    assert (case.label, case.a, case.b, case.units) == ("confirmed", "write", "read", "rounds")
    small, large = (
        rows(memory, {MONGODB: took}, parameters={"server_memory": memory, "pod_cpu": "1"}, day=day)
        for memory, took, day in (("2Gi", 2.0, 1), ("4Gi", 1.0, 2))
    )
    claim = Claim(
        "Twice the memory halves the time",
        "write",
        {"server_memory": "2Gi"},
        {"server_memory": "4Gi"},
        both={"store": "mongodb"},
        at_most=0.6,
    )
    case = case_of(Recorded(small, large), claim)
    assert (case.label, case.runs) == ("confirmed", ("2Gi", "4Gi"))
    other = [{**row, "parameters": {**row["parameters"], "pod_cpu": "2"}} for row in large]
    assert case_of(Recorded(small, other), claim).reason.startswith("A and B were not measured alike")


def test_figures_without_noise_are_judged_by_themselves():
    some = rows("a", {NULL: 1.0, MONGODB: 1.0})
    for row in some:
        row["metrics"] = {"rows_per_s": 100.0 if row["cell_key"] == NULL.key else 66.0}
    claim = Claim(
        "A third smaller", "write", {"store": "null"}, {"store": "mongodb"}, at_most=0.7, metric="rows_per_s"
    )
    case = case_of(Recorded(some), claim)
    assert (case.label, case.verdict.interval.low) == ("confirmed", pytest.approx(0.66))
    assert case_of(Recorded(some), replace(claim, at_most=0.6)).label == "refuted"


def test_chance_is_corrected_for_the_number_of_cases():
    """An interval that just excludes the bound tells something alone, and not beside twenty others that tell nothing."""
    near = {cell("null", batch="10"): 1.0, cell("null", batch="all"): 1.0}
    some = rows("a", near)
    claims = [
        Claim(
            f"claim {n}",
            "write",
            {"batch": "10"},
            {"batch": "all"},
            both={"store": "null"},
            at_least=0.988 + n / 1e4,
        )
        for n in range(1, 40)
    ]
    alone = {one.text: judged(Recorded(some), one)[0].cases[0] for one in claims}
    told = [text for text, case in alone.items() if case.label == "confirmed"]
    assert 0 < len(told) < len(claims)
    last = alone[told[-1]].verdict.interval.low
    others = [
        replace(
            FASTER,
            text=f"other {n}",
            at_least=1.0,
            at_most=None,
            a={"batch": "10"},
            b={"batch": "all"},
            both={"store": "null"},
        )
        for n in range(60)
    ]
    (judged_one, *_) = judged(Recorded(some), next(c for c in claims if c.text == told[-1]), *others)
    assert judged_one.cases[0].verdict.interval.low == last
    assert judged_one.label == "cannot tell"
    assert judged_one.reason == "too few rounds for 61 comparisons: chance alone can cause such a difference"


def test_what_is_printed_names_claim_verdict_ratio_interval_n_and_run(capsys):
    claims = (
        FASTER,
        replace(BATCHES, note="two executors at most"),
        Claim("It was seen", elsewhere="a picture"),
    )
    read = Recorded(
        rows("bulk_write_read/one", {NULL: 1.0, MONGODB: 10.0}),
        [{**row, "run_id": "bulk_write_read/two"} for row in took(9.0, 8.0, 3.0, 16.0)],
    )
    found = judged(read, *claims)
    print_claims(Console(width=280), "bulk_write_read", found)
    text = capsys.readouterr().out
    for part in (
        "Null is ten times as fast", "confirmed", "mongodb / null", "8 to 12.5", "6 rounds", "one", "two executors at most",
        "Larger batches are faster: of 2 cases 1 confirmed, 1 refuted",
    ):  # fmt: skip
        assert part in text
    first, second, third = claims_answer("bulk_write_read", found).claims
    (case,) = first.cases
    assert (first.verdict, first.expected_ratio, case.runs) == (
        "confirmed",
        "8 to 12.5",
        ["bulk_write_read/one"],
    )
    assert (case.units_before, case.units_after, case.units, case.matched) == (6, 6, "rounds", True)
    assert case.ratio_low > 8
    assert [case.verdict for case in second.cases] == ["confirmed", "refuted"]
    assert (third.verdict, third.reason, third.cases) == ("cannot tell", "a picture", [])
    lines = as_markdown("bulk_write_read", found).splitlines()
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    assert [row[:2] for row in table[2:]] == [
        ["Null is ten times as fast", "confirmed"],
        ["Larger batches are faster", "refuted"],
        ["It was seen", "cannot tell"],
    ]
    assert table[2][2].endswith("mongodb / null") and table[2][5] == "8 to 12.5"
    assert 8 < float(table[2][4].split(" to ")[0]) < float(table[2][3])
    assert [row[6] for row in table[3:]] == [
        "of 2 cases 1 confirmed, 1 refuted; two executors at most",
        "a picture",
    ]


def test_the_memory_of_a_client_is_not_compared_with_that_of_an_engine():
    some = rows("a", {NULL: 1.0, MONGODB: 10.0})
    for row in some:
        row["all_memory_working_set_peak_bytes"] = row["metrics"]["only_s"]
        row["figures_cover"] = "engine" if row["cell_key"] == NULL.key else "client"
    assert case_of(Recorded(some), FASTER).label == "confirmed"
    case = case_of(Recorded(some), replace(FASTER, metric="all_memory_working_set_peak_bytes"))
    assert case.label == "cannot tell"
    assert case.reason == "A has the figures of the engine, B those of the client: these cannot be compared"


def test_a_parameter_that_was_not_recorded_has_the_value_that_it_had_before():
    """A cold read is different work from the original's read, which met the caches as the write had left them."""
    study = replace(
        STUDY,
        params={
            "cache": Text(
                title="Caches",
                text="",
                default="as_is",
                earlier="as_is",
                pattern="[a-z_]+",
                hint="a name",
                examples=("cold",),
            )
        },
    )
    claim = replace(FASTER, both={"cache": "as_is"})
    warm = rows("warm", {NULL: 1.0, MONGODB: 10.0})
    cold = rows("cold", {NULL: 1.0, MONGODB: 1.0}, day=2, parameters={"cache": "cold"})
    record = StudyRecord.of(replace(study, claims=(claim,)))
    (found,) = judged_claims(Recorded(warm, cold), record)
    assert (found.label, found.cases[0].runs) == ("confirmed", ("warm",))


@pytest.mark.parametrize("repeats", [5, 6, 12])
def test_a_ratio_at_the_bound_is_rarely_told_apart_from_it(repeats):
    """At most one in forty 95 % intervals lies wholly on one side of a bound that equals the true ratio."""
    dice, labels = random.Random(7), Counter()
    claim = replace(FASTER, at_least=10, at_most=None)
    for _ in range(400):
        some = rows("a", {NULL: 1.0, MONGODB: 10.0}, repeats=repeats)
        for row in some:
            took = 10.0 if row["cell_key"] == MONGODB.key else 1.0
            row["metrics"] = {"only_s": took * dice.lognormvariate(0, 0.1)}
        labels[case_of(Recorded(some), claim).label] += 1
    assert labels["confirmed"] + labels["refuted"] <= 400 * 0.05 + 3 * (400 * 0.05 * 0.95) ** 0.5
    assert labels["cannot tell"] > 350
