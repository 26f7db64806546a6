"""Count false and missed verdicts on simulated times: for equal sides, and for sides with a slowdown.

`python -m bench.simulation` measures nothing and needs no stack. docs/decisions/0016 shows its output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import click
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table
from scipy import stats

from storebench.results.statistics.verdicts import MIN_UNITS, Pair, verdicts_of

PAIRS = 33  # pairs of the study: 18 cells, three of which are only read
SLOWDOWN = 0.2
Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """The scatter of times around the truth, as standard deviations of logarithms.

    Each repeat has independent noise. All cells of a run share a drift, and each cell of a run has a drift. One in ten repeats is an
    outlier that takes longer by `outlier` on average. Half of the repeats, at random, take longer by `gap`.
    """

    noise: float = 0.04
    tails: float | None = None  # degrees of freedom of Student's t instead of a normal distribution
    outlier: float = 0.0
    gap: float = 0.0
    run: float = 0.0
    cell: float = 0.0

    def runs(self, rng: np.random.Generator, runs: int, repeats: int, pairs: int = PAIRS) -> Values:
        """Return the logarithms of a side's times, of the shape (pair, run, repeat)."""
        shape = (pairs, runs, repeats)
        noise = self.noise * (
            rng.standard_normal(shape)
            if self.tails is None
            else rng.standard_t(self.tails, shape) / np.sqrt(self.tails / (self.tails - 2))
        )
        outliers = (rng.random(shape) < 0.1) * rng.exponential(self.outlier, shape)
        slow = (rng.random(shape) < 0.5) * self.gap
        drift = rng.normal(0, self.run, (1, runs, 1)) + rng.normal(0, self.cell, (pairs, runs, 1))
        return np.asarray(noise + outliers + slow + drift)


MACHINES = {
    "normal": Machine(),
    "heavy tails (t, 3 df)": Machine(tails=3),
    "outliers": Machine(outlier=0.4),
}
# Two modes, which no test of few values detects: in a few percent of comparisons, chance puts one mode on one side of some pair.
TWO_MODES = Machine(noise=0.01, gap=0.2)
DRIFTING = Machine(noise=0.03, run=0.05, cell=0.02)


def compared(before: Values, after: Values, *, matched: bool) -> dict[int, Pair]:
    """Return the pairs of a comparison of two sides from `Machine.runs`, whose units are runs."""
    values_before, values_after = np.exp(before).tolist(), np.exp(after).tolist()
    return {n: Pair(values_before[n], values_after[n], matched) for n in range(len(values_before))}


def distinguished(pairs: dict[int, Pair]) -> set[int]:
    """Return the pairs whose verdict is better or worse."""
    return {key for key, verdict in verdicts_of(pairs).items() if verdict.tells_apart}


def rank_test(before: Values, after: Values) -> set[int]:
    """Return the pairs that the Mann-Whitney U test tells apart after the same correction."""
    p = stats.mannwhitneyu(after, before, axis=-1).pvalue
    return set(np.flatnonzero(stats.false_discovery_control(p) <= 0.05).tolist())


def rates(
    machine: Machine, n: int, draws: int, find: Callable[[Values, Values], set[int]]
) -> tuple[float, float]:
    """Return the share of comparisons that tell any of PAIRS equal pairs apart, and the share that finds one slowdown.

    Each comparison has `n` independent repeats."""
    rng = np.random.default_rng(n)
    false = detected = 0
    for _ in range(draws):
        before, after = machine.runs(rng, n, 1), machine.runs(rng, n, 1)
        false += bool(find(before, after))
        after[0] += np.log1p(SLOWDOWN)
        detected += 0 in find(before, after)
    return false / draws, detected / draws


def by_test(before: Values, after: Values) -> set[int]:
    """Return the pairs that this project's verdicts tell apart. Each run is a repeat."""
    return distinguished(compared(before, after, matched=False))


def by_rank(before: Values, after: Values) -> set[int]:
    """Return the pairs that the rank test tells apart."""
    return rank_test(before[:, :, 0], after[:, :, 0])


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--draws", type=click.IntRange(1), default=1000, show_default=True, help="Of each line.")
def main(draws: int) -> None:
    """Print false verdicts and power, by test, distribution and number of repeats, then with a drift between runs."""
    console = Console(width=120)
    table = Table(
        title=f"{PAIRS} pairs: any equal pair told apart; a slowdown of {SLOWDOWN:.0%} in one found"
    )
    for heading in ("noise", "repeats", "false", "power", "rank test: false", "power"):
        table.add_column(heading, justify="right")
    for name, machine in {**MACHINES, "two modes": TWO_MODES}.items():
        for n in (MIN_UNITS, 7, 8, 10, 15, 20):
            figures = [*rates(machine, n, draws, by_test), *rates(machine, n, draws, by_rank)]
            table.add_row(name, str(n), *(f"{figure:.3f}" for figure in figures))
    console.print(table)
    table = Table(title=f"A drift between runs, 5 repeats in each, {PAIRS} equal pairs: any told apart")
    for heading in ("runs of each side", "in turns", "not matched", "repeats as if independent"):
        table.add_column(heading, justify="right")
    for runs in (1, 3, MIN_UNITS, 7):
        shares = drifting(runs, 5, draws)
        table.add_row(str(runs), *("-" if np.isnan(share) else f"{share:.3f}" for share in shares))
    console.print(table)


def drifting(runs: int, repeats: int, draws: int) -> tuple[float, float, float]:
    """Return the share of false comparisons of equal sides on a drifting machine: as turns, as runs, as repeats."""
    rng = np.random.default_rng(runs)
    false = np.zeros(3)
    for _ in range(draws):
        before, after = DRIFTING.runs(rng, runs, repeats), DRIFTING.runs(rng, runs, repeats)
        if runs >= MIN_UNITS:
            false[0] += bool(distinguished(compared(before, after, matched=True)))
            false[1] += bool(distinguished(compared(before, after, matched=False)))
        single = (side.reshape(PAIRS, -1, 1) for side in (before, after))
        false[2] += bool(distinguished(compared(*single, matched=False)))
    shares = false / draws
    if runs < MIN_UNITS:
        shares[:2] = np.nan
    return float(shares[0]), float(shares[1]), float(shares[2])


if __name__ == "__main__":
    main()
