"""Read the counters of a store right before and right after an operation."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from storebench.attempt.termination import Killed
from storebench.errors import PartFailed, StorebenchError
from storebench.protocol.counters import Counter
from storebench.redact import redacted
from storebench.stores.base import Store

Reading = Mapping[str, float | str]  # by the counter's name: its value, or the reason why there is no value
UNTOLD = "the server does not report the counter"
REASON_CHARACTERS = 300


def read(store: Store) -> Reading:
    """Read the counters that a store declares. A refusal or a failure gives reasons, no error."""
    found: Reading
    try:
        found = store.read_counters()
    except (Killed, PartFailed):
        raise
    except Exception as error:  # noqa: BLE001 - counters explain an attempt, and never fail it
        said = str(error) if isinstance(error, StorebenchError) else f"{type(error).__name__}: {error}"
        reason = " ".join(redacted(said).split())[:REASON_CHARACTERS]
        found = {counter.name: reason for counter in store.counters}
    return {counter.name: _value(found.get(counter.name)) for counter in store.counters}


def recorded(
    counters: Iterable[Counter], before: Reading, after: Reading, restarts: Sequence[str] = ()
) -> dict[str, dict[str, Any]]:
    """Return the counters of an operation as a result has them: unit, kind, and `before` and `after`, or the reason `unknown`.

    `restarts`: what is known of the server's restarts during the operation. After a restart, and after the fall of any counter, no counter
    has values: others may have started from 0 again and have grown beyond their former values. Gauges keep their values.
    """
    counters = list(counters)
    reset = "; ".join(restarts) or next(
        filter(None, (_fall(counter, before, after) for counter in counters)), None
    )
    return {
        counter.name: {
            "unit": counter.unit,
            "kind": counter.kind,
            **_figure(
                before[counter.name], after[counter.name], reset if counter.kind == "counter" else None
            ),
        }
        for counter in counters
    }


def _value(found: float | str | None) -> float | str:
    if isinstance(found, str):
        return found
    return UNTOLD if found is None or not math.isfinite(found) else found


def _fall(counter: Counter, before: Reading, after: Reading) -> str | None:
    """Return why a counter shows a restart; None if it does not."""
    first, last = before[counter.name], after[counter.name]
    if counter.kind == "gauge" or isinstance(first, str) or isinstance(last, str) or last >= first:
        return None
    return f"{counter.name} fell from {first:,.15g} to {last:,.15g}: the server has restarted, or its counters were reset"


def _figure(before: float | str, after: float | str, reset: str | None) -> dict[str, Any]:
    """Return the values of a counter, or the reason why there are none."""
    if isinstance(before, str):
        return {"unknown": before}
    if isinstance(after, str):
        return {"unknown": f"after the operation: {after}"}
    return {"unknown": reset} if reset else {"before": _short(before), "after": _short(after)}


def _short(value: float) -> float:
    return int(value) if float(value).is_integer() else value
