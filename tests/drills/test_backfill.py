"""Grids that are filled by backfills; the end-to-end tests fill a smaller one."""

import json
import shlex
from itertools import pairwise

from tests.e2e.harness import ROWS, SEED, run, storebench
from tests.e2e.test_backfill import STUDY, airflow, backfill, fill, grid, study

__all__ = ["airflow", "study"]

# A grid of executors.
SPARK = STUDY.replace('("null",)', '("delta-spark",)').replace(
    'axis("batch", *{values!r})', 'axis("batch", "all"), axis("executors", *{values!r})'
)


def test_twelve_cells(airflow, study, say):
    values = [str(100 * number) for number in range(1, 13)]
    fill(airflow, study, values, by_hand=values[2:9:2] + values[-1:], new="1300")
    say(
        "12 cells, 5 by hand: a backfill ran exactly the other 7, a second one none, a third one the value that was added"
    )


def test_executors_are_cells_of_one_environment(airflow, study, say):
    name = study(["1", "2"], SPARK, clients=2, store="delta-spark")

    def measured():
        rows = json.loads(storebench("results", "--cell", f"{name}/", "--format", "json").stdout)
        assert {row["status"] for row in rows} == {"verified"}
        return {row["run"]: row for row in rows}, sorted(
            (int(row["axes"]["executors"]), row["operation"]) for row in rows
        )

    command = [
        *("airflow", "backfill", "create", "--dag-id", name),
        *(
            "--from-date",
            "2001-01-01",
            "--to-date",
            "2001-01-31",
            "--max-active-runs",
            "1",
        ),  # the client reference
        *("--reprocess-behavior", "completed", "--dag-run-conf", json.dumps({"rows": ROWS, "seed": SEED})),
    ]
    backfill(airflow, shlex.join(command))
    runs, cells = measured()
    assert cells == [(n, operation) for n in (1, 2) for operation in ("read", "write")]
    assert len(runs) == 2
    printed = grid(name)
    assert (printed.count("verified once"), printed.count("missing")) == (2, 2), "the client tuned is missing"
    backfill(airflow, shlex.join(command))
    assert measured()[1] == cells, "a second backfill runs nothing"
    larger = storebench(
        *("grid", "--study", name, "--rows", str(ROWS), "--seed", str(SEED)),
        *("--param", 'executor_memory="1500m"'),
    )
    assert larger.stdout.count("missing") == 4, "with larger executors nothing was measured"

    code, text, rows = run(
        *("--study", name, "--stores", "delta-spark", "--axis", "batch=all", "--axis", "executors=1,2")
    )
    assert code == 0, text
    compared = storebench("compare", ",".join(runs), rows[0]["run"], "--format", "json")
    assert json.loads(compared.stdout)["differences"] == []
    codes = {row["code_version"] for row in [*runs.values(), *rows]}
    assert len(codes) == 1 and all("+" in code for code in codes)
    say(
        "delta-spark with 1 and 2 executors: a second backfill ran nothing, and a run of the same differs in nothing"
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
