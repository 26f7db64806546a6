"""Define the pools of nodes. Different pools are measured in parallel, the cells of a pool one after the other.

The clients of a server may have separate nodes: a pool. The environment variable STOREBENCH_NODE_POOLS names such pools, comma-separated.
The pool `v8` measures `mongodb@v8` and `null@v8`, by the Kubernetes connection `storebench_kubernetes_v8` and the Airflow pool
`benchmark_v8`. The default pool measures all other stores, by `storebench_kubernetes` and `benchmark`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from storebench.errors import SpecError, quoted
from storebench.planning.conf import names_in
from storebench.stores.base import SERVER, split
from storebench.study.planned import PlannedStudy

VARIABLE = "STOREBENCH_NODE_POOLS"
SLOTS, GROUP, CONNECTION = "benchmark", "cell", "kubernetes"


@dataclass(frozen=True)
class NodePool:
    """A pool of nodes. `name` is empty for the default pool."""

    name: str = ""

    @property
    def slots(self) -> str:
        """The name of the Airflow pool, which has one slot for each node: attempts on different nodes run side by side."""
        return self._named(SLOTS)

    @property
    def group(self) -> str:
        """The name of the task group of the pool's cells."""
        return self._named(GROUP)

    @property
    def connection(self) -> str:
        """The name of the Kubernetes connection that starts the pool's pods."""
        return self._named(CONNECTION)

    def _named(self, text: str) -> str:
        return f"{text}_{self.name}" if self.name else text


DEFAULT = NodePool()


def node_pools() -> list[NodePool]:
    """Return the default pool, and the pools that VARIABLE names. Raises SpecError for an invalid name."""
    names = names_in(os.environ.get(VARIABLE, ""))
    for name in names:
        if not re.fullmatch(SERVER, name):
            raise SpecError(
                f"{VARIABLE}: {name!r} is not a valid name. Use lower-case letters, digits and _, at most 30"
            )
    return [DEFAULT, *map(NodePool, dict.fromkeys(names))]


def node_pool_of(study: PlannedStudy, store: str) -> NodePool:
    """Return the pool in which a store of this name is measured. Raises SpecError for a store without a server, such as `null@v8`, if there
    is no pool `v8`.
    """
    pool, pools = NodePool(split(store)[1]), node_pools()
    if pool in pools:
        return pool
    if study.store(store).server_of(store) is None:
        raise SpecError(
            f"{quoted(store)}: there is no pool of nodes {pool.name!r}. {VARIABLE} has"
            f" {', '.join(pool.name for pool in pools[1:]) or 'none'}. And this store has no server of its own that the name could mean"
        )
    return DEFAULT
