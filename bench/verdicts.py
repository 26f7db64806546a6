"""Measure how often verdicts are wrong: on two equal sides, and with a slowdown planted in one store's client.

Each repeat is a separate run, and the sides take turns, so that a drift affects all sides alike. Comparisons with the number of turns of
`storebench plan-repeats` are drawn from the measured turns of equal sides. The benchmark counts wrong verdicts, and comparisons that find a
slowdown multiplied into one pair.

Needs the embedded stack: `make bench-verdicts`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import click
import numpy as np
from rich.console import Console

from bench.overhead import Bench, axes_of, study
from bench.variant import copied_checkout, pod_image, used
from storebench.cli.output.comparison import print_comparison
from storebench.cli.output.repeats import plan_text
from storebench.results.comparison.compare import compare
from storebench.results.comparison.repeats import plan_repeats
from storebench.results.comparison.sides import Key, sides_of
from storebench.results.database.queries import Queries
from storebench.results.statistics.power import MOST_UNITS
from storebench.results.statistics.verdicts import Pair, Verdict, alike_share, verdicts_of
from storebench.study.cell import Cell

STORE, OPERATION = "mongodb", "write"
DRAWS = 1000
SLOWDOWN = 0.2
SIDES = ONE, OTHER, SLOWED = "one", "other", "slowed"
CALL = "self._collection.insert_many(batch)\n"
PLANTED = "_planted(lambda: self._collection.insert_many(batch))\n"
SLEEP = """

def _planted(call: Any) -> None:
    import time

    began_s = time.perf_counter()
    call()
    time.sleep({share} * (time.perf_counter() - began_s))
"""


@contextmanager
def slower(share: float) -> Iterator[str]:
    """Build an image whose client of STORE takes longer for each written batch by the share `share`."""
    with copied_checkout() as copy:
        module = copy.joinpath("src", *study().store(STORE).__module__.split(".")).with_suffix(".py")
        text = module.read_text()
        if text.count(CALL) != 1:
            raise click.ClickException(f"{module.name} has another write now: adapt CALL")
        module.write_text(text.replace(CALL, PLANTED) + SLEEP.format(share=share))
        with pod_image(copy) as image:
            yield image


def in_turns(bench: Bench, rounds: int, slowed: str, **grid: Any) -> dict[str, str]:
    """Run the sides in turns. Return each side's runs as an argument of `compare`. `slowed`: the image with the slowdown."""
    bench.run(**grid)  # warms up, and makes the dataset
    runs: dict[str, list[str]] = {side: [] for side in SIDES}
    for number in range(rounds):
        click.echo(f"round {number + 1} of {rounds}", err=True)
        first = number % len(SIDES)
        for side in SIDES[first:] + SIDES[:first]:
            with used(bench.airflow, slowed) if side == SLOWED else nullcontext():
                results, _ = bench.run(**grid)
            runs[side].append(str(results[0]["run_id"]))
    return {side: ",".join(ids) for side, ids in runs.items()}


def drawn(
    pairs: Mapping[Key, Pair], turns: int, draws: int = DRAWS, slowdown: float = SLOWDOWN
) -> tuple[float, float]:
    """Return the share of comparisons that tell any equal pair apart, and the share that finds a slowdown in one pair.

    Each comparison draws `turns` turns from the measured turns of equal sides, a turn more than once if there are too few. The side
    called A is drawn for all pairs of a turn together, since they share the machine's drift.
    """
    rng = np.random.default_rng(1)
    measured = min(len(pair.before) for pair in pairs.values())
    false = detected = 0
    for _ in range(draws):
        chosen = rng.choice(measured, turns, replace=turns > measured)
        swapped = rng.random(turns) < 0.5
        equal = {key: _redrawn(pair, chosen, swapped) for key, pair in pairs.items()}
        false += any(verdict.tells_apart for verdict in verdicts_of(equal).values())
        for key, pair in equal.items():
            slowed = [[seconds * (1 + slowdown) for seconds in unit] for unit in pair.after]
            detected += verdicts_of({**equal, key: Pair(pair.before, slowed, matched=True)})[key].is_worse
    return false / draws, detected / draws / len(pairs)


def _redrawn(pair: Pair, chosen: Iterable[int], swapped: Iterable[bool]) -> Pair:
    turns = [(pair.before[n], pair.after[n]) for n in chosen]
    turns = [turn[::-1] if swap else turn for turn, swap in zip(turns, swapped, strict=True)]
    return Pair([first for first, _ in turns], [second for _, second in turns], matched=True)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--rows", type=click.IntRange(1), default=50_000, show_default=True, help="Of the dataset.")
@click.option(
    "--repeats", type=click.IntRange(5), default=10, show_default=True, help="Of each cell, at each side."
)
@click.option("--stores", default=f"{STORE},delta-rs", show_default=True, help=f"{STORE} among them.")
@click.option(
    "--axis",
    "axes",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Values of an axis. Default: batch=2500,10000.",
)
@click.option(
    "--slowdown", type=float, default=SLOWDOWN, show_default=True, help="The share that is planted."
)
def main(rows: int, repeats: int, stores: str, axes: tuple[str, ...], slowdown: float) -> None:
    """Measure how often two equal sides are told apart, and whether a planted slowdown is found."""
    if STORE not in stores.split(","):
        raise click.UsageError(f"--stores needs {STORE}: the slowdown is planted there")
    console, bench = Console(width=150), Bench()
    queries = Queries(os.environ["AIRFLOW_CONN_STOREBENCH_RESULTS"])
    with slower(slowdown) as image:
        place = axes_of(axes, batch="2500,10000")
        runs = in_turns(bench, repeats, image, stores=stores.split(","), rows=rows, **place)
    equal = compare(queries, runs[ONE], runs[OTHER])
    planted = compare(queries, runs[ONE], runs[SLOWED])
    for title, comparison in (
        ("equal", equal),
        (f"{slowdown:.0%} planted in {STORE}'s {OPERATION}", planted),
    ):
        console.rule(title)
        print_comparison(console, comparison, queries.studies(), noise=comparison is equal)
    aimed: list[Verdict] = []
    others: list[Verdict] = []
    for (cell, operation), verdict in planted.verdicts.items():
        planted_in = (Cell.from_key(cell).store, operation) == (STORE, OPERATION)
        (aimed if planted_in else others).append(verdict)
    plan = plan_repeats(queries, runs[ONE], runs[OTHER], difference=SLOWDOWN)
    console.print(plan_text(plan))
    turns = plan.units_needed or MOST_UNITS
    false_share, power = drawn(sides_of(queries, runs[ONE], runs[OTHER]).pairs()[0], turns)
    print(
        f"equal_cannot_tell_share={alike_share(list(equal.verdicts.values())):.3f}"
        f" equal_verdicts={len(equal.verdicts)}"
        f" planted_found={sum(verdict.is_worse for verdict in aimed)} planted={len(aimed)}"
        f" planted_ratio={min(verdict.ratio for verdict in aimed if verdict.ratio is not None):.3f}"
        f" others_cannot_tell_share={alike_share(others):.3f}"
        f" plan_turns={turns} false_share={false_share:.3f} power_{SLOWDOWN * 100:.0f}={power:.3f}"
    )


if __name__ == "__main__":
    main()
