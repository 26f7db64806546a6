"""Which servers a store's name means: those of a connection, or a topology that the run brings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from storebench.airflow import connections
from storebench.errors import SpecError
from storebench.servers import topology
from storebench.servers.sizes import FIELDS, Sizes
from storebench.servers.topology import Topology
from storebench.study.grid import CopiesOf
from storebench.study.model import Study


def topology_of(study: Study, store: str) -> Topology | None:
    """The topology that this name means. None where it means a server of one's own: it has a connection, which wins, or no name after
    the @. Raises SpecError where it means neither.
    """
    info = study.store(store)
    server, name = info.server_of(store) or ("", "")
    connection = info.connection_of(store)
    if not name or connection is None or connections.exists(connection):
        return None
    try:
        return topology.find(server, name)
    except SpecError as error:
        if name in topology.names(server):
            raise
        raise SpecError(
            f"{store!r} means no server: there is no Airflow Connection {connections.PREFIX + connection!r}, and: {error}"
        ) from None


def copies_of(study: Study, params: Mapping[str, Any]) -> CopiesOf:
    """Return the function that tells how many copies of its data a store's servers hold in a run with these parameters. Only a topology
    declares the number: for a server of one's own it is not known."""
    found = cache(lambda store: topology_of(study, store))

    def copies(store: str, axes: Mapping[str, str]) -> int | None:
        brought = found(store)
        sizes = {name: value for name, value in axes.items() if name in FIELDS}
        return Sizes.of(params, sizes).copies_in(brought) if brought else None

    return copies
