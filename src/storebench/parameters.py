"""Which of a run's parameters change what is measured: figures are put together only where these are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench import stores

POD = ("pod_cpu", "cpu_limit", "pod_memory")  # of each attempt's pod, whatever the store
WITHOUT_EFFECT = {
    "startup_timeout_s"
}  # options of stores that say how long something may take, not how it is done


def measured_with(store: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `params` that change what is measured at a store: what its pods get and are told.

    An option of a store counts unless WITHOUT_EFFECT has it; so do those of the store that fills its table.
    """
    told = [name for name in (store, stores.load(store).filled_by) if name]
    options = [option for name in told for option in stores.load(name).options]
    return {name: params[name] for name in dict.fromkeys([*POD, *options]) if name not in WITHOUT_EFFECT}
