"""The functions of profiles that go along with a verdict."""

import base64

import pytest

from storebench.cli.output.why import why_lines
from storebench.protocol.profiles import packed
from storebench.results.comparison.functions import CONDITIONS, MOST
from tests.unit.results.test_why import Accompanied, attempts, found, values

PLANTED = "planted (store.py)"
WRITE = "main (a.py);write (store.py)"
MONITOR = "Thread._bootstrap (threading.py);run (monitor.py);wait (threading.py)"
ATTEMPTS = [row | {"environment_hash": row["run_id"]} for row in attempts(2)]
OF_SIDE = {"A": ATTEMPTS[0], "B": ATTEMPTS[-1]}


class Profiled(Accompanied):
    """A stand-in for `Queries` with profiled attempts beside the attempts that count. B takes a second more."""

    def __init__(self, *profiles, operation_s=1):
        super().__init__(ATTEMPTS, {("phase", "operation", "s"): values(operation_s, 2 * operation_s)})
        self.taken = profiles

    def profiled(self, keys):
        return [row for row in self.taken if row["cell_key"] in keys]

    def profiles(self, ids):
        return [row for row in self.taken if row["attempt_id"] in ids]


def profile(side, repeat=1, planted_s=None, name="python_wall", run="profiled", more=(), **others):
    """Return a profiled attempt under the conditions of a side. B is in the planted function for a second."""
    planted = (100 if side == "B" else 0) if planted_s is None else round(100 * planted_s)
    stacks = {WRITE: 100 + repeat, f"{WRITE};{PLANTED}": planted and planted + repeat % 2}
    if name == "python_wall":
        stacks[MONITOR] = 2 * sum(stacks.values())  # two threads that wait as long as the operation lasts
    stacks |= dict(more)
    content, _ = packed({stack: n for stack, n in stacks.items() if n})
    return {
        **{condition: OF_SIDE[side][condition] for condition in CONDITIONS},
        "attempt_id": (run, side, repeat),
        "run_id": f"{run} {side}",
        "repeat": repeat,
        "recorded_at": 1,
        "name": name,
        "hz": 100,
        "stacks": base64.b64decode(content),
        **others,
    }


def functions(*profiles, **others):
    """Return the functions that go along with the verdict, by name."""
    figures = found(Profiled(*profiles, **others), "a", "b").figures
    return {figure.name: one for figure, one in figures.items() if figure.kind == "function"}


def test_a_planted_function_is_tested_and_among_the_first_three():
    profiles = [profile(side, n) for side in "AB" for n in range(1, 6)]
    why = found(Profiled(*profiles), "a", "b")
    assert ("function", PLANTED, "s") in list(why.figures)[:3]
    (planted,) = functions(*profiles).values()  # not the threads that wait as long as the operation lasts
    assert (planted.median_before, planted.median_after) == (0, pytest.approx(1.01))
    assert planted.share == pytest.approx(1, abs=0.02) and planted.seen_in is None
    assert planted.p_adjusted < 0.05
    assert why.looked_at == 3, "the operation, the write and the planted function"


def test_functions_of_few_profiles_come_last_and_have_no_interval():
    why = found(Profiled(profile("A"), profile("B"), profile("B", 2)), "a", "b")
    assert [figure.name for figure in why.figures] == ["operation", PLANTED]
    lines, _ = why_lines(why, "repeats", whole=True)
    assert lines[-2] == (
        f"function {PLANTED}: 0 s -> 1.01 s, covers 100% of the difference, seen in 3 profiles, without an interval"
    )
    assert lines[-1] == "1 of 1 figures that vary differ"


@pytest.mark.parametrize(
    "profiles",
    [
        [profile("A")],
        [profile("A"), profile("B", name="python")],
        *([profile("A"), profile("B", **{condition: "another"})] for condition in CONDITIONS),
        [profile("A"), profile("B", stacks=b"damaged")],
        [profile("A"), profile("B", planted_s=0.03)],
        [profile("A", planted_s=1), profile("B", planted_s=0)],
    ],
)
def test_profiles_that_are_not_comparable_and_functions_that_did_not_grow_give_nothing(profiles):
    assert functions(*profiles) == {}


def test_the_same_attempts_on_both_sides_give_nothing():
    queries = Profiled(profile("B"), profile("B", 2))
    queries.rows = [row | {"environment_hash": "b"} for row in queries.rows]
    assert [figure.kind for figure in found(queries, "a", "b").figures] == ["phase"]


def test_the_newest_run_and_the_profile_of_wall_time_are_compared():
    old = [profile(side, planted_s=9, run="old", recorded_at=0) for side in "AB"]
    of_cpu = [profile(side, planted_s=5, name="python", run="of CPU time", recorded_at=2) for side in "AB"]
    planted = functions(*old, *of_cpu, profile("A"), profile("B"))[PLANTED]
    assert (planted.median_after, planted.seen_in) == (pytest.approx(1.01), 2)


def test_a_thread_whose_share_of_the_time_has_grown_is_compared():
    worker = f"_bootstrap (threading.py);work (pool.py);{PLANTED}"
    planted = functions(profile("A", planted_s=0), profile("B", planted_s=0, more={worker: 80}))[PLANTED]
    assert planted.median_after == pytest.approx(0.8)


def test_a_metric_that_is_not_the_time_of_its_operation_has_no_functions():
    assert functions(profile("A"), profile("B"), operation_s=20) == {}


def test_only_the_functions_with_the_most_seconds_are_tested():
    many = [(f"main (a.py);f{n} (a.py)", 10 + n) for n in range(2 * MOST)]
    profiles = [profile(side, n, more={s: t + n for s, t in many}) for side in "AB" for n in range(1, 6)]
    why = found(Profiled(*profiles), "a", "b")
    assert why.looked_at == 1 + MOST
    assert PLANTED in {figure.name for figure in why.figures}
