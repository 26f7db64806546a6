"""What Airflow's pages say of a study's DAG and of its steps: what they do, which dates of a backfill are which cells, and what a step that
is cleared leaves.
"""

from __future__ import annotations

from storebench.airflow.priority import STEPS
from storebench.attempt.spec import DROP
from storebench.grid import Study
from storebench.partition import FIRST_YEAR, LIMITS, partitions
from storebench.results.stopped import COMMAND

BACKFILL = """
## Backfill: the dates are cells

**Trigger** starts one run, with the grid of its form. A **backfill** makes one run for each cell between two dates, and measures what is
not verified yet. In this DAG a date is not a time: {dates}.

The tab **Results** of this DAG has a view **Backfill**. It lists each cell with its state, and measures those that you choose: you need no dates there.

In Airflow's dialog:

- Set **From** and **To** by this table, in UTC.
- Choose **All Runs** under **Reprocess Behavior**: Airflow leaves out a date that has a run otherwise. What is verified is not measured again.
- Tick **Override parameters on existing runs**. Airflow sends the form only then, and a run without its parameters refuses to start.

| store | client | from | to | cells |
|---|---|---|---|---|
{table}

`storebench grid` lists each cell with its date and its state, and prints the command that measures what is missing.
"""

CLEARED = f"""
**Before you clear a step** of a cell that has ended: **{DROP}** has removed the cell's data, and does not run again by itself.

- To measure the cell again, clear **all its steps** together: {", ".join(STEPS)}.
- If you clear a step that writes, and not **{DROP}**, its data stays in the store. The step's log names it.
- If you clear only a step that reads, it finds no data, and fails.

`storebench clean` lists what stays in stores. {COMMAND} removes it. The next run does so, too. What the parameter **keep_data**
has kept stays.
"""


def doc_of(study: Study) -> str:
    """The study's description, and how to backfill its grid."""
    table = "\n".join(_rows(study))
    return study.description + "\n" + BACKFILL.format(dates=dates_in_words(study), table=table)


def dates_in_words(study: Study) -> str:
    """What each part of a partition's date stands for."""
    parts = [("year", FIRST_YEAR, study.stores), ("month", 1, study.clients)]
    parts += [
        (part, 1 if part == "day" else 0, axis.grid) for axis, part in zip(study.axes, LIMITS, strict=False)
    ]
    return "; ".join(
        f"{part} " + ", ".join(f"{number} = {value}" for number, value in enumerate(values, first))
        for part, first, values in parts
    )


def _rows(study: Study) -> list[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for key, date in partitions(study).items():
        store, client, *_ = key.split("/")
        found.setdefault((store, client), []).append(f"{date:%Y-%m-%d %H:%M:%S}".removesuffix(":00"))
    return [
        f"| {store} | {client} | {dates[0]} | {dates[-1]} | {len(dates)} |"
        for (store, client), dates in found.items()
    ]
