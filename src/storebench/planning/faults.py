"""Check whether the faults that a run asks for can be caused."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from storebench.errors import SpecError
from storebench.planning.topologies import AGENT_IMAGE, Exists, topology_of
from storebench.servers import topology
from storebench.servers.fault import Fault
from storebench.servers.render import servers_of
from storebench.servers.sizes import FIELDS, Sizes
from storebench.servers.topology import COMMANDS
from storebench.stores.base import split
from storebench.study.cell import Cell
from storebench.study.planned import PlannedStudy
from storebench.study.reserved import FAULT, PODS
from storebench.study.run_params import RunParams, study_values


def fault_of(study: PlannedStudy, axes: Mapping[str, str], values: Mapping[str, Any]) -> Fault | None:
    """Return the fault of a cell with these axes; None without a fault. `values`: of `study_values`. Raises SpecError for an invalid value."""
    return Fault.of({**{name: str(values[name]) for name in study.study_params if name in values}, **axes})


def check_faults(
    study: PlannedStudy, cells: Iterable[Cell], params: RunParams, exists: Exists, agent_image: str | None
) -> None:
    """Check that the fault of each cell can be caused. Raises SpecError.

    `exists`: as for `topology_of`. `agent_image`: the image of the servers' agent, if a Variable names it.
    """
    values = study_values(params)
    topology_named = cache(lambda store: topology_of(study, store, exists))

    @cache  # many cells have the same servers
    def servers_named(store: str, sizes: Sizes, *, holding: bool = False) -> list[str]:
        servers = topology_named(store)
        return servers_of(servers, sizes, holding=holding) if servers else []

    for cell in cells:
        axes = study.values_of(cell)
        fault = fault_of(study, axes, values)
        if fault is None:
            continue
        known = study.faults_of(cell.store)
        if known is not None and fault.name not in known:
            raise SpecError(
                f"{cell.store} has no fault {fault.name!r}: {', '.join(known)}. Leave out the fault, or the store"
            )
        if int(axes.get(PODS, 1)) > 1:
            raise SpecError(
                f"An operation with a fault has one pod, and this run asks for {PODS}={axes[PODS]} with {FAULT}={fault.name}"
            )
        if fault.url:
            continue
        servers = topology_named(cell.store)
        if servers is None:
            others = [
                name for name in topology.provisioned_for(study) if split(name)[0] == split(cell.store)[0]
            ]
            raise SpecError(
                f"{FAULT}={fault.name} at {cell.store}: the agents of servers that the run provisions make a fault, and it provisions none"
                f" for {cell.store}. Ask for {' or '.join(others) or 'another store'}, or name by fault_url a webhook that makes the fault at"
                " your own servers"
            )
        if not agent_image:
            raise SpecError(
                f"{FAULT}={fault.name}: the agents of the servers make a fault, and no image of the agent is known. Build it with images/build"
                f" servers/agent and name it by the Airflow Variable storebench_image_{AGENT_IMAGE}"
            )
        sizes = Sizes.of(values, {name: value for name, value in axes.items() if name in FIELDS})
        names = servers_named(cell.store, sizes)
        if fault.server and fault.server not in names:
            raise SpecError(
                f"fault_server={fault.server}: the topology {servers} has no such server, but {', '.join(names)}"
            )
        if not fault.is_maintenance:
            continue
        server = fault.server or servers_named(cell.store, sizes, holding=True)[0]
        if fault.name not in (declared := servers.commands_of(server)):
            raise SpecError(
                f"{FAULT}={fault.name} at {cell.store}: the topology {servers} declares no command for it at {server}, but"
                f" {', '.join(declared) or 'none for any maintenance'}. Leave out the fault, or declare the command by the annotation"
                f" {COMMANDS[fault.name]}"
            )
