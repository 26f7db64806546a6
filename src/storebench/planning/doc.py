"""Build the texts that Airflow's pages show: of a study, of the dates of its backfills, and of the effects of clearing a step."""

from __future__ import annotations

from datetime import datetime

from storebench.results.leftovers.stopped import COMMAND
from storebench.study.model import Study
from storebench.study.partition import FIRST_YEAR, LIMITS, partitions
from storebench.study.planned import PlannedStudy
from storebench.study.reserved import DROP

BACKFILL = """
## Backfill: the dates are cells

**Trigger** starts one run, with the grid of its form. A **backfill** makes one run for each cell between two dates, and measures what is
not verified yet. In this DAG a date is not a time: {dates}.

The tab **Results** of this DAG has a view **Fill a grid**. It lists each cell with its state, and measures the cells that you choose.
You need no dates there.

In Airflow's dialog:

- Set **From** and **To** by this table, in UTC.
- Choose **All Runs** under **Reprocess Behavior**: otherwise Airflow skips each date that has a run. Verified cells are not measured again.
- Tick **Override parameters on existing runs**. Airflow sends the form only then, and a run without its parameters refuses to start.

| store | client | from | to | cells |
|---|---|---|---|---|
{table}

`storebench grid` lists each cell with its date and its state, and prints the command that measures the missing cells.
"""

CLEARED = """
**Before you clear a step** of a cell that has ended: **{drop}** has removed the cell's data, and does not run again by itself.

- To measure the cell again, clear **all its steps** together: {steps}.
- If you clear a step that leaves data, and not **{drop}**, the data stays in the store. The step's log names it.
- If you clear only a step that needs the data, that step is not run, because the data is gone. Its row says so. Its earlier result stays.

`storebench clean` lists the data that stays in stores. {command} removes this data, and so does the next run. Data kept by the parameter
**keep_data** stays.
"""


def cleared(study: Study) -> str:
    """Return the text that explains the effects of clearing a step of a cell."""
    steps = ", ".join(study.steps)
    return CLEARED.format(drop=DROP, steps=steps, command=COMMAND)


def doc_of(study: Study) -> str:
    """Return the study's description, and the instructions to backfill its grid."""
    table = "\n".join(_rows(study))
    return study.description + "\n" + BACKFILL.format(dates=dates_text(study), table=table)


def dates_text(study: PlannedStudy) -> str:
    """Return the meaning of each part of a partition's date, in words."""
    parts = [("year", FIRST_YEAR, study.store_names), ("month", 1, study.clients)]
    parts += [
        (part, 1 if part == "day" else 0, axis.grid) for axis, part in zip(study.axes, LIMITS, strict=False)
    ]
    return "; ".join(
        f"{part} " + ", ".join(f"{number} = {value}" for number, value in enumerate(values, first))
        for part, first, values in parts
    )


def _rows(study: Study) -> list[str]:
    dates_of: dict[tuple[str, str], list[str]] = {}
    for key, date in partitions(study).items():
        store, client, *_ = key.split("/")
        dates_of.setdefault((store, client), []).append(_date_text(date))
    return [
        f"| {store} | {client} | {dates[0]} | {dates[-1]} | {len(dates)} |"
        for (store, client), dates in dates_of.items()
    ]


def _date_text(date: datetime) -> str:
    """Return the date without seconds, or without microseconds, where these are zero."""
    if date.microsecond:
        return f"{date:%Y-%m-%d %H:%M:%S.%f}"
    return f"{date:%Y-%m-%d %H:%M:%S}".removesuffix(":00")
