"""Grids that are filled by backfills; the end-to-end tests fill a smaller one."""

import json
import shlex
from itertools import pairwise

from tests.e2e.harness import ROWS, SEED, storebench
from tests.e2e.test_backfill import airflow, backfill, fill, study

__all__ = ["airflow", "study"]


def test_twelve_cells(airflow, study, say):
    values = [str(100 * number) for number in range(1, 13)]
    fill(airflow, study, values, by_hand=values[2:9:2] + values[-1:], new="1300")
    say(
        "12 cells, 5 by hand: a backfill ran exactly the other 7, a second one none, a third one the value that was added"
    )


def test_runs_at_the_same_time(airflow, study, say):
    runs, repeats = 3, 3
    name = study([str(100 * number) for number in range(1, runs + 1)])
    conf = {"rows": ROWS, "seed": SEED, "repeats": repeats}
    command = [
        *("airflow", "backfill", "create", "--dag-id", name),
        *("--from-date", "2001-01-01", "--to-date", "2001-12-31", "--max-active-runs", str(runs)),
        *("--dag-run-conf", json.dumps(conf)),
    ]
    backfill(airflow, shlex.join(command))
    rows = json.loads(storebench("results", "--cell", f"{name}/", "--format", "json").stdout)
    steps = [(row["run_id"], row["repeat"]) for row in rows]
    assert len(steps) == 2 * runs * repeats
    assert len({run for run, _ in steps}) == runs
    together = sum(one == following for one, following in pairwise(steps))
    assert together > runs * (repeats - 1), "a run that begins splits one cell of another, at most"
    say(f"{runs} runs at once: {together} of {runs * repeats} cells were read right after their write")
