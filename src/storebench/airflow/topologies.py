"""Which servers a store's name means: those of a connection, or a topology that the run brings."""

from __future__ import annotations

from storebench.airflow import connections
from storebench.errors import SpecError
from storebench.servers import topology
from storebench.servers.topology import Topology
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
