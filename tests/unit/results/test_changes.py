"""Change points of histories with and without planted steps."""

import numpy as np
import pytest

from storebench.results.statistics.changes import MIN_FIGURES, MIN_LEVEL, MOST, change_points, levels

RUNS = 60
SEEDS = 1_000  # histories in which nothing changes
STEPS = 40  # histories with a planted step
NOISE = 0.04  # the standard deviation of the logarithm
NOISES = {
    "normal": lambda random, n: random.normal(size=n),
    "heavy tails": lambda random, n: random.standard_t(3, size=n),
    "outliers": lambda random, n: (
        random.normal(size=n) + (random.random(n) < 0.1) * random.exponential(10, n)
    ),
    "two modes": lambda random, n: random.normal(size=n) / 4 + 5 * (random.random(n) < 0.5),
    "few values": lambda random, n: np.round(random.normal(size=n)),
}


def history(seed, noise="normal", runs=RUNS):
    """Return the figures of equal runs."""
    return np.exp(NOISE * NOISES[noise](np.random.default_rng(seed), runs))


def with_steps(figures, *steps):
    """Multiply the figures from each position on by a factor."""
    planted = figures.copy()
    for place, factor in steps:
        planted[place:] *= factor
    return tuple(planted)


@pytest.mark.parametrize("noise", NOISES)
def test_in_one_history_of_a_hundred_equal_ones_there_is_a_false_alarm(noise):
    false_alarms = sum(bool(change_points(tuple(history(seed, noise)))) for seed in range(SEEDS))
    assert false_alarms / SEEDS <= 0.02, "0.01 in the long run, whatever the noise"


@pytest.mark.parametrize("runs", [MIN_FIGURES, 20])
def test_that_holds_for_short_histories(runs):
    false_alarms = sum(bool(change_points(tuple(history(seed, runs=runs)))) for seed in range(SEEDS))
    assert false_alarms / SEEDS <= 0.02


@pytest.mark.parametrize("place", [MIN_LEVEL, 20, 30, 45, RUNS - MIN_LEVEL])
@pytest.mark.parametrize("factor", [1.2, 1 / 1.2])
def test_a_planted_step_is_found_where_it_was_planted(place, factor):
    found = [change_points(with_steps(history(seed), (place, factor))) for seed in range(STEPS)]
    assert sum(one == (place,) for one in found) / len(found) >= 0.9


@pytest.mark.parametrize("noise", ["heavy tails", "outliers"])
def test_a_step_is_found_among_outliers_and_they_are_none(noise):
    found = [change_points(with_steps(history(seed, noise), (40, 1.3))) for seed in range(STEPS)]
    assert sum(len(one) == 1 and abs(one[0] - 40) <= 1 for one in found) / len(found) >= 0.85


def test_several_steps_are_found_also_where_the_last_undoes_the_first():
    planted = (20, 1.25), (30, 1.25), (45, 1 / 1.25**2)
    found = [change_points(with_steps(history(seed), *planted)) for seed in range(STEPS)]
    assert sum(one == (20, 30, 45) for one in found) / len(found) >= 0.8


def test_fewer_figures_than_two_levels_need_have_no_change():
    assert change_points((1.0,) * 4 + (9.0,) * 5) == ()
    assert change_points((1.0,) * 6 + (9.0,) * 6) == (6,)
    assert change_points(()) == ()


def test_of_a_long_history_the_newest_figures_are_looked_at():
    figures = [1.0] * MOST + [2.0] * MOST
    assert levels(figures) == [[2.0] * MOST]
    assert levels(figures[:-10]) == [[1.0] * 10, [2.0] * (MOST - 10)]


def test_figures_without_any_noise_are_one_level():
    assert change_points((2.0,) * RUNS) == ()
    assert change_points((0.0,) * 30 + (5.0,) * 30) == (30,)


def test_the_same_figures_have_the_same_changes():
    figures = with_steps(history(3), (25, 1.1))
    again = change_points.__wrapped__  # without what is kept of earlier answers
    assert again(figures) == again(figures)


def test_levels_are_all_of_the_figures_in_their_order():
    figures = [1.0, 1.1, 1.0, 1.2, 1.1, 1.05, 1.15, 3.0, 3.1, 3.2, 3.0, 3.3, 3.15, 3.05]
    assert levels(figures) == [figures[:7], figures[7:]]
    assert levels(figures[:7]) == [figures[:7]]
