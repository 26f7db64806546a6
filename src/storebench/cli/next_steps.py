"""Suggest commands to type after a run: to see details, to repeat the run with intervals, to compare."""

from __future__ import annotations

import itertools
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from storebench.cli.environment import command, env_file
from storebench.errors import SpecError
from storebench.results.comparison.sides import By
from storebench.results.statistics.intervals import MIN_VALUES
from storebench.results.statistics.verdicts import MIN_UNITS
from storebench.study.cell import Cell
from storebench.study.dataset import FILE
from storebench.study.model import Study
from storebench.study.reserved import CLIENT, STORE
from storebench.study.run_params import study_values

OPTIONS = (FILE, "rows", "seed", "pod_memory")  # parameters that have their own options
# Parameters that a repeated run does not take over: the suggestion sets the repeats, and the order is drawn again.
DROPPED = {"repeats", "order_seed", "skip_done", "precision_percent", "budget_min"}


def next_lines(
    run: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], study: Study | None, url: str
) -> list[str]:
    """Return the lines to print after a run. `rows`: the newest tries of its operations. `study`: None if its file is absent."""
    name, of_study = run["airflow_run_id"], f"--study {run['study']}"
    cells = list(dict.fromkeys(Cell.from_key(row["cell_key"]) for row in rows))
    counted = Counter((row["cell_key"], row["operation"]) for row in rows if row["status"] == "verified")
    repeats = max(counted.values(), default=0)
    suggestions = [
        (f"results --run {name}", "each attempt, with memory and CPU"),
        (f"report {name} --out DIR", "charts, as one HTML file"),
    ]
    by = by_of(cells, study)
    if 0 < repeats < MIN_VALUES and study:
        again = shlex.join(["run", *again_of(study, run["params"], cells), "--repeats", str(MIN_VALUES)])
        suggestions.append((again, "the same with intervals"))
        if by:
            suggestions.append(
                (f"compare latest {of_study} --by {shlex.quote(by)}", "after that: which is better")
            )
    elif repeats >= MIN_UNITS:
        if by:
            suggestions.append((f"compare {name} {of_study} --by {shlex.quote(by)}", "which is better"))
        suggestions.append((f"replay {name} {of_study} --trigger", "the same run once more"))
        suggestions.append((f"compare {name} latest {of_study}", "after that: what differs"))
    first = [f"  . {env_file()}   # first, in another shell"] if env_file().exists() else []
    typed = [f"  {command()} {text}   # {purpose}" for text, purpose in suggestions]
    return ["Next:", *first, *typed[:2], f"  {url}/plugin/storebench-run   # the same, live", *typed[2:]]


def again_of(study: Study, conf: Mapping[str, Any], cells: Sequence[Cell]) -> list[str]:
    """Return the options of `storebench run` that measure these cells of a run with the parameters `conf` again. Defaults are omitted."""
    from storebench.planning.params import run_values

    seen = {"stores": [cell.store for cell in cells], "clients": [cell.client for cell in cells]}
    seen |= {axis.name: [value for cell in cells if (value := cell.value(axis.name))] for axis in study.axes}
    places = {name: ",".join(_in_order(conf.get(name), values)) for name, values in seen.items() if values}
    options = ["--study", study.name, "--stores", places.pop("stores"), "--clients", places.pop("clients")]
    for name, value in places.items():
        options += ["--axis", f"{name}={value}"]
    defaults = study_values(run_values(study, {}))
    custom_file = conf.get(FILE) not in (None, "")
    for name, value in conf.items():
        settled = name in DROPPED or name in seen or name not in defaults
        if settled or value == defaults[name] or (custom_file and name in ("rows", "seed")):
            continue
        if name == "keep_data":
            options.append("--keep-data")
        elif name in OPTIONS:
            options += [f"--{name.replace('_', '-')}", str(value)]
        else:
            options += ["--param", f"{name}={json.dumps(value)}"]
    return options


def _in_order(asked: Any, measured: Iterable[str]) -> list[str]:
    """Return the measured values without duplicates: first the requested values, in the order of the request."""
    unique = list(dict.fromkeys(measured))
    first = [value for value in asked if value in unique] if isinstance(asked, (list, tuple)) else []
    return list(dict.fromkeys([*first, *unique]))


def by_of(cells: Sequence[Cell], study: Study | None) -> str | None:
    """Return two values to compare, such as `store=A,B`: two cells of the run differ only in these values. None without such cells.

    Stores are preferred, then clients, then values on an axis. A store that only shows the client's limit comes last.
    """
    keys = {cell.key for cell in cells}
    for place, values in _places(cells, study):
        for before, after in itertools.combinations(values, 2):
            by = By(place, before, after)
            if any(by.in_before(cell.key) in keys for cell in cells if by.value(cell.key) == after):
                return f"{place}={before},{after}"
    return None


def _places(cells: Sequence[Cell], study: Study | None) -> Iterator[tuple[str, list[str]]]:
    def only_limit(store: str) -> bool:
        try:
            return study is not None and study.store(store).floor
        except SpecError:
            return False

    stores = list(dict.fromkeys(cell.store for cell in cells))
    yield STORE, sorted(stores, key=only_limit)
    yield CLIENT, list(dict.fromkeys(cell.client for cell in cells))
    for axis in dict.fromkeys(name for cell in cells for name, _ in cell.axes):
        yield axis, list(dict.fromkeys(value for cell in cells if (value := cell.value(axis))))
