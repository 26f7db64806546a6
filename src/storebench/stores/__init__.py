"""The stores that can be measured: one module each, named here."""

from __future__ import annotations

import importlib

from storebench.errors import SpecError
from storebench.stores.base import Server, Store

REGISTRY = {
    "delta-kernel": "storebench.stores.delta_kernel:DeltaKernel",
    "delta-rs": "storebench.stores.delta_rs:DeltaRs",
    "delta-spark": "storebench.stores.delta_spark:DeltaSpark",
    "delta-standalone": "storebench.stores.delta_standalone:DeltaStandalone",
    "elasticsearch": "storebench.stores.elasticsearch:Elasticsearch",
    "mongodb": "storebench.stores.mongodb:MongoDB",
    "null": "storebench.stores.null:Null",
}


def load(name: str) -> type[Store]:
    """The class of store `name`; raises SpecError for an unknown one. Imports no client library."""
    if name not in REGISTRY:
        raise SpecError(f"Unknown store {name!r}: there are {', '.join(sorted(REGISTRY))}")
    module, _, attribute = REGISTRY[name].partition(":")
    store: type[Store] = getattr(importlib.import_module(module), attribute)
    return store


__all__ = ["REGISTRY", "Server", "Store", "load"]
