"""The stores that can be measured: one module each, named here.

The same store can be measured in several places: `mongodb@v8` is MongoDB at the Airflow Connection `storebench_mongodb_v8`, on
the nodes of that name where there are some. A store without a server of its own has the nodes alone.
"""

from __future__ import annotations

import importlib
import re

from storebench.errors import SpecError, unknown
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


SERVER = r"[a-z0-9]([a-z0-9_]{0,28}[a-z0-9])?"  # the name of one of several servers, as in `mongodb@v8`


def split(name: str) -> tuple[str, str]:
    """The store and the server that `name` means: ('mongodb', 'v8') of `mongodb@v8`; without a server, ('mongodb', '')."""
    store, at, server = name.partition("@")
    if at and not re.fullmatch(SERVER, server):
        raise SpecError(
            f"{name!r}: after the @ comes the name of a connection: lower-case letters, digits and _, at most 30"
        )
    return store, server


def load(name: str) -> type[Store]:
    """The class of the store that `name` means; raises SpecError for an unknown one. Imports no client library."""
    store_name, _ = split(name)
    if store_name not in REGISTRY:
        raise unknown("store", store_name, REGISTRY)
    module, _, attribute = REGISTRY[store_name].partition(":")
    store: type[Store] = getattr(importlib.import_module(module), attribute)
    return store


def has_server(name: str) -> bool:
    """Whether the store that `name` means has a server of its own: its tables are not in the dataset's S3, nor nowhere."""
    return load(name).connection not in (None, "s3")


def connection(name: str) -> str | None:
    """The name of the connection to the server of the store that `name` means: `mongodb_v8` of `mongodb@v8`."""
    _, server = split(name)
    base = load(name).connection
    return f"{base}_{server}" if server and has_server(name) else base


__all__ = ["REGISTRY", "SERVER", "Server", "Store", "connection", "has_server", "load", "split"]
