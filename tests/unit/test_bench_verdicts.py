"""The figures that `make bench-verdicts` computes, from simulated turns."""

import numpy as np

from bench.verdicts import drawn
from storebench.results.statistics.power import units_for
from storebench.results.statistics.verdicts import Pair, effect_of


def measured(noise, drift, turns=10, pairs=6, seed=1):
    """Turns of two equal sides: each of their runs has a drift that its cells share."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(0, drift, (2, 1, turns)) + rng.normal(0, noise, (2, pairs, turns))
    one, other = np.exp(logs)
    return {
        ("cell", str(n)): Pair([[s] for s in one[n]], [[s] for s in other[n]], matched=True)
        for n in range(pairs)
    }


def planned(pairs):
    return max(
        units_for(effect_of(pair).noise, 1.2, pairs=len(pairs), margin=0.05) for pair in pairs.values()
    )


def test_at_the_turns_that_are_planned_the_slowdown_is_found_and_equal_sides_are_not_told_apart():
    for noise, drift in ((0.02, 0.03), (0.08, 0.1)):  # fewer turns than were measured, and more
        pairs = measured(noise, drift)
        false_share, power = drawn(pairs, planned(pairs), draws=100)
        assert false_share <= 0.05 and power >= 0.9, (noise, planned(pairs))
    assert planned(pairs) > 10


def test_too_few_turns_do_not_find_it():
    _, power = drawn(measured(0.08, 0.05), 5, draws=50)
    assert power < 0.5


def test_what_is_equal_but_for_one_side_of_each_turn_is_no_difference():
    """A side that happened to be slower throughout is as often A as B."""
    pairs = measured(0.01, 0.0)
    slower = {
        key: Pair(pair.before, [[1.2 * s for s in unit] for unit in pair.after], True)
        for key, pair in pairs.items()
    }
    false_share, _ = drawn(slower, 8, draws=100, slowdown=0.0)
    assert false_share < 0.5
