"""A run at a glance: a line for each cell with its operations side by side, and a sentence for each store."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from rich.console import Console

from storebench import stores
from storebench.grid import Cell
from storebench.results.database import Row
from storebench.results.listing import NOTHING, Column, print_listing
from storebench.results.queries import counts, verified_s
from storebench.results.statistics import MIN_VALUES
from storebench.results.table import cautions, remark, seconds, told_apart

Times = dict[Cell, dict[str, list[float]]]  # by operation, the seconds of the attempts that count


def print_overview(console: Console, rows: Sequence[Row]) -> None:
    """`rows` are the newest tries of a run's operations, warm-ups left out."""
    cells = sorted({Cell.from_key(row["cell_key"]) for row in rows}, key=_in_order)
    tries: dict[Cell, list[Row]] = {cell: [] for cell in cells}
    for row in rows:
        tries[Cell.from_key(row["cell_key"])].append(row)
    of_stores = sorted((stores.load(cell.store).operations for cell in cells), key=len, reverse=True)
    operations = list(dict.fromkeys(name for names in of_stores for name in names))
    times: Times = {
        cell: {
            name: verified_s(row for row in tries[cell] if row["operation"] == name) for name in operations
        }
        for cell in cells
    }
    names, places, alike = told_apart(cells)
    columns = [
        Column(f"{name} {unit}", number=True, needed=unit == "s")
        for name in operations
        for unit in ("s", "rows/s")
    ]
    if alike:
        console.print(alike, markup=False, highlight=False)
    print_listing(
        console,
        [*names, *columns, Column("state", prose=True)],
        [
            (*place, *_figures(cell, times[cell]), _state(tries[cell]))
            for cell, place in zip(cells, places, strict=True)
        ],
    )
    for row in rows:
        if not counts(row):
            console.print(
                f"{row['operation']} {Cell.from_key(row['cell_key']).label}: {remark(row)}",
                soft_wrap=True,
                markup=False,
                highlight=False,
            )
    console.print()
    for line in (*sentences(times, operations), *_cautions(rows, times)):
        console.print(line, markup=False, highlight=False)


def sentences(times: Times, operations: Sequence[str]) -> list[str]:
    """How each store compares: its fastest cell of each operation beside the fastest store's. One that keeps nothing is not ranked."""
    best: dict[str, dict[str, tuple[float, Cell]]] = {}
    for cell, measured in times.items():
        for name, values in measured.items():
            if values:
                median = statistics.median(values)
                fastest = best.setdefault(cell.store, {})
                fastest[name] = min(fastest.get(name, (median, cell)), (median, cell), key=lambda one: one[0])
    ranked = [store for store in best if stores.load(store).keeps_data]
    where = _where(times)
    lines = []
    for store in dict.fromkeys(cell.store for cell in times):
        fastest, parts = best.get(store, {}), []
        for name in operations:
            if name not in fastest:
                continue
            took_s, cell = fastest[name]
            part = f"{name} {took_s:.2f} s{where[cell]}"
            rivals = {other: best[other][name][0] for other in ranked if name in best[other]}
            parts.append(part + (_rank(store, rivals) if store in ranked else ""))
        kept = (
            "" if store in ranked or not parts else "keeps nothing, so this is what the client alone takes: "
        )
        lines.append(f"{store}: {kept}{'; '.join(parts) or 'nothing is verified'}.")
    return lines


def _where(cells: Iterable[Cell]) -> dict[Cell, str]:
    """In brackets, what tells each cell from the others of its store."""
    found = list(cells)
    names, places, _ = told_apart(found)
    told: dict[Cell, str] = {}
    for cell, place in zip(found, places, strict=True):
        texts = {name.heading: text for name, text in zip(names, place, strict=True) if text != NOTHING}
        texts.pop("store", None)
        client = [texts.pop("client")] if "client" in texts else []
        parts = [*client, *(f"{heading}={text}" for heading, text in texts.items())]
        told[cell] = f" ({', '.join(parts)})" if parts else ""
    return told


def _rank(store: str, rivals: dict[str, float]) -> str:
    """Behind a store's time: how it compares with the fastest of them all."""
    fastest = min(rivals, key=lambda name: rivals[name])
    if len(rivals) == 1:
        return ""
    if store == fastest:
        return f", the fastest of {len(rivals)}"
    if not rivals[fastest]:
        return ""
    ratio = rivals[store] / rivals[fastest]
    return (
        f", {ratio:.0f} times as long as {fastest}"
        if ratio >= 10
        else f", {ratio:.1f} times as long as {fastest}"
    )


def _figures(cell: Cell, measured: dict[str, list[float]]) -> list[str]:
    """Of each operation the median of its seconds, and the rows a second that it makes."""
    found = []
    for values in measured.values():
        median = statistics.median(values) if values else None
        found += [seconds(median), f"{cell.rows / median:,.0f}" if median else NOTHING]
    return found


def _state(rows: Iterable[Row]) -> str:
    """`verified`, or what else came of the operations."""
    others: dict[str, None] = {}
    for row in rows:
        if not counts(row):
            what = "disturbed" if row["status"] == "verified" else row["status"].replace("_", " ")
            others[f"{row['operation']} {what}"] = None
    return ", ".join(others) or "verified"


def _cautions(rows: Sequence[Row], times: Times) -> list[str]:
    """What a reader of the figures must know, once."""
    lines = cautions(rows)
    bound = sorted(
        {f"{row['store']} {row['operation']}" for row in rows if counts(row) and row["client_bound"]}
    )
    if bound:
        lines.append(f"Limited by the client, not by the store: {', '.join(bound)}.")
    most = max((len(values) for measured in times.values() for values in measured.values()), default=0)
    if most == 1:
        lines.append("Each was measured once. One attempt has no interval: a small difference may be chance.")
    elif 1 < most < MIN_VALUES:
        lines.append(
            f"Times are medians of at most {most} attempts. Fewer than {MIN_VALUES} have no interval: a small difference may be chance."
        )
    return lines


def _in_order(cell: Cell) -> tuple[object, ...]:
    """By store, then client, then numbers before words on each axis."""
    places = [(not value.isdigit(), int(value) if value.isdigit() else 0, value) for _, value in cell.axes]
    return cell.store, cell.client, places
