"""Which of a run's parameters change what is measured: figures are put together only where these are alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from storebench.servers.sizes import FIELDS
from storebench.study.model import Study
from storebench.study.reserved import POD

# What all pods are told beside the options of their store: whether there is a CPU limit, and how long starts may take.
TOLD = ("cpu_limit", "startup_timeout_s")


def measured_with(
    study: Study, store: str, params: Mapping[str, Any], *, brings: bool = False
) -> dict[str, Any]:
    """Those of `params` that change what is measured at a store: what its pods get and are told.

    The study's own parameters count, unless they have the value that results from before them have, and the options of the store and of
    the one that fills it; and where the run `brings` the store's servers, their sizes.
    """
    told = [name for name in (store, study.store(store).filled_by) if name]
    options = [option for name in told for option in study.store(name).options]
    own = [
        name
        for name, field in study.params.items()
        if field.earlier is None or params.get(name, field.earlier) != field.earlier
    ]
    sizes = [name for name in FIELDS if name in params] if brings else []
    return {name: params[name] for name in dict.fromkeys([*POD, *own, *options, *sizes])}
