"""Find the servers that a store's name means: the servers of a connection, or a topology that the run provisions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache

from storebench.connection.typed import PREFIX
from storebench.errors import SpecError, quoted
from storebench.servers import topology
from storebench.servers.sizes import FIELDS, Sizes
from storebench.servers.topology import Topology
from storebench.stores.base import split
from storebench.study.cell import Cell
from storebench.study.grid import CopiesOf
from storebench.study.planned import PlannedStudy
from storebench.study.run_params import RunParams, study_values

AGENT_IMAGE = "servers_agent"

Exists = Callable[[str], bool]  # returns whether there is an Airflow Connection `storebench_<name>`


def topology_of(study: PlannedStudy, store: str, exists: Exists) -> Topology | None:
    """Return the topology that a store's name means; None if the name means a user's own server.

    A name means a user's own server if it has a connection, which takes precedence, or no name after the @. Raises SpecError if the name
    has neither a connection nor a topology.
    """
    info = study.store(store)
    server, name = info.server_of(store) or ("", "")
    connection = info.connection_of(store)
    if not name or connection is None or exists(connection):
        return None
    if server == info.connection and not info.provisions:
        raise SpecError(
            f"{quoted(store)} means no server: there is no Airflow Connection {PREFIX + connection!r}, and a run provisions no servers for"
            f" {info.name}"
        )
    try:
        return topology.find(server, name)
    except SpecError as error:
        if name in topology.names(server):
            raise
        raise SpecError(
            f"{quoted(store)} means no server: there is no Airflow Connection {PREFIX + connection!r}, and: {error}"
        ) from None


def copies_of(study: PlannedStudy, params: RunParams, exists: Exists) -> CopiesOf:
    """Return a function that returns the number of copies of the data that a store's servers hold in a run with these parameters.

    Only a topology declares the number: for a user's own server, the function returns None.
    """
    topology_named = cache(lambda store: topology_of(study, store, exists))

    def copies(store: str, axes: Mapping[str, str]) -> int | None:
        provisioned = topology_named(store)
        sizes = {name: value for name, value in axes.items() if name in FIELDS}
        return Sizes.of(study_values(params), sizes).copies_in(provisioned) if provisioned else None

    return copies


def check_sizes(study: PlannedStudy, cells: Iterable[Cell], params: RunParams, exists: Exists) -> None:
    """Check that each cell's topology can have the sizes of a run with these parameters. Raises SpecError."""
    sizes_of_stores = dict.fromkeys(
        (cell.store, tuple((name, value) for name, value in cell.axes if name in FIELDS)) for cell in cells
    )
    for store, axes in sizes_of_stores:
        if provisioned := topology_of(study, store, exists):
            Sizes.of(study_values(params), dict(axes)).check(provisioned)


def check_agents(
    study: PlannedStudy,
    stores: Iterable[str],
    params: RunParams,
    provisioned: Collection[str],
    agent_image: str | None,
) -> None:
    """Check that the run provisions the servers and agents on which stores depend with these parameters. Raises SpecError otherwise.

    `provisioned`: the stores whose servers the run provisions. `agent_image`: the image of the servers' agent, if a Variable names it.
    """
    for store in sorted(set(stores) - set(provisioned)):
        info = study.store(store)
        if info.provisioned_servers_only:
            known = [name for name in topology.provisioned_for(study) if split(name)[0] == info.name]
            raise SpecError(
                f"{store} would connect to a server of your own, by the Airflow Connection"
                f" {PREFIX}{info.connection_of(store)}. It is measured only at servers that the run provisions:"
                f" {info.provisioned_servers_only}. Ask for {' or '.join(known)}, and remove the connection of that name, if there is one"
            )
    reasons = {store: reason for store in sorted(stores) if (reason := study.needs_agents(store, params))}
    if not reasons:
        return
    if without := [store for store in reasons if store not in provisioned]:
        known = topology.provisioned_for(study)
        instead = {store: [name for name in known if split(name)[0] == split(store)[0]] for store in without}
        advice = "; ".join(
            f"in the place of {store} ask for {' or '.join(names)}" if names else f"leave out {store}"
            for store, names in instead.items()
        )
        raise SpecError(
            f"{reasons[without[0]]}: only the agents of servers that the run provisions can do that, and it provisions none for"
            f" {', '.join(without)}. Give the parameter another value, or {advice}"
        )
    if not agent_image:
        raise SpecError(
            f"{next(iter(reasons.values()))}, which the agents of the servers do, and no image of the agent is known. Build it with"
            f" images/build servers/agent and name it by the Airflow Variable storebench_image_{AGENT_IMAGE}; `make up STORES="
            f"{','.join(reasons)}` does both in the embedded stack"
        )
